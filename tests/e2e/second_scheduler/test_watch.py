"""`bind --watch` beside a real kube-scheduler, with replicas that are killed, and over a network that fails."""

import random
import threading
import time
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from pathlib import Path

import pytest

from tests.e2e.api import Api, ApiError, Json
from tests.e2e.binding_cluster import PODS, STORAGE_CLASSES, claim, node, node_of
from tests.e2e.control_plane import ADMIN_TOKEN, ControlPlane
from tests.e2e.faults import Fault, FaultyServer, Handler, PassError, expired, hang_up, late, status
from tests.e2e.patience import until
from tests.e2e.priority_classes import priority_class
from tests.e2e.watchers import (
    WatcherProcess,
    all_bound,
    audited_plane,
    bindings,
    create_pods,
    plain_pod,
    pods_by_name,
    used_by_node,
)
from tests.oracle.build import GoMissingError

pytestmark = pytest.mark.e2e

OURS, THEIRS = "ours", "default-scheduler"
NODES, NODE_MILLI_CPU = 100, 16_000
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kubectl-sched-ours"
KILL_SECONDS = 20.0
"""How often the leader is killed."""

SHORT_TERMS = (
    "--leader-elect-lease-duration=5s",
    "--leader-elect-renew-deadline=3s",
    "--leader-elect-retry-period=1s",
)


@pytest.fixture
def audit_log(tmp_path: Path) -> Path:
    return tmp_path / "audit.log"


@pytest.fixture
def control_plane(audit_log: Path) -> Iterator[ControlPlane]:
    try:
        with audited_plane(audit_log) as plane:
            yield plane
    except GoMissingError as missing:
        pytest.skip(str(missing))


@pytest.fixture
def api(control_plane: ControlPlane) -> Iterator[Api]:
    with Api(control_plane.port, ADMIN_TOKEN) as connection:
        yield connection


def bind_watch(plane: ControlPlane, *flags: str) -> WatcherProcess:
    return WatcherProcess(plane.kubeconfig, "--scheduler-name", OURS, *flags)


def test_while_a_victim_is_terminating_nobody_else_is_preempted(control_plane: ControlPlane, api: Api) -> None:
    for name in ("n1", "n2"):
        node(api, name, "1")
    priority_class(api, "high", 1000)
    create_pods(control_plane, [plain_pod("first", OURS, "900m", nodeName="n1", terminationGracePeriodSeconds=0)])
    api.merge(f"{PODS}/first", {"metadata": {"finalizers": ["example.com/stay"]}})
    cheaper = plain_pod("cheaper", OURS, "900m", nodeName="n2", terminationGracePeriodSeconds=0)
    create_pods(control_plane, [cheaper])
    api.merge(f"{PODS}/cheaper", {"metadata": {"finalizers": ["example.com/stay"]}})
    with bind_watch(control_plane, "--leader-elect=false", "--preempt") as watcher:
        watcher.until_ready()
        create_pods(control_plane, [plain_pod("urgent", OURS, "900m", priorityClassName="high")])
        victim = until(lambda: next((pod for pod in pods_by_name(api).values() if is_going(pod)), None))
        (condition,) = [each for each in victim["status"]["conditions"] if each["type"] == "DisruptionTarget"]
        assert condition["reason"] == "PreemptionByScheduler"
        create_pods(control_plane, [plain_pod("there", OURS, "900m", nodeName="n3")])
        until(lambda: 'cache_size{type="pods"} 3.0' in watcher.ask("/metrics"))  # pods and nodes come by other watches
        node(api, "n3", "1")  # a node on which it would fit if that were empty: the pod is tried again
        text = "not eligible due to a terminating pod on the nominated node."
        until(lambda: text in message_of(api, "urgent"))
        assert sum(is_going(pod) for pod in pods_by_name(api).values()) == 1
        api.merge(f"{PODS}/{victim['metadata']['name']}", {"metadata": {"finalizers": None}})
        until(lambda: node_of(api, "urgent") == victim["spec"]["nodeName"])
        assert watcher.stop() == 0


def test_a_victim_that_waits_in_pre_bind_is_not_deleted(control_plane: ControlPlane, api: Api) -> None:
    node(api, "n1", "1")
    priority_class(api, "high", 1000)
    made = {
        "metadata": {"name": "made"},
        "provisioner": "example.com/away",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    api.create(STORAGE_CLASSES, made)
    claim(api, "never", "made")
    with bind_watch(control_plane, "--leader-elect=false", "--preempt") as watcher:
        watcher.until_ready()
        volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "never"}}]
        create_pods(control_plane, [plain_pod("waits", OURS, "900m", volumes=volumes)])
        until(lambda: api.get(f"{PODS}/waits")["status"].get("nominatedNodeName"))
        create_pods(control_plane, [plain_pod("urgent", OURS, "900m", priorityClassName="high")])
        until(lambda: node_of(api, "urgent") == "n1")
        waits = api.get(f"{PODS}/waits")
        assert not is_going(waits)
        assert "nodeName" not in waits["spec"]
        assert watcher.stop() == 0


def test_a_rejection_that_is_written_late_does_not_stand_in_the_status_of_a_bound_pod(
    control_plane: ControlPlane, api: Api
) -> None:
    node(api, "n1", "1m")
    asked, passed_on = threading.Event(), threading.Event()

    def held(_: Handler) -> None:
        asked.set()
        time.sleep(3.0)
        passed_on.set()
        raise PassError

    with FaultyServer(control_plane.port, control_plane.folder / "certificates") as proxy:
        proxy.inject("/pods/waiting/status", held)
        with bind_watch(control_plane, f"--server={proxy.url}", "--leader-elect=false") as watcher:
            watcher.until_ready()
            create_pods(control_plane, [plain_pod("waiting", OURS, "100m")])
            until(asked.is_set)
            node(api, "n2")
            until(lambda: node_of(api, "waiting") and passed_on.is_set())
            create_pods(control_plane, [plain_pod("later", OURS, "100m")])
            until(lambda: node_of(api, "later"))  # by then what was passed on has arrived
            assert watcher.stop() == 0
    conditions = api.get(f"{PODS}/waiting")["status"]["conditions"]
    assert [each["status"] for each in conditions if each["type"] == "PodScheduled"] == ["True"]


def is_going(pod: Json) -> bool:
    return "deletionTimestamp" in pod["metadata"]


def message_of(api: Api, name: str) -> str:
    conditions = api.get(f"{PODS}/{name}")["status"].get("conditions", [])
    return str(next((each["message"] for each in conditions if each["type"] == "PodScheduled"), ""))


# Beside kube-scheduler


def test_a_thousand_pods_beside_kube_scheduler_on_the_same_nodes(
    control_plane: ControlPlane, api: Api, audit_log: Path
) -> None:
    for number in range(NODES):
        node(api, f"n{number}", str(NODE_MILLI_CPU // 1000))
    control_plane.start_scheduler()
    with bind_watch(control_plane, "--quiet") as watcher:
        watcher.until_ready()
        with_ample_room(control_plane, api, audit_log)
        on_full_nodes(control_plane, api)
        assert 'scheduler_schedule_attempts_total{profile="ours",result="scheduled"}' in watcher.ask("/metrics")
        assert watcher.stop() == 0


def with_ample_room(plane: ControlPlane, api: Api, audit_log: Path) -> None:
    """All are bound, each by its own scheduler and once, and no node gets more than it has."""
    wanted = [plain_pod(f"ours-{number}", OURS) for number in range(1000)]
    theirs = [plain_pod(f"theirs-{number}", THEIRS) for number in range(250)]
    began = time.monotonic()
    create_pods(plane, [pod for four in zip(*[iter(wanted)] * 4, theirs, strict=True) for pod in four])
    pods = until(lambda: all_bound(api, 1250))
    took = time.monotonic() - began
    by = bindings(audit_log)
    assert {name: len(programs) for name, programs in by.items()} == dict.fromkeys(pods, 1)
    assert all(program == ("kubectl-sched" if name.startswith("ours") else "kube-scheduler")
               for name, (program,) in by.items())  # fmt: skip
    told = api.get("/apis/events.k8s.io/v1/namespaces/default/events?limit=5000")["items"]
    scheduled = [event for event in told if event["reason"] == "Scheduled" and event["reportingController"] == OURS]
    assert len({event["regarding"]["name"] for event in scheduled}) == len(scheduled) == 1000
    assert max(used_by_node(list(pods.values())).values()) <= NODE_MILLI_CPU
    print(f"\n1,000 pods bound by bind --watch beside 250 by kube-scheduler in {took:.1f} s: {1000 / took:.0f} pods/s")


def on_full_nodes(plane: ControlPlane, api: Api) -> None:
    """Room for two more pods on each node, and two schedulers that race for it."""
    used = used_by_node(list(pods_by_name(api).values()))
    fill = [
        plain_pod(f"full-{name}", "nobody", f"{NODE_MILLI_CPU * 95 // 100 - used[name]}m", nodeName=name)
        for name in (f"n{number}" for number in range(NODES))
    ]
    create_pods(plane, fill)
    racing = [plain_pod(f"race-{who}-{number}", who, "400m") for number in range(90) for who in (OURS, THEIRS)]
    create_pods(plane, racing)
    pods = until(lambda: all_bound(api, 1250 + NODES + len(racing)))
    used = used_by_node(list(pods.values()))
    overcommitted = {name for name, milli in used.items() if milli > NODE_MILLI_CPU}
    print(f"on nodes 95 % full, {len(overcommitted)} of {NODES} were overcommitted by the race of {len(racing)} pods")
    ours = used_by_node([pod for name, pod in pods.items() if not name.startswith(f"race-{THEIRS}")])
    assert max(ours.values()) <= NODE_MILLI_CPU, "our own pods alone never take more than there is"


# Leader election


def test_replicas_that_are_killed_lose_nothing_and_bind_nothing_twice(
    control_plane: ControlPlane, api: Api, audit_log: Path
) -> None:
    for number in range(10):
        node(api, f"n{number}", "64")
    stop = threading.Event()
    created: list[str] = []
    creator = threading.Thread(target=create_until, args=(control_plane, stop, created))
    replicas = {name: bind_watch(control_plane, *SHORT_TERMS) for name in ("a", "b")}
    with replicas["a"] as first, replicas["b"] as second:
        running = [first, second]
        until(lambda: holder(api))
        creator.start()
        try:
            for _ in range(3):
                next_kill = time.monotonic() + KILL_SECONDS
                leader = until(partial(leading, running))
                before = api.get(LEASE)["spec"]
                leader.kill()
                spec = until(partial(changed_lease, api, before["holderIdentity"]))
                pause = (moment(spec["acquireTime"]) - moment(before["renewTime"])).total_seconds()
                print(f"\nthe next replica leads {pause:.1f} s after the last renewal of the one that was killed")
                assert pause <= 5 + 5 * 1
                running.remove(leader)
                running.append(bind_watch(control_plane, *SHORT_TERMS).__enter__())
                reached = len(created)
                until(partial(has_node, api, created, reached))
                running[-1].until_ready()
                time.sleep(max(0.0, next_kill - time.monotonic()))
        finally:
            stop.set()
            creator.join()
        until(lambda: all_bound(api, len(created)))
        leader = until(partial(leading, running))
        held = api.get(LEASE)["spec"]["holderIdentity"]
        assert leader.stop() == 0
        until(lambda: changed_lease(api, held))
        for each in running:
            each.__exit__(None, None, None)
    assert bindings(audit_log) == {name: ["kubectl-sched"] for name in created}


def leading(running: list[WatcherProcess]) -> WatcherProcess | None:
    return next((each for each in running if leads(each)), None)


def create_until(plane: ControlPlane, stop: threading.Event, created: list[str]) -> None:
    with Api(plane.port, ADMIN_TOKEN) as api:
        while not stop.wait(0.1):
            name = f"p{len(created)}"
            api.create(PODS, plain_pod(name, OURS))
            created.append(name)


def has_node(api: Api, created: list[str], number: int) -> bool:
    return len(created) > number and bool(node_of(api, created[number]))


def leads(watcher: WatcherProcess) -> bool:
    return watcher.process.poll() is None and 'leader_election_master_status{name="kubectl-sched-ours"} 1.0' in (
        watcher.ask("/metrics")
    )


def holder(api: Api) -> str:
    try:
        return str(api.get(LEASE)["spec"].get("holderIdentity", ""))
    except ApiError:
        return ""


def changed_lease(api: Api, before: str) -> Json | None:
    spec: Json = api.get(LEASE)["spec"]
    return spec if spec.get("holderIdentity") not in {"", None, before} else None


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def test_a_leader_that_is_cut_off_binds_nothing_more_and_ends(control_plane: ControlPlane, api: Api) -> None:
    node(api, "n1")
    with FaultyServer(control_plane.port, control_plane.folder / "certificates") as proxy:
        flags = (f"--server={proxy.url}", *SHORT_TERMS)
        with bind_watch(control_plane, *flags) as watcher:
            watcher.until_ready()
            until(lambda: leads(watcher))
            api.create(PODS, plain_pod("before", OURS))
            until(lambda: node_of(api, "before"))
            proxy.always = lambda request: hang_up if "/leases/" in request.path else None
            assert watcher.process.wait(timeout=60) == 3
            assert "the leadership is lost" in watcher.said
            api.create(PODS, plain_pod("after", OURS))
            assert node_of(api, "after") == ""


# Faults


def test_all_pods_end_bound_whatever_the_network_does(control_plane: ControlPlane, api: Api, audit_log: Path) -> None:
    for number in range(10):
        node(api, f"n{number}", "64")
    chance = random.Random(7)  # noqa: S311 - faults need no secret
    with FaultyServer(control_plane.port, control_plane.folder / "certificates") as proxy:
        proxy.always = lambda request: fault(chance, request)
        with bind_watch(control_plane, f"--server={proxy.url}", "--leader-elect=false", "--quiet") as watcher:
            watcher.until_ready()
            for batch in range(4):
                create_pods(control_plane, [plain_pod(f"p{batch}-{number}", OURS) for number in range(50)])
                proxy.cut_watches()
            until(lambda: all_bound(api, 200))
            assert "kubectl_sched_watch_disturbances_total" in watcher.ask("/metrics")
            assert watcher.stop() == 0
    assert {name: len(by) for name, by in bindings(audit_log).items()} == dict.fromkeys(pods_by_name(api), 1)


def fault(chance: random.Random, request: Handler) -> Fault | None:
    """One request in four meets something."""
    watches = "watch=true" in request.path
    faults: list[Fault] = [
        status(429, "TooManyRequests", "wait", Retry_After="1"),
        status(500, "InternalError", "oops"),
        hang_up,
        late(0.5),
    ]
    return chance.choice([*faults, expired] if watches else faults) if chance.random() < 0.25 else None
