"""Whose pods `bind --watch` serves, how they wait for what they need, and when it does not begin."""

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from tests.e2e.api import Api, Json
from tests.e2e.binding_cluster import CLAIMS, PODS, VOLUMES, events, node, node_of, volume
from tests.e2e.control_plane import ADMIN_TOKEN, ControlPlane
from tests.e2e.patience import until
from tests.e2e.watchers import WatcherProcess, plain_pod
from tests.oracle.build import GoMissingError

pytestmark = pytest.mark.e2e

EXTRA = "kube-extra-scheduler"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"


@pytest.fixture(scope="module")
def control_plane() -> Iterator[ControlPlane]:
    """With the controllers that bind volumes to claims, and two nodes."""
    try:
        with ControlPlane(controller_manager=True) as plane:
            with Api(plane.port, ADMIN_TOKEN) as api:
                node(api, "k8s-node-2")
                node(api, "k8s-node-3")
                api.merge("/api/v1/nodes/k8s-node-3", {"spec": {"unschedulable": True}})
            yield plane
    except GoMissingError as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="module")
def extra(control_plane: ControlPlane) -> Iterator[WatcherProcess]:
    """Serves kube-extra-scheduler."""
    with WatcherProcess(control_plane.kubeconfig, "--scheduler-name", EXTRA, "--leader-elect=false") as watcher:
        yield watcher.until_ready()
        assert watcher.stop() == 0


def test_a_name_that_nobody_served_is_served_for_good(api: Api, extra: WatcherProcess) -> None:
    api.create(PODS, plain_pod("po37", EXTRA))
    until(lambda: node_of(api, "po37") == "k8s-node-2")
    (event,) = until(lambda: events(api, "po37", "Scheduled"))
    assert event["note"] == "Successfully assigned default/po37 to k8s-node-2"
    assert event["reportingController"] == EXTRA
    assert until(lambda: "Successfully assigned default/po37 to k8s-node-2" in extra.said)


def test_a_pod_that_fits_nowhere_is_told_why_and_bound_once_a_node_has_room(api: Api, extra: WatcherProcess) -> None:
    del extra
    api.create(PODS, plain_pod("big", EXTRA, "64"))
    event, *_ = until(lambda: events(api, "big", "FailedScheduling"))
    assert event["note"].startswith("0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable.")
    (condition,) = until(lambda: api.get(f"{PODS}/big")["status"].get("conditions"))
    assert (condition["type"], condition["reason"]) == ("PodScheduled", "Unschedulable")
    node(api, "roomy", "100")
    until(lambda: node_of(api, "big") == "roomy")
    api.delete("/api/v1/nodes/roomy")


def test_a_gated_pod_and_those_of_others_are_left_alone(api: Api, extra: WatcherProcess) -> None:
    api.create(PODS, plain_pod("gated", EXTRA, schedulingGates=[{"name": "example.com/wait"}]))
    api.create(PODS, plain_pod("foreign", "somebody-else"))
    api.create(PODS, plain_pod("later", EXTRA))
    until(lambda: node_of(api, "later"))
    assert (node_of(api, "gated"), node_of(api, "foreign")) == ("", "")
    until(lambda: 'scheduler_pending_pods{queue="gated"} 1.0' in extra.ask("/metrics"))
    api.merge(f"{PODS}/gated", {"spec": {"schedulingGates": None}})
    until(lambda: node_of(api, "gated"))


def test_a_claim_for_one_pod_is_given_to_one_pod_at_a_time(api: Api, extra: WatcherProcess) -> None:
    del extra
    spec = {"accessModes": ["ReadWriteOncePod"], "storageClassName": "", "resources": {"requests": {"storage": "1Gi"}}}
    api.create(CLAIMS, {"metadata": {"name": "alone"}, "spec": spec})
    api.create(VOLUMES, volume("disk", "k8s-node-2", "", accessModes=["ReadWriteOncePod"]))
    until(lambda: api.get(f"{CLAIMS}/alone")["status"].get("phase") == "Bound")
    names = [f"one-{number}" for number in range(5)]
    volumes = [{"name": "alone", "persistentVolumeClaim": {"claimName": "alone"}}]
    for name in names:
        api.create(PODS, plain_pod(name, EXTRA, volumes=volumes, terminationGracePeriodSeconds=0))
    for _ in names:
        (winner,) = until(lambda: [name for name in names if node_of(api, name)])
        for loser in {*names} - {winner}:
            until(partial(events, api, loser, "FailedScheduling"))
        api.delete(f"{PODS}/{winner}", grace_seconds=0)
        names.remove(winner)


def test_several_profiles_are_served_each_by_its_own_rules(
    control_plane: ControlPlane, api: Api, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        node(api, f"pool-{name}")
        api.merge(f"/api/v1/nodes/pool-{name}", {"metadata": {"labels": {"pool": name}}})
    profiles = [{"schedulerName": f"of-{name}", "pluginConfig": [only_on(name)]} for name in ("a", "b")]
    path = tmp_path / "scheduler.yaml"
    path.write_text(json.dumps(configuration(profiles)))
    with WatcherProcess(control_plane.kubeconfig, f"--config={path}", "--leader-elect=false") as watcher:
        for name in ("b", "a"):
            api.create(PODS, plain_pod(f"wants-{name}", f"of-{name}"))
        for name in ("a", "b"):
            (event,) = until(partial(events, api, f"wants-{name}", "Scheduled"))
            assert node_of(api, f"wants-{name}") == f"pool-{name}"
            assert event["reportingController"] == f"of-{name}"
        assert watcher.stop() == 0


def configuration(profiles: list[Json]) -> Json:
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": profiles,
    }


def only_on(pool: str) -> Json:
    requirement = {"key": "pool", "operator": "In", "values": [pool]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [requirement]}]}
    affinity = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
    return {"name": "NodeAffinity", "args": {"addedAffinity": affinity}}


# What keeps it from beginning


def begin(kubeconfig: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kubectl_sched", "bind", "--watch", f"--kubeconfig={kubeconfig}", *arguments]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)


WITH_A_BUG = """
from kubectl_sched.__main__ import run
from kubectl_sched.plugins.node_name import NodeName

def fail(*_):
    raise KeyError("a bug")

NodeName.filter = fail
run()
"""


@pytest.mark.parametrize(("how", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_what_a_plugin_could_not_judge_is_told_and_counted_and_no_exit_code(
    control_plane: ControlPlane, api: Api, how: signal.Signals, code: int
) -> None:
    name = f"broken-{code}"
    with WatcherProcess(
        control_plane.kubeconfig, "--scheduler-name", name, "--leader-elect=false", program=("-c", WITH_A_BUG)
    ) as watcher:
        watcher.until_ready()
        api.create(PODS, plain_pod(name, name))
        until(lambda: f"pod default/{name} is not bound: " in watcher.said)
        assert until(lambda: f'attempts_total{{profile="{name}",result="error"}} 0' not in watcher.ask("/metrics"))
        assert watcher.stop(how) == code
        assert "a bug in kubectl-sched" in watcher.said
        assert "\nerror: " not in watcher.said
    api.delete(f"{PODS}/{name}", grace_seconds=0)


def test_a_name_that_a_running_scheduler_serves_is_refused(control_plane: ControlPlane, api: Api) -> None:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    spec = {"holderIdentity": "control-plane_1", "leaseDurationSeconds": 600, "renewTime": now}
    api.create(LEASES, {"metadata": {"name": "kube-scheduler"}, "spec": spec})
    done = begin(control_plane.kubeconfig, "--scheduler-name=default-scheduler", "--yes")
    assert done.returncode == 1
    assert "control-plane_1 holds the Lease kube-system/kube-scheduler" in done.stderr
    assert "--take-over" in done.stderr


def test_without_a_terminal_to_ask_on_it_wants_to_be_told(control_plane: ControlPlane) -> None:
    done = begin(control_plane.kubeconfig, "--scheduler-name=mine")
    assert done.returncode == 2
    assert "Serves the pods of schedulerName mine" in done.stderr
    assert done.stderr.endswith("add --yes\n")


def test_whoever_is_asked_may_say_no(control_plane: ControlPlane) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "kubectl_sched", "bind", "--watch", "--scheduler-name=mine"]
    command.append(f"--kubeconfig={control_plane.kubeconfig}")
    os.write(ours, b"n\n")
    done = subprocess.run(command, stdin=theirs, capture_output=True, text=True, timeout=60, check=False)
    os.close(ours)
    os.close(theirs)
    assert done.returncode == 1
    assert "Go on? [y/N] error: nothing was done" in done.stderr


def test_who_may_read_nothing_is_told_so(control_plane: ControlPlane, tmp_path: Path) -> None:
    stranger = tmp_path / "kubeconfig"
    text = control_plane.kubeconfig.read_text()
    stranger.write_text(text.replace(ADMIN_TOKEN, "wrong"))
    done = begin(stranger, "--scheduler-name=mine", "--yes")
    assert done.returncode == 3
    assert "does not accept" in done.stderr
    assert "Traceback" not in done.stderr
