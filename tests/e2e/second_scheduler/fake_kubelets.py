"""Fake kubelets for Kubernetes' own tests: kwok lets pods run, and a thread does what it does not do as kubelets do."""

import subprocess
import threading
import time
from datetime import datetime, timedelta
from types import TracebackType
from typing import Self

from tests.e2e.api import Api, ApiError, Json
from tests.e2e.control_plane import ADMIN_TOKEN, ControlPlane
from tests.e2e.kubelet import pod_path
from tests.e2e.kubernetes_programs import KWOK, kwok

STAGES = KWOK / "stages.yaml"

_PAUSE_SECONDS = 0.1


class FakeKubelets:
    """The kubelets of all nodes of a control plane, until the block is left."""

    def __init__(self, plane: ControlPlane) -> None:
        self._plane = plane
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._go_on)

    def __enter__(self) -> Self:
        flags = ["--manage-all-nodes=true", "--node-ip=10.0.0.1", "--node-lease-duration-seconds=40"]
        with (self._plane.folder / "kwok.log").open("wb") as log:
            self._kwok = subprocess.Popen(
                [str(kwok()), f"--kubeconfig={self._plane.kubeconfig}", f"--config={STAGES}", *flags],
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
        self._kwok.kill()
        self._kwok.wait()

    def _go_on(self) -> None:
        with Api(self._plane.port, ADMIN_TOKEN) as api:
            while not self._ended.wait(_PAUSE_SECONDS):
                for node in api.get("/api/v1/nodes")["items"]:
                    offer_extended_resources(api, node)
                for pod in api.get("/api/v1/pods?fieldSelector=spec.nodeName!%3D")["items"]:
                    finish(api, pod)


def offer_extended_resources(api: Api, node: Json) -> None:
    """A kubelet offers to pods what somebody has written into its node's capacity, and no more of it than that."""
    capacity, allocatable = (
        {name: amount for name, amount in node["status"].get(field, {}).items() if "/" in name}
        for field in ("capacity", "allocatable")
    )
    if capacity != allocatable:
        gone = dict.fromkeys(allocatable.keys() - capacity.keys())
        change = {"status": {"allocatable": capacity | gone}}
        api.merge(f"/api/v1/nodes/{node['metadata']['name']}/status", change)


def finish(api: Api, pod: Json) -> None:
    """A pod that is being deleted goes once its hooks have run; a later pod of its name stays."""
    deadline = pod["metadata"].get("deletionTimestamp")
    if deadline is None:
        return
    grace = timedelta(seconds=pod["metadata"].get("deletionGracePeriodSeconds") or 0)
    began = (datetime.fromisoformat(deadline) - grace).timestamp()
    if time.time() >= began + min(longest_hook(pod), grace.total_seconds()):
        try:
            api.delete(pod_path(pod), grace_seconds=0, uid=pod["metadata"]["uid"])
        except ApiError as error:
            if error.code not in {404, 409}:
                raise


def longest_hook(pod: Json) -> int:
    """The seconds that the pod's preStop hooks sleep."""
    hooks = [each.get("lifecycle", {}).get("preStop", {}) for each in pod["spec"]["containers"]]
    return max((hook.get("sleep", {}).get("seconds", 0) for hook in hooks), default=0)
