"""Laws of every plugin that looks at one node at a time, whatever the cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kubectl_sched.api.component_helpers.node_affinity import RequiredNodeAffinity
from kubectl_sched.api.component_helpers.taints import Tolerations
from kubectl_sched.framework.cycle_state import CycleState
from kubectl_sched.framework.interface import FilterPlugin, PreFilterPlugin, PreScorePlugin, ScorePlugin
from kubectl_sched.framework.status import Code
from kubectl_sched.plugins.image_locality import ImageLocality
from kubectl_sched.plugins.node_affinity.plugin import NodeAffinity
from kubectl_sched.plugins.node_declared_features import NodeDeclaredFeatures
from kubectl_sched.plugins.node_name import NodeName
from kubectl_sched.plugins.node_ports import NodePorts
from kubectl_sched.plugins.node_resources.balanced_allocation import NodeResourcesBalancedAllocation
from kubectl_sched.plugins.node_resources.fit import NodeResourcesFit
from kubectl_sched.plugins.node_unschedulable import NodeUnschedulable
from kubectl_sched.plugins.taint_toleration import TaintToleration
from tests.examples import examples
from tests.plugins.clusters import EXACT_MINORS, all_rows, filtered, make, snapshot
from tests.plugins.random_clusters import clusters, incoming_pods

if TYPE_CHECKING:
    from random import Random

    from kubectl_sched.api.core import Node
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Rows

    Cluster = tuple[list[Node], list[Pod]]

FILTERS: tuple[type[FilterPlugin], ...] = (
    NodeUnschedulable,
    NodeName,
    TaintToleration,
    NodeAffinity,
    NodePorts,
    NodeResourcesFit,
    NodeDeclaredFeatures,
)
SCORERS: tuple[type[ScorePlugin], ...] = (
    TaintToleration,
    NodeAffinity,
    NodeResourcesFit,
    NodeResourcesBalancedAllocation,
    ImageLocality,
)


def prepared(plugin: FilterPlugin, incoming: Pod, nodes: Snapshot) -> CycleState | None:
    """The state after PreFilter, None where it skips the plugin or rejects the pod."""
    state = CycleState()
    if isinstance(plugin, PreFilterPlugin) and not plugin.pre_filter(state, incoming, nodes).status.is_success:
        return None
    return state


def scores_by_name(plugin: ScorePlugin, incoming: Pod, nodes: Snapshot, rows: Rows) -> dict[str, int] | None:
    state = CycleState()
    if isinstance(plugin, PreScorePlugin) and plugin.pre_score(state, incoming, nodes, rows).code is Code.SKIP:
        return None
    return dict(
        zip((nodes.names[row] for row in rows), plugin.score(state, incoming, nodes, rows).tolist(), strict=True)
    )


@settings(max_examples=examples(60), deadline=None)
@given(cluster=clusters(), incoming=incoming_pods(), version=st.sampled_from(EXACT_MINORS))
def test_a_node_s_verdict_depends_on_that_node_alone(cluster: Cluster, incoming: Pod, version: str) -> None:
    nodes = snapshot(*cluster[0], *cluster[1], version=version)
    for kind in FILTERS:
        plugin = make(kind, version=version)
        state = prepared(plugin, incoming, nodes)
        if state is not None:
            verdicts = plugin.filter(state, incoming, nodes)
            alone = [plugin.filter(state, incoming, nodes.take(np.array([row])))[0] for row in range(len(nodes))]
            assert alone == list(verdicts), kind


@settings(max_examples=examples(60), deadline=None)
@given(cluster=clusters(), incoming=incoming_pods(), version=st.sampled_from(EXACT_MINORS))
def test_there_is_evidence_exactly_where_a_node_is_rejected(cluster: Cluster, incoming: Pod, version: str) -> None:
    nodes = snapshot(*cluster[0], *cluster[1], version=version)
    for kind in FILTERS:
        plugin = make(kind, version=version)
        state = prepared(plugin, incoming, nodes)
        if state is not None:
            for row, status in enumerate(plugin.filter(state, incoming, nodes)):
                evidence = plugin.explain_filter(state, incoming, nodes, row)
                assert bool(evidence) is not status.is_success, kind
                assert all(0 <= each.distance <= 1 and each.text for each in evidence), kind


@settings(max_examples=examples(40), deadline=None)
@given(cluster=clusters(), incoming=incoming_pods(), order=st.randoms())
def test_the_order_of_nodes_does_not_matter(cluster: Cluster, incoming: Pod, order: Random) -> None:
    made, running = cluster
    shuffled = list(made)
    order.shuffle(shuffled)
    nodes, others = snapshot(*made, *running), snapshot(*shuffled, *running)
    for kind in FILTERS:
        plugin = make(kind)
        state, other_state = prepared(plugin, incoming, nodes), prepared(plugin, incoming, others)
        assert (state is None) == (other_state is None), kind
        if state is not None and other_state is not None:
            verdicts = dict(zip(nodes.names, plugin.filter(state, incoming, nodes), strict=True))
            assert verdicts == dict(zip(others.names, plugin.filter(other_state, incoming, others), strict=True)), kind


@settings(max_examples=examples(40), deadline=None)
@given(cluster=clusters(), incoming=incoming_pods(), added=incoming_pods(), data=st.data())
def test_the_state_survives_pods_that_come_and_go(
    cluster: Cluster, incoming: Pod, added: Pod, data: st.DataObject
) -> None:
    nodes = snapshot(*cluster[0], *cluster[1])
    grown = nodes.assume(added, data.draw(st.integers(0, len(nodes) - 1)))
    shrunk = grown.remove_pod(added.namespace, added.name)
    for kind in FILTERS:
        plugin = make(kind)
        state = prepared(plugin, incoming, nodes)
        if state is not None:
            from_scratch = prepared(plugin, incoming, grown)
            assert from_scratch is not None, kind
            verdicts = list(plugin.filter(state, incoming, nodes))
            assert list(plugin.filter(state, incoming, grown)) == list(plugin.filter(from_scratch, incoming, grown)), (
                kind
            )
            assert list(plugin.filter(state, incoming, shrunk)) == verdicts, kind


@settings(max_examples=examples(60), deadline=None)
@given(cluster=clusters(), incoming=incoming_pods(), version=st.sampled_from(EXACT_MINORS), data=st.data())
def test_a_node_s_raw_score_depends_on_that_node_alone(
    cluster: Cluster, incoming: Pod, version: str, data: st.DataObject
) -> None:
    nodes = snapshot(*cluster[0], *cluster[1], version=version)
    some = np.array(data.draw(st.lists(st.integers(0, len(nodes) - 1), min_size=1, unique=True)), dtype=np.intp)
    taken = nodes.take(some)
    for kind in SCORERS:
        plugin = make(kind, version=version)
        whole = scores_by_name(plugin, incoming, nodes, all_rows(nodes))
        if whole is not None:
            part = {nodes.names[row]: whole[nodes.names[row]] for row in some}
            assert scores_by_name(plugin, incoming, nodes, some) == part, kind
            assert scores_by_name(plugin, incoming, taken, all_rows(taken)) == part, kind
            assert all(plugin.explain_score(CycleState(), incoming, nodes, row) is not None for row in some), kind


@settings(max_examples=examples(40), deadline=None)
@given(cluster=clusters(), incoming=incoming_pods(), raw=st.lists(st.integers(0, 10**6), min_size=1, max_size=5))
def test_normalized_scores_keep_the_order_and_lie_between_0_and_100(
    cluster: Cluster, incoming: Pod, raw: list[int]
) -> None:
    nodes = snapshot(*cluster[0])
    scores = np.array(raw, dtype=np.int64)
    for kind in SCORERS:
        normalized = make(kind).normalize_score(CycleState(), incoming, nodes, np.arange(len(raw)), scores.copy())
        if kind in {TaintToleration, NodeAffinity}:
            assert normalized.min() >= 0, kind
            assert normalized.max() <= 100, kind
            best_first = scores if kind is NodeAffinity else -scores
            assert all(np.diff(normalized[np.argsort(best_first, kind="stable")]) >= 0), kind
        else:
            assert normalized.tolist() == raw, kind


@settings(max_examples=examples(60), deadline=None)
@given(cluster=clusters(), incoming=incoming_pods())
def test_columns_say_what_the_scalar_rules_say(cluster: Cluster, incoming: Pod) -> None:
    nodes = snapshot(*cluster[0], *cluster[1])
    required = RequiredNodeAffinity.of(incoming)
    state = CycleState()
    matches = [status.is_success for status in make(NodeAffinity).filter(state, incoming, nodes)]
    assert matches == [required.matches(each.metadata.labels, each.name) for each in cluster[0]]
    tolerates = [status.is_success for status in filtered(make(TaintToleration), incoming, nodes)]
    tolerations = Tolerations(each=incoming.spec.tolerations)
    assert tolerates == [tolerations.first_untolerated(each.spec.taints) is None for each in cluster[0]]
