"""`bind --watch` while the API server is away, while it is asked to end, and beside a pod that costs too much."""

import signal
from collections.abc import Iterator

import pytest

from tests.e2e.api import Api
from tests.e2e.binding_cluster import PODS, events, node, node_of
from tests.e2e.control_plane import ADMIN_TOKEN, ControlPlane
from tests.e2e.faults import FaultyServer, Handler, hang_up
from tests.e2e.patience import until
from tests.e2e.watchers import WatcherProcess, plain_pod
from tests.oracle.build import GoMissingError

pytestmark = pytest.mark.e2e

OURS = "ours"


@pytest.fixture
def control_plane() -> Iterator[ControlPlane]:
    try:
        with ControlPlane() as plane:
            yield plane
    except GoMissingError as missing:
        pytest.skip(str(missing))


@pytest.fixture
def api(control_plane: ControlPlane) -> Iterator[Api]:
    with Api(control_plane.port, ADMIN_TOKEN) as connection:
        yield connection


@pytest.fixture
def proxy(control_plane: ControlPlane) -> Iterator[FaultyServer]:
    with FaultyServer(control_plane.port, control_plane.folder / "certificates") as server:
        yield server


def reason_of(api: Api, name: str) -> str:
    """The reason of the pod's condition PodScheduled."""
    conditions = api.get(f"{PODS}/{name}")["status"].get("conditions", [])
    return next((str(each["reason"]) for each in conditions if each["type"] == "PodScheduled"), "")


def bind_watch(plane: ControlPlane, *flags: str) -> WatcherProcess:
    return WatcherProcess(plane.kubeconfig, "--scheduler-name", OURS, "--leader-elect=false", *flags)


def test_a_pod_whose_binding_is_done_and_its_answer_lost_keeps_its_room_through_an_outage(
    control_plane: ControlPlane, api: Api, proxy: FaultyServer
) -> None:
    node(api, "n1", "1")
    looks: list[str] = []

    def away(request: Handler) -> None:
        if request.command == "GET" and request.path.endswith("/pods/first"):
            looks.append(request.path)
        hang_up(request)

    def bound_and_lost(request: Handler) -> None:
        proxy.always = lambda _: away
        proxy.cut_watches()  # before the binding, of which no watch is to tell
        with Api(control_plane.port, ADMIN_TOKEN) as server:
            target = {"metadata": {"name": "first"}, "target": {"kind": "Node", "name": "n1"}}
            server.create(f"{PODS}/first/binding", target)
        hang_up(request)

    with bind_watch(control_plane, f"--server={proxy.url}", "--take-over") as watcher:
        watcher.until_ready()
        proxy.inject("/pods/first/binding", bound_and_lost)
        api.create(PODS, plain_pod("first", OURS, "800m"))
        api.create(PODS, plain_pod("second", OURS, "800m"))
        until(lambda: len(looks) > 10)  # one look gives up after five tries
        assert 'scheduler_cache_size{type="assumed_pods"} 1.0' in watcher.ask("/metrics")
        proxy.always = lambda _: None
        until(lambda: events(api, "first", "Scheduled"))
        until(lambda: events(api, "second", "FailedScheduling"))
        assert events(api, "first", "FailedScheduling") == []
        assert node_of(api, "second") == ""
        assert watcher.stop() == 0


def test_events_of_an_outage_are_written_once_the_server_is_there_again(
    control_plane: ControlPlane, api: Api, proxy: FaultyServer
) -> None:
    node(api, "n1", "1")
    with bind_watch(control_plane, f"--server={proxy.url}", "--take-over") as watcher:
        watcher.until_ready()
        refused: list[str] = []

        def no_events(request: Handler) -> None:
            refused.append(request.path)
            hang_up(request)

        proxy.always = lambda request: no_events if request.path.endswith("/events") else None
        api.create(PODS, plain_pod("web", OURS))
        until(lambda: node_of(api, "web") == "n1")
        until(lambda: len(refused) > 5)  # the first five tries follow one another at once
        proxy.always = lambda _: None
        until(lambda: events(api, "web", "Scheduled"))
        assert watcher.stop() == 0


@pytest.mark.parametrize(("how", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_it_ends_at_once_while_it_reads_the_cluster(
    control_plane: ControlPlane, proxy: FaultyServer, how: signal.Signals, code: int
) -> None:
    held = []

    def hold(request: Handler) -> None:
        held.append(request.path)
        request.rfile.read(1)  # until the other side hangs up

    proxy.always = lambda _: hold
    with bind_watch(control_plane, f"--server={proxy.url}") as watcher:
        until(lambda: held)
        assert watcher.stop(how) == code


def test_a_pod_that_costs_too_much_waits_and_says_so_and_others_are_bound(
    control_plane: ControlPlane, api: Api
) -> None:
    node(api, "n1", "4")
    with bind_watch(control_plane, "--take-over", "--cycle-work=50ms") as watcher:
        watcher.until_ready()
        costly = plain_pod("costly", OURS)
        names = {f"example.com/r{number}": "1" for number in range(20_000)}
        costly["spec"]["containers"][0]["resources"] = {"requests": names, "limits": names}
        api.create(PODS, costly)
        event, *_ = until(lambda: events(api, "costly", "FailedScheduling"))
        assert "its cycle needs more than 50,000 steps of work" in event["note"]
        assert "doubles from 1 s to 5 min" in event["note"]
        api.create(PODS, plain_pod("web", OURS))
        until(lambda: node_of(api, "web") == "n1")
        assert until(lambda: reason_of(api, "costly")) == "SchedulerError"
        assert watcher.stop() == 0
