"""A host port for a pod on a node where another has it."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.suggestions.change import Change, Kind, distinct
from kubectl_sched.suggestions.node_evictions import evictable, eviction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.containers import Container
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.suggestions.change import Way

_FIRST_FREE_PORT = 1024
_LAST_PORT = 65535


def free_ports(result: ScheduleResult, row: int) -> Iterator[Way]:
    """Take another number, do without, or evict whoever has the port."""
    ports_of, on_node = result.nodes.ports_of, result.nodes.node(row).pods
    taken = {port.port for pod in on_node for port in ports_of(pod)}
    wanted = ports_of(result.pod)
    conflicts = [want for want in wanted if want.port in taken]
    if not result.pod.spec.host_network and conflicts:
        numbers = dict.fromkeys(want.port for want in conflicts)
        busy = taken | {want.port for want in wanted}
        yield distinct(_moved(number, _next_free(number, busy)) for number in numbers)
        yield distinct(_dropped(number) for number in numbers)
    holders = [pod for pod in on_node if any(want.conflicts_with(port) for want in wanted for port in ports_of(pod))]
    may_go = {pod.key for pod in evictable(result, row)}
    if holders and all(pod.key in may_go for pod in holders):
        yield (eviction(result, holders),)


def _next_free(number: int, busy: set[int]) -> int:
    above, below = range(number + 1, _LAST_PORT + 1), range(_FIRST_FREE_PORT, number)
    return next(each for each in chain(above, below) if each not in busy)


def _moved(number: int, other: int) -> Change:
    return Change(
        kind=Kind.MOVE_PORT,
        text=f"with hostPort {other} instead of {number}",
        step=f"use hostPort {other} instead of {number}",
        pod=lambda pod: _with_port(pod, number, other),
        caution=f"whoever connects to port {number} of its node has to use {other}",
    )


def _dropped(number: int) -> Change:
    return Change(
        kind=Kind.DROP_PORT,
        text=f"without hostPort {number}",
        step=f"remove hostPort {number}",
        pod=lambda pod: _with_port(pod, number, 0),
        caution=f"nobody then reaches it at port {number} of its node",
    )


def _with_port(pod: Pod, number: int, other: int) -> Pod:
    def changed(container: Container) -> Container:
        ports = (replace(port, host_port=other) if port.host_port == number else port for port in container.ports)
        return replace(container, ports=tuple(ports))

    spec = pod.spec
    init_containers = tuple(changed(each) for each in spec.init_containers)
    containers = tuple(changed(each) for each in spec.containers)
    return replace(pod, spec=replace(spec, init_containers=init_containers, containers=containers))
