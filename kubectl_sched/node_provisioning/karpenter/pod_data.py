"""The needs of a pod, the place where it can be added, and the reason why it cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.api.component_helpers.container_resources import Resources
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.api.resource import ResourceClaim
    from kubectl_sched.node_provisioning.karpenter.scheduling.host_port_usage import HostPort
    from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import Requirements
    from kubectl_sched.node_provisioning.karpenter.scheduling.volume_topology import Volumes


class PodData(NamedTuple):
    """A pod and what is computed of it once (PodData of scheduler.go)."""

    pod: Pod
    requests: Resources
    requirements: Requirements
    strict_requirements: Requirements
    volume_alternatives: tuple[Requirements, ...]
    host_ports: tuple[HostPort, ...]
    volumes: Volumes
    """The claims of each driver; none where an object is missing."""

    device_claims: tuple[ResourceClaim, ...] | None = None
    """The ResourceClaims that devices are allocated for; None if the pod uses none, or devices are ignored."""


class Rejection(NamedTuple):
    """The reason why a pod cannot be added. The text is made when it is read, as upstream makes it."""

    text: Callable[[], str]
    awaits_reservation: bool = False
    """Reserved capacity would do, but is taken: the pod is not relaxed for it."""

    is_final: bool = False
    """No relaxation can help."""

    of_pools: tuple[tuple[str, Rejection], ...] = ()
    """The reason of each NodePool, by its name, in the order in which they are tried."""
