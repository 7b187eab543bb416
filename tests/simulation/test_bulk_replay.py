"""Pods that share what they can of a cycle are judged as by cycles of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from kubectl_sched.config import KubeVersion, load_configuration
from kubectl_sched.queries.deciding_plugin import Rejudged, ReplaySummary
from kubectl_sched.scheduler.schedule_one import cycle, schedule_one
from kubectl_sched.scheduler.scheduler import Scheduler
from kubectl_sched.simulation.bulk_replay import BulkReplay
from kubectl_sched.simulation.likeness import likeness
from tests.examples import examples
from tests.plugins.clusters import node, pod, requests, snapshot
from tests.plugins.neighbourhoods import neighbourhood
from tests.plugins.random_clusters import clusters, incoming_pods

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot import Snapshot


def copies_on(template: Pod, names: list[str]) -> list[Pod]:
    """One on each of the nodes, which may repeat, with what tells real replicas apart."""
    return [
        structs.replace(
            template,
            metadata=structs.replace(template.metadata, name=f"copy-{index}", uid=f"copy-{index}"),
            spec=structs.replace(template.spec, node_name=name),
            status=structs.replace(template.status, phase="Running", start_time=f"2026-01-01T00:00:0{index}Z"),
        )
        for index, name in enumerate(names)
    ]


def shared_and_own(nodes: Snapshot, pods: list[Pod], version: str) -> list[tuple[Rejudged, ScheduleResult]]:
    """The shared replays, beside the whole cycle; pods of which nothing is shared are left out."""
    for each in pods:
        nodes = nodes.assume(each, nodes.row_of[each.spec.node_name])
    framework = Scheduler(load_configuration(None, KubeVersion.parse(version), None), nodes).framework(
        "default-scheduler"
    )
    assert framework is not None
    bulk_replay = BulkReplay.of(cycle(pods[0], nodes, framework))
    if bulk_replay is None:
        return []
    judged = [(each, bulk_replay.without(each)) for each in pods]
    return [
        (
            Rejudged.shared(found, nodes, lambda: pytest.fail("the whole cycle is not needed")),
            schedule_one(each, nodes, framework),
        )
        for each, found in judged
        if found is not None
    ]


def assert_equal(shared: Rejudged, own: ScheduleResult) -> None:
    assert shared.summary == ReplaySummary.of(own)
    assert shared.judged is not None
    assert shared.judged.rows.tolist() == own.feasible.tolist()
    assert shared.judged.totals.tolist() == own.totals.tolist()
    for at, row in enumerate(own.feasible.tolist()):
        given = {each.plugin: int(each.weighted[at]) for each in own.scores}
        # Whether a plugin that gives nothing skips or was asked makes no difference to anyone.
        assert _some(shared.judged.points(row)) == _some(given)


def _some(points: dict[str, int]) -> dict[str, int]:
    return {plugin: given for plugin, given in points.items() if given}


VERSIONS = st.sampled_from(["1.33", "1.36", "1.37"])

TOKEN = {
    "name": "kube-api-access-1",
    "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}, {"configMap": {"name": "kube-root-ca.crt"}}]},
}
"""The volume that the API server gives to almost every pod."""


@settings(max_examples=examples(200), deadline=None)
@given(seed=st.integers(0, 2**32 - 1), data=st.data(), version=VERSIONS)
def test_pods_that_look_at_their_neighbours(seed: int, data: st.DataObject, version: str) -> None:
    where = neighbourhood(seed)
    names = data.draw(st.lists(st.sampled_from(where.nodes.names), min_size=2, max_size=4))
    for shared, own in shared_and_own(where.nodes, copies_on(where.incoming, names), version):
        assert_equal(shared, own)


@settings(max_examples=examples(200), deadline=None)
@given(cluster=clusters(), incoming=incoming_pods(), data=st.data(), version=VERSIONS)
def test_pods_that_look_at_nodes(
    cluster: tuple[list[Any], list[Any]], incoming: Pod, data: st.DataObject, version: str
) -> None:
    made, running = cluster
    nodes = snapshot(*made, *running)
    names = data.draw(st.lists(st.sampled_from(nodes.names), min_size=2, max_size=4))
    for shared, own in shared_and_own(nodes, copies_on(incoming, names), version):
        assert_equal(shared, own)


@pytest.mark.parametrize(
    ("spec", "shares"),
    [
        (requests(cpu="1"), True),
        ({"volumes": [{"name": "scratch", "emptyDir": {}}]}, True),
        ({"volumes": [TOKEN]}, True),
        ({"volumes": [{"name": "model", "image": {"reference": "models/small:1"}}]}, True),
        ({"containers": [{"name": "main", "ports": [{"hostPort": 80}]}]}, True),
        ({"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]}, False),
        ({"resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}]}, False),
        ({"status": {"nominatedNodeName": "n1"}}, False),
    ],
)
def test_what_is_shared(spec: dict[str, Any], *, shares: bool) -> None:
    nodes = snapshot(*(node(f"n{index}") for index in range(3)))
    assert bool(shared_and_own(nodes, copies_on(pod("web", **spec), ["n0", "n1"]), "1.36")) is shares


def test_replicas_are_alike_and_others_are_not() -> None:
    token: dict[str, Any] = {"volumes": [TOKEN]}
    first, second = copies_on(pod("web", **requests(cpu="1"), **token), ["n1", "n2"])
    renamed = structs.replace(
        second, spec=structs.replace(second.spec, volumes=(structs.replace(second.spec.volumes[0], name="other"),))
    )
    assert likeness(first) == likeness(renamed)
    assert likeness(first) != likeness(pod("web", **requests(cpu="2"), **token))
    assert likeness(first) != likeness(pod("web", metadata={"labels": {"app": "web"}}, **requests(cpu="1"), **token))
