"""One candidate against a server: whatever it answers, the candidate goes on."""

from __future__ import annotations

import http.server
import threading
import time
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import pytest

from kubectl_sched.binding.second_scheduler.decision_log import DecisionLog
from kubectl_sched.binding.second_scheduler.election_rules import Terms
from kubectl_sched.binding.second_scheduler.leader_elector import Elector
from kubectl_sched.sources.live.client import Server
from kubectl_sched.sources.live.credentials import Credentials, Shown
from kubectl_sched.sources.live.endpoint import Endpoint
from kubectl_sched.sources.live.live_errors import KubeconfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = b"<html>a proxy's word</html>"


@pytest.fixture
def url() -> Iterator[str]:
    """A server without a Lease, behind a proxy that answers the first write itself."""
    created: list[bytes] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_POST(self) -> None:
            created.append(self.rfile.read(int(self.headers["Content-Length"])))
            answer = PAGE if len(created) == 1 else created[-1]
            self.send_response(201)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def do_PUT(self) -> None:
            self.do_POST()

        def log_message(self, *_: object) -> None:
            pass

    serving = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{serving.server_address[1]}"
    serving.shutdown()
    serving.server_close()
    thread.join()


def test_an_answer_that_is_no_lease_is_said_and_tried_again(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    told: SimpleQueue[bool] = SimpleQueue()
    terms = Terms(identity="a", lease_duration=60, renew_deadline=50, retry_period=0.05)
    elector = Elector(Server(Endpoint(url)), "kube-system", "mine", terms, told.put, DecisionLog())
    elector.start()
    assert told.get(timeout=50)
    assert elector.leads()
    elector.stop()
    assert not told.get(timeout=50)
    assert "the server's answer is no Lease" in capsys.readouterr().err


class Renewing(Credentials):
    """Credentials of a file that is missing at first."""

    missing = 3

    def shown(self, refused: Shown | None = None) -> Shown:
        self.missing -= 1
        if self.missing >= 0:
            raise KubeconfigError("token: no such file or directory")
        return super().shown(refused)


def test_a_file_of_credentials_that_is_missing_for_a_while_is_waited_for(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    told: SimpleQueue[bool] = SimpleQueue()
    terms = Terms(identity="a", lease_duration=60, renew_deadline=50, retry_period=0.05)
    server = Server(Endpoint(url), credentials=Renewing(Endpoint(url)))
    elector = Elector(server, "kube-system", "mine", terms, told.put, DecisionLog())
    elector.start()
    assert told.get(timeout=50)
    elector.stop()
    assert "token: no such file or directory" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_candidate_that_ends_by_an_error_of_its_own_does_not_lead() -> None:
    class Broken(Server):
        def get(self, *_: Any, **__: Any) -> bytes:
            raise ZeroDivisionError

    told: SimpleQueue[bool] = SimpleQueue()
    elector = Elector(Broken(Endpoint("http://x")), "kube-system", "mine", Terms(identity="a"), told.put, DecisionLog())
    elector.start()
    assert not told.get(timeout=50)
    elector.stop()
    assert not elector.leads()


def test_a_lease_counts_from_the_answer_on() -> None:
    """However long the answer takes: its holder may have renewed the Lease meanwhile."""
    answered: list[float] = []

    class Slow(Server):
        def get(self, *_: Any, **__: Any) -> bytes:
            time.sleep(0.2)
            answered.append(time.monotonic())
            return b'{"spec":{"holderIdentity":"b","leaseDurationSeconds":15}}'

    elector = Elector(
        Slow(Endpoint("http://x")), "kube-system", "mine", Terms(identity="a"), lambda _: None, DecisionLog()
    )
    assert not elector._take_or_renew(time.monotonic())  # noqa: SLF001 - one try, of which nobody else is told
    assert elector._observed.since >= answered[0]  # noqa: SLF001
