"""The ports of a node that its pods listen on (HostPortInfo in k8s.io/kube-scheduler/framework/types.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_sched.api.pod import Pod

ALL_ADDRESSES = "0.0.0.0"  # noqa: S104 - upstream's DefaultBindAllHostIP, compared and never bound to


class HostPort(NamedTuple):
    """A port of a node, with upstream's defaults for what is left empty (HostPortInfo)."""

    ip: str
    protocol: str
    port: int

    def conflicts_with(self, other: HostPort) -> bool:
        """Report whether both cannot be had at once (CheckConflict)."""
        if (self.port, self.protocol) != (other.port, other.protocol):
            return False
        return self.ip == other.ip or ALL_ADDRESSES in {self.ip, other.ip}

    def __str__(self) -> str:
        address = "" if self.ip == ALL_ADDRESSES else f"{self.ip}:"
        return f"{address}{self.port}/{self.protocol}"


class WantedPorts:
    """The host ports that a pod wants, looked up by port and protocol."""

    def __init__(self, wanted: Iterable[HostPort]) -> None:
        self._addresses: dict[tuple[int, str], set[str]] = {}
        for port in wanted:
            self._addresses.setdefault((port.port, port.protocol), set()).add(port.ip)

    def conflicts_with(self, others: Iterable[HostPort]) -> bool:
        """Report whether any of the other ports cannot be had beside these (CheckConflict)."""
        return any(map(self._conflicts, others))

    def _conflicts(self, other: HostPort) -> bool:
        addresses = self._addresses.get((other.port, other.protocol))
        if addresses is None:
            return False
        return other.ip in addresses or other.ip == ALL_ADDRESSES or ALL_ADDRESSES in addresses


def host_ports(pod: Pod, *, of_sidecars: bool = True) -> tuple[HostPort, ...]:
    """The host ports of a pod's sidecars, if these count, and of its containers, as they are listed (GetHostPorts)."""
    containers = pod.spec.containers
    if of_sidecars and pod.spec.init_containers:
        sidecars = (container for container in pod.spec.init_containers if container.restart_policy == "Always")
        containers = (*sidecars, *containers)
    # Most pods have none, and this is asked of every pod of the cluster.
    ports = [port for container in containers for port in container.ports if port.host_port > 0]
    if not ports:
        return ()
    return tuple(HostPort(port.host_ip or ALL_ADDRESSES, port.protocol or "TCP", port.host_port) for port in ports)
