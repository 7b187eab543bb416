"""`bind --watch` as a process of its own, and what tests of it look at."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.request import urlopen

from tests.e2e.api import Api, Json
from tests.e2e.binding_cluster import PODS
from tests.e2e.control_plane import ADMIN_TOKEN, MINOR, ControlPlane
from tests.e2e.patience import until

_PORT = re.compile(r"/metrics on \S+:(\d+)\.")
_BINDING = re.compile(r"/api/v1/namespaces/[^/]+/pods/[^/]+/binding")


AUDIT_POLICY = """
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - {level: Metadata, verbs: [create, update, patch, delete]}
  - {level: Metadata, userGroups: ["system:serviceaccounts"]}
  - {level: None}
"""


class WatcherProcess:
    """One replica; ended, if need be at once, when the block is left."""

    def __init__(self, kubeconfig: Path, *arguments: str, program: Sequence[str] = ("-m", "kubectl_sched")) -> None:
        self._command = [sys.executable, *program, "bind", "--watch", "--yes", "--listen", "127.0.0.1:0", *arguments]
        self._environment = {**os.environ, "KUBECONFIG": str(kubeconfig)}

    def __enter__(self) -> Self:
        self._log = tempfile.NamedTemporaryFile(suffix=".log")
        self.process = subprocess.Popen(
            self._command, env=self._environment, stdin=subprocess.DEVNULL, stderr=self._log
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if error is not None:
            print(f"the watcher's last words:\n{self.said[-3000:]}")
        self._log.close()

    @property
    def said(self) -> str:
        """What it has written to stderr."""
        return Path(self._log.name).read_text(encoding="utf-8", errors="replace")

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to end; its exit code."""
        self.process.send_signal(how)
        return self.process.wait(timeout=60)

    def kill(self) -> None:
        """End it without a warning."""
        self.process.kill()
        self.process.wait()

    def ask(self, path: str) -> str:
        """What it serves at a path."""
        port = until(self._port)[1]
        with urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
            return str(answer.read().decode())

    def _port(self) -> re.Match[str] | None:
        assert self.process.poll() is None, self.said
        return _PORT.search(self.said)

    def until_ready(self) -> Self:
        """Wait until it has listed everything."""
        until(self._is_ready)
        return self

    def _is_ready(self) -> bool:
        try:
            return self.ask("/readyz") == "ok"
        except OSError:
            return False


@contextmanager
def audited_plane(
    log: Path,
    *,
    controller_manager: bool = False,
    feature_gates: str = "",
    more_flags: Sequence[str] = (),
    minor: str = MINOR,
) -> Iterator[ControlPlane]:
    """A control plane that notes every request but reads by others than service accounts."""
    policy = log.with_name("policy.yaml")
    policy.write_text(AUDIT_POLICY)
    flags = (f"--audit-policy-file={policy}", f"--audit-log-path={log}", "--audit-log-mode=blocking-strict")
    with ControlPlane(
        controller_manager=controller_manager,
        feature_gates=feature_gates,
        extra_apiserver_flags=(*flags, *more_flags),
        minor=minor,
    ) as plane:
        yield plane


def noted(log: Path) -> list[Json]:
    """The audit log."""
    return [json.loads(line) for line in log.read_text().splitlines() if line.endswith("}")]


def bindings(log: Path) -> dict[str, list[str]]:
    """For each pod the programs that have bound it, by the first word of their User-Agent."""
    found: dict[str, list[str]] = {}
    for event in noted(log):
        path = event["requestURI"].partition("?")[0]
        if event["verb"] == "create" and _BINDING.fullmatch(path) and event["responseStatus"]["code"] == 201:
            found.setdefault(path.split("/")[-2], []).append(event["userAgent"].partition("/")[0])
    return found


def create_pods(plane: ControlPlane, bodies: Sequence[Json], threads: int = 4) -> None:
    """Create them all, a few at a time."""

    def create(part: Sequence[Json]) -> None:
        with Api(plane.port, ADMIN_TOKEN) as api:
            for body in part:
                api.create(PODS, body)

    workers = [threading.Thread(target=create, args=(bodies[number::threads],)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def plain_pod(name: str, scheduler: str, cpu: str = "100m", **spec: object) -> Json:
    """A pod that asks for CPU alone."""
    container = {"name": "c", "image": "nginx", "resources": {"requests": {"cpu": cpu}}}
    about = {"name": name, "labels": {"app": "web"}}
    return {"metadata": about, "spec": {"schedulerName": scheduler, "containers": [container], **spec}}


def pods_by_name(api: Api) -> dict[str, Json]:
    """All pods of the default namespace."""
    return {item["metadata"]["name"]: item for item in api.get(PODS)["items"]}


def all_bound(api: Api, count: int) -> dict[str, Json] | None:
    """The pods, once so many are there and each has a node."""
    pods = pods_by_name(api)
    return pods if len(pods) == count and all(pod["spec"].get("nodeName") for pod in pods.values()) else None


def milli_cpu(pod: Json) -> int:
    """What the pod asks for."""
    text = str(pod["spec"]["containers"][0]["resources"]["requests"]["cpu"])
    return int(text.removesuffix("m")) if text.endswith("m") else int(text) * 1000


def used_by_node(pods: Sequence[Json]) -> Counter[str]:
    """Milli-CPUs asked for on each node."""
    used: Counter[str] = Counter()
    for pod in pods:
        used[pod["spec"].get("nodeName", "")] += milli_cpu(pod)
    return used
