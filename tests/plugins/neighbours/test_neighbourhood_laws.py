"""Laws of the plugins whose verdict on one node depends on pods elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_sched.framework.cycle_state import CycleState
from kubectl_sched.framework.interface import PreFilterExtensions, PreScorePlugin, ScorePlugin
from kubectl_sched.framework.status import Code
from kubectl_sched.plugins.inter_pod_affinity.plugin import InterPodAffinity
from kubectl_sched.plugins.pod_topology_spread.plugin import PodTopologySpread
from tests.plugins.clusters import all_rows, make
from tests.plugins.neighbourhoods import (
    Neighbourhood,
    from_scratch,
    has_state,
    neighbourhoods,
    row_alone,
    shuffled,
    statuses,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from kubectl_sched.framework.interface import FilterPlugin
    from kubectl_sched.snapshot import Snapshot

PLUGINS: Sequence[FilterPlugin] = (
    make(PodTopologySpread),
    make(InterPodAffinity, version="1.33"),
    make(InterPodAffinity, version="1.36"),
    make(InterPodAffinity, version="1.37", InterPodAffinityHostnameFastPath=True),
)
each_plugin = pytest.mark.parametrize("plugin", PLUGINS, ids=["spread", "affinity-1.33", "affinity-1.36", "fast-path"])


def with_other(case: Neighbourhood) -> Snapshot:
    return case.nodes.assume(case.other, case.row)


@each_plugin
@given(case=neighbourhoods)
def test_a_node_is_judged_alike_alone_and_among_all(plugin: FilterPlugin, case: Neighbourhood) -> None:
    state, among_all = from_scratch(plugin, case.incoming, case.nodes)
    if has_state(plugin, case.incoming, case.nodes):
        alone = [
            statuses(plugin, state, case.incoming, row_alone(case.nodes, row))[0] for row in range(len(case.nodes))
        ]
        assert alone == among_all


@each_plugin
@given(case=neighbourhoods, random=st.randoms(use_true_random=False))
def test_the_order_of_nodes_does_not_matter(plugin: FilterPlugin, case: Neighbourhood, random: Random) -> None:
    order = list(range(len(case.nodes)))
    random.shuffle(order)
    _, verdicts = from_scratch(plugin, case.incoming, case.nodes)
    _, reordered = from_scratch(plugin, case.incoming, shuffled(case.nodes, order))
    assert reordered == [verdicts[row] for row in order]


@each_plugin
@given(case=neighbourhoods)
def test_adding_a_pod_is_the_same_as_counting_anew(plugin: FilterPlugin, case: Neighbourhood) -> None:
    assert isinstance(plugin, PreFilterExtensions)
    state, _ = from_scratch(plugin, case.incoming, case.nodes)
    if has_state(plugin, case.incoming, case.nodes):
        after = with_other(case)
        plugin.add_pod(state, case.incoming, case.other, case.row, after)
        assert statuses(plugin, state, case.incoming, after) == from_scratch(plugin, case.incoming, after)[1]


@each_plugin
@given(case=neighbourhoods)
def test_removing_a_pod_is_the_same_as_counting_anew(plugin: FilterPlugin, case: Neighbourhood) -> None:
    assert isinstance(plugin, PreFilterExtensions)
    before = with_other(case)
    state, _ = from_scratch(plugin, case.incoming, before)
    if has_state(plugin, case.incoming, before):
        plugin.remove_pod(state, case.incoming, case.other, case.row, before)
        assert statuses(plugin, state, case.incoming, case.nodes) == from_scratch(plugin, case.incoming, case.nodes)[1]


@each_plugin
@given(case=neighbourhoods)
def test_there_is_evidence_exactly_where_a_node_is_rejected(plugin: FilterPlugin, case: Neighbourhood) -> None:
    state, verdicts = from_scratch(plugin, case.incoming, case.nodes)
    if has_state(plugin, case.incoming, case.nodes):
        evidence = [plugin.explain_filter(state, case.incoming, case.nodes, row) for row in range(len(case.nodes))]
        assert [bool(each) for each in evidence] == [status.is_rejected for status in verdicts]
        assert all(0 <= fact.distance <= 1 for each in evidence for fact in each)


@each_plugin
@given(case=neighbourhoods)
def test_rejected_nodes_are_summed_up_in_a_clause(plugin: FilterPlugin, case: Neighbourhood) -> None:
    state, verdicts = from_scratch(plugin, case.incoming, case.nodes)
    rejected = np.flatnonzero([status.is_rejected for status in verdicts])
    if len(rejected):
        assert plugin.summarize(state, case.incoming, case.nodes, rejected)


@each_plugin
@given(case=neighbourhoods, random=st.randoms(use_true_random=False))
def test_scores_lie_in_range_and_do_not_depend_on_the_order_of_nodes(
    plugin: FilterPlugin, case: Neighbourhood, random: Random
) -> None:
    assert isinstance(plugin, PreScorePlugin)
    assert isinstance(plugin, ScorePlugin)
    order = list(range(len(case.nodes)))
    random.shuffle(order)
    answers: list[dict[str, tuple[int, int]]] = []
    for nodes in (case.nodes, shuffled(case.nodes, order)):
        state, rows = CycleState(), all_rows(nodes)
        if plugin.pre_score(state, case.incoming, nodes, rows).code is Code.SKIP:
            answers.append({})
            continue
        raw = plugin.score(state, case.incoming, nodes, rows)
        normalized = plugin.normalize_score(state, case.incoming, nodes, rows, raw)
        assert all(0 <= score <= 100 for score in normalized.tolist())
        assert all(plugin.explain_score(state, case.incoming, nodes, row) for row in rows.tolist())
        answers.append(dict(zip(nodes.names, zip(raw.tolist(), normalized.tolist(), strict=True), strict=True)))
    assert answers[0] == answers[1]
