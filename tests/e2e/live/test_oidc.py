"""An id-token that has expired is renewed by the kubeconfig's identity provider, and the new ones are saved."""

import base64
import http.server
import json
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
import yaml

from kubectl_sched.sources.live.auth_provider import expiry, id_token
from kubectl_sched.sources.live.connection_flags import Connection
from kubectl_sched.sources.live.endpoint import User
from kubectl_sched.sources.live.kubeconfig import resolve
from kubectl_sched.sources.live.live_errors import ClusterError, KubeconfigError

pytestmark = pytest.mark.e2e


def token(expires: float) -> str:
    claims = base64.urlsafe_b64encode(json.dumps({"exp": int(expires)}).encode()).decode().rstrip("=")
    return f"e30.{claims}.e30"


class Provider:
    """An identity provider that gives a new pair of tokens for the one refresh-token it knows."""

    def __init__(self, folder: Path) -> None:
        self.certificate = folder / "idp.crt"
        self.granted = token(time.time() + 3600)
        self.methods: list[str] = []
        """The methods by which it says that it takes a client's secret, if any."""

        self.secrets: list[str] = []
        """The secrets that it was shown, each after the method."""

        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                methods = {"token_endpoint_auth_methods_supported": outer.methods} if outer.methods else {}
                outer.answer(self, 200, {"token_endpoint": f"{outer.url}/token", **methods})

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                form = parse_qs(body)
                good = form["refresh_token"] == ["once"] and form["grant_type"] == ["refresh_token"]
                basic = base64.b64decode(self.headers.get("Authorization", "").removeprefix("Basic ")).decode()
                outer.secrets.append(
                    f"header {basic}" if basic else f"form {form['client_id']} {form['client_secret']}"
                )
                tokens = {"id_token": outer.granted, "refresh_token": "twice", "access_token": "a", "token_type": "b"}
                outer.answer(self, 200 if good else 400, tokens if good else {"error": "invalid_grant"})

            def log_message(self, *_: object) -> None:
                pass

        subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
        key = ["-newkey", "rsa:2048", "-nodes", "-keyout", str(folder / "idp.key"), "-out", str(self.certificate)]
        subprocess.run(["openssl", "req", "-x509", *key, *subject], check=True, capture_output=True)  # noqa: S607
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, folder / "idp.key")
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"https://localhost:{self.server.server_address[1]}"

    @staticmethod
    def answer(request: http.server.BaseHTTPRequestHandler, code: int, value: dict[str, Any]) -> None:
        body = json.dumps(value).encode()
        request.send_response(code)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)


@pytest.fixture
def provider(tmp_path: Path) -> Iterator[Provider]:
    provider = Provider(tmp_path)
    threading.Thread(target=provider.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    yield provider
    provider.server.shutdown()
    provider.server.server_close()


def user(folder: Path, provider: Provider, **changes: str) -> User:
    config = {
        "client-id": "us",
        "client-secret": "s",
        "id-token": token(time.time() - 60),
        "refresh-token": "once",
        "idp-issuer-url": provider.url,
        "idp-certificate-authority": str(provider.certificate),
        **changes,
    }
    document = {
        "clusters": [{"name": "c", "cluster": {"server": "https://c"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "ann"}}],
        "users": [{"name": "ann", "user": {"auth-provider": {"name": "oidc", "config": config}}}],
        "current-context": "x",
    }
    path = folder / "config"
    path.write_text(yaml.safe_dump(document))
    return resolve(Connection(kubeconfig=str(path)), {}).user


def test_an_expired_token_is_renewed_and_both_new_ones_are_saved(tmp_path: Path, provider: Provider) -> None:
    assert id_token(user(tmp_path, provider)) == provider.granted
    saved = yaml.safe_load((tmp_path / "config").read_text())["users"][0]["user"]["auth-provider"]["config"]
    assert (saved["id-token"], saved["refresh-token"]) == (provider.granted, "twice")


def test_a_kubeconfig_without_an_id_token_is_given_one(tmp_path: Path, provider: Provider) -> None:
    assert id_token(user(tmp_path, provider, **{"id-token": ""})) == provider.granted


def test_a_token_that_the_server_refuses_is_renewed(tmp_path: Path, provider: Provider) -> None:
    assert id_token(user(tmp_path, provider, **{"id-token": token(time.time() + 7200)}), anew=True) == provider.granted


@pytest.mark.parametrize(
    ("methods", "shown"),
    [
        ([], "header us:s%26t"),
        (["client_secret_post", "client_secret_basic"], "header us:s%26t"),
        (["client_secret_post"], "form ['us'] ['s&t']"),
    ],
)
def test_the_secret_of_the_client_is_shown_as_the_provider_takes_it(
    tmp_path: Path, provider: Provider, methods: list[str], shown: str
) -> None:
    provider.methods = methods
    assert id_token(user(tmp_path, provider, **{"client-secret": "s&t"})) == provider.granted
    assert provider.secrets == [shown]


def test_a_token_that_still_serves_is_left_alone(tmp_path: Path, provider: Provider) -> None:
    good = token(time.time() + 7200)
    assert id_token(user(tmp_path, provider, **{"id-token": good})) == good


@pytest.mark.parametrize(
    "changes",
    [{"refresh-token": "spent"}, {"idp-certificate-authority": "/etc/hostname"}, {"refresh-token": ""}],
)
def test_a_refusal_is_one_sentence_without_secrets(tmp_path: Path, provider: Provider, changes: dict[str, str]) -> None:
    """A provider whose certificate cannot be checked is not told anything."""
    with pytest.raises(ClusterError, match=r"the id-token of user 'ann' has expired.*log in again") as raised:
        id_token(user(tmp_path, provider, **changes))
    assert "once" not in str(raised.value)


def test_a_provider_that_says_nothing_is_given_up(tmp_path: Path, provider: Provider) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        waiting = user(tmp_path, provider, **{"idp-issuer-url": f"https://localhost:{silent.getsockname()[1]}"})
        with pytest.raises(ClusterError, match=r"did not renew it \(no answer within 0\.25 s\)"):
            id_token(waiting, timeout=0.25)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gcp", "'gcp' of user 'ann' has been removed from kubectl; use the credential plugin gke-gcloud-auth-plugin "),
        ("azure", "'azure' of user 'ann' has been removed from kubectl; use the credential plugin kubelogin "),
        ("openstack", "kubectl knows no auth-provider 'openstack', which user 'ann' has"),
    ],
)
def test_a_provider_that_kubectl_has_dropped_names_its_replacement(name: str, said: str) -> None:
    with pytest.raises(KubeconfigError, match=said):
        id_token(User(name="ann", auth_provider={"name": name}))


def test_what_is_no_token_never_expires_by_itself() -> None:
    assert expiry("opaque") == 0
