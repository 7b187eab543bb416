"""Pools of connections to one server: through its proxy, with its trust, showing one certificate each."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import urllib3
from urllib3.exceptions import InsecureRequestWarning

from kubectl_sched.sources.live.endpoint import split_address
from kubectl_sched.sources.live.live_errors import KubeconfigError
from kubectl_sched.sources.live.proxies import proxy_from_environment
from kubectl_sched.sources.live.tls import ssl_context

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_sched.sources.live.credentials import Shown
    from kubectl_sched.sources.live.endpoint import Endpoint

_MOST = 128
"""Connections that are kept; bind --watch writes from about as many threads."""


class Connections:
    """The pools of one endpoint, each made when it is first needed, by whatever thread."""

    def __init__(self, endpoint: Endpoint, environment: Mapping[str, str]) -> None:
        self._endpoint = endpoint
        self._environment = environment
        self._pools: dict[Shown, urllib3.PoolManager] = {}
        self._lock = threading.Lock()

    def of(self, shown: Shown) -> urllib3.PoolManager:
        """Connections that show this certificate; another one needs others."""
        with self._lock:
            if shown not in self._pools:
                self._pools[shown] = self._new(shown)
            return self._pools[shown]

    def _new(self, shown: Shown) -> urllib3.PoolManager:
        options: dict[str, Any] = {"maxsize": _MOST}
        if self._endpoint.server.startswith("https:"):
            options["ssl_context"] = ssl_context(self._endpoint, shown)
            if self._endpoint.insecure:
                import warnings

                warnings.filterwarnings("ignore", category=InsecureRequestWarning)
                options["cert_reqs"] = "CERT_NONE"
            if self._endpoint.server_name:
                options["server_hostname"] = self._endpoint.server_name
        proxy = self._endpoint.proxy or proxy_from_environment(self._endpoint.server, self._environment)
        if proxy is None:
            return urllib3.PoolManager(**options)
        parts = split_address(proxy)
        if parts is not None and parts.scheme in {"socks5", "socks5h"}:
            return _socks_pool(proxy, options)
        if parts is None or parts.scheme not in {"http", "https"}:
            # Without what it says of a user.
            named = f"{parts.scheme}://{parts.hostname}" if parts is not None else "that is set"
            raise KubeconfigError(f"the proxy {named} is no http, https or socks5 address")
        if parts.username:
            pair = f"{parts.username}:{parts.password or ''}"
            options["proxy_headers"] = urllib3.make_headers(proxy_basic_auth=pair)
        return urllib3.ProxyManager(proxy, **options)


def _socks_pool(proxy: str, options: dict[str, Any]) -> urllib3.PoolManager:
    try:
        from urllib3.contrib.socks import SOCKSProxyManager
    except ImportError:
        raise KubeconfigError("a socks5 proxy needs PySocks: pip install 'kubectl-sched[socks]'") from None
    # kubectl lets the proxy look up the name.
    return SOCKSProxyManager(proxy.replace("socks5://", "socks5h://", 1), **options)
