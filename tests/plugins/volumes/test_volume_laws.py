"""Laws of the volume plugins, whatever the volumes, claims and drivers, broken ones among them."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubectl_sched.api.apimachinery.quantity import parse_quantity
from kubectl_sched.api.pod import Pod
from kubectl_sched.config.types import UtilizationShapePoint, VolumeBindingArgs
from kubectl_sched.framework.cycle_state import CycleState, PluginError
from kubectl_sched.framework.status import Code, error
from kubectl_sched.plugins.node_volume_limits.plugin import NodeVolumeLimits
from kubectl_sched.plugins.volume_binding.plugin import FILTER_STATE, VolumeBinding
from kubectl_sched.plugins.volume_restrictions import VolumeRestrictions
from kubectl_sched.plugins.volume_zone import VolumeZone
from tests.examples import examples
from tests.plugins.clusters import EXACT_MINORS, all_rows, make, snapshot
from tests.plugins.random_volumes import VolumeGraph, decoded

if TYPE_CHECKING:
    from kubectl_sched.framework.interface import FilterPlugin
    from kubectl_sched.framework.status import Status
    from kubectl_sched.plugins.volume_binding.volume_outcome import PodVolumes
    from kubectl_sched.snapshot import Snapshot

PLUGINS: tuple[Any, ...] = (VolumeRestrictions, NodeVolumeLimits, VolumeBinding, VolumeZone)
SHAPE = VolumeBindingArgs(
    shape=(UtilizationShapePoint(utilization=0, score=10), UtilizationShapePoint(utilization=100, score=0))
)

seeds = st.integers(0, 10**6)


def graph(seed: int, version: str = "1.36") -> tuple[Snapshot, list[Pod]]:
    volumes = VolumeGraph(Random(seed))  # noqa: S311 - a test case, not a secret
    nodes = snapshot(*map(decoded, (*volumes.objects, *volumes.running)), version=version)
    return nodes, [each for each in map(decoded, volumes.pending) if isinstance(each, Pod)]


def pre_filtered(plugin: Any, incoming: Pod, nodes: Snapshot) -> tuple[CycleState, Status]:
    """The state after PreFilter, and what it says."""
    state = CycleState()
    try:
        return state, plugin.pre_filter(state, incoming, nodes).status
    except PluginError as failure:
        return state, error(str(failure))


@pytest.mark.parametrize("kind", PLUGINS)
@settings(max_examples=examples(60), deadline=None)
@given(seed=seeds, version=st.sampled_from(EXACT_MINORS))
def test_a_node_s_verdict_depends_on_that_node_alone(kind: type[FilterPlugin], seed: int, version: str) -> None:
    nodes, pending = graph(seed, version)
    plugin = make(kind, version=version)
    for incoming in pending:
        state, status = pre_filtered(plugin, incoming, nodes)
        if status.is_success:
            verdicts = plugin.filter(state, incoming, nodes)
            alone = [plugin.filter(state, incoming, nodes.take(np.array([row])))[0] for row in range(len(nodes))]
            assert alone == list(verdicts)


@pytest.mark.parametrize("kind", PLUGINS)
@settings(max_examples=examples(60), deadline=None)
@given(seed=seeds, version=st.sampled_from(EXACT_MINORS), scales=st.booleans())
def test_there_is_evidence_exactly_where_something_is_rejected(
    kind: type[Any], seed: int, version: str, scales: bool
) -> None:
    nodes, pending = graph(seed, version)
    gates = {"VolumeLimitScaling": scales} if version >= "1.35" else {}
    plugin = make(kind, None, version, **gates)
    for incoming in pending:
        state, status = pre_filtered(plugin, incoming, nodes)
        if not status.is_success:
            if status.code is not Code.ERROR:
                assert bool(plugin.explain_pre_filter(state, incoming, nodes)) is status.is_rejected
            continue
        for row, verdict in enumerate(plugin.filter(state, incoming, nodes)):
            evidence = plugin.explain_filter(state, incoming, nodes, row)
            assert bool(evidence) is verdict.is_rejected
            assert all(0 <= each.distance <= 1 and each.text for each in evidence)


@pytest.mark.parametrize("kind", PLUGINS)
@settings(max_examples=examples(40), deadline=None)
@given(seed=seeds, order=st.randoms())
def test_the_order_of_nodes_does_not_matter(kind: type[Any], seed: int, order: Random) -> None:
    nodes, pending = graph(seed)
    rows = list(range(len(nodes)))
    order.shuffle(rows)
    shuffled = nodes.take(np.array(rows))
    plugin = make(kind)
    for incoming in pending:
        state, status = pre_filtered(plugin, incoming, nodes)
        other_state, other_status = pre_filtered(plugin, incoming, shuffled)
        assert status == other_status
        if status.is_success:
            verdicts = list(plugin.filter(state, incoming, nodes))
            assert list(plugin.filter(other_state, incoming, shuffled)) == [verdicts[row] for row in rows]


@settings(max_examples=examples(100), deadline=None)
@given(seed=seeds)
def test_what_would_be_bound_fits_the_claims(seed: int) -> None:
    nodes, pending = graph(seed)
    plugin = make(VolumeBinding)
    for incoming in pending:
        state, status = pre_filtered(plugin, incoming, nodes)
        if not status.is_success:
            continue
        verdicts = plugin.filter(state, incoming, nodes)
        found = state.read(FILTER_STATE).volumes
        for row in np.flatnonzero(verdicts.where(lambda verdict: verdict.is_success)).tolist():
            _is_whole(found[row], plugin.binding_actions(state, incoming, nodes, row))


def _is_whole(volumes: PodVolumes, actions: tuple[Any, ...]) -> None:
    names = [volume.name for _, volume in volumes.static_bindings]
    assert len(names) == len(set(names))
    for claim, volume in volumes.static_bindings:
        asked = parse_quantity(claim.spec.resources.requests.get("storage", 0))
        assert parse_quantity(volume.spec.capacity["storage"]) >= asked
    unbound = len(volumes.static_bindings) + len(volumes.dynamic_provisions)
    assert [each.extension_point for each in actions] == (
        ["reserve"] * unbound + ["preBind"] * (unbound + 1) if unbound else []
    )


@settings(max_examples=examples(100), deadline=None)
@given(seed=seeds)
def test_scores_lie_between_0_and_100_and_depend_on_their_node_alone(seed: int) -> None:
    nodes, pending = graph(seed)
    plugin = make(VolumeBinding, SHAPE, StorageCapacityScoring=True)
    for incoming in pending:
        state, status = pre_filtered(plugin, incoming, nodes)
        if not status.is_success:
            continue
        plugin.filter(state, incoming, nodes)
        scores = plugin.score(state, incoming, nodes, all_rows(nodes)).tolist()
        assert all(0 <= score <= 100 for score in scores)
        for row, score in enumerate(scores):
            one = nodes.take(np.array([row]))
            assert plugin.score(state, incoming, one, all_rows(one)).tolist() == [score]


@settings(max_examples=examples(100), deadline=None)
@given(seed=seeds)
def test_a_pod_that_comes_and_goes_leaves_the_count_of_claims_as_it_was(seed: int) -> None:
    nodes, pending = graph(seed)
    plugin = make(VolumeRestrictions)
    added, *others = pending
    for incoming in others:
        state, status = pre_filtered(plugin, incoming, nodes)
        if status.is_success:
            before = list(plugin.filter(state, incoming, nodes))
            grown = nodes.assume(added, 0)
            plugin.add_pod(state, incoming, added, 0, grown)
            from_scratch, _ = pre_filtered(plugin, incoming, grown)
            assert list(plugin.filter(state, incoming, grown)) == list(plugin.filter(from_scratch, incoming, grown))
            plugin.remove_pod(state, incoming, added, 0, grown)
            assert list(plugin.filter(state, incoming, nodes)) == before
