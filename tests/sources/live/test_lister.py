from __future__ import annotations

import http.server
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from kubectl_sched.sources.kinds import BY_NAME
from kubectl_sched.sources.live.client import Server
from kubectl_sched.sources.live.endpoint import Endpoint
from kubectl_sched.sources.live.lister import Lister, decoded, list_meta
from kubectl_sched.sources.live.live_errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Iterator

POD = BY_NAME["Pod"]


@pytest.mark.parametrize(
    "body",
    [
        b'{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":"x","remainingItemCount":2},"items":[]}',
        b'{"items": [], "metadata": {"continue": "x", "resourceVersion": "7", "remainingItemCount": 2}}',
    ],
)
def test_what_a_page_says_of_the_list_is_read_wherever_it_stands(body: bytes) -> None:
    meta = list_meta(body)
    assert (meta.resource_version, meta.continue_, meta.remaining_item_count) == ("7", "x", 2)


def test_an_empty_list_may_be_null() -> None:
    assert decoded(b'{"kind":"PodList","metadata":{},"items":null}', POD) == ([], [])


def test_one_object_that_cannot_be_read_does_not_spoil_the_page() -> None:
    body = b'{"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"},"spec":{"priority":"high"}}]}'
    objects, broken = decoded(body, POD)
    assert [item.name for item in objects] == ["a"]
    assert broken == [("b", "spec.priority: expected int | null, got str")]


@pytest.mark.parametrize("body", [b"<html>", b'{"metadata":{"resourceVersion":"7"},"items":[{"meta'])
def test_what_is_no_list_is_said_so(body: bytes) -> None:
    with pytest.raises(ClusterError):
        assert (list_meta(body), decoded(body, POD)) is None


class Handler(http.server.BaseHTTPRequestHandler):
    def begin(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def lister_of(handler: type[Handler]) -> Iterator[Lister]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as serving:
        thread = threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        lister = Lister(Server(Endpoint(f"http://127.0.0.1:{serving.server_address[1]}"), environment={}))
        yield lister
        lister.close()
        serving.shutdown()
        thread.join()


def page(name: str, token: str = "", *, padding: int = 0) -> bytes:
    head = f'{{"kind":"PodList","apiVersion":"v1","metadata":{{"continue":"{token}"}},"items":[{" " * padding}'
    return f'{head}{{"metadata":{{"name":"{name}"}}}}]}}'.encode()


def test_the_next_page_is_asked_for_while_one_is_still_on_its_way() -> None:
    asked = threading.Event()
    waited: list[bool] = []

    class Slow(Handler):
        def do_GET(self) -> None:
            is_second = "continue=x" in self.path
            body = page("b" if is_second else "a", "" if is_second else "x", padding=1 << 19)
            self.begin(200, body)
            self.wfile.write(body[:-1])
            if is_second:
                asked.set()
            else:
                waited.append(asked.wait(50))
            self.wfile.write(body[-1:])

    with lister_of(Slow) as lister:
        found = lister.list(POD)
    assert ([pod.name for pod in found.objects], waited) == (["a", "b"], [True])


def test_who_takes_the_pages_is_told_when_the_list_begins_anew() -> None:
    answers = [(200, page("a", "x")), (410, b"{}"), (200, page("b", "y")), (200, page("c"))]
    taken: list[tuple[list[str], bool]] = []

    class Expiring(Handler):
        def do_GET(self) -> None:
            status, body = answers.pop(0)
            self.begin(status, body)
            self.wfile.write(body)

    with lister_of(Expiring) as lister:
        found = lister.list(POD, take=lambda pods, is_first: taken.append(([pod.name for pod in pods], is_first)))
    assert taken == [(["a"], True), (["b"], True), (["c"], False)]
    assert [pod.name for pod in found.objects] == ["b", "c"]
