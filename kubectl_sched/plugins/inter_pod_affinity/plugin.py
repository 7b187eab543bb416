"""The extension points of InterPodAffinity."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec.structs import replace

from kubectl_sched.config.types import InterPodAffinityArgs
from kubectl_sched.framework.cycle_state import PluginError
from kubectl_sched.framework.evidence import Evidence
from kubectl_sched.framework.interface import (
    FilterPlugin,
    PreFilterExtensions,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    ScorePlugin,
)
from kubectl_sched.framework.signing.pod_signature import SignPlugin
from kubectl_sched.framework.status import SKIP, SUCCESS, NodeToStatus, Status, unresolvable
from kubectl_sched.plugins.inter_pod_affinity import filtering, scoring, term_work
from kubectl_sched.plugins.inter_pod_affinity.terms import listed_terms, namespace_labels, terms_of
from kubectl_sched.snapshot import Column

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_budget import CycleBudget
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.handle import Handle
    from kubectl_sched.framework.replicas import ReplicaHelp
    from kubectl_sched.framework.signing.pod_signature import Fragments
    from kubectl_sched.plugins.inter_pod_affinity.terms import AffinityTerm
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Integers, Rows


class InterPodAffinity(PreFilterPlugin, PreFilterExtensions, FilterPlugin, PreScorePlugin, ScorePlugin, SignPlugin):
    """Keeps pods near to other pods, or away from them."""

    name: ClassVar[str] = "InterPodAffinity"

    def __init__(self, args: InterPodAffinityArgs | None, handle: Handle) -> None:
        self._args = args or InterPodAffinityArgs()
        self._selector_stays = handle.release.namespace_selector_stays
        self._lists_lag = not handle.release.assumed_members_are_listed
        self._grows_in_place = handle.grows_in_place
        self._fast_path = handle.features.enabled("InterPodAffinityHostnameFastPath")

    @property
    def replica_help(self) -> ReplicaHelp:
        """Counts by domain that equal pods raise."""
        from kubectl_sched.plugins.inter_pod_affinity.replica_help import AffinityHelp  # one pod alone needs none

        return AffinityHelp(self)

    def sign_pod(self, pod: Pod, nodes: Snapshot) -> Fragments | None:
        """Return the labels, by which the terms of other pods mean it; None for a pod with terms of its own."""
        affinity = pod.spec.affinity
        if affinity is not None and (affinity.pod_affinity is not None or affinity.pod_anti_affinity is not None):
            return None
        return {} if self._args.ignore_preferred_terms_of_existing_pods else {"labels": pod.metadata.labels}

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> PreFilterResult:
        """Count matching pods by domain; skip where neither the pod nor an existing one has anything against it."""
        if self._grows_in_place(pod):
            return PreFilterResult(status=SKIP)
        nodes, budget = nodes.whole, state.budget
        term_work.spend_on_parsing(budget, pod)
        terms = terms_of(pod)
        if terms is not None and terms.error is not None:
            return PreFilterResult(status=unresolvable(f"parsing pod: {terms.error}"))
        affinity = self._merged(terms.required_affinity if terms else (), nodes, budget)
        anti_affinity = self._merged(terms.required_anti_affinity if terms else (), nodes, budget)
        term_work.spend_on_terms(budget, (*affinity, *anti_affinity), nodes)
        term_work.charge_for_existing(budget, pod, nodes)
        labels = namespace_labels(pod.metadata.namespace, nodes.objects)
        counted = filtering.affinity_now(
            pod,
            nodes,
            affinity,
            anti_affinity,
            labels,
            fast_path=self._fast_path,
            listed_in=nodes.before_group if self._lists_lag else None,
        )
        if not (affinity or anti_affinity or counted.existing_anti_affinity) and not (
            self._fast_path and filtering.has_host_scoped_anti_affinity(nodes)
        ):
            return PreFilterResult(status=SKIP)
        state.write(filtering.STATE, counted)
        return PreFilterResult()

    def explain_pre_filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> tuple[Evidence, ...]:
        """The selector that cannot be read."""
        terms = terms_of(pod)
        if terms is None or terms.error is None:
            return ()
        return (Evidence(text=f"its affinity cannot be read: {terms.error}", facts={"error": terms.error}),)

    def _merged(
        self, terms: tuple[AffinityTerm, ...], nodes: Snapshot, budget: CycleBudget
    ) -> tuple[AffinityTerm, ...]:
        term_work.spend_on_namespaces(budget, terms, nodes)
        return tuple(term.merged(nodes.objects, selector_stays=self._selector_stays) for term in terms)

    def add_pod(self, state: CycleState, pod: Pod, added: Pod, row: int, nodes: Snapshot) -> None:
        """One more pod in the domains of its node."""
        before = state.read(filtering.STATE)
        state.budget.spend(_terms_between(before, added))
        state.write(filtering.STATE, filtering.with_pod(before, pod, added, nodes, row, 1))

    def concerns(self, state: CycleState, pod: Pod, other: Pod) -> bool:
        """Report whether some term of the pod means it, or it has terms that may mean the pod."""
        before = state.read(filtering.STATE)
        terms = (*before.required_affinity, *before.required_anti_affinity)
        return other.spec.affinity is not None or any(term.matches(other) for term in terms)

    def remove_pod(self, state: CycleState, pod: Pod, removed: Pod, row: int, nodes: Snapshot) -> None:
        """One pod less in the domains of its node."""
        before = state.read(filtering.STATE)
        state.budget.spend(_terms_between(before, removed))
        state.write(filtering.STATE, filtering.with_pod(before, pod, removed, nodes, row, -1))

    def filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> NodeToStatus:
        """Reject nodes away from pods it must be near to, and near to pods that one of the two must be away from."""
        if self._grows_in_place(pod):
            return Column.filled(len(nodes), SUCCESS)
        counted = state.read(filtering.STATE)
        if counted.host_scoped is not None:
            own = (*counted.host_scoped.affinity, *counted.host_scoped.anti_affinity)
            term_work.spend_on_terms(state.budget, own, nodes)
        keys = len(counted.affinity) + len(counted.anti_affinity) + len(counted.required_affinity)
        state.budget.spend_on_arrays(keys, len(nodes))
        return filtering.verdicts(counted, pod, nodes)

    def explain_filter(self, state: CycleState, pod: Pod, nodes: Snapshot, row: int) -> tuple[Evidence, ...]:
        """Every rule that the node breaks, with the pods by name."""
        if self._grows_in_place(pod):
            return ()

        from kubectl_sched.plugins.inter_pod_affinity import evidence

        return evidence.rejection(state.read(filtering.STATE), pod, nodes, row)

    def summarize(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> str:
        """The rule that all of these nodes break."""
        from kubectl_sched.plugins.inter_pod_affinity import evidence

        return evidence.summary(state.read(filtering.STATE), pod, nodes, rows)

    def pre_score(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> Status:
        """Weigh pods by domain; skip where nobody prefers anything."""
        term_work.spend_on_parsing(state.budget, pod)
        terms = terms_of(pod)
        near = pod.spec.affinity.pod_affinity if pod.spec.affinity else None
        away = pod.spec.affinity.pod_anti_affinity if pod.spec.affinity else None
        prefers = bool((near and near.preferred) or (away and away.preferred))
        if self._args.ignore_preferred_terms_of_existing_pods and not prefers:
            return SKIP
        if terms is not None and terms.error is not None:
            raise PluginError(f"failed to parse pod: {terms.error}")
        nodes, budget = nodes.whole, state.budget
        own = self._merged(terms.preferred_affinity if terms else (), nodes, budget)
        away_from = self._merged(terms.preferred_anti_affinity if terms else (), nodes, budget)
        term_work.spend_on_terms(budget, (*own, *away_from), nodes)
        term_work.charge_for_existing(budget, pod, nodes)
        preferences = scoring.Preferences(
            terms=(*own, *(replace(term, weight=-term.weight) for term in away_from)),
            namespace_labels=namespace_labels(pod.metadata.namespace, nodes.objects),
            hard_weight=self._args.hard_pod_affinity_weight,
            listed_in=nodes.before_group if self._lists_lag and not prefers else None,
        )
        weighed = scoring.pre_score_state(pod, nodes, preferences)
        if weighed is None:
            return SKIP
        state.write(scoring.STATE, weighed)
        return SUCCESS

    def score(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> Integers:
        """The points of each node's domains."""
        weighed = state.read(scoring.STATE)
        state.budget.spend_on_arrays(3 * len(weighed.topology_score), len(rows))
        return scoring.scores(weighed, nodes, rows)

    def normalize_score(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows, scores: Integers) -> Integers:
        """The fewest points become 0, the most 100."""
        state.read(scoring.STATE)
        return scoring.normalized(scores)

    def explain_score(self, state: CycleState, pod: Pod, nodes: Snapshot, row: int) -> tuple[Evidence, ...]:
        """The points of each of the node's domains."""
        from kubectl_sched.plugins.inter_pod_affinity import evidence

        weighed = state.get(scoring.STATE)
        return () if weighed is None else evidence.points(weighed, pod, nodes, row)


def _terms_between(state: filtering.PreFilterState, other: Pod) -> int:
    """Count the terms that are asked about the two pods."""
    return len(state.required_affinity) + len(state.required_anti_affinity) + listed_terms(other)
