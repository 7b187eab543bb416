"""Ways to a cluster: through proxies of the environment and of the kubeconfig, and from inside one of its pods."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from kubectl_sched.sources.live.cluster_reader import read_live
from kubectl_sched.sources.live.connection_flags import Connection
from kubectl_sched.sources.live.kubeconfig import resolve
from kubectl_sched.sources.pod_selection import Selection
from tests.e2e.api import Api
from tests.e2e.control_plane import ADMIN_TOKEN, ControlPlane
from tests.e2e.live.proxies import REASON, Proxy, RefusingProxy, SocksProxy, TLSProxy
from tests.e2e.live.test_live import fill, objects

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.e2e

HOST = "api.cluster.test"
"""No such host is known anywhere: whoever gets there was led by a proxy."""


@pytest.fixture(scope="module")
def control_plane() -> Iterator[ControlPlane]:
    with ControlPlane() as plane:
        with Api(plane.port, ADMIN_TOKEN) as api:
            fill(api)
        yield plane


def kubeconfig(plane: ControlPlane, folder: Path, server: str = f"https://{HOST}:6443", **cluster: str) -> Path:
    document = json.loads(plane.kubeconfig.read_text())
    document["clusters"][0]["cluster"] |= {"server": server, "tls-server-name": "127.0.0.1", **cluster}
    path = folder / "config"
    path.write_text(json.dumps(document))
    return path


def explain(config: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    known = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    return subprocess.run(
        [sys.executable, "-m", "kubectl_sched", "explain", "small", "-o", "name"],
        env={**known, "KUBECONFIG": str(config), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("scheme", "said"),
    [
        ("http", "its proxy cannot be reached (connection refused)"),
        ("socks5", "no connection through its proxy (connection refused)"),
    ],
)
def test_a_proxy_that_is_not_there_is_said_not_to_be(
    control_plane: ControlPlane, tmp_path: Path, scheme: str, said: str
) -> None:
    """Port 1 is nobody's."""
    done = explain(kubeconfig(control_plane, tmp_path), HTTPS_PROXY=f"{scheme}://user:word@127.0.0.1:1")
    assert (done.returncode, done.stderr) == (3, f"error: the server {HOST}:6443: {said}\n")


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "https_proxy"])
def test_https_proxy_leads_to_the_server(control_plane: ControlPlane, tmp_path: Path, name: str) -> None:
    with Proxy(control_plane.port) as proxy:
        done = explain(kubeconfig(control_plane, tmp_path), **{name: f"http://ann:secret@{proxy.address}"})
    assert (done.returncode, done.stdout[:6]) == (0, "node/n")
    assert proxy.targets == {f"{HOST}:6443"}
    assert proxy.credentials == {"Proxy-Authorization: Basic YW5uOnNlY3JldA=="}


def test_a_proxy_is_spoken_to_over_tls_where_its_address_says_so(control_plane: ControlPlane, tmp_path: Path) -> None:
    certificates = control_plane.folder / "certificates"
    with TLSProxy(control_plane.port, certificates) as proxy:
        done = explain(
            kubeconfig(control_plane, tmp_path),
            HTTPS_PROXY=f"https://ann:a%40b@{proxy.address}",
            SSL_CERT_FILE=str(certificates / "apiserver.crt"),
        )
    assert (done.returncode, done.stdout[:6]) == (0, "node/n")
    assert proxy.targets == {f"{HOST}:6443"}
    assert proxy.credentials == {"Proxy-Authorization: Basic YW5uOmFAYg=="}


def test_a_proxy_that_lets_nobody_through_is_said_to(control_plane: ControlPlane, tmp_path: Path) -> None:
    with RefusingProxy(control_plane.port) as proxy:
        done = explain(kubeconfig(control_plane, tmp_path), HTTPS_PROXY=f"http://{proxy.address}")
    said = f"its proxy does not let us through (407 {REASON.lower()[:200]})"
    assert (done.returncode, done.stderr) == (3, f"error: the server {HOST}:6443: {said}\n")


def test_http_proxy_is_for_servers_without_tls(control_plane: ControlPlane, tmp_path: Path) -> None:
    """Such a server is kubectl's own `kubectl proxy`, which shows the credentials itself."""
    config = kubeconfig(control_plane, tmp_path, f"http://{HOST}:8001")
    with Proxy(control_plane.port, ADMIN_TOKEN) as proxy:
        done = explain(config, HTTP_PROXY=proxy.address, HTTPS_PROXY="http://127.0.0.1:9")
    assert (done.returncode, done.stdout[:6]) == (0, "node/n")
    assert proxy.targets == {f"{HOST}:8001"}


@pytest.mark.parametrize("rule", [HOST, ".cluster.test", "*", "10.0.0.0/8,cluster.test"])
def test_no_proxy_is_obeyed(control_plane: ControlPlane, tmp_path: Path, rule: str) -> None:
    with Proxy(control_plane.port) as proxy:
        done = explain(kubeconfig(control_plane, tmp_path), HTTPS_PROXY=f"http://{proxy.address}", NO_PROXY=rule)
    assert proxy.targets == set()
    assert done.stderr == f"error: the server {HOST}:6443: there is no such host\n"
    assert done.returncode == 3


def test_the_kubeconfigs_own_proxy_comes_before_the_environments(control_plane: ControlPlane, tmp_path: Path) -> None:
    with Proxy(control_plane.port) as own, Proxy(control_plane.port) as other:
        config = kubeconfig(control_plane, tmp_path, **{"proxy-url": f"http://{own.address}"})
        assert explain(config, HTTPS_PROXY=f"http://{other.address}").returncode == 0
    assert (own.targets, other.targets) == ({f"{HOST}:6443"}, set())


@pytest.mark.parametrize("who", ["", "ann:secret@"])
def test_a_socks_proxy_looks_the_name_up_itself(control_plane: ControlPlane, tmp_path: Path, who: str) -> None:
    pytest.importorskip("socks", reason="a socks5 proxy needs PySocks: pip install 'kubectl-sched[socks]'")
    with SocksProxy(control_plane.port) as proxy:
        config = kubeconfig(control_plane, tmp_path, **{"proxy-url": f"socks5://{who}{proxy.address}"})
        done = explain(config)
    assert (done.returncode, done.stdout[:6]) == (0, "node/n")
    assert proxy.targets == {f"{HOST}:6443"}
    assert proxy.credentials == ({"ann:secret"} if who else set())


@pytest.mark.parametrize("scheme", ["http", "socks5"])
def test_a_proxy_that_is_not_there_is_one_sentence(control_plane: ControlPlane, tmp_path: Path, scheme: str) -> None:
    if scheme == "socks5":
        pytest.importorskip("socks")
    done = explain(kubeconfig(control_plane, tmp_path, **{"proxy-url": f"{scheme}://ann:secret@127.0.0.1:9"}))
    assert done.returncode == 3
    assert done.stderr.startswith(f"error: the server {HOST}:6443: ")
    assert done.stderr.count("\n") == 1
    assert "secret" not in done.stderr


def test_inside_a_pod_its_service_account_is_who_one_is(control_plane: ControlPlane, tmp_path: Path) -> None:
    account = tmp_path / "serviceaccount"
    account.mkdir()
    (account / "token").write_text(f"{ADMIN_TOKEN}\n")
    (account / "namespace").write_text("team")
    (account / "ca.crt").write_bytes((control_plane.folder / "certificates" / "apiserver.crt").read_bytes())
    environment = {
        "HOME": str(tmp_path),
        "KUBERNETES_SERVICE_HOST": "127.0.0.1",
        "KUBERNETES_SERVICE_PORT": str(control_plane.port),
    }
    endpoint = resolve(Connection(), environment, account)
    assert endpoint.namespace == "team"
    everything = Selection(namespace=None)
    outside = resolve(Connection(kubeconfig=str(control_plane.kubeconfig)))
    assert objects(read_live(endpoint, everything)) == objects(read_live(outside, everything))
