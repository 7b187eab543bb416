"""The settings of the Karpenter that runs in a cluster, from its pod or its Deployment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from kubectl_sched.api.affinity import TopologySpreadConstraint
from kubectl_sched.api.apps import Deployment
from kubectl_sched.api.meta import Part
from kubectl_sched.api.pod import Pod
from kubectl_sched.errors import SchedError
from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.node_provisioning.karpenter.karpenter_release import NEWEST, RELEASES, KarpenterRelease, release_of
from kubectl_sched.node_provisioning.karpenter.operator_options import feature_gates
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
    release: KarpenterRelease
    """The release that is replayed for the one of its image."""

    assumed: tuple[str, ...]
    default_constraints: tuple[TopologySpreadConstraint, ...] = ()
    """The default spread constraints of its --scheduler-config."""


def find_karpenter(objects: Iterable[KubernetesObject]) -> FoundKarpenter:
    """Return what the objects show of Karpenter; its defaults are assumed if they do not show it."""
    for container in _containers(objects):
        flags = karpenter_flags(container)
        if flags is not None:
            tag = _TAG.search(container.image)
            release = release_of(tag[1] if tag is not None else None)
            about = tuple(_about(tag[1] if tag is not None else None, release, flags))
            constraints = _default_constraints(flags.get("scheduler-config", ""))
            if constraints is None:
                about = (
                    *about,
                    "SCHEDULER_CONFIG cannot be read: no default topology spread constraint is replayed",
                )
            return FoundKarpenter(flags=flags, release=release, assumed=about, default_constraints=constraints or ())
    unseen = f"Karpenter {NEWEST.version} with its default settings, as its pod is not seen"
    return FoundKarpenter(flags={}, release=NEWEST, assumed=(unseen,))


def _containers(objects: Iterable[KubernetesObject]) -> Iterator[Container]:
    """The containers of pods, then those of Deployments."""
    found = list(objects)
    for each in found:
        if isinstance(each, Pod) and not each.has_ended:
            yield from each.spec.containers
    for each in found:
        if isinstance(each, Deployment):
            yield from each.spec.template.spec.containers


def _about(version: str | None, release: KarpenterRelease, flags: Mapping[str, str]) -> Iterator[str]:
    if version not in {each.version for each in RELEASES}:
        told = version or "of a release that its image does not tell"
        yield f"Karpenter runs {told} here: what differs from {release.version} is not replayed"
    yield from (
        f"{each} are not replayed, though the feature gate {gate} is on"
        for gate, each in _NOT_REPLAYED.items()
        if feature_gates(flags).get(gate)
    )


def _default_constraints(text: str) -> tuple[TopologySpreadConstraint, ...] | None:
    """Return podTopologySpread.defaultConstraints of a document; None for one that Karpenter does not start with."""
    if not text:
        return ()
    from kubectl_sched.sources.configuration_file import first_document  # YAML is slow to import

    try:
        document = first_document(text.encode(), "SCHEDULER_CONFIG").document
        found = msgspec.convert(document or {}, _SchedulerConfig).pod_topology_spread.default_constraints
    except (SchedError, msgspec.ValidationError):
        return None
    return None if any(map(_is_wrong, found)) else found


def _is_wrong(constraint: TopologySpreadConstraint) -> bool:
    """Report whether Karpenter refuses a default constraint (validateDefaultConstraint)."""
    is_known = constraint.when_unsatisfiable in {"DoNotSchedule", "ScheduleAnyway"}
    has_own = constraint.label_selector is not None or bool(constraint.match_label_keys)
    return constraint.max_skew <= 0 or not constraint.topology_key or not is_known or has_own


class _PodTopologySpread(Part, frozen=True):
    default_constraints: tuple[TopologySpreadConstraint, ...] = ()


class _SchedulerConfig(Part, frozen=True):
    pod_topology_spread: _PodTopologySpread = _PodTopologySpread()
