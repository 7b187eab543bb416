"""A day of a cluster in ten minutes: pods come and go while everything that can fail does.

    python -m tests.e2e.soak --minutes 10 --pods 10000

Three schedulers share the nodes: two replicas of `bind --watch`, of which the leader is killed every 20 s; one that is
never killed, whose memory is looked at; and kube-scheduler. The watches of ours are delayed, a part of their requests
fails, and the API server is restarted now and then. Two fifths of the nodes are for the pods of the replicas alone.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import math
import random
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.e2e.api import Api, ApiError
from tests.e2e.binding_cluster import PODS, node
from tests.e2e.control_plane import ADMIN_TOKEN
from tests.e2e.faults import FaultyServer, hang_up, late, status
from tests.e2e.hostile_tenant import KINDS, compared, ratios
from tests.e2e.watchers import WatcherProcess, audited_plane, bindings, milli_cpu, plain_pod

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tests.e2e.api import Json
    from tests.e2e.control_plane import ControlPlane
    from tests.e2e.faults import Fault, Handler

REPLICAS, STEADY, RIVAL = "ours", "steady", "default-scheduler"
SCHEDULERS: Final = (REPLICAS, REPLICAS, STEADY, RIVAL)
NODE_MILLI_CPU: Final = 16_000
SIZES: Final = (250, 500, 1000, 2000)
LIFETIME_SECONDS: Final = 35.0
BATCH: Final = 50
"""Pods that are deleted together."""

KILL_SECONDS: Final = 20.0
RESTART_SECONDS: Final = 120.0
GRACE_SECONDS: Final = 300.0
"""After the last pod was created."""

LOOK_SECONDS: Final = 2.0
NODES_PER_RATE: Final = 2.9
"""Nodes for each pod a second: they are four fifths full then."""

WARM_UP: Final = 0.3
"""The part of the time after which memory must no longer grow."""

AWAY = (OSError, http.client.HTTPException, ValueError)
"""What a request meets while the API server is restarted."""

TERMS: Final = (
    "--leader-elect-lease-duration=5s",
    "--leader-elect-renew-deadline=3s",
    "--leader-elect-retry-period=1s",
)


@dataclass
class Report:
    """What was seen."""

    created: int = 0
    bound: int = 0
    lost: Counter[str] = field(default_factory=Counter)
    """Pods that had no node in the end, by scheduler."""
    doubled: list[str] = field(default_factory=list)
    by_others: list[str] = field(default_factory=list)
    """Pods that another program than theirs has bound."""
    own_overcommitted: int = 0
    shared_overcommitted: int = 0
    without_event: int = 0
    kills: int = 0
    restarts: int = 0
    given_up: int = 0
    """Replicas that ended by themselves because they could not renew the Lease."""
    slowest_seconds: float = 0.0
    """The longest from a pod's creation to the look at which it had a node."""
    resident: list[int] = field(default_factory=list)
    """KiB of the replica that is never killed."""

    @property
    def growth(self) -> float:
        """The most memory of the last third over the most before, once all is warm."""
        third = len(self.resident) // 3
        warm = self.resident[int(len(self.resident) * WARM_UP) : -third] or self.resident
        return max(self.resident[-third:]) / max(warm)

    def text(self) -> str:
        """The figures in words."""
        return (
            f"{self.created} pods created, {self.bound} bound, {self.lost.total()} lost {dict(self.lost) or ''}\n"
            f"{len(self.doubled)} bound twice, "
            f"{len(self.by_others)} by another scheduler than theirs\n"
            f"{self.kills} kills, {self.restarts} restarts of the API server, "
            f"{self.given_up} replicas that ended without their Lease\n"
            f"overcommitted: {self.own_overcommitted} times a node that one scheduler has for itself, "
            f"{self.shared_overcommitted} times one that three share\n"
            f"{self.without_event} bound pods without a Scheduled event; "
            f"the slowest pod waited {self.slowest_seconds:.0f} s\n"
            f"memory of the replica that is never killed: {max(self.resident) // 1024} MiB at most, "
            f"{self.growth:.2f} times what it was when warm"
        )


class Soak:
    """One run over a control plane."""

    def __init__(self, plane: ControlPlane, server: FaultyServer, pods: int, seconds: float) -> None:
        self._plane = plane
        self._server = server
        self._pods = pods
        self._seconds = seconds
        self._chance = random.Random(16)  # noqa: S311 - no secret
        self._api = Api(plane.port, ADMIN_TOKEN)
        self._began = time.monotonic()
        self._created: dict[str, float] = {}
        self._bound: dict[str, float] = {}
        self._going: set[int] = set()
        """The batches that were deleted."""
        self._full: set[str] = set()
        """The nodes that had too much at the last look."""
        self._deadlines: dict[str, float] = {}
        self._replicas: list[WatcherProcess] = []
        self.report = Report()
        self.scheduler_of: dict[str, str] = {}

    def run(self) -> None:
        """Create all pods over the time, and go on until each has had a node."""
        for number in range(math.ceil(NODES_PER_RATE * self._pods / self._seconds)):
            node(self._api, f"n{number}", str(NODE_MILLI_CPU // 1000), pool="own" if _is_own(number) else "shared")
        with contextlib.ExitStack() as ended:
            steady = ended.enter_context(self._watcher(STEADY, "--leader-elect=false"))
            ended.callback(self._end)
            self._replicas = [self._watcher(REPLICAS, *TERMS).__enter__() for _ in range(2)]
            self._server.always = self._fault
            self._began = time.monotonic()
            while len(self._bound) < self._pods:
                self._create_due()
                if self._is_due("look", LOOK_SECONDS):
                    self._look()
                    self.report.resident.append(resident(steady.process.pid))
                if self._is_due("kill", KILL_SECONDS) and not self._kill():
                    self._deadlines["kill"] = 0.0  # nobody leads: the next one is killed once it does
                if self._is_due("restart", min(RESTART_SECONDS, self._seconds / 2)):
                    self._restart()
                self._supervise()
                assert steady.process.poll() is None, steady.said[-3000:]
                if time.monotonic() > self._began + self._seconds + GRACE_SECONDS:
                    break
                time.sleep(0.05)
            # The audit log may lack one: that of a server killed after it has stored a binding.
            self.report.bound = len(self._bound)
            self.report.lost = Counter(self.scheduler_of[each] for each in self._created.keys() - self._bound.keys())
            self._server.always = lambda _: None
            assert steady.stop() == 0

    def _watcher(self, name: str, *flags: str) -> WatcherProcess:
        flags = ("--scheduler-name", name, f"--server={self._server.url}", "--take-over", "--quiet", *flags)
        return WatcherProcess(self._plane.kubeconfig, *flags)

    def _end(self) -> None:
        self._api.close()
        for replica in self._replicas:
            replica.__exit__(None, None, None)

    def _is_due(self, what: str, seconds: float) -> bool:
        now = time.monotonic()
        due = self._deadlines.setdefault(what, self._began + seconds)
        if now < due:
            return False
        self._deadlines[what] = now + seconds
        return True

    # Pods

    def _ask(self, ask: Callable[[Api], Json]) -> Json | None:
        """The answer; None if the API server is away."""
        try:
            return ask(self._api)
        except AWAY:
            self._api.close()
            self._api = Api(self._plane.port, ADMIN_TOKEN)
            return None
        except ApiError as error:
            return {} if error.code in {HTTPStatus.CONFLICT, HTTPStatus.NOT_FOUND} else None

    def _create_due(self) -> None:
        due = min(self._pods, int(self._pods * (time.monotonic() - self._began) / self._seconds))
        while len(self._created) < due:
            name = f"p{len(self._created)}"
            scheduler = SCHEDULERS[len(self._created) % len(SCHEDULERS)]
            pool = "own" if scheduler == REPLICAS and self._chance.random() < 0.8 else "shared"
            body = plain_pod(name, scheduler, f"{self._chance.choice(SIZES)}m", nodeSelector={"pool": pool})
            body["metadata"]["labels"]["batch"] = str(len(self._created) // BATCH)
            if self._ask(lambda api, body=body: api.create(PODS, body)) is None:  # type: ignore[misc]
                return
            self._created[name] = time.monotonic()
            self.scheduler_of[name] = scheduler

    def _look(self) -> None:
        answer = self._ask(lambda api: api.get(PODS))
        if not answer:
            return
        now = time.monotonic()
        pods = [pod for pod in answer["items"] if pod["spec"].get("nodeName")]
        for pod in pods:
            name = pod["metadata"]["name"]
            if name not in self._bound:
                self._bound[name] = now
                self.report.slowest_seconds = max(self.report.slowest_seconds, now - self._created.get(name, now))
        self._count_room(pods)
        self._remove_old(now)

    def _remove_old(self, now: float) -> None:
        """Delete whole batches, one request each, once all of their pods have run for a while."""
        for batch in range(len(self._created) // BATCH):
            names = [f"p{number}" for number in range(batch * BATCH, (batch + 1) * BATCH)]
            if batch in self._going or not all(now - self._bound.get(name, now) > LIFETIME_SECONDS for name in names):
                continue
            path = f"{PODS}?labelSelector=batch%3D{batch}"
            if self._ask(lambda api, path=path: api.delete(path, grace_seconds=0)) is not None:  # type: ignore[misc]
                self._going.add(batch)

    def _count_room(self, pods: Sequence[Json]) -> None:
        used: Counter[str] = Counter()
        for pod in pods:
            used[pod["spec"]["nodeName"]] += milli_cpu(pod)
        full = {name for name, milli in used.items() if milli > NODE_MILLI_CPU}
        own = sum(_is_own(int(name[1:])) for name in full - self._full)
        self.report.own_overcommitted += own
        self.report.shared_overcommitted += len(full - self._full) - own
        self._full = full

    # What goes wrong

    def _fault(self, request: Handler) -> Fault | None:
        """Watches begin late and are cut; one other request in twenty fails."""
        draw = self._chance.random()
        if "watch=true" in request.path:
            return late(self._chance.uniform(0, 3)) if draw < 0.5 else None
        if "/leases/" in request.path or draw > 0.05:
            return None
        return self._chance.choice([status(429, "TooManyRequests", "wait", Retry_After="1"), status(500), hang_up])

    def _kill(self) -> bool:
        """Kill the leader, if there is one."""
        leader = next((each for each in self._replicas if _leads(each)), None)
        if leader is None:
            return False
        leader.kill()
        self.report.kills += 1
        self._server.cut_watches()
        return True

    def _restart(self) -> None:
        self._plane.restart_apiserver()
        self.report.restarts += 1

    def _supervise(self) -> None:
        """Start one anew that has ended, as a Deployment does."""
        for index, replica in enumerate(self._replicas):
            if replica.process.poll() is not None:
                self.report.given_up += replica.process.returncode == 3
                replica.__exit__(None, None, None)
                self._replicas[index] = self._watcher(REPLICAS, *TERMS).__enter__()


def _is_own(number: int) -> bool:
    return number % 5 < 2


def _leads(replica: WatcherProcess) -> bool:
    try:
        return replica.process.poll() is None and f'{{name="kubectl-sched-{REPLICAS}"}} 1.0' in replica.ask("/metrics")
    except (OSError, AssertionError):
        return False


def resident(process: int) -> int:
    """The resident memory of a process in KiB."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def soak(pods: int, seconds: float) -> Report:
    """Run it all; the report."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "audit.log"
        with audited_plane(log) as plane, FaultyServer(plane.port, plane.folder / "certificates") as server:
            plane.start_scheduler(config={})
            run = Soak(plane, server, pods, seconds)
            run.run()
            report = run.report
            _finish(report, bindings(log), run.scheduler_of, _told(plane))
            return report


def _finish(report: Report, by: Mapping[str, list[str]], schedulers: Mapping[str, str], told: set[str]) -> None:
    report.created = len(schedulers)
    report.doubled = [name for name, programs in by.items() if len(programs) > 1]
    report.by_others = [
        name
        for name, programs in by.items()
        if ("kube-scheduler" in programs) != (schedulers[name] == RIVAL) or len(set(programs)) > 1
    ]
    report.without_event = len(by.keys() - told)


def _told(plane: ControlPlane) -> set[str]:
    """The pods that have a Scheduled event."""
    with Api(plane.port, ADMIN_TOKEN) as api:
        events = api.get("/apis/events.k8s.io/v1/namespaces/default/events")["items"]
    return {event["regarding"]["name"] for event in events if event["reason"] == "Scheduled"}


def main() -> None:
    """Run it and say what was seen."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--pods", type=int, default=10_000)
    parser.add_argument("--hostile", action="store_true", help="beside a hostile tenant (tests/e2e/hostile_tenant.py)")
    parser.add_argument("--kinds", nargs="*", choices=[*KINDS], default=(), help="of the hostile tenant's pods")
    options = parser.parse_args()
    if options.hostile:
        alone, beside = compared(options.pods, options.minutes * 60, options.kinds)
        print(f"alone: {alone.text()}\nbeside a hostile tenant: {beside.text()}\n{ratios(alone, beside)}")
        raise SystemExit(bool(alone.unbound or beside.unbound))
    report = soak(options.pods, options.minutes * 60)
    print(report.text())
    raise SystemExit(bool(report.lost or report.doubled or report.by_others or report.own_overcommitted))


if __name__ == "__main__":
    main()
