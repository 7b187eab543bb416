"""A connection gives each request its own answer, whatever a server or what stands before it sends besides."""

from __future__ import annotations

import ssl

import pytest

from kubectl_sched.sources.live.client import Server
from kubectl_sched.sources.live.credentials import Shown
from kubectl_sched.sources.live.endpoint import Endpoint
from kubectl_sched.sources.live.live_errors import ClusterError
from kubectl_sched.sources.live.tls import ssl_context
from tests.sources.live.silent_server import serving

EARLY = b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n"
PROCESSING = b"HTTP/1.1 102 Processing\r\n\r\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody"


@pytest.mark.parametrize("before", [b"", EARLY, CONTINUE, EARLY + PROCESSING + CONTINUE])
def test_interim_answers_are_passed_over(before: bytes) -> None:
    with serving(before + ANSWER) as address:
        server = Server(Endpoint(address), environment={})
        assert [server.get("/one"), server.write("POST", "/two", b"{}")] == [b"body"] * 2


def test_interim_answers_without_end_are_no_answer() -> None:
    with serving(EARLY * 9 + ANSWER) as address, pytest.raises(ClusterError, match="the answer is no HTTP"):
        Server(Endpoint(address), environment={}, attempts=1).get("/x")


def test_a_server_at_an_ipv6_address_is_asked_through_a_proxy() -> None:
    with serving(ANSWER) as address:
        server = Server(Endpoint("http://[fd00::1]:8080/k8s", proxy=address), environment={})
        assert server.get("/version") == b"body"


def test_a_certificate_is_for_the_names_that_it_lists_and_not_for_its_common_name() -> None:
    context = ssl_context(Endpoint("https://one"), Shown())
    assert (context.check_hostname, context.verify_mode) == (True, ssl.CERT_REQUIRED)
    assert not context.hostname_checks_common_name
