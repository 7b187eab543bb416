"""The settings of the Karpenter that runs in a cluster, from its pod or its Deployment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.apps import Deployment
from kubectl_sched.api.pod import Pod
from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.node_provisioning.karpenter.operator_options import VERSION, feature_gates
from kubectl_sched.record import Record
from kubectl_sched.sources.discovery.scheduler_flags import karpenter_flags

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kubectl_sched.api.containers import Container
    from kubectl_sched.api.meta import KubernetesObject

_TAG = pattern(r":v?(\d{1,4}\.\d{1,4}\.\d{1,4})[^@:/]*(?:@|$)")
_NOT_REPLAYED = {"StaticCapacity": "static NodePools", "CapacityBuffer": "CapacityBuffers"}


class FoundKarpenter(Record, frozen=True, kw_only=True):
    """Karpenter's flags, without dashes, and what is assumed about it."""

    flags: Mapping[str, str]
    assumed: tuple[str, ...]


def find_karpenter(objects: Iterable[KubernetesObject]) -> FoundKarpenter:
    """Return what the objects show of Karpenter; its defaults are assumed if they do not show it."""
    for container in _containers(objects):
        flags = karpenter_flags(container)
        if flags is not None:
            return FoundKarpenter(flags=flags, assumed=tuple(_about(container, flags)))
    return FoundKarpenter(flags={}, assumed=(f"Karpenter {VERSION} with its default settings, as its pod is not seen",))


def _containers(objects: Iterable[KubernetesObject]) -> Iterator[Container]:
    """The containers of pods, then those of Deployments."""
    found = list(objects)
    for each in found:
        if isinstance(each, Pod) and not each.has_ended:
            yield from each.spec.containers
    for each in found:
        if isinstance(each, Deployment):
            yield from each.spec.template.spec.containers


def _about(container: Container, flags: Mapping[str, str]) -> Iterator[str]:
    tag = _TAG.search(container.image)
    version = tag[1] if tag is not None else "of a release that its image does not tell"
    if version != VERSION:
        yield f"Karpenter runs {version} here: what differs from {VERSION} is not replayed"
    yield from (
        f"{each} are not replayed, though the feature gate {gate} is on"
        for gate, each in _NOT_REPLAYED.items()
        if feature_gates(flags).get(gate)
    )
