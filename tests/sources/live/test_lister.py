from __future__ import annotations

import http.server
import threading

import pytest

from kubectl_sched.sources.kinds import BY_NAME
from kubectl_sched.sources.live.client import Server
from kubectl_sched.sources.live.endpoint import Endpoint
from kubectl_sched.sources.live.lister import Lister, decoded, list_meta
from kubectl_sched.sources.live.live_errors import ClusterError

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


def test_the_next_page_is_asked_for_while_one_is_still_on_its_way() -> None:
    asked = threading.Event()
    waited: list[bool] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_second = "continue=x" in self.path
            token = b"" if is_second else b"x"
            head = b'{"kind":"PodList","apiVersion":"v1","metadata":{"continue":"' + token + b'"},"items":['
            head += b" " * (1 << 19)
            tail = b'{"metadata":{"name":"' + (b"b" if is_second else b"a") + b'"}}]}'
            self.send_response(200)
            self.send_header("Content-Length", str(len(head) + len(tail)))
            self.end_headers()
            self.wfile.write(head)
            if is_second:
                asked.set()
            else:
                waited.append(asked.wait(50))
            self.wfile.write(tail)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as serving:
        thread = threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        lister = Lister(Server(Endpoint(f"http://127.0.0.1:{serving.server_address[1]}"), environment={}))
        found = lister.list(POD)
        lister.close()
        serving.shutdown()
        thread.join()
    assert ([pod.name for pod in found.objects], waited) == (["a", "b"], [True])
