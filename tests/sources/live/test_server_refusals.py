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
from kubectl_sched.sources.live.server_refusals import ServerAnswer, plain, refusal

HTTP = Endpoint("http://127.0.0.1:8080", User(name="ann", token="secret"))  # noqa: S106 - never sent
IMPERSONATED = (
    'users "ben" is forbidden: User "ann" cannot impersonate resource "users" in API group "" at the cluster scope'
)


def answer(status: HTTPStatus, message: str) -> ServerAnswer:
    return ServerAnswer(status, msgspec.json.encode({"message": message}))


def test_a_refused_impersonation_names_its_rule_and_is_no_missing_right_to_list() -> None:
    endpoint = Endpoint("https://a", User(name="ann"))
    refused = refusal(endpoint, answer(HTTPStatus.FORBIDDEN, IMPERSONATED), Credentials(endpoint).shown(), 1)
    assert not isinstance(refused, ResponseError)
    assert 'the missing rule: {apiGroups: [""], resources: [users], verbs: [impersonate]}' in str(refused)


REFUSED = 'User "ann" cannot {} resource "{}" in API group "{}" at the cluster scope'
LISTING = "impersonate-on:user-info:list"
BY_ANYONE = '{apiGroups: [""], resources: [users], verbs: [impersonate]}'
BY_USER = "{apiGroups: [authentication.k8s.io], resources: [users], verbs: [impersonate:user-info]}"
BY_REQUEST = f'{{apiGroups: [""], resources: [pods], verbs: [{LISTING}]}}'


@pytest.mark.parametrize(
    ("whom", "said", "rule"),
    [
        (
            "ben",
            REFUSED.format(LISTING, "pods", ""),
            f"{BY_ANYONE}, or for such requests alone {BY_USER} and {BY_REQUEST}",
        ),
        (
            "system:serviceaccount:team:bot",
            REFUSED.format("impersonate-on:serviceaccount:list", "pods", ""),
            '{apiGroups: [""], resources: [serviceaccounts], verbs: [impersonate]}, or for such requests',
        ),
        ("ben", REFUSED.format("impersonate:user-info", "users", "authentication.k8s.io"), BY_USER),
    ],
    ids=["a user", "a service account", "whom"],
)
def test_a_refused_impersonation_of_1_36_names_what_lets_somebody_impersonate(whom: str, said: str, rule: str) -> None:
    endpoint = Endpoint("https://a", User(name="ann", impersonation=(("Impersonate-User", whom),)))
    refused = refusal(endpoint, answer(HTTPStatus.FORBIDDEN, said), Credentials(endpoint).shown(), 1)
    assert not isinstance(refused, ResponseError)
    assert f"the missing rule: {rule}" in str(refused)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ssl.SSLEOFError(8, "[SSL: UNEXPECTED_EOF_WHILE_READING] EOF occurred in violation of protocol (_ssl.c:2580)"),
         "the other side closed it unexpectedly"),
        (ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1006)"), "wrong version number"),
        (ConnectionResetError(104, "Connection reset by peer"), "connection reset by peer"),
    ],
)  # fmt: skip
def test_what_broke_a_connection_is_said_in_plain_words(error: Exception, words: str) -> None:
    assert plain(error) == words


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
