"""`bind pod NAME` while the cluster changes under it, and in clusters without any scheduler."""

import os
import pty
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec.structs import replace

from kubectl_sched.binding.bind_context import Order, Situation, situation_of
from kubectl_sched.binding.bind_once import Tools, bind_once
from kubectl_sched.binding.binding_cycle import BindingCycle, Bound, Failed, Gone, Taken
from kubectl_sched.binding.binding_outcome import BindAnswer
from kubectl_sched.binding.cancellable_binding import PodInPreBind
from kubectl_sched.binding.event_recorder import EventRecorder
from kubectl_sched.binding.writer import Request, Writer
from kubectl_sched.sources.live.client import Server
from kubectl_sched.sources.live.cluster_reader import read_live
from kubectl_sched.sources.live.connection_flags import Connection
from kubectl_sched.sources.live.kubeconfig import resolve
from kubectl_sched.sources.live.live_errors import LostResponseError
from kubectl_sched.sources.pod_selection import Selection
from tests.e2e.api import Api, Json
from tests.e2e.binding_cluster import (
    CLAIMS,
    PODS,
    STORAGE_CLASSES,
    VOLUMES,
    Program,
    claim,
    events,
    node,
    node_of,
    pod,
    versions,
    volume,
)
from tests.e2e.control_plane import ADMIN_TOKEN, ControlPlane
from tests.e2e.patience import until
from tests.oracle.build import GoMissingError
from tests.scheduler.cycles import with_cycle

pytestmark = pytest.mark.e2e

MANIFESTS = Path(__file__).parents[3] / "manifests"
PAGE = Path(__file__).parents[3] / "docs" / "bind.md"
VERBS = {"POST": "create", "PATCH": "patch", "DELETE": "delete"}
RBAC = "/apis/rbac.authorization.k8s.io/v1"


@pytest.fixture(scope="module")
def control_plane() -> Iterator[ControlPlane]:
    """No scheduler at all: two nodes of 4 CPUs, and two small ones that only pods that name their pool go to."""
    try:
        with ControlPlane() as plane:
            with Api(plane.port, ADMIN_TOKEN) as api:
                for name in ("k8s-node-1", "k8s-node-2"):
                    node(api, name)
                for name in ("small-1", "small-2"):
                    node(api, name, "1")
                    spec = {"taints": [{"key": "pool", "value": "small", "effect": "NoSchedule"}]}
                    api.merge(
                        f"/api/v1/nodes/{name}",
                        {"metadata": {"labels": {"pool": "small"}}, "spec": spec},
                    )
            yield plane
    except GoMissingError as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="module")
def program(control_plane: ControlPlane) -> Program:
    return Program(control_plane)


SMALL: Json = {"nodeSelector": {"pool": "small"}, "tolerations": [{"key": "pool", "operator": "Exists"}]}


class Here:
    """What a run in this process works with."""

    def __init__(self, plane: ControlPlane, name: str, order: Order) -> None:
        self._endpoint = resolve(Connection(kubeconfig=str(plane.kubeconfig)))
        self._selection = Selection(targets=(name,), namespace="default", also=("Lease",))
        self.order = order
        self.server = Server(self._endpoint)
        self.writer = Writer(self.server)
        self.recorder = EventRecorder(self.writer)
        self.cycle = BindingCycle(self.writer, self.recorder)

    def look(self) -> Situation:
        return situation_of(read_live(self._endpoint, self._selection), self._selection, self.order)

    def bind(self, cycle: BindingCycle | None = None) -> BindAnswer:
        tools = Tools(
            show=lambda _: None,
            ask=lambda _: True,
            uninterrupted=nullcontext,
            writer=self.writer,
            recorder=self.recorder,
            cycle=cycle or self.cycle,
            stop=threading.Event(),
        )
        return bind_once(self.order, tools, self.look)


Start = Callable[[str], Here]


@pytest.fixture
def here(control_plane: ControlPlane) -> Start:
    return lambda name: Here(control_plane, name, Order(yes=True))


def test_scenario_b_a_pod_of_a_scheduler_that_is_gone_is_bound_by_hand_with_the_same_event(
    api: Api, program: Program
) -> None:
    pod(api, "po37", schedulerName="kube-extra-scheduler", nodeSelector={"kubernetes.io/hostname": "k8s-node-2"})
    answer = program.bind("po37")
    assert answer["explanation"]["stage"]["name"] == "NoScheduler"
    assert answer["serving"]["state"] == "unknown"
    event = events(api, "po37", "Scheduled")[0]
    assert event["note"] == "Successfully assigned default/po37 to k8s-node-2"
    assert event["reportingController"] == "kube-extra-scheduler"


def test_scenario_e_without_any_scheduler_a_pod_is_bound_by_hand(api: Api, program: Program) -> None:
    pod(api, "lonely", schedulerName="default-scheduler")
    chosen = program.bind("lonely")["boundTo"]
    assert events(api, "lonely", "Scheduled")[0]["note"] == f"Successfully assigned default/lonely to {chosen}"
    assert events(api, "lonely", "Scheduled")[0]["reportingController"] == "default-scheduler"


def test_a_verdict_that_no_longer_holds_once_the_answer_is_yes_is_made_again_and_asked_again(
    api: Api, control_plane: ControlPlane
) -> None:
    pod(api, "asked", "600m", **SMALL)
    with at_a_terminal(control_plane, "asked") as (process, terminal):
        said = read_until(process, "Bind default/asked to small-1? [y/N] ")
        assert "Whether a scheduler serves it is not known" in said
        pod(api, "in-between", "600m", nodeName="small-1")
        os.write(terminal, b"y\n")
        read_until(process, "Bind default/asked to small-2? [y/N] ")
        os.write(terminal, b"y\n")
        assert process.wait(timeout=60) == 0
        assert process.stdout is not None
        assert "pod default/asked bound to node small-2" in process.stdout.read().decode()
    assert node_of(api, "asked") == "small-2"
    for name in ("asked", "in-between"):
        api.delete(f"{PODS}/{name}", grace_seconds=0)


def test_another_pod_of_the_name_is_not_what_was_confirmed(api: Api, control_plane: ControlPlane) -> None:
    pod(api, "renewed", "600m", **SMALL)
    with at_a_terminal(control_plane, "renewed") as (process, terminal):
        read_until(process, "Bind default/renewed to small-1? [y/N] ")
        api.delete(f"{PODS}/renewed", grace_seconds=0)
        pod(api, "renewed", "600m", **SMALL)
        os.write(terminal, b"y\n")
        read_until(process, "Bind default/renewed to small-1? [y/N] ")
        os.write(terminal, b"n\n")
        assert process.wait(timeout=60) == 1
    assert node_of(api, "renewed") == ""
    api.delete(f"{PODS}/renewed", grace_seconds=0)


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [(b"n\n", 1, "error: nothing was written"), (None, 130, "error: interrupted: nothing was written")],
    ids=["no", "ctrl-c"],
)
def test_whoever_says_no_or_interrupts_the_question_has_written_nothing(
    api: Api, control_plane: ControlPlane, answer: bytes | None, code: int, said: str
) -> None:
    name = f"declined-{code}"
    pod(api, name)
    before = versions(api)
    with at_a_terminal(control_plane, name) as (process, terminal):
        read_until(process, "? [y/N] ")
        if answer is None:
            process.send_signal(signal.SIGINT)
        else:
            os.write(terminal, answer)
        assert process.stderr is not None
        rest = process.stderr.read().decode()
        assert (process.wait(timeout=60), rest.splitlines()[-1].removeprefix("? [y/N] ")) == (code, said)
    assert versions(api) == before


@contextmanager
def at_a_terminal(plane: ControlPlane, name: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A run that can ask, and where to type the answer."""
    terminal, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "kubectl_sched", "bind", "pod", name],
        env={**os.environ, "KUBECONFIG": str(plane.kubeconfig)},
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            yield process, terminal
        finally:
            process.kill()
    os.close(terminal)
    os.close(theirs)


def read_until(process: subprocess.Popen[bytes], text: str) -> str:
    assert process.stderr is not None
    said = ""
    while text not in said:
        part = os.read(process.stderr.fileno(), 65536)
        assert part, said
        said += part.decode()
    return said


class Rival(BindingCycle):
    """Something happens after the pod and its node were read for the last time and before anything is written."""

    def __init__(self, here: Here, happens: Callable[[], object]) -> None:
        super().__init__(here.writer, here.recorder)
        self._happens: Callable[[], object] | None = happens

    def run(self, *arguments: Any, **more: Any) -> Any:
        happens, self._happens = self._happens, None
        if happens is not None:
            happens()
        return super().run(*arguments, **more)


def test_a_node_that_a_race_has_overcommitted_is_reported(api: Api, here: Start) -> None:
    pod(api, "racing", "600m", **SMALL)
    run = here("racing")
    answer = run.bind(Rival(run, lambda: pod(api, "rival", "600m", nodeName="small-1")))
    assert (answer.outcome, answer.bound_to) == ("Bound", "small-1")
    assert (
        "node small-1 is overcommitted (Insufficient cpu): default/rival came to it at the same time as pod "
        "default/racing"
    ) in answer.warnings
    for name in ("racing", "rival"):
        api.delete(f"{PODS}/{name}", grace_seconds=0)


def test_a_node_that_is_gone_right_before_the_binding_is_told(api: Api, here: Start) -> None:
    node(api, "fleeting")
    pod(api, "stranded", nodeSelector={"kubernetes.io/hostname": "fleeting"})
    run = here("stranded")
    answer = run.bind(Rival(run, lambda: api.delete("/api/v1/nodes/fleeting")))
    assert (answer.outcome, answer.bound_to) == ("Bound", "fleeting")
    assert any("node fleeting is gone" in warning for warning in answer.warnings)
    api.delete(f"{PODS}/stranded", grace_seconds=0)


def test_a_node_that_is_replaced_right_before_the_binding_is_told(api: Api, here: Start) -> None:
    node(api, "brief")
    pod(api, "misled", nodeSelector={"kubernetes.io/hostname": "brief"})
    run = here("misled")

    def replaced() -> None:
        api.delete("/api/v1/nodes/brief")
        node(api, "brief")

    answer = run.bind(Rival(run, replaced))
    assert (answer.outcome, answer.bound_to) == ("Bound", "brief")
    assert any("node brief was replaced by another one of its name" in warning for warning in answer.warnings)
    api.delete(f"{PODS}/misled", grace_seconds=0)


def test_a_pod_that_somebody_else_binds_meanwhile_is_left_to_him(api: Api, here: Start) -> None:
    pod(api, "theirs")
    run = here("theirs")
    answer = run.bind(Rival(run, lambda: bind_to(api, "theirs", "k8s-node-2")))
    assert (answer.outcome, answer.exit_code, answer.bound_to) == ("Taken", 1, "k8s-node-2")
    assert answer.message == "pod default/theirs was bound to node k8s-node-2 by another meanwhile"
    assert events(api, "theirs", "Scheduled") == []


def bind_to(api: Api, name: str, target: str) -> None:
    body = {"metadata": {"name": name}, "target": {"kind": "Node", "name": target}}
    api.create(f"{PODS}/{name}/binding", body)


def test_a_pod_whose_labels_change_meanwhile_is_judged_again_before_it_is_bound(api: Api, here: Start) -> None:
    pod(api, "relabelled")
    run = here("relabelled")
    relabelled = Rival(run, lambda: api.merge(f"{PODS}/relabelled", {"metadata": {"labels": {"app": "other"}}}))
    answer = run.bind(relabelled)
    assert answer.outcome == "Bound"
    assert answer.explanation.pod.metadata.labels == {"app": "other"}


def test_what_does_not_concern_the_verdict_does_not_hinder_the_binding(api: Api, here: Start) -> None:
    pod(api, "annotated")
    run = here("annotated")
    result = with_cycle(run.look().result)
    api.merge(f"{PODS}/annotated", {"metadata": {"annotations": {"seen": "yes"}}})
    assert run.cycle.run(result, "k8s-node-1", PodInPreBind(threading.Event())) == Bound(node="k8s-node-1")


def test_a_pod_that_is_gone_or_another_one_of_its_name_is_never_bound(api: Api, here: Start) -> None:
    pod(api, "replaced")
    run = here("replaced")
    result = with_cycle(run.look().result)
    api.delete(f"{PODS}/replaced", grace_seconds=0)
    assert isinstance(run.cycle.run(result, "k8s-node-1", PodInPreBind(threading.Event())), Gone)
    pod(api, "replaced")
    assert isinstance(run.cycle.run(result, "k8s-node-1", PodInPreBind(threading.Event())), Gone)
    assert node_of(api, "replaced") == ""


class Deaf(Writer):
    """Sends everything, and does not hear the answer to the Binding."""

    def send(self, request: Request) -> Json:
        answer = super().send(request)
        if request.path.endswith("/binding"):
            raise LostResponseError("the answer was lost")
        return answer


def test_a_binding_whose_answer_is_lost_is_looked_up(api: Api, here: Start) -> None:
    pod(api, "unheard")
    run = here("unheard")
    cycle = BindingCycle(Deaf(run.server), run.recorder)
    outcome = cycle.run(with_cycle(run.look().result), "k8s-node-1", PodInPreBind(threading.Event()))
    assert outcome == Bound(node="k8s-node-1")
    assert len(events(api, "unheard", "Scheduled")) == 1
    result = replace(with_cycle(run.look().result), pod=run.look().pod)
    again = cycle.run(result, "k8s-node-2", PodInPreBind(threading.Event()))
    assert again == Taken(node="k8s-node-1")


def test_a_cycle_that_is_told_to_stop_before_it_writes_writes_nothing(api: Api, here: Start) -> None:
    pod(api, "stopped")
    run = here("stopped")
    before, stop = versions(api), threading.Event()
    stop.set()
    outcome = run.cycle.run(with_cycle(run.look().result), "k8s-node-1", PodInPreBind(stop))
    assert isinstance(outcome, Failed)
    assert (outcome.interrupted, versions(api)) == (True, before)


def test_a_volume_that_nobody_binds_is_given_back_on_ctrl_c_and_gone_on_with_after_kill_9(
    api: Api, program: Program
) -> None:
    """There is no persistent volume controller here but this test."""
    body = {"provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"}
    api.create(STORAGE_CLASSES, {"metadata": {"name": "local"}, **body})
    before = api.create(VOLUMES, volume("disk", "k8s-node-2"))
    api.merge(f"{VOLUMES}/disk/status", {"status": {"phase": "Available"}})
    uid = claim(api, "data", "local")["metadata"]["uid"]
    pod(api, "stored", claims=("data",))
    with program.started("stored", "--yes") as process:
        until(lambda: api.get(f"{VOLUMES}/disk")["spec"].get("claimRef"))
        process.send_signal(signal.SIGTERM)
        assert "nothing is left of the attempt" in process.communicate(timeout=60)[1]
    after = api.get(f"{VOLUMES}/disk")
    assert (after["spec"], after["metadata"].get("annotations")) == (before["spec"], None)
    with program.started("stored", "--yes"):
        until(lambda: api.get(f"{VOLUMES}/disk")["spec"].get("claimRef"))
    assert program.bind("stored", "--dry-run=client")["leftovers"] == [
        "it is nominated to node k8s-node-2",
        "volume disk is set aside for claim default/data",
    ]
    with program.started("stored", "--yes", "-o", "json") as process:
        bound = {"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"}
        api.merge(f"{CLAIMS}/data", {"metadata": {"annotations": bound}, "spec": {"volumeName": "disk"}})
        assert process.communicate(timeout=60)[1] == ""
    assert node_of(api, "stored") == "k8s-node-2"
    assert api.get(f"{VOLUMES}/disk")["spec"]["claimRef"]["uid"] == uid


def test_the_readers_and_the_binders_role_together_are_enough_and_the_readers_alone_is_not(
    api: Api, program: Program
) -> None:
    for name in ("reader", "binder"):
        for item in yaml.safe_load_all((MANIFESTS / f"{name}.yaml").read_text()):
            namespace = item["metadata"].get("namespace")
            within = f"namespaces/{namespace}/" if namespace else ""
            api.create(f"{RBAC}/{within}{item['kind'].lower()}s", item)
    pod(api, "forbidden")
    pod(api, "too-big", "64")
    reader = ("--as", "ann", "--as-group", "kubectl-sched-readers")
    before = versions(api)
    done = program.run("forbidden", "--yes", *reader)
    assert done.returncode == 3
    assert 'User "ann" cannot get resource "pods"' in done.stderr
    assert versions(api) == before
    both = (*reader, "--as-group", "kubectl-sched-binders")
    assert not [each for each in program.bind("forbidden", *both)["warnings"] if "not allowed" in each]
    done = program.run("too-big", "--yes", *both)
    assert (done.returncode, "could not be written" in done.stderr) == (1, False)


def test_the_binders_role_allows_exactly_the_writes_that_are_documented() -> None:
    documented = {
        (VERBS[method], group_and_resource(path))
        for method, path in re.findall(r"^\| (POST|PATCH|DELETE) \| `([^`]+)` \|", PAGE.read_text(), re.MULTILINE)
    }
    role = next(yaml.safe_load_all((MANIFESTS / "binder.yaml").read_text()))
    allowed = {
        (verb, (group, resource))
        for rule in role["rules"]
        for verb in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        if verb not in {"get", "list"} and resource != "resourceclaims/binding"
    }
    assert allowed == documented


def group_and_resource(path: str) -> tuple[str, str]:
    """The API group and the resource of a path, with its subresource: `("", "pods/binding")`."""
    parts = [part for part in path.split("/") if not part.startswith("{")]
    group, rest = ("", parts[3:]) if parts[1] == "api" else (parts[2], parts[4:])
    return group, "/".join(part for part in rest if part != "namespaces")
