"""Refusals name what would help, and handshakes that failed by chance are tried again."""

from __future__ import annotations

import ssl
from http import HTTPStatus

import msgspec
import pytest

from kubectl_sched.sources.live.connections.tls import may_pass_by, ssl_context
from kubectl_sched.sources.live.credentials import Credentials
from kubectl_sched.sources.live.endpoint import Endpoint, User
from kubectl_sched.sources.live.live_errors import ResponseError
from kubectl_sched.sources.live.server_refusals import Answer, refusal

HTTP = Endpoint("http://127.0.0.1:8080", User(name="ann", token="secret"))  # noqa: S106 - never sent
IMPERSONATED = (
    'users "ben" is forbidden: User "ann" cannot impersonate resource "users" in API group "" at the cluster scope'
)


def answer(status: HTTPStatus, message: str) -> Answer:
    return Answer(status, msgspec.json.encode({"message": message}))


def test_a_refused_impersonation_names_its_rule_and_is_no_missing_right_to_list() -> None:
    endpoint = Endpoint("https://a", User(name="ann"))
    refused = refusal(endpoint, answer(HTTPStatus.FORBIDDEN, IMPERSONATED), Credentials(endpoint).shown(), 1)
    assert not isinstance(refused, ResponseError)
    assert 'the missing rule: {apiGroups: [""], resources: [users], verbs: [impersonate]}' in str(refused)


@pytest.mark.parametrize("status", [HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN])
def test_a_token_that_is_not_sent_over_http_is_said(status: HTTPStatus) -> None:
    refused = refusal(HTTP, answer(status, "who are you?"), Credentials(HTTP).shown(), 1)
    assert "those of user 'ann' are not sent over http://" in str(refused)
    assert "secret" not in str(refused)


@pytest.mark.parametrize(("reason", "passes"), [("TLSV1_ALERT_DECODE_ERROR", True), ("TLSV1_ALERT_UNKNOWN_CA", False)])
def test_a_handshake_that_failed_by_chance_is_tried_again(reason: str, passes: bool) -> None:
    cause = ssl.SSLError(1, "alert")
    cause.reason = reason
    assert may_pass_by(cause) is passes


@pytest.mark.parametrize(("insecure", "mode"), [(False, ssl.CERT_REQUIRED), (True, ssl.CERT_NONE)])
def test_a_server_is_verified_unless_told_not_to(insecure: bool, mode: ssl.VerifyMode) -> None:
    endpoint = Endpoint("https://a", insecure=insecure)
    context = ssl_context(endpoint, Credentials(endpoint).shown())
    assert (context.verify_mode, context.check_hostname) == (mode, not insecure)
