"""Kinds that a pod's decision rests on and that could not be read: what is not known is neither passed nor rejected."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec.structs import replace

from kubectl_sched.api.component_helpers.volume_claims import claim_uses
from kubectl_sched.framework.plugin_error_boundary import NOT_JUDGED
from kubectl_sched.framework.status import SUCCESS, Code, Status
from kubectl_sched.record import CachingRecord, Record
from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.snapshot import Column
from kubectl_sched.sources.dump.completeness import DecisiveKinds
from kubectl_sched.sources.kinds import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources.dump.dump import Dump, Forbidden

FORBIDDEN: Final = "Forbidden"
ABSENT: Final = "Absent"
BUDGET: Final = "PodDisruptionBudget"

_CLAIM_PLUGINS: Final = ("VolumeBinding", "VolumeRestrictions", "VolumeZone", "NodeVolumeLimits")
_VOLUME_PLUGINS: Final = ("VolumeBinding", "VolumeZone", "NodeVolumeLimits")
_CLASS_PLUGINS: Final = ("VolumeBinding", "VolumeZone")
_DEVICE_PLUGINS: Final = ("DynamicResources",)
_PLUGINS_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "Node": (),
    "PersistentVolumeClaim": _CLAIM_PLUGINS,
    "PersistentVolume": _VOLUME_PLUGINS,
    "StorageClass": _CLASS_PLUGINS,
    "ResourceClaim": _DEVICE_PLUGINS,
    "ResourceSlice": _DEVICE_PLUGINS,
    "DeviceClass": _DEVICE_PLUGINS,
    "Namespace": ("InterPodAffinity",),
    BUDGET: (),
}
_OF_NO_PLUGIN: Final[Mapping[str, str]] = {
    "Node": "nothing can be judged",
    BUDGET: "nobody can say which pods may be evicted",
}
_STORAGE: Final = frozenset({"PersistentVolumeClaim", "PersistentVolume", "StorageClass"})
_DEVICES: Final = frozenset({"ResourceClaim", "ResourceSlice", "DeviceClass"})


class UnreadableKind(Record, frozen=True, kw_only=True):
    """A kind of which not one object was read, although the decision on a pod rests on it."""

    kind: str
    why: str
    """Forbidden: the server refused the list. Absent: the dump has none of it."""

    rule: str
    """The RBAC rule, or the `kubectl get`, that brings the kind."""

    plugins: tuple[str, ...]
    """The plugins that look at it."""

    is_known: bool = True
    """False for a list of mixed kinds, which cannot tell whether the cluster has none or nobody asked."""

    @property
    def plural(self) -> str:
        """The kind in the plural: `StorageClasses`."""
        return f"{self.kind}es" if self.kind.endswith("s") else f"{self.kind}s"

    @property
    def text(self) -> str:
        """The clause: `the dump has no PersistentVolumes`."""
        return kinds_in_words((self,))

    @property
    def sentence(self) -> str:
        """The clause with what it leaves open, and what brings the kind."""
        judged = f"{_listed(self.plugins)} cannot be judged" if self.plugins else _OF_NO_PLUGIN[self.kind]
        brings = f"the missing rule: {self.rule}" if self.why == FORBIDDEN else f"`{self.rule}` has them"
        if self.kind == BUDGET and not self.is_known:
            return f"{self.text}: if the cluster has any, they may keep pods on their nodes; {brings}"
        return f"{self.text}, so {judged}; {brings}"


def kinds_in_words(kinds: Iterable[UnreadableKind]) -> str:
    """Return the clause about all of them: `the dump has no PersistentVolumes or StorageClasses`."""
    told = tuple(kinds)
    absent = tuple(each.plural for each in told if each.why != FORBIDDEN)
    refused = tuple(each.plural for each in told if each.why == FORBIDDEN)
    clauses = (
        f"the dump has no {_listed(absent, 'or')}" if absent else "",
        f"{_listed(refused)} may not be listed" if refused else "",
    )
    return " and ".join(filter(None, clauses))


def _listed(names: tuple[str, ...], conjunction: str = "and") -> str:
    return f" {conjunction} ".join(filter(None, (", ".join(names[:-1]), names[-1])))


class UnreadableKinds(CachingRecord, frozen=True, kw_only=True):
    """The kinds that are missing from what was read, for each pod that needs them."""

    dump: Dump

    def needed_by(self, pod: Pod) -> tuple[UnreadableKind, ...]:
        """Return the kinds that the decision on the pod rests on and of which no object was read."""
        found = (self._unreadable(kind, pod) for kind in self._decisive.of(pod))
        return tuple(each for each in found if each is not None)

    def budgets_of(self, pods: Iterable[Pod]) -> UnreadableKind | None:
        """Return PodDisruptionBudgets where the eviction of one of the pods rests on them and none was read."""
        found = (self._unreadable(BUDGET, pod) for pod in pods)
        return next(filter(None, found), None)

    @cached_property
    def _decisive(self) -> DecisiveKinds:
        return DecisiveKinds(dump=self.dump)

    @cached_property
    def _read(self) -> frozenset[str]:
        return frozenset(type(item).__name__ for item in self.dump.others)

    def _unreadable(self, name: str, pod: Pod) -> UnreadableKind | None:
        """None for a kind of which an object was read, or whose list was read and is empty."""
        if name in self._read:
            return None
        plugins, kind = _PLUGINS_OF[name], BY_NAME[name]
        forbidden = next((each for each in self.dump.forbidden if _concerns(each, name, pod)), None)
        if forbidden is not None:
            return UnreadableKind(kind=name, why=FORBIDDEN, rule=forbidden.rule, plugins=plugins)
        if self.dump.is_live or name in self.dump.present:
            return None
        everywhere = " -A" if kind.namespaced else ""
        command = f"kubectl get {kind.plural}{everywhere} -o json"
        return UnreadableKind(kind=name, why=ABSENT, rule=command, plugins=plugins, is_known=self.dump.tells_absence)


def _concerns(forbidden: Forbidden, kind: str, pod: Pod) -> bool:
    return forbidden.kind == kind and forbidden.namespace in {"", pod.namespace}


def without_unreadable(pod: Pod, kinds: tuple[UnreadableKind, ...]) -> Pod:
    """Return the pod without what only objects of these kinds decide, so that all else can be judged."""
    names, spec = {each.kind for each in kinds}, pod.spec
    if names & _STORAGE:
        claimed = {use.volume for use in claim_uses(pod)}
        spec = replace(spec, volumes=tuple(each for each in spec.volumes if each.name not in claimed))
    if names & _DEVICES:
        spec = replace(spec, resource_claims=())
    if "Namespace" in names and spec.affinity is not None:
        spec = replace(spec, affinity=replace(spec.affinity, pod_affinity=None, pod_anti_affinity=None))
    return replace(pod, spec=spec)


def is_decided_without(result: ScheduleResult, kinds: Iterable[UnreadableKind]) -> bool:
    """Report whether the cycle comes to its outcome by plugins alone that look at none of the kinds."""
    if result.fits or not len(result.nodes):
        return result.fits
    unjudged = _plugins_of(kinds)
    if not result.pre_filter.is_success:
        return result.pre_filter.plugin not in unjudged
    return not result.all_rejections.where(lambda statuses: _are_all_of(statuses, unjudged)).any()


def is_decided_on(result: ScheduleResult, row: int, kinds: Iterable[UnreadableKind]) -> bool:
    """Report whether one node is judged by a plugin that looks at none of the kinds."""
    unjudged = _plugins_of(kinds)
    if not result.pre_filter.is_success:
        return result.pre_filter.plugin not in unjudged
    return not _are_all_of(result.rejections(row), unjudged)


def _plugins_of(kinds: Iterable[UnreadableKind]) -> frozenset[str]:
    return frozenset(plugin for each in kinds for plugin in each.plugins)


def _are_all_of(rejections: tuple[Status, ...], plugins: frozenset[str]) -> bool:
    return bool(rejections) and all(status.plugin in plugins for status in rejections)


def left_open(result: ScheduleResult, pod: Pod, kinds: tuple[UnreadableKind, ...]) -> ScheduleResult:
    """Return the cycle of `without_unreadable` as the pod's: a node that passes everything else is not known to fit.

    A pod that other plugins keep off every node stays Unschedulable, but what kube-scheduler would say is not known.
    """
    first = kinds[0]
    clause = kinds_in_words(kinds)
    if isinstance(result, CycleResult):  # its state is of this cycle alone
        unjudged = _plugins_of(kinds)
        result.state.skip_filter_plugins -= unjudged
        result.state.skip_score_plugins -= unjudged
    result = replace(
        result, pod=pod, unread=clause, message=None, event=None, post_filter=None, scores=(), nominated_first=None
    )
    if first.kind == "Node" and not len(result.nodes):
        return replace(result, outcome=Outcome.UNKNOWN)
    if result.outcome is not Outcome.SCHEDULABLE or result.verdict is None:
        return result
    status = Status(Code.UNKNOWN, (NOT_JUDGED, clause), first.plugins[0] if first.plugins else None)
    passed = dict.fromkeys(result.feasible.tolist(), status)
    plugin = first.plugins[0] if first.plugins else ""
    own = Column.filled(len(result.nodes), SUCCESS).with_each(passed)
    return replace(
        result,
        outcome=Outcome.UNKNOWN,
        verdicts={**result.verdicts, **({plugin: own} if plugin else {})},
        verdict=result.verdict.with_each(passed),
        feasible=np.zeros(0, dtype=np.intp),
        totals=np.zeros(0, dtype=np.int64),
    )
