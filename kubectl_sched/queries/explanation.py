"""The answer about one pod: the cycle, and what is known of the pod besides."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from kubectl_sched.diagnostics.warnings import warnings
from kubectl_sched.record import CachingRecord
from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.scheduler.member_result import MemberResult

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.diagnostics.findings.finding import Finding
    from kubectl_sched.diagnostics.gates.gate import Gate, Need
    from kubectl_sched.diagnostics.kubelet_refusals import Refusals
    from kubectl_sched.diagnostics.last_message import Said
    from kubectl_sched.diagnostics.pod_lifecycle import Stage
    from kubectl_sched.diagnostics.replay_against_history import History, Observed
    from kubectl_sched.queries.contrast import Contrast
    from kubectl_sched.queries.provisioning.new_nodes import NewNodes
    from kubectl_sched.queries.ungated import Ungated
    from kubectl_sched.queries.unreadable_kinds import UnreadableKind
    from kubectl_sched.queries.verdict.manifest_mark import ManifestMark
    from kubectl_sched.queries.verdict.rejected_groups import NodeGroup
    from kubectl_sched.scheduler.queue_position import QueuePlace
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.scheduler.scheduler import Scheduler
    from kubectl_sched.scheduler.search_starts import Sampling
    from kubectl_sched.sources.pod_surroundings import Surroundings
    from kubectl_sched.suggestions.suggestion import Suggestion


class Explanation(CachingRecord, frozen=True, kw_only=True):
    """The one value that every renderer reads about a pod. Nothing in it is computed again."""

    result: ScheduleResult
    """The cycle."""

    warnings: tuple[str, ...] = ()
    """A sentence for each thing that kube-scheduler would not have looked at, or that a replay cannot know."""

    changing: tuple[str, ...] = ()
    """A sentence for each thing that changes the answer: kinds that are missing, kubelets that refuse pods there."""

    refusing: tuple[Refusals, ...] = ()
    """The refusals of pods by the kubelets of nodes that the pod may land on."""

    queue_place: QueuePlace | None = None
    """The pod's place in the queue; None if it is bound, gated or served by nobody."""

    stage: Stage | None = None
    """The pod's stage in the cluster."""

    history: History | None = None
    """The placement of a bound pod against the replay."""

    observed: Observed | None = None
    """Events about a pending pod."""

    said: Said | None = None
    """The last message of the pending pod's scheduler, beside what the replay says."""

    sampling: Sampling | None = None
    """The share of the search's starts from which each node wins, if that was asked for."""

    suggestions: tuple[Suggestion, ...] = ()
    """Changes after which the pod fits, each replayed, the one that touches least first."""

    contrast: Contrast | None = None
    """The winner against the runner-up, or against the node that was asked about; None if points do not decide."""

    gates: tuple[Gate, ...] = ()
    """The gates of the pod and the controllers that hold it back, with what these say."""

    ungated: tuple[Ungated, ...] = ()
    """The replays of a gated pod as its controller would let it go, one for each choice of flavors."""

    new_nodes: NewNodes | None = None
    """The autoscaler's part: the node that it would make; None if none is seen or the pod needs none."""

    missing: tuple[UnreadableKind, ...] = ()
    """The kinds that the pod needs and of which no object was read."""

    marks: tuple[ManifestMark, ...] = ()
    """The fields of the pod's manifest that keep it out or are in doubt; none if no manifest was named."""

    around: Surroundings | None = None
    """The facts beside the cycle, in which findings are looked for."""

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Facts in the objects that no plugin reads, and that explain the verdict or spoil the start."""
        from kubectl_sched.diagnostics.findings.all_findings import findings_of  # a list of pods shows none

        return findings_of(self.result, self.around) if self.around is not None else ()

    @cached_property
    def clauses(self) -> tuple[str, ...]:
        """The finding that belongs into the verdict, in short clauses; none where the cycle says it all."""
        result = self.result
        if self.around is None or not (result.fits or result.current_node or self.pod.spec.volumes):
            return ()

        from kubectl_sched.diagnostics.findings.all_findings import clauses_of  # as above

        found = clauses_of(result, self.around)
        return found if found or result.current_node else next((each.clauses for each in self.refusing), ())

    @property
    def waits_by_hand(self) -> bool:
        """Report whether the pod was bound by hand and does not run yet."""
        by_hand = self.history is not None and self.history.verdict == "NotScheduled" and not self.pod.is_static
        return by_hand and self.pod.status.phase == "Pending"

    @property
    def awaits_its_own_cycle(self) -> bool:
        """Report whether the pod is there and waits for a node by itself, not with its group."""
        result = self.result
        is_there = not self.pod.has_ended and (self.stage is None or self.stage.name != "NotCreated")
        fails = result.failure is not None
        return is_there and not (result.current_node or fails or isinstance(result, MemberResult))

    @property
    def unreadable(self) -> tuple[UnreadableKind, ...]:
        """The missing kinds that are known to be missing, so that the outcome may rest on them."""
        return tuple(each for each in self.missing if each.is_known)

    @cached_property
    def verdict(self) -> str:
        """The verdict: what decides about the pod, in at most 100 characters without its name."""
        from kubectl_sched.queries.verdict.verdict import PodFacts, verdict_of  # a list of pods may show none

        facts = PodFacts(
            result=self.result,
            stage=self.stage,
            history=self.history,
            gates=self.gates,
            is_ungated=bool(self.ungated),
            missing=self.missing,
            said=self.said,
            clauses=self.clauses,
        )
        return verdict_of(facts)

    @cached_property
    def groups(self) -> tuple[NodeGroup, ...]:
        """The nodes by what keeps the pod off them, those that decide first; none where it fits."""
        from kubectl_sched.queries.verdict.rejected_groups import node_groups  # as above

        return node_groups(self.result)

    @property
    def notes(self) -> tuple[str, ...]:
        """All sentences beside the answer, those first that change it."""
        return (*self.changing, *self.warnings)

    @property
    def is_held_elsewhere(self) -> bool:
        """Report whether a gate or another scheduler decides about the pod."""
        if self.result.current_node or self.pod.has_ended:
            return False
        is_unserved = self.stage is not None and self.stage.name == "NoScheduler"
        return is_unserved or not isinstance(self.result, CycleResult) or bool(self.pod.spec.scheduling_gates)

    @property
    def needs(self) -> tuple[Need, ...]:
        """The conditions that somebody has to meet before the pod's controller lets it go, each once."""
        return tuple(dict.fromkeys(need for gate in self.gates for need in gate.needs))

    @property
    def sets_fields(self) -> bool:
        """Report whether the pod's controller would set fields on it that nodes are chosen by."""
        return any(each.injection.node_selector or each.injection.tolerations for each in self.ungated)

    @property
    def shown(self) -> ScheduleResult:
        """The cycle whose nodes to show: of a gated pod on which fields will be set, the one with these."""
        results = [each.result for each in self.ungated if each.result is not None] if self.sets_fields else []
        return next((each for each in results if each.fits), results[0] if results else self.result)

    @property
    def pod(self) -> Pod:
        """The pod as the cycle saw it: on no node."""
        return self.result.pod


def explanation_of(result: ScheduleResult, scheduler: Scheduler) -> Explanation:
    """Return what a scheduler's own state tells of a cycle: the warnings and the pod's place in the queue."""
    return Explanation(
        result=result, warnings=warnings(result, scheduler.configuration), queue_place=scheduler.queue_place(result)
    )
