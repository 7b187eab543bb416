"""A kind is followed whatever the connection does: from where it broke, or listed anew where that is forgotten."""

from __future__ import annotations

import http.server
import json
import threading
from collections import deque
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest

from kubectl_sched.sources.kinds import BY_NAME
from kubectl_sched.sources.live import reflector
from kubectl_sched.sources.live.client import Server
from kubectl_sched.sources.live.credentials import Credentials, Shown
from kubectl_sched.sources.live.endpoint import Endpoint
from kubectl_sched.sources.live.lister import Lister
from kubectl_sched.sources.live.live_errors import ClusterError, KubeconfigError
from kubectl_sched.sources.live.reflector import Changed, Disturbed, Reflector, Replaced, Resumed

if TYPE_CHECKING:
    from collections.abc import Iterator

Message = Replaced | Changed | Disturbed | Resumed


def pod(name: str, version: int) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "default", "resourceVersion": str(version)}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {}}


def listed(version: int, *pods: dict[str, Any]) -> bytes:
    return json.dumps({"kind": "PodList", "metadata": {"resourceVersion": str(version)}, "items": pods}).encode()


def said(*events: tuple[str, dict[str, Any]]) -> bytes:
    return b"".join(json.dumps({"type": kind, "object": each}).encode() + b"\n" for kind, each in events)


EXPIRED = {"kind": "Status", "code": 410, "message": "too old resource version"}


class Script:
    """Answers requests one after the other with what was laid down, and holds the last watch open."""

    def __init__(self) -> None:
        self.answers: deque[tuple[int, bytes]] = deque()
        self.asked: list[dict[str, str]] = []
        self.another = threading.Event()
        """Something has been asked."""
        self.over = threading.Event()

    def next(self, query: dict[str, str]) -> tuple[int, bytes] | None:
        self.asked.append(query)
        self.another.set()
        return self.answers.popleft() if self.answers else None


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def server(script: Script) -> Iterator[Server]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            answer = script.next({key: values[0] for key, values in parse_qs(parts.query).items()})
            self.send_response(answer[0] if answer else 200)
            self.end_headers()
            if answer is not None:
                self.wfile.write(answer[1])
                return
            self.wfile.flush()
            script.over.wait(120)

        def log_message(self, *_: object) -> None:
            pass

    serving = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield Server(Endpoint(f"http://127.0.0.1:{serving.server_address[1]}"), {}, attempts=1)
    script.over.set()
    serving.shutdown()
    serving.server_close()
    thread.join()


@pytest.fixture
def laid(request: pytest.FixtureRequest, script: Script) -> None:
    """The answers of a test's parameter."""
    script.answers.extend(request.param)


@pytest.fixture
def follow(server: Server, laid: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleQueue[Message]]:
    del laid
    monkeypatch.setattr(reflector, "FIRST_WAIT_SECONDS", 0.01)
    seen: SimpleQueue[Message] = SimpleQueue()
    lister = Lister(server)
    following = Reflector(server, lister, BY_NAME["Pod"], seen.put, "status.phase!=Failed")
    following.start()
    yield seen
    following.stop()
    lister.close()
    following.join(60)


@pytest.fixture
def failures(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many failures in a row each pause was made for; the pauses are short."""
    counted: list[int] = []

    def short(count: int) -> float:
        counted.append(count)
        return 0.01

    monkeypatch.setattr(reflector, "wait_seconds", short)
    return counted


def names(seen: SimpleQueue[Message], count: int) -> list[str]:
    """The subjects of the next messages."""
    return [words(seen.get(timeout=60)) for _ in range(count)]


def words(message: Message) -> str:
    match message:
        case Replaced(_, objects):
            return f"all: {' '.join(each.name for each in objects)}"
        case Changed(_, item, gone):
            return f"{'gone' if gone else 'now'}: {item.name}@{item.metadata.resource_version}"
        case Disturbed(status=status):
            return f"disturbed {status}"
        case Resumed():
            return "resumed"


def asked_from(script: Script) -> list[str]:
    return [each.get("resourceVersion", "list") for each in script.asked]


@pytest.mark.parametrize(
    "laid",
    [
        [
            (200, listed(5, pod("a", 3))),
            (200, said(("ADDED", pod("b", 6)), ("BOOKMARK", pod("", 9)))),
            (200, said(("MODIFIED", pod("a", 10)), ("DELETED", pod("b", 11))) + b'{"type":"ADDED","obj'),
        ]
    ],
    ids=["cut off"],
    indirect=True,
)
def test_a_watch_that_ends_is_taken_up_where_it_ended(follow: SimpleQueue[Message], script: Script) -> None:
    assert names(follow, 4) == ["all: a", "now: b@6", "now: a@10", "gone: b@11"]
    assert asked_from(script)[:3] == ["list", "5", "9"]
    assert all(each["fieldSelector"] == "status.phase!=Failed" for each in script.asked)
    assert all(each["allowWatchBookmarks"] == "true" for each in script.asked[1:])


@pytest.mark.parametrize(
    "laid",
    [
        [(200, listed(5)), (200, said(("ERROR", EXPIRED))), (200, listed(20, pod("new", 19)))],
        [
            (200, listed(5)),
            (200, said(("ERROR", {"kind": "Status", "reason": "Expired"}))),
            (200, listed(20, pod("new", 19))),
        ],
        [(200, listed(5)), (410, b"{}"), (200, listed(20, pod("new", 19)))],
    ],
    ids=["said", "said without a code", "answered"],
    indirect=True,
)
def test_a_state_that_is_forgotten_is_listed_anew(follow: SimpleQueue[Message], script: Script) -> None:
    assert names(follow, 2) == ["all: ", "all: new"]
    assert asked_from(script)[:3] == ["list", "5", "list"]


@pytest.mark.parametrize(
    "laid",
    [[(500, b"{}"), (200, listed(5)), (429, b"{}"), (429, b"{}"), (200, said(("ADDED", pod("a", 6))))]],
    ids=["busy"],
    indirect=True,
)
def test_a_busy_server_is_asked_again_from_the_same_state(follow: SimpleQueue[Message], script: Script) -> None:
    assert names(follow, 6) == ["disturbed 500", "all: ", "disturbed 429", "disturbed 429", "resumed", "now: a@6"]
    assert asked_from(script)[:5] == ["list", "list", "5", "5", "5"]


@pytest.mark.parametrize(
    "laid",
    [
        [(200, listed(5)), refusal, (200, listed(20, pod("new", 19))), refusal, (200, listed(30, pod("new", 29)))]
        for refusal in (
            (400, b"{}"),
            (503, b"{}"),
            (200, said(("ERROR", {"kind": "Status", "code": 500, "message": "cannot convert"}))),
            (200, b"<html>\n"),
            (200, b'{"type":"ADDED","object":null}\n'),
            (200, b'{"type":"ERROR","object":{"code":"x"}}\n'),
        )
    ],
    ids=["bad request", "unavailable", "an error", "a page", "no object", "no status"],
    indirect=True,
)
def test_a_state_that_the_server_does_not_go_on_from_is_listed_anew(
    failures: list[int], follow: SimpleQueue[Message], script: Script
) -> None:
    first, *seen = names(follow, 5)
    assert (first, seen[1::2]) == ("all: ", ["all: new", "all: new"])
    assert all(each.startswith("disturbed ") for each in seen[::2])
    assert asked_from(script)[:5] == ["list", "5", "list", "20", "list"]
    assert failures == [0, 1]  # pauses grow, although each list succeeds


@pytest.mark.parametrize(
    "laid",
    [[(200, listed(5)), (200, said(("ADDED", {**pod("odd", 6), "spec": {"containers": 7}}), ("ADDED", pod("a", 7))))]],
    ids=["odd"],
    indirect=True,
)
def test_an_object_that_cannot_be_read_is_named_and_left_out(follow: SimpleQueue[Message]) -> None:
    assert names(follow, 3) == ["all: ", "disturbed 0", "now: a@7"]


@pytest.mark.parametrize(
    "laid",
    [[(200, b'{"metadata":{},"items":5}'), (200, listed(5, pod("a", 3)))]],
    ids=["a number"],
    indirect=True,
)
def test_what_is_no_list_is_asked_for_again(follow: SimpleQueue[Message]) -> None:
    assert names(follow, 2) == ["disturbed 0", "all: a"]


@pytest.mark.parametrize("laid", [[(404, b"{}")]], ids=["unserved"], indirect=True)
def test_a_kind_that_is_not_served_is_empty(follow: SimpleQueue[Message]) -> None:
    assert names(follow, 1) == ["all: "]


@pytest.mark.parametrize("failures", [0, 1, 5, 1000])
def test_pauses_double_up_to_half_a_minute_and_are_scattered(failures: int) -> None:
    longest = min(0.8 * 2.0 ** min(failures, 10), 30.0)
    assert longest <= reflector.wait_seconds(failures) <= 2 * longest


PAGE = b'{"kind":"PodList","metadata":{"resourceVersion":"7","continue":"a"},"items":[]}'


def test_a_list_that_comes_back_to_the_same_page_is_given_up(server: Server, script: Script) -> None:
    script.answers.extend([(200, PAGE)] * 9)
    lister = Lister(server)
    with pytest.raises(ClusterError, match="does not end"):
        lister.list(BY_NAME["Pod"])
    lister.close()


@pytest.fixture
def any_time_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reflector, "LONGEST_WAIT_SECONDS", -1.0)


@pytest.mark.usefixtures("any_time_is_long")
@pytest.mark.parametrize(
    "laid",
    [[*((200, listed(5)), (200, b"<html>\n")) * 2, (200, listed(20))]],
    ids=["twice"],
    indirect=True,
)
def test_pauses_are_short_again_after_a_watch_that_went_well_for_long(
    failures: list[int], follow: SimpleQueue[Message]
) -> None:
    assert names(follow, 5) == ["all: ", "disturbed 0", "all: ", "disturbed 0", "all: "]
    assert failures == [0, 0]


def test_a_watch_that_is_silent_for_long_is_followed_by_another_from_where_it_was(
    server: Server, script: Script
) -> None:
    script.answers.append((200, listed(5, pod("a", 3))))
    seen: SimpleQueue[Message] = SimpleQueue()
    lister = Lister(server)
    following = Reflector(server, lister, BY_NAME["Pod"], seen.put, silence_seconds=0.05)
    following.start()
    assert names(seen, 1) == ["all: a"]
    while len(script.asked) < 4:  # the server holds each watch open and says nothing
        script.another.wait(60)
        script.another.clear()
    following.stop()
    lister.close()
    following.join(60)
    assert asked_from(script)[:4] == ["list", "5", "5", "5"]
    assert seen.empty(), "silence is no disturbance as long as another watch begins"


def test_credentials_that_cannot_be_read_for_a_while_are_waited_for(
    server: Server, script: Script, failures: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = Credentials.shown
    missing = [KubeconfigError("token: no such file or directory")] * 2

    def renewed(credentials: Credentials, refused: Shown | None = None) -> Shown:
        if missing:
            raise missing.pop()
        return shown(credentials, refused)

    monkeypatch.setattr(Credentials, "shown", renewed)
    script.answers.append((200, listed(5, pod("a", 3))))
    seen: SimpleQueue[Message] = SimpleQueue()
    lister = Lister(server)
    following = Reflector(server, lister, BY_NAME["Pod"], seen.put)
    following.start()
    assert names(seen, 3) == ["disturbed 0", "disturbed 0", "all: a"]
    assert failures == [0, 1]
    following.stop()
    lister.close()
    following.join(60)
