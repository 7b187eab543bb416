"""Kubernetes' own end-to-end tests of scheduling and devices: `bind --watch` passes what kube-scheduler passes.

Each part of them runs twice at the same time, in a cluster of its own with fake kubelets: with kube-scheduler, and with
`bind --watch` as the only scheduler.
"""

import subprocess
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.e2e.api import Api, Json
from tests.e2e.control_plane import ADMIN_TOKEN, CONTROLLERS, MINOR, ControlPlane
from tests.e2e.kubernetes_programs import suite
from tests.e2e.patience import until
from tests.e2e.second_scheduler.fake_kubelets import FakeKubelets
from tests.e2e.watchers import WatcherProcess

pytestmark = pytest.mark.kubernetes

ALSO_CONTROLLED = (
    "device-taint-eviction-controller,pod-garbage-collector-controller,podgroup-protection-controller,"
    "replicationcontroller-controller,resourcequota-controller,root-ca-certificate-publisher-controller,"
    "taint-eviction-controller"
)

NODES = tuple(f"node-{number}" for number in range(4))
SYSTEM_PODS = "/api/v1/namespaces/kube-system/pods"

AS_IF_COMPLETE = "kube-proxy-fluentd-elasticsearch-node-problem-detector"
"""The tests wait a minute for pods of these names on each node; one pod with all of them will do."""


class Part(NamedTuple):
    """Some of the tests: those whose names match `focus` and not `skip`, and how many that are at least."""

    focus: str
    skip: str
    at_least: int
    minor: str = MINOR
    gates: str = ""
    served: str = ""
    """API versions that are served besides those by default."""


class Outcome(NamedTuple):
    """What became of a test."""

    status: str
    """Ginkgo's: "passed", "failed", "skipped" and others."""
    failure: str
    """Its message, if it failed."""


NOT_RUN = Outcome("not run", "")

PARTS = {
    "filters": Part("SchedulerPredicates", "", 14),
    "preemption": Part("SchedulerPreemption|SchedulerPriorities|Multi-AZ", "", 11),
    "devices": Part("DRA.*control plane|LimitRange", "OffByDefault", 24),
    "groups": Part(
        "GangScheduling|WorkloadAwarePreemption|sig-scheduling..Workload",
        "",
        7,
        "1.37",
        "GenericWorkload=true",
        "scheduling.k8s.io/v1beta1=true",
    ),
}
"""LimitRange's pods have no scheduler and would be in the way of the filters' tests."""


def add_nodes(api: Api) -> None:
    """Nodes as kubelets would have them."""
    for number, name in enumerate(NODES):
        labels = {
            "kubernetes.io/hostname": name,
            "kubernetes.io/os": "linux",
            "topology.kubernetes.io/zone": f"zone-{number % 2}",
        }
        resources = {"cpu": "4", "memory": "16Gi", "pods": "110", "ephemeral-storage": "100Gi"}
        status = {"capacity": resources, "allocatable": resources}
        api.create("/api/v1/nodes", {"metadata": {"name": name, "labels": labels}, "status": status})
        api.merge(f"/api/v1/nodes/{name}", {"spec": {"taints": None}})


def add_pods(api: Api) -> None:
    """A pod for each node, which the tests look for.

    kwok sometimes passes over a pod that was there before it knew the pod's node; the tests about filters fail over a
    pod on a node that nobody has said to be scheduled.
    """
    until(lambda: all(is_ready(api.get(f"/api/v1/nodes/{name}")) for name in NODES))
    for name in NODES:
        spec = {
            "nodeName": name,
            "containers": [{"name": "c", "image": "pause"}],
            "tolerations": [{"operator": "Exists"}],
        }
        api.create(SYSTEM_PODS, {"metadata": {"name": f"{AS_IF_COMPLETE}-{name}"}, "spec": spec})
    until(lambda: all(is_ready(pod) for pod in api.get(SYSTEM_PODS)["items"]))


def is_ready(item: Json) -> bool:
    """A node or a pod says so of itself."""
    conditions = item["status"].get("conditions", ())
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def run(part: Part, folder: Path, *, ours: bool) -> dict[str, Outcome]:
    """What became of each test, by its name."""
    report = folder / f"{'ours' if ours else 'theirs'}.xml"
    with ExitStack() as stack:
        plane = stack.enter_context(
            ControlPlane(
                controller_manager=True,
                controllers=f"{CONTROLLERS},{ALSO_CONTROLLED}",
                feature_gates=part.gates,
                extra_apiserver_flags=(f"--runtime-config={part.served}",) if part.served else (),
                minor=part.minor,
            )
        )
        with Api(plane.port, ADMIN_TOKEN) as api:
            add_nodes(api)
            stack.enter_context(FakeKubelets(plane))
            add_pods(api)
        if ours:
            flags = ["--scheduler-name=default-scheduler", "--take-over", "--preempt", "--leader-elect=false"]
            flags += [f"--feature-gates={part.gates}"] if part.gates else []
            watcher = stack.enter_context(WatcherProcess(plane.kubeconfig, *flags))
            stack.callback(lambda: report.with_suffix(".watcher.log").write_text(watcher.said))
        else:
            plane.start_scheduler()
        chosen = [f"--ginkgo.focus={part.focus}", *([f"--ginkgo.skip={part.skip}"] if part.skip else [])]
        with report.with_suffix(".log").open("wb") as log:
            subprocess.run(
                [
                    str(suite(part.minor)),
                    f"--kubeconfig={plane.kubeconfig}",
                    "--provider=skeleton",
                    "--ginkgo.v",
                    "--ginkgo.no-color",
                    f"--ginkgo.junit-report={report}",
                    *chosen,
                ],
                cwd=folder,
                stdout=log,
                stderr=subprocess.STDOUT,
                check=False,
            )
    return outcomes(report)


def outcomes(report: Path) -> dict[str, Outcome]:
    """The tests of a report of Ginkgo's that ran, by name."""
    cases = ET.parse(report).getroot().iter("testcase")  # noqa: S314 - written by the program above
    found = {case.attrib["name"]: Outcome(case.attrib["status"], failure_of(case)) for case in cases}
    return {name: each for name, each in found.items() if each.status != "skipped" and name.startswith("[It]")}


def failure_of(case: ET.Element) -> str:
    """The message of a test that failed, and where it stands."""
    found = case.find("failure")
    return "" if found is None else f"{found.get('message', '')}\n{(found.text or '')[:2000]}"


@pytest.mark.parametrize("name", PARTS)
def test_what_passes_with_kube_scheduler_passes_with_ours(name: str, tmp_path: Path) -> None:
    part = PARTS[name]
    with ThreadPoolExecutor() as pool:
        theirs, ours = pool.map(lambda ours: run(part, tmp_path, ours=ours), (False, True))
    passed = {test for test, outcome in theirs.items() if outcome.status == "passed"}
    failed = {test: ours.get(test, NOT_RUN) for test in passed if ours.get(test, NOT_RUN).status != "passed"}
    print(
        f"{name}: of {len(theirs)} kube-scheduler passes {len(passed)}, and ours {len(passed) - len(failed)} of these"
    )
    for test, outcome in failed.items():
        print(f"{test}: {outcome.status}\n{outcome.failure}")
    assert not failed, f"see {tmp_path}"
    assert len(passed) >= part.at_least
