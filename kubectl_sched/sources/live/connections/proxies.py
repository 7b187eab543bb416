"""The proxy before a server, as Go reads it from the environment (golang.org/x/net/http/httpproxy)."""

from __future__ import annotations

import ipaddress
from base64 import b64encode
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from kubectl_sched.sources.live.endpoint import split_address
from kubectl_sched.sources.live.live_errors import KubeconfigError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from urllib.parse import SplitResult

    from kubectl_sched.sources.live.endpoint import Endpoint

PORTS = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}


def proxy_before(endpoint: Endpoint, environment: Mapping[str, str]) -> SplitResult | None:
    """Return the proxy before the server, if any. Raises KubeconfigError for one that makes no sense."""
    address = endpoint.proxy or proxy_from_environment(endpoint.server, environment)
    parts = split_address(address) if address else None
    if address and (parts is None or parts.scheme not in PORTS):
        # Without what it says of a user.
        named = f"{parts.scheme}://{parts.hostname}" if parts is not None else "that is set"
        raise KubeconfigError(f"the proxy {named} is no http, https or socks5 address")
    return parts


def authorization_for(proxy: SplitResult) -> dict[str, str]:
    """Return the header that shows the proxy who asks."""
    pair = ":".join(user_of(proxy)).encode()
    return {"Proxy-Authorization": f"Basic {b64encode(pair).decode()}"} if proxy.username else {}


def user_of(proxy: SplitResult) -> tuple[str, str]:
    """Return the name and the password of the proxy's address."""
    return unquote(proxy.username or ""), unquote(proxy.password or "")


def proxy_from_environment(server: str, environment: Mapping[str, str]) -> str | None:
    """The proxy for the server's address; none for the loopback interface and what NO_PROXY names."""
    parts = urlsplit(server)
    name = f"{parts.scheme.upper()}_PROXY"
    proxy = environment.get(name) or environment.get(name.lower())
    host = (parts.hostname or "").lower()
    port = parts.port or (443 if parts.scheme == "https" else 80)
    if not proxy or is_on_this_host(server):
        return None
    if _is_exempt(host, port, environment.get("NO_PROXY") or environment.get("no_proxy") or ""):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def is_on_this_host(server: str) -> bool:
    """Report whether the server's address is one of the loopback interface."""
    host = (urlsplit(server).hostname or "").lower()
    address = _address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def _is_exempt(host: str, port: int, rules: str) -> bool:
    return any(_matches(host, port, rule.strip().lower()) for rule in rules.split(","))


def _matches(host: str, port: int, rule: str) -> bool:
    """`*`, an address, a network, a name with all below it, or `.name` with only what is below; perhaps with a port."""
    if not rule or rule == "*":
        return rule == "*"
    address = _address(host)
    if "/" in rule:
        try:
            return address is not None and address in ipaddress.ip_network(rule, strict=False)
        except ValueError:
            return False
    name, colon, rule_port = rule.rpartition(":")
    if colon and rule_port.isdecimal() and len(rule_port) < 6 and _address(rule) is None:
        if int(rule_port) != port:
            return False
        rule = name.strip("[]")
    exempt = _address(rule)
    if address is not None or exempt is not None:
        return address is not None and address == exempt
    below = rule.removeprefix("*")
    return host.endswith(below) if below.startswith(".") else host == rule or host.endswith(f".{rule}")
