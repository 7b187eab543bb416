"""The kinds that a dump lacks, the direction in which the answer errs without them, and the dump's age."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_sched.api.component_helpers.volume_claims import NOT_SUPPORTED_PROVISIONER, claim_uses, class_of_claim
from kubectl_sched.api.core import Node
from kubectl_sched.api.resource import ResourceClaim
from kubectl_sched.api.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from kubectl_sched.record import CachingRecord, Record
from kubectl_sched.sources.dump.dump_age import spoken_age, time_since

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources.dump.dump import Dump

_RECENT: Final = timedelta(days=1)
"""A dump older than this is said to be old before anything else."""

_OWNERS = frozenset({"ReplicationController", "ReplicaSet", "StatefulSet"})


class DecisiveKinds(CachingRecord, frozen=True, kw_only=True):
    """The kinds that decide on each pod of a dump, whether or not the dump has them."""

    dump: Dump

    def of(self, pod: Pod) -> Iterator[str]:
        """Yield the kinds besides Pod that the decision on the pod rests on."""
        yield "Node"
        yield from self._of_volumes(pod)
        yield from self._of_devices(pod)
        affinity = pod.spec.affinity
        terms = affinity.pod_terms if affinity is not None else ()
        if any(term.namespace_selector is not None and not _is_empty(term.namespace_selector) for term in terms):
            yield "Namespace"

    def attaches_volumes(self, pod: Pod) -> bool:
        """Report whether a volume of the pod may count against a limit of its node; a local one never does."""
        names = (self._claims.get((pod.namespace, use.claim_name)) for use in claim_uses(pod))
        volumes = [self._volumes.get(claim.spec.volume_name) if claim is not None else None for claim in names]
        return any(each is None or (each.spec.local is None and each.spec.host_path is None) for each in volumes)

    def _of_volumes(self, pod: Pod) -> Iterator[str]:
        """Yield the kinds behind the pod's claims: a claim that is known to be missing decides alone."""
        found = [self._claims.get((pod.namespace, use.claim_name)) for use in claim_uses(pod)]
        claims = [claim for claim in found if claim is not None]
        is_read = self._claims or "PersistentVolumeClaim" in self.dump.present
        if not found or (len(claims) < len(found) and is_read):
            return
        if not claims:
            yield "PersistentVolumeClaim"
        if not claims or any(map(self._needs_volumes, claims)):
            yield "PersistentVolume"
        if any(not claim.spec.volume_name and class_of_claim(claim) for claim in claims):
            yield "StorageClass"

    def _needs_volumes(self, claim: PersistentVolumeClaim) -> bool:
        """Report whether the claim has a volume, or only a volume that is there already could serve it.

        Without a class it waits for kube-controller-manager to give it one, whichever there are.
        """
        name = class_of_claim(claim)
        storage_class = self._classes.get(name)
        provisioner = storage_class.provisioner if storage_class is not None else NOT_SUPPORTED_PROVISIONER
        return bool(claim.spec.volume_name) or (bool(name) and provisioner == NOT_SUPPORTED_PROVISIONER)

    def _of_devices(self, pod: Pod) -> Iterator[str]:
        """Yield the kinds behind the pod's devices: claims that are allocated need no slice and no class."""
        if not pod.spec.resource_claims:
            return
        yield "ResourceClaim"
        generated = {each.name: each.resource_claim_name for each in pod.status.resource_claim_statuses}
        names = (each.resource_claim_name or generated.get(each.name) for each in pod.spec.resource_claims)
        claims = [self._device_claims.get((pod.namespace, name or "")) for name in names]
        if any(claim is None or claim.status.allocation is None for claim in claims):
            yield from ("ResourceSlice", "DeviceClass")

    @cached_property
    def _classes(self) -> Mapping[str, StorageClass]:
        return {item.name: item for item in self.dump.others if isinstance(item, StorageClass)}

    @cached_property
    def _volumes(self) -> Mapping[str, PersistentVolume]:
        return {item.name: item for item in self.dump.others if isinstance(item, PersistentVolume)}

    @cached_property
    def _claims(self) -> Mapping[tuple[str, str], PersistentVolumeClaim]:
        claims = (item for item in self.dump.others if isinstance(item, PersistentVolumeClaim))
        return {(claim.namespace, claim.name): claim for claim in claims}

    @cached_property
    def _device_claims(self) -> Mapping[tuple[str, str], ResourceClaim]:
        claims = (item for item in self.dump.others if isinstance(item, ResourceClaim))
        return {(claim.namespace, claim.name): claim for claim in claims}


def _is_empty(selector: object) -> bool:
    return not getattr(selector, "match_labels", None) and not getattr(selector, "match_expressions", None)


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
    """Report whether preemption has a choice."""
    return result.post_filter is not None and len(result.post_filter.candidates) > 1


_NO_NODES = "the dump has no node list (kubectl get nodes -o json), so no node can be feasible"
_UNSPREAD = "points for spreading over hosts and zones may be missing"


class _Need(NamedTuple):
    """Kinds, the results that need them, and the meaning of their absence, which may change more than some points."""

    kinds: frozenset[str]
    concerns: Callable[[ScheduleResult], bool]
    meaning: str
    changes_the_answer: bool = True


_MEANINGS: Final = (
    (
        frozenset({"PersistentVolumeClaim", "PersistentVolume", "StorageClass"}),
        "not all is known of the pod's claims, so the volume plugins may reject too much",
    ),
    (
        frozenset({"ResourceClaim", "ResourceSlice", "DeviceClass"}),
        "the pod's devices cannot be found, so DynamicResources rejects too much",
    ),
)
"""Kinds of which the objects of a pod decide whether they are needed, and the meaning of their absence."""

_NEEDS: tuple[_Need, ...] = (
    _Need(frozenset({"Service"}), _may_have_a_service, _UNSPREAD, changes_the_answer=False),
    *(_Need(frozenset({kind}), _is_owned_by(kind), _UNSPREAD, changes_the_answer=False) for kind in sorted(_OWNERS)),
    _Need(frozenset({"Namespace"}), _has_namespace_selector, "a namespaceSelector sees every namespace without labels"),
    _Need(frozenset({"PodDisruptionBudget"}), _preempts, "preemption may choose another node"),
)


class Completeness(Record, frozen=True, kw_only=True):
    """Sentences on what a dump lacks and how old it is: those that change an answer, and those that it rests on."""

    changing: tuple[str, ...] = ()
    premises: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """All sentences, those that change an answer first."""
        return (*self.changing, *self.premises)


def completeness(
    dump: Dump, results: Sequence[ScheduleResult], now: datetime | None = None, *, told: Iterable[str] = ()
) -> Completeness:
    """Return what the dump lacks for these pods, and its age. A running cluster lacks nothing.

    `told` are the kinds of which the answer says besides that they are missing.
    """
    if dump.is_live:
        return Completeness()
    told = frozenset(told)
    if "Node" in dump.present:
        changing, premises = _missing(dump, results, told)
    else:  # nothing else decides
        changing, premises = ([] if "Node" in told else [_NO_NODES]), []
    premises += _namespaces(dump)
    now = now or datetime.now(UTC)
    old = old_age(dump, now)
    changing[:0] = old
    if dump.taken_at is not None and not old:
        age = time_since(dump.taken_at, now)
        ago = f" ({spoken_age(age)} ago)" if age is not None else ""
        premises.insert(0, f"taken no earlier than {_moment(dump.taken_at)}{ago}")
    about = (f"about the dump: {'; '.join(premises)}",) if premises else ()
    return Completeness(changing=tuple(changing), premises=about)


def old_age(dump: Dump, now: datetime | None = None) -> tuple[str, ...]:
    """Return the sentence that the dump is old, if it is."""
    if dump.is_live or dump.taken_at is None:
        return ()
    age = time_since(dump.taken_at, now or datetime.now(UTC))
    if age is None or age <= _RECENT:
        return ()
    return (f"the dump is {spoken_age(age)} old (taken no earlier than {_moment(dump.taken_at)})",)


def _moment(taken_at: str) -> str:
    return taken_at[:16].replace("T", " ")


def _missing(
    dump: Dump, results: Sequence[ScheduleResult], told_besides: frozenset[str]
) -> tuple[list[str], list[str]]:
    """Return the clauses about missing kinds that change the answer, and those that do not."""
    missing: dict[tuple[str, bool], set[str]] = {}
    for need in (*_needs_of_claims(dump, results), *_NEEDS):
        absent = need.kinds - dump.present
        if absent and not absent & told_besides and any(need.concerns(result) for result in results):
            missing.setdefault((need.meaning, need.changes_the_answer), set()).update(absent)
    told = {key: f"without {', '.join(sorted(lacking))}, {key[0]}" for key, lacking in missing.items()}
    changing = [f"{clause[:1].upper()}{clause[1:]}" for (_, changes), clause in told.items() if changes]
    return changing, [clause for (_, changes), clause in told.items() if not changes]


def _needs_of_claims(dump: Dump, results: Sequence[ScheduleResult]) -> Iterator[_Need]:
    """Yield the kinds that decide on the claims of these pods, as far as the claims are known."""
    decisive = DecisiveKinds(dump=dump)
    claiming = [result.pod for result in results if _has_claims(result) or result.pod.spec.resource_claims]
    kinds = frozenset(kind for pod in claiming for kind in decisive.of(pod))
    for some, means in _MEANINGS:
        yield _Need(some & kinds, lambda _: True, means)
    if "PersistentVolumeClaim" in dump.present and any(map(decisive.attaches_volumes, claiming)):
        yield _Need(
            frozenset({"CSINode"}),
            lambda result: _has_claims(result) and len(result.feasible) > 0,
            "limits on volumes are not counted, so nodes may have less room for volumes than they seem to",
        )


def _namespaces(dump: Dump) -> Iterator[str]:
    """Tell that a dump without a single pod in kube-system is not whole; what a snapshot leaves out it tells itself."""
    if dump.pods_of:
        return
    namespaces = {pod.metadata.namespace for pod in dump.pods}
    if namespaces and "kube-system" not in namespaces and any(isinstance(item, Node) for item in dump.others):
        shown = ", ".join(sorted(namespaces)[:3]) + (", ..." if len(namespaces) > 3 else "")
        yield f"it has pods of {shown} only, so nodes may be fuller than they seem (all: `kubectl get pods -A`)"
