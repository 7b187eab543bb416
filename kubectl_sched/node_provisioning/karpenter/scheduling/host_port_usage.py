"""Host ports in use on a node (pkg/scheduling/hostportusage.go)."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_sched.api.pod import Pod


class HostPort(NamedTuple):
    """A port of the node; the address None is one that Go cannot parse."""

    address: IPv4Address | IPv6Address | None
    port: int
    protocol: str

    def matches(self, other: HostPort) -> bool:
        """Report whether the two exclude each other: an unspecified address is every address."""
        if (self.protocol, self.port) != (other.protocol, other.port):
            return False
        return self.address == other.address or _is_unspecified(self.address) or _is_unspecified(other.address)


def host_ports(pod: Pod) -> tuple[HostPort, ...]:
    """The host ports of a pod's containers, init containers left out (GetHostPorts)."""
    return tuple(
        HostPort(_parse(port.host_ip or "0.0.0.0"), port.host_port, port.protocol)  # noqa: S104 - what "any" means
        for container in pod.spec.containers
        for port in container.ports
        if port.host_port
    )


def conflicts(used: Mapping[str, tuple[HostPort, ...]], pod: Pod, ports: tuple[HostPort, ...]) -> bool:
    """Report whether a port is in use by another pod (Conflicts); `used` is by namespace/name."""
    return any(
        port.matches(other) for key, others in used.items() if key != pod.key for other in others for port in ports
    )


def _parse(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _is_unspecified(address: IPv4Address | IPv6Address | None) -> bool:
    return address is not None and address.is_unspecified
