"""URLs, IP addresses and networks (apiserver pkg/cel/library)."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlsplit

from kubectl_sched.dynamic_resource_allocation.cel.library.arguments import Function, on, reads, want, want_text
from kubectl_sched.dynamic_resource_allocation.cel.values import CIDR, IP, URL, CelError, Value

if TYPE_CHECKING:
    from collections.abc import Callable


def _url(text: Value) -> URL:
    want_text(text)
    try:
        parts = urlsplit(text)
        absolute = parts.scheme or text.startswith("/")
        _ = parts.port
    except ValueError as wrong:
        raise CelError(f'URL parse error during conversion from string: parse "{text}": {wrong}') from wrong
    if not absolute:
        raise CelError(f'URL parse error during conversion from string: parse "{text}": invalid URI for request')
    return URL(parts=parts, text=text)


def _query(url: Value) -> dict[Value, Value]:
    found: dict[Value, Value] = {}
    for pair in filter(None, url.parts.query.split("&")):
        key, _, value = pair.partition("=")
        found.setdefault(unquote(key.replace("+", " ")), []).append(unquote(value.replace("+", " ")))
    return found


def _of_url(read: Callable[[URL], Value]) -> Function:
    def part(url: Value) -> Value:
        want(url, URL)
        return read(url)

    return part


def _ip(value: Value) -> IP:
    if isinstance(value, CIDR):
        return IP(address=value.address)
    want_text(value)
    try:
        address = ip_address(value)
    except ValueError as wrong:
        message = (
            f'IP Address "{value}" parse error during conversion from string: ParseAddr("{value}"): unable to parse IP'
        )
        raise CelError(message) from wrong
    if getattr(address, "ipv4_mapped", None) is not None:
        raise CelError(f'IPv4-mapped IPv6 address "{value}" is not allowed')
    if getattr(address, "scope_id", None):
        raise CelError(f'IP address "{value}" with zone value is not allowed')
    return IP(address=address)


def _cidr(value: Value) -> CIDR:
    want_text(value)
    address, _, length = value.partition("/")
    unreadable = CelError(f'network address parse error during conversion from string: netip.ParsePrefix("{value}")')
    if not length.isdigit():
        raise unreadable
    try:
        return CIDR(address=ip_address(address), network=ip_network(value, strict=False))
    except ValueError as wrong:
        raise unreadable from wrong


def _of_ip(read: Callable[[Any], Value]) -> Function:
    def answer(ip: Value) -> Value:
        want(ip, IP)
        return read(ip.address)

    return answer


def _contains_ip(cidr: Value, ip: Value) -> bool:
    want(cidr, CIDR)
    address = _ip(ip).address if isinstance(ip, str) else ip.address
    return bool(address.version == cidr.network.version and address in cidr.network)


def _contains_cidr(cidr: Value, other: Value) -> bool:
    want(cidr, CIDR)
    network = _cidr(other).network if isinstance(other, str) else other.network
    return bool(network.version == cidr.network.version and network.subnet_of(cidr.network))


def _is_canonical(text: Value) -> bool:
    return bool(str(_ip(text).address) == text)


FUNCTIONS: dict[str, Function] = {
    "url": _url,
    "isURL": reads(_url),
    "getScheme": _of_url(lambda url: url.parts.scheme),
    "getHost": _of_url(lambda url: url.parts.netloc.rpartition("@")[2]),
    "getHostname": _of_url(lambda url: url.parts.hostname or ""),
    "getPort": _of_url(lambda url: "" if url.parts.port is None else str(url.parts.port)),
    "getEscapedPath": _of_url(lambda url: quote(url.parts.path, safe="/%:@!$&'()*+,;=~-._")),
    "getQuery": _of_url(_query),
    "ip": _ip,
    "isIP": reads(_ip),
    "ip.isCanonical": _is_canonical,
    "family": _of_ip(lambda address: address.version),
    "isUnspecified": _of_ip(lambda address: address.is_unspecified),
    "isLoopback": _of_ip(lambda address: address.is_loopback),
    "isLinkLocalMulticast": _of_ip(lambda address: str(address).startswith(("224.0.0.", "ff02:"))),
    "isLinkLocalUnicast": _of_ip(lambda address: address.is_link_local),
    "isGlobalUnicast": _of_ip(
        lambda address: (
            not (address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local)
            and str(address) != "255.255.255.255"
        )
    ),
    "cidr": _cidr,
    "isCIDR": reads(_cidr),
    "containsIP": _contains_ip,
    "containsCIDR": _contains_cidr,
    "prefixLength": on(CIDR, lambda cidr: cidr.network.prefixlen),
    "masked": on(CIDR, lambda cidr: CIDR(address=cidr.network.network_address, network=cidr.network)),
}
