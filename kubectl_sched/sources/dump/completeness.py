"""The kinds that a dump lacks, the direction in which the answer errs without them, and the dump's age."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from kubectl_sched.api.core import Node
from kubectl_sched.sources.dump.dump_age import spoken_age, time_since

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources.dump.dump import Dump

_OWNERS = frozenset({"ReplicationController", "ReplicaSet", "StatefulSet"})


def _has_claims(result: ScheduleResult) -> bool:
    return any(volume.persistent_volume_claim or volume.ephemeral for volume in result.pod.spec.volumes)


def _spreads_by_default(result: ScheduleResult) -> bool:
    """Report whether PodTopologySpread's default constraints count: there is a choice, and the pod has none itself."""
    return len(result.feasible) > 1 and not result.pod.spec.topology_spread_constraints


def _may_have_a_service(result: ScheduleResult) -> bool:
    return _spreads_by_default(result) and bool(result.pod.metadata.labels)


def _is_owned_by(kind: str) -> Callable[[ScheduleResult], bool]:
    def is_owned(result: ScheduleResult) -> bool:
        owner = result.pod.metadata.controller
        return owner is not None and owner.kind == kind and _spreads_by_default(result)

    return is_owned


def _has_namespace_selector(result: ScheduleResult) -> bool:
    affinity = result.pod.spec.affinity
    terms = affinity.pod_terms if affinity is not None else ()
    return any(term.namespace_selector is not None for term in terms)


def _preempts(result: ScheduleResult) -> bool:
    return result.post_filter is not None and bool(result.post_filter.candidates)


_UNSPREAD = "points for spreading over hosts and zones may be missing"

_NEEDS: tuple[tuple[frozenset[str], Callable[[ScheduleResult], bool], str], ...] = (
    (
        frozenset({"PersistentVolumeClaim", "PersistentVolume", "StorageClass"}),
        _has_claims,
        "not all is known of the pod's claims, so the volume plugins may reject more than they would",
    ),
    (
        frozenset({"CSINode"}),
        _has_claims,
        "limits on volumes are not counted, so nodes may have less room for its volumes than they seem to",
    ),
    (
        frozenset({"ResourceClaim", "ResourceSlice", "DeviceClass"}),
        lambda result: bool(result.pod.spec.resource_claims),
        "the pod's devices cannot be found, so DynamicResources rejects more than it would",
    ),
    (frozenset({"Service"}), _may_have_a_service, _UNSPREAD),
    *((frozenset({kind}), _is_owned_by(kind), _UNSPREAD) for kind in sorted(_OWNERS)),
    (frozenset({"Namespace"}), _has_namespace_selector, "a namespaceSelector sees every namespace without labels"),
    (frozenset({"PodDisruptionBudget"}), _preempts, "preemption may choose another node"),
)
"""The kinds that are needed, the results that need them, and the meaning of their absence."""


def completeness(dump: Dump, results: Sequence[ScheduleResult], now: datetime | None = None) -> list[str]:
    """Return what the dump lacks for these pods, and its age, in at most two lines. A running cluster lacks nothing."""
    if dump.is_live:
        return []
    lines = []
    if "Node" not in dump.present:
        lines.append("the dump has no node list (kubectl get nodes -o json), so no node can be feasible")
    told = [*_missing(dump, results), *_namespaces(dump)]
    if dump.taken_at is not None:
        moment = dump.taken_at[:16].replace("T", " ")
        age = time_since(dump.taken_at, now or datetime.now(UTC))
        ago = f" ({spoken_age(age)} ago)" if age is not None else ""
        told.insert(0, f"taken no earlier than {moment}{ago}")
    if told:
        lines.append(f"about the dump: {'; '.join(told)}")
    return lines


def _missing(dump: Dump, results: Sequence[ScheduleResult]) -> Iterator[str]:
    missing: dict[str, set[str]] = {}
    for kinds, concerns, meaning in _NEEDS:
        absent = kinds - dump.present
        if "CSINode" in absent and "PersistentVolumeClaim" not in dump.present:
            continue  # which is worse, and said
        if absent and any(concerns(result) for result in results):
            missing.setdefault(meaning, set()).update(absent)
    for meaning, lacking in missing.items():
        yield f"without {', '.join(sorted(lacking))}, {meaning}"


def _namespaces(dump: Dump) -> Iterator[str]:
    """A cluster without a single pod in kube-system was not dumped as a whole."""
    namespaces = {pod.metadata.namespace for pod in dump.pods}
    if namespaces and "kube-system" not in namespaces and any(isinstance(item, Node) for item in dump.others):
        shown = ", ".join(sorted(namespaces)[:3]) + (", ..." if len(namespaces) > 3 else "")
        yield f"it has pods of {shown} only, so nodes may be fuller than they seem (`kubectl get pods -A` has all)"
