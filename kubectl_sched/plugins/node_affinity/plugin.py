"""The extension points of NodeAffinity."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from kubectl_sched.api.apimachinery.labels import InvalidSelector
from kubectl_sched.api.component_helpers.node_affinity import (
    METADATA_NAME,
    PreferredSchedulingTerms,
    RequiredNodeAffinity,
    parse_preferred_terms,
    preferred_terms,
    strict_node_selector,
    terms_listed,
)
from kubectl_sched.framework.cycle_state import PluginError, StateKey
from kubectl_sched.framework.interface import (
    FilterPlugin,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    ScorePlugin,
)
from kubectl_sched.framework.plugin_scores import default_normalize_score
from kubectl_sched.framework.replicas import DependsOn
from kubectl_sched.framework.signing.pod_signature import SignPlugin, node_affinity_signature
from kubectl_sched.framework.status import SKIP, SUCCESS, Status, unresolvable
from kubectl_sched.snapshot import Column
from kubectl_sched.snapshot.node_selection import (
    nodes_of_term,
    nodes_required,
    nodes_selected,
    selection_work,
    terms_work,
)

if TYPE_CHECKING:
    from kubectl_sched.api import affinity
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.config.types import NodeAffinityArgs
    from kubectl_sched.framework.cycle_budget import CycleBudget
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.evidence import Evidence
    from kubectl_sched.framework.handle import Handle
    from kubectl_sched.framework.signing.pod_signature import Fragments
    from kubectl_sched.framework.status import NodeToStatus
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Integers, Rows

_NOT_ENFORCED = unresolvable("node(s) didn't match scheduler-enforced node affinity")
_NOT_MATCHED = unresolvable("node(s) didn't match Pod's node affinity/selector")
_CONFLICT = unresolvable("pod affinity terms conflict")

_STEPS_TO_PARSE = 10

PRE_FILTER_STATE: StateKey[RequiredNodeAffinity] = StateKey(name="PreFilterNodeAffinity")
PRE_SCORE_STATE: StateKey[PreferredSchedulingTerms] = StateKey(name="PreScoreNodeAffinity")


class NodeAffinity(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin, SignPlugin):
    """A pod's nodeSelector and node affinity, and the affinity that the profile adds to every pod."""

    name: ClassVar[str] = "NodeAffinity"
    depends_on: ClassVar[DependsOn] = DependsOn.NODE

    def __init__(self, args: NodeAffinityArgs | None, handle: Handle) -> None:
        added = args.added_affinity if args else None
        required = added.required if added else None
        self.added_required = strict_node_selector(required) if required is not None else None
        self._added_preferred = parse_preferred_terms(added.preferred) if added and added.preferred else None
        self._added = added
        self._grows_in_place = handle.grows_in_place

    def sign_pod(self, pod: Pod, nodes: Snapshot) -> Fragments:
        """Return the nodeSelector and the terms."""
        return node_affinity_signature(pod)

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> PreFilterResult:
        """Skip pods without requirements; narrow the search where every term names its nodes."""
        if self._grows_in_place(pod):
            return PreFilterResult(status=SKIP)
        required = _required(pod)
        if required is None and self.added_required is None and pod.spec.node_selector is None:
            return PreFilterResult(status=SKIP)
        listed = 0 if required is None else terms_listed(required.node_selector_terms)
        state.budget.spend(_STEPS_TO_PARSE * (listed + len(pod.spec.node_selector or ())))
        state.write(PRE_FILTER_STATE, RequiredNodeAffinity.of(pod))
        names = None if required is None else named_nodes(required)
        if names is not None and not names:
            return PreFilterResult(status=_CONFLICT)
        return PreFilterResult(node_names=names)

    def explain_pre_filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> tuple[Evidence, ...]:
        """Name the terms that ask for two node names at once."""
        from kubectl_sched.plugins.node_affinity import evidence

        required = _required(pod)
        return evidence.conflict(required) if required is not None and named_nodes(required) == frozenset() else ()

    def filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> NodeToStatus:
        """Reject nodes outside the added affinity first, then those outside the pod's own."""
        if self._grows_in_place(pod):
            return Column.filled(len(nodes), SUCCESS)
        # Without PreFilter, upstream parses the pod's affinity here.
        required = state.get(PRE_FILTER_STATE) or RequiredNodeAffinity.of(pod)
        _spend(state.budget, *selection_work(nodes.table, required), nodes)
        codes = np.where(nodes_required(nodes.table, required), 0, 2).astype(np.int32)
        if self.added_required is not None:
            codes[~nodes_selected(nodes.table, self.added_required)] = 1
        return Column(codes, (SUCCESS, _NOT_ENFORCED, _NOT_MATCHED))

    def explain_filter(self, state: CycleState, pod: Pod, nodes: Snapshot, row: int) -> tuple[Evidence, ...]:
        """Name the labels that the node would need, and those that it has instead."""
        if self._grows_in_place(pod):
            return ()
        added = self._added.required if self._added else None

        from kubectl_sched.plugins.node_affinity.evidence import unmet

        return unmet(_required(pod), pod.spec.node_selector or {}, added, nodes, row)

    def summarize(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> str:
        """Name the labels that these nodes lack."""
        from kubectl_sched.plugins.node_affinity import evidence

        added = self._added.required if self._added else None
        return evidence.summary(_required(pod), pod.spec.node_selector or {}, added, nodes, rows)

    def pre_score(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> Status:
        """Skip pods without preferences; here a term that cannot be parsed fails the cycle."""
        state.budget.spend(_STEPS_TO_PARSE * _preferred_listed(pod))
        preferred = _preferred(pod)
        if preferred is None and self._added_preferred is None:
            return SKIP
        state.write(PRE_SCORE_STATE, preferred or PreferredSchedulingTerms())
        return SUCCESS

    def score(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> Integers:
        """The weights of the preferred terms that select each node, added up."""
        own = state.get(PRE_SCORE_STATE) or _preferred(pod)
        _spend(state.budget, *terms_work(nodes.table, [term for _, term in own.terms] if own else ()), nodes)
        scores = np.zeros(len(nodes), dtype=np.int64)
        for terms in (self._added_preferred, own):
            for weight, term in terms.terms if terms else ():
                scores[nodes_of_term(nodes.table, term)] += weight
        return scores[rows]

    def normalize_score(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows, scores: Integers) -> Integers:
        """100 for the greatest sum."""
        return default_normalize_score(scores)

    def explain_score(self, state: CycleState, pod: Pod, nodes: Snapshot, row: int) -> tuple[Evidence, ...]:
        """Each preferred term: whether it selects the node, and what it is worth."""
        from kubectl_sched.plugins.node_affinity import evidence

        own = pod.spec.affinity.node_affinity if pod.spec.affinity else None
        return (
            *evidence.preferences((self._added and self._added.preferred) or (), "addedAffinity", nodes, row),
            *evidence.preferences((own and own.preferred) or (), "preferredAffinity", nodes, row),
        )


def named_nodes(required: affinity.NodeSelector) -> frozenset[str] | None:
    """The names that the terms' matchFields ask for; None where some term asks for none.

    Filter accepts one value only in such a requirement, yet here all its values count.
    """
    names: frozenset[str] | None = None
    for term in required.node_selector_terms:
        asked = [
            frozenset(field.values)
            for field in term.match_fields
            if field.key == METADATA_NAME and field.operator == "In"
        ]
        if not asked:
            return None
        names = (names or frozenset()) | frozenset.intersection(*asked)
    return names


def _required(pod: Pod) -> affinity.NodeSelector | None:
    node_affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    return node_affinity.required if node_affinity else None


def _preferred_listed(pod: Pod) -> int:
    node_affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    preferred = node_affinity.preferred if node_affinity else None
    return terms_listed(term.preference for term in preferred or ())


def _spend(budget: CycleBudget, arrays: int, entries: int, nodes: Snapshot) -> None:
    budget.spend_on_arrays(arrays, len(nodes))
    budget.spend_on_entries(entries)


def _preferred(pod: Pod) -> PreferredSchedulingTerms | None:
    try:
        return preferred_terms(pod)
    except InvalidSelector as failure:
        raise PluginError(failure.reason) from failure
