"""`explain`: the replay of each pod that was asked about, and how it relates to what happened in the cluster."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.apimachinery.quantity import InvalidQuantity
from kubectl_sched.diagnostics.kubelet_refusals import kubelet_refusals, refused_where_it_lands
from kubectl_sched.diagnostics.last_message import said_of
from kubectl_sched.diagnostics.pod_lifecycle import stage_of
from kubectl_sched.diagnostics.replay_against_history import history_of, observed_of, placed_by_another
from kubectl_sched.errors import SchedError
from kubectl_sched.own_error import HOW_TO_REPORT, error_in_one_line, note_error
from kubectl_sched.queries.contrast import contrast_of
from kubectl_sched.queries.explanation import Explanation, explanation_of
from kubectl_sched.queries.unreadable_kinds import (
    UnreadableKinds,
    is_decided_without,
    left_open,
    without_unreadable,
)
from kubectl_sched.record import CachingRecord, Record
from kubectl_sched.scheduler.member_result import CyclesOfGroups, MemberResult
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.scheduler.schedule_one import no_profile
from kubectl_sched.simulation.equivalence_cache import EquivalenceCache
from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
from kubectl_sched.sources.discovery.replay_setup import Replay
from kubectl_sched.sources.discovery.scheduler_flags import shows_autoscaler
from kubectl_sched.sources.dump.completeness import completeness
from kubectl_sched.sources.pod_selection import Selection, about_none, select, workloads_named
from kubectl_sched.sources.pod_surroundings import Surroundings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.diagnostics.kubelet_refusals import Refusals
    from kubectl_sched.framework.handle import ExtenderClient
    from kubectl_sched.queries.held_pods import HeldPods
    from kubectl_sched.queries.provisioning.new_nodes import NewNodesFlags
    from kubectl_sched.queries.unreadable_kinds import UnreadableKind
    from kubectl_sched.queries.whatif import AppliedManifests
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.scheduler.scheduler import Scheduler
    from kubectl_sched.scheduler.search_starts import Sampling
    from kubectl_sched.simulation.pending_together import Together
    from kubectl_sched.sources.dump.dump import Dump
    from kubectl_sched.suggestions.suggestion import Suggestion

_DRIFTED = frozenset({"Different", "WouldReject"})
_MANIFEST_PODS_IN_FULL = 8
"""Of so many pods of manifests it is searched what would help; each takes replays."""


class ExplainQuestion(Record, frozen=True, kw_only=True):
    """A question about some pods. The fields are the flags of `explain` of the same names."""

    selection: Selection
    replay: Replay = Replay()
    profile: str | None = None
    node: str | None = None
    """The node that suggestions are about; None for any."""

    at_decision: bool = False
    drifted: bool = False
    sampling: bool = False
    start_index: int | None = None
    new_nodes: NewNodesFlags | None = None
    """The flags of --new-nodes; None without it."""

    in_groups: bool = True
    """Tell a pod of a group with its part of the group's cycle; else each pod is judged by itself."""

    manifests: AppliedManifests | None = None
    """The manifests that the pods come from, instead of the selection; what keeps a pod out is marked in them."""

    suggesting: bool = True
    """Search for changes that would help. This is for one pod alone, since each takes replays."""

    @property
    def is_about_one_pod(self) -> bool:
        """One pod was named, and nothing may leave it out."""
        return self.selection.is_one_pod and not self.drifted


class ExplainAnswer(CachingRecord, frozen=True, kw_only=True):
    """The explanations that a question asked for, in its order, and what they rest on."""

    explanations: tuple[Explanation, ...]
    is_about_one_pod: bool = True
    is_of_manifests: bool = False
    """The pods are of manifests, which need not be applied."""

    together: Together | None = None
    """All pending pods of the answer placed one after the other; None if that was not asked for."""

    notes: tuple[str, ...] = ()
    """Sentences about the state and the configuration that the answer rests on."""

    changing: tuple[str, ...] = ()
    """The notes that change the answer: what the dump lacks, and that it is old."""

    warnings: tuple[str, ...] = ()
    """Sentences about what went wrong while reading."""

    nothing: str = "no pods match"
    """The sentence for an answer without explanations."""


def explain(
    question: ExplainQuestion, dump: Dump, extender_client: ExtenderClient | None = None
) -> tuple[ExplainAnswer, ClusterSchedulers]:
    """Answer a question about the pods of one dump; the schedulers that judged come along, for further questions.

    Raises SchedError if a named pod, node or profile is not there.
    """
    schedulers = ClusterSchedulers(dump, question.replay, question.profile, extender_client)
    schedulers.check_profile()
    asking = PodExplainer(question, dump, schedulers, suggesting=extender_client is None)
    explanations, unreadable = asking.explanations()
    selection = question.selection
    about_nothing = (
        about_none(dump.objects, selection, is_live=dump.is_live) if not explanations and not question.drifted else ()
    )
    together = None
    is_about_one = len(explanations) == 1 and not question.drifted  # several namespaces may have the name
    if selection.pending and not is_about_one:
        from kubectl_sched.simulation.pending_together import together_if_served_by_one  # the queue is for lists only

        pending = [each.result for each in explanations if each.awaits_its_own_cycle]
        together = together_if_served_by_one(pending, schedulers.scheduler, schedulers.profile)
    told = [kind.kind for each in explanations for kind in each.missing]
    complete = completeness(dump, [each.result for each in explanations], told=told)
    unadmitted: tuple[str, ...] = ()
    if question.manifests is not None:
        from kubectl_sched.queries.manifest_advice import about_unadmitted  # most questions name none

        unadmitted = tuple(about_unadmitted(question.manifests))
    notes = (*unadmitted, *asking.about_workloads(), *schedulers.notes, *complete.notes)
    read = (*schedulers.warnings, *unreadable, *dump.warnings)
    return ExplainAnswer(
        explanations=tuple(explanations),
        is_about_one_pod=is_about_one,
        is_of_manifests=question.manifests is not None,
        together=together,
        notes=notes,
        changing=(*unadmitted, *asking.behind_ordinals, *about_nothing, *complete.changing),
        warnings=read,
        nothing="nothing is pending" if selection.pending else "no pods match",
    ), schedulers


class PodExplainer:
    """One question under way."""

    def __init__(
        self, question: ExplainQuestion, dump: Dump, schedulers: ClusterSchedulers, *, suggesting: bool
    ) -> None:
        self._question = question
        self._dump = dump
        self._schedulers = schedulers
        self._suggesting = suggesting and question.suggesting
        self._in_full: Sequence[Pod] = ()
        self.behind_ordinals: list[str] = []
        """Sentences on pods that a StatefulSet makes once a pending one is ready."""

        self._profile = schedulers.profile
        self._unreadable = UnreadableKinds(dump=dump)
        self._around = Surroundings(dump, schedulers.missing_scheduler)
        self._cycles = EquivalenceCache(schedulers.profile)
        self._groups = CyclesOfGroups(schedulers.profile)

    def explanations(self) -> tuple[list[Explanation], list[str]]:
        """Explain each pod, then each workload whose pods were never created; and name the pods that are unreadable.

        A single pod is explained like one that was named. Of a workload's pods the pending ones come first.
        """
        if self._question.manifests is not None:
            return self._of_manifests(self._question.manifests), []
        selection, drifted = self._question.selection, self._question.drifted
        try:
            pods, unknown = select(self._dump.objects, selection, self._dump.skipped), None
        except SchedError as error:
            pods, unknown = [], error
        missing = list(self._never_created(is_pending=any(pod.is_pending for pod in pods)))
        if unknown is not None and not missing:
            raise unknown
        if drifted:
            pods = [pod for pod in pods if pod.spec.node_name and not pod.has_ended]
        if workloads_named(selection) or not selection.named:
            pods.sort(key=lambda pod: not pod.is_pending)
        self._in_full = self._told_in_full(pods, missing)
        found, unreadable = self._readable(pods)
        if drifted:
            found = [each for each in found if each.history and each.history.verdict in _DRIFTED]
        return [*missing, *found], unreadable

    def _of_manifests(self, applied: AppliedManifests) -> list[Explanation]:
        from kubectl_sched.queries.manifest_advice import unadmitted, with_manifests  # most questions name none

        refused = list(unadmitted(applied, self._schedulers.default_scheduler))
        self._in_full = applied.pods[:_MANIFEST_PODS_IN_FULL]
        return with_manifests([*map(self.explained, applied.pods), *refused], applied.paths)

    def _told_in_full(self, pods: list[Pod], missing: list[Explanation]) -> list[Pod]:
        """Return the pods of which it is searched what would help: the one pod, the first pending one of a workload."""
        if self._question.drifted:
            return []
        if len(pods) + len(missing) == 1:
            return pods
        workloads = workloads_named(self._question.selection)
        return [pod for pod in pods if pod.is_pending][: len(workloads) == 1]

    def _readable(self, pods: list[Pod]) -> tuple[list[Explanation], list[str]]:
        """Explain each pod. One with an invalid quantity that nobody named is left out while others can be read."""
        if self._question.selection.named:
            return list(map(self.explained, pods)), []
        found: list[Explanation] = []
        unreadable: dict[str, InvalidQuantity] = {}
        for pod in pods:
            try:
                found.append(self.explained(pod))
            except InvalidQuantity as error:
                unreadable[pod.key] = error
        if unreadable and not found:
            raise next(iter(unreadable.values()))
        return found, [f"pod {key} is left out: {error}" for key, error in unreadable.items()]

    @cached_property
    def _held(self) -> HeldPods:
        from kubectl_sched.queries.held_pods import HeldPods  # most pods are held by nobody

        return HeldPods(self._schedulers, self._cycles)

    @cached_property
    def refusals(self) -> tuple[Refusals, ...]:
        """The nodes whose kubelets refused pods."""
        return kubelet_refusals(self._dump)

    def explained(self, pod: Pod) -> Explanation:
        """Explain the pod; an unexpected error is its answer, so that no other pod loses its own."""
        try:
            return self._explain(pod)
        except SchedError:
            raise
        except Exception as failure:  # noqa: BLE001 - a bug of ours that one pod meets
            note_error(failure)
            error = error_in_one_line(failure)
            result = no_profile(pod, self._schedulers.default_scheduler.nodes)
            result = replace(result, outcome=Outcome.ERROR, failure=error, error=f"{error}; {HOW_TO_REPORT}")
            return Explanation(result=result)

    def _explain(self, pod: Pod) -> Explanation:
        """Judge the pod; then say who holds it, which node would be made for it, and what would help."""
        scheduler = self._schedulers.scheduler(pod)
        if self._question.at_decision:
            scheduler = self._schedulers.scheduler_at_decision(pod, self._around)
        found = self._judged(pod, scheduler)
        in_full = pod in self._in_full
        needs_node = in_full and self._may_get_node(found.result)
        if found.is_held_elsewhere:
            found = self._held.with_gates(found, scheduler)
        if self._question.new_nodes is not None or needs_node:
            found = self._with_new_nodes(found, pod)
        return self._with_what_helps(found) if in_full else found

    def _judged(self, pod: Pod, scheduler: Scheduler) -> Explanation:
        """Return the pod's cycle, beside what the cluster tells of the pod."""
        missing = self._unreadable.needed_by(pod)
        whole = self._cycle(pod, scheduler, tuple(each for each in missing if each.is_known))
        result, sampling = self._sampled(whole)
        found = explanation_of(result, scheduler)
        another = placed_by_another(result, self._around)
        refusing = refused_where_it_lands(self.refusals, result)
        return replace(
            found,
            missing=missing,
            changing=(
                *(each.sentence for each in missing),
                *(each.text for each in refusing),
                *self._about_request(result),
            ),
            refusing=refusing,
            warnings=(*found.warnings, *([another] if another is not None else [])),
            stage=stage_of(result, self._around),
            history=None if whole.unknown else history_of(whole, self._around),
            observed=observed_of(result, self._around),
            said=said_of(result, self._around),
            sampling=sampling,
            around=self._around,
        )

    def _about_request(self, result: ScheduleResult) -> Iterator[str]:
        """Yield that room is made for the pod's ProvisioningRequest, and not for the pod."""
        if not result.pod.provisioning_request:
            return
        # most pods consume none
        from kubectl_sched.queries.provisioning.provisioning_requests import about_request, consumes_request

        if consumes_request(result, self._around):
            yield about_request(result, self._around)

    def _with_what_helps(self, found: Explanation) -> Explanation:
        found = replace(found, contrast=contrast_of(found.result, self._question.node))
        if not self._suggesting:
            return found
        suggestions = self.suggestions(found)
        return replace(found, suggestions=suggestions, warnings=(*found.warnings, *found.result.explaining.warnings))

    def suggestions(self, found: Explanation) -> tuple[Suggestion, ...]:
        """Return the ladder of a single pod; none for one that is as it was asked for, or part of a group's cycle."""
        result, node = found.result, self._question.node
        if isinstance(result, MemberResult) or result.unknown or result.pod.is_static:
            return ()  # a static pod's manifest is a file of its kubelet, and no scheduler would see a change
        if found.missing and not is_decided_without(result, found.missing):
            return ()
        if found.waits_by_hand and node is None:
            from kubectl_sched.suggestions.search import by_a_scheduler  # hardly a pod has its node by hand

            return by_a_scheduler(result)
        if self._is_as_asked(result):
            return ()
        if found.sets_fields:
            return self._held.suggestions(found, node)
        from kubectl_sched.queries.ladder import ladder  # several pods at once are explained without

        return ladder(found, node, self._schedulers, self._dump.at)

    def _cycle(self, pod: Pod, scheduler: Scheduler, unreadable: tuple[UnreadableKind, ...]) -> ScheduleResult:
        """The pod's cycle, or its part of its group's; what rests on kinds that could not be read is left open."""
        if unreadable:
            return left_open(
                scheduler.schedule_one(without_unreadable(pod, unreadable), self._profile), pod, unreadable
            )
        whole = self._cycles.schedule_one(pod, scheduler)
        return self._groups.part_of(whole, scheduler) if self._question.in_groups else whole

    def _with_new_nodes(self, found: Explanation, pod: Pod) -> Explanation:
        # most clusters have no autoscaler
        from kubectl_sched.queries.provisioning.new_karpenter_node import Asking
        from kubectl_sched.queries.provisioning.new_nodes import new_nodes_beside

        asking = Asking(self._question.replay, self._question.profile)
        events = found.observed.autoscalers if found.observed is not None else ()
        made, warned = new_nodes_beside(found.result, pod, self._dump, asking, self._question.new_nodes, events)
        return replace(found, new_nodes=made, warnings=(*found.warnings, *warned))

    @cached_property
    def _shows_autoscaler(self) -> bool:
        return any(map(shows_autoscaler, self._dump.objects))

    def _may_get_node(self, result: ScheduleResult) -> bool:
        """Report whether the pod fits nowhere while an autoscaler may be there."""
        is_waiting = result.outcome is Outcome.UNSCHEDULABLE and not result.current_node
        return is_waiting and self._shows_autoscaler

    def with_new_nodes(self, found: Explanation) -> Explanation:
        """Add what autoscalers would do for a pod that fits nowhere, if any autoscaler is seen."""
        return self._with_new_nodes(found, found.pod) if self._may_get_node(found.result) else found

    def _is_as_asked(self, result: ScheduleResult) -> bool:
        """Report whether the pod fits and no node was asked about, so that there is nothing to suggest."""
        is_there = result.current_node is None or result.current_node in result.nodes.row_of
        return result.outcome is Outcome.SCHEDULABLE and result.fits and is_there and self._question.node is None

    def _sampled(self, result: ScheduleResult) -> tuple[ScheduleResult, Sampling | None]:
        start_index = self._question.start_index
        if not self._question.sampling and start_index is None:
            return result, None
        from kubectl_sched.scheduler.search_starts import from_every_start, from_start  # rarely asked for

        return (result, from_every_start(result)) if start_index is None else from_start(result, start_index)

    def _never_created(self, *, is_pending: bool) -> Iterator[Explanation]:
        """Yield an explanation for each workload that lacks pods, but those that only wait for a pending pod."""
        selection = self._question.selection
        if not workloads_named(selection):
            return
        # most questions name no workload
        from kubectl_sched.queries.never_created.never_created import never_created_of, result_of, stage_of_missing

        scheduler = self._schedulers.default_scheduler
        release = scheduler.configuration.release
        for each in never_created_of(selection, self._around):
            if is_pending and each.obstacle.cause == "WaitsForOrdinal":
                self.behind_ordinals.append(each.whole)
            elif (each.workload.kind, each.obstacle.cause) != ("Job", "Suspended"):
                yield Explanation(result=result_of(each, scheduler.nodes, release), stage=stage_of_missing(each))
        yield from self._held.suspended_jobs(selection)

    def about_workloads(self) -> Iterator[str]:
        """Yield a sentence for each workload that lacks pods, and for each node group of the DaemonSets asked for."""
        selection, objects = self._question.selection, self._dump.objects
        if selection.means_all_pending:
            from kubectl_sched.queries.never_created.never_created import never_created

            missing = never_created(self._around, selection.namespace)
            yield from (each.whole for each in missing if not each.on_purpose)
        daemon_sets = [name for kind, name in workloads_named(selection) if kind == "DaemonSet"]
        if daemon_sets:
            from kubectl_sched.controllers.daemon_set_coverage import coverage

            for name in daemon_sets:
                yield from (each.told for each in coverage(objects, name, selection.namespace))
