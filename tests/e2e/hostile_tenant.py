"""A tenant who may create pods, and makes each of them as costly as the API server lets it.

    python -m tests.e2e.soak --hostile --minutes 2 --pods 240

runs one replica of `bind --watch` twice, with the same pods of a team: without the tenant and with it. What is told are
the team's latencies in both runs, and their ratio.
"""

from __future__ import annotations

import statistics
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.error import HTTPError

from tests.e2e.api import Api, ApiError
from tests.e2e.binding_cluster import DEVICES, DRIVER, node
from tests.e2e.control_plane import ADMIN_TOKEN, ControlPlane
from tests.e2e.watchers import WatcherProcess, plain_pod

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.e2e.api import Json

NAME, TEAM, TENANT = "ours", "team", "tenant"
NODES, DEVICES_OF_NODE = 60, 100
TERMS, RESOURCES, PORTS, GATES = 2_000, 20_000, 1_000, 10
EVERY_SECONDS: Final = 0.5
"""The tenant creates a pod so often, and changes a gated one."""

LOOK_SECONDS: Final = 0.05
GRACE_SECONDS: Final = 120.0


@dataclass
class Course:
    """One run."""

    latencies: list[float] = field(default_factory=list)
    """Seconds from the creation of each pod of the team to the look at which it had a node."""
    unbound: int = 0
    hostile: int = 0
    """The pods that the tenant has created."""
    ill: int = 0
    """The looks at which /healthz did not say ok."""
    resident: int = 0
    """KiB that the replica took at most."""

    def text(self) -> str:
        """The figures in words."""
        median, slowest = statistics.median(self.latencies), max(self.latencies)
        most = statistics.quantiles(self.latencies, n=20)[-1]
        return (
            f"{len(self.latencies)} pods bound, {self.unbound} not; {self.hostile} pods of the tenant; latency: median "
            f"{median:.2f} s, 95 % {most:.2f} s, slowest {slowest:.2f} s; /healthz failed {self.ill} times; "
            f"{self.resident // 1024} MiB at most"
        )


def compared(pods: int, seconds: float, kinds: Sequence[str] = ()) -> tuple[Course, Course]:
    """Run without the tenant, then with it; it makes pods of these kinds, by default of all."""
    return run(pods, seconds, ()), run(pods, seconds, tuple(kinds) or tuple(KINDS))


def ratios(alone: Course, beside: Course) -> str:
    """Return the latencies beside the tenant, as multiples of those without."""
    median = statistics.median(beside.latencies) / statistics.median(alone.latencies)
    most = statistics.quantiles(beside.latencies, n=20)[-1] / statistics.quantiles(alone.latencies, n=20)[-1]
    return f"beside the tenant: {median:.1f} times the median, {most:.1f} times the 95th percentile"


def run(pods: int, seconds: float, kinds: Sequence[str]) -> Course:
    """Run one course over a control plane of its own, beside a tenant if there are kinds of pods that it makes."""
    course = Course()
    with ControlPlane() as plane, Api(plane.port, ADMIN_TOKEN) as api:
        _fill(api)
        flags = ("--scheduler-name", NAME, "--take-over", "--quiet", "--leader-elect=false")
        with WatcherProcess(plane.kubeconfig, *flags) as watcher:
            watcher.until_ready()
            ended = threading.Event()
            tenant = threading.Thread(target=_be_hostile, args=(plane, ended, course, kinds))
            if kinds:
                tenant.start()
            try:
                _serve_team(api, watcher, course, pods, seconds)
            finally:
                ended.set()
                if kinds:
                    tenant.join()
            assert watcher.process.poll() is None, watcher.said[-3000:]
            assert watcher.stop() == 0
    return course


def _fill(api: Api) -> None:
    for namespace in (TEAM, TENANT):
        api.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    expression = f'device.driver == "{DRIVER}"'
    spec = {"selectors": [{"cel": {"expression": expression}}]}
    api.create(f"{DEVICES}/deviceclasses", {"metadata": {"name": "gpu"}, "spec": spec})
    for number in range(NODES):
        name = f"n{number}"
        node(api, name, "64")
        devices = [
            {"name": f"gpu-{device}", "attributes": {"group": {"int": device % 7}}} for device in range(DEVICES_OF_NODE)
        ]
        pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
        slices = {"driver": DRIVER, "pool": pool, "nodeName": name, "devices": devices}
        api.create(f"{DEVICES}/resourceslices", {"metadata": {"name": name}, "spec": slices})


def _serve_team(api: Api, watcher: WatcherProcess, course: Course, pods: int, seconds: float) -> None:
    """Create the team's pods over the time, and look until each has a node."""
    began, created, bound = time.monotonic(), dict[str, float](), set[str]()
    path = f"/api/v1/namespaces/{TEAM}/pods"
    while len(bound) < pods and time.monotonic() < began + seconds + GRACE_SECONDS:
        while len(created) < min(pods, int(pods * (time.monotonic() - began) / seconds) + 1):
            name = f"p{len(created)}"
            api.create(path, plain_pod(name, NAME))
            created[name] = time.monotonic()
        for item in api.get(f"{path}?fieldSelector=spec.nodeName!%3D")["items"]:
            name = item["metadata"]["name"]
            if name not in bound:
                bound.add(name)
                course.latencies.append(time.monotonic() - created[name])
        course.ill += not _is_healthy(watcher)
        course.resident = max(course.resident, _resident(watcher))
        time.sleep(LOOK_SECONDS)
    course.unbound = pods - len(bound)


def _is_healthy(watcher: WatcherProcess) -> bool:
    try:
        return watcher.ask("/healthz") == "ok"
    except HTTPError:
        return False


def _resident(watcher: WatcherProcess) -> int:
    lines = Path(f"/proc/{watcher.process.pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def _be_hostile(plane: ControlPlane, ended: threading.Event, course: Course, kinds: Sequence[str]) -> None:
    """Create one pod after the other, of each kind in turn, and each time change a gated one and a node's label."""
    with Api(plane.port, ADMIN_TOKEN) as api:
        for number in range(GATES):
            _create(api, _costly(f"gated-{number}", schedulingGates=[{"name": "example.com/never"}], **_terms()))
        while not ended.wait(EVERY_SECONDS):
            kind = kinds[course.hostile % len(kinds)]
            _create(api, KINDS[kind](api, f"h{course.hostile}"))
            course.hostile += 1
            with suppress(ApiError):
                labels = {"metadata": {"labels": {"turn": str(course.hostile)}}}
                api.merge(f"/api/v1/namespaces/{TENANT}/pods/gated-{course.hostile % GATES}", labels)
                api.merge(f"/api/v1/nodes/n{course.hostile % NODES}", labels)


def _create(api: Api, body: Json) -> None:
    api.create(f"/api/v1/namespaces/{TENANT}/pods", body)


def _costly(name: str, **spec: object) -> Json:
    return plain_pod(name, NAME, "1m", **spec)


def _terms() -> Json:
    terms = [
        {"topologyKey": f"example.com/zone-{number % 50}", "labelSelector": {"matchLabels": {f"l{number}": "v"}}}
        for number in range(TERMS)
    ]
    preferred = [{"weight": 1, "podAffinityTerm": term} for term in terms[: TERMS // 4]]
    affinity = {
        "requiredDuringSchedulingIgnoredDuringExecution": terms,
        "preferredDuringSchedulingIgnoredDuringExecution": preferred,
    }
    return {"affinity": {"podAffinity": affinity}}


def _with_terms(_: Api, name: str) -> Json:
    return _costly(name, **_terms())


def _with_names(_: Api, name: str) -> Json:
    body = _costly(name)
    amounts = {"cpu": "1m", **{f"example.com/r{number}": "1" for number in range(RESOURCES)}}
    body["spec"]["containers"][0]["resources"] = {"requests": amounts, "limits": dict(list(amounts.items())[1:])}
    return body


def _with_ports(_: Api, name: str) -> Json:
    body = _costly(name)
    ports = [{"containerPort": 1 + number, "hostPort": 1 + number} for number in range(PORTS)]
    body["spec"]["containers"][0]["ports"] = ports
    return body


def _with_claim(api: Api, name: str) -> Json:
    requests = [
        {"name": f"r{number}", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 8}}
        for number in range(2)
    ]
    constraints = [{"requests": [each["name"] for each in requests], "matchAttribute": f"{DRIVER}/group"}]
    spec = {"devices": {"requests": requests, "constraints": constraints}}
    api.create(f"{DEVICES}/namespaces/{TENANT}/resourceclaims", {"metadata": {"name": name}, "spec": spec})
    return _costly(name, resourceClaims=[{"name": "gpu", "resourceClaimName": name}])


KINDS: Final[dict[str, Callable[[Api, str], Json]]] = {
    "terms": _with_terms,
    "names": _with_names,
    "claims": _with_claim,
    "ports": _with_ports,
}
