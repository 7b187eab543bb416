"""Pending pods that no plugin can tell apart share a cycle, and each answer equals that of a cycle of its own."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from kubectl_sched.config import KubeVersion, load_configuration
from kubectl_sched.queries.explanation import explanation_of
from kubectl_sched.render.answers.explanation_data import explanation_data
from kubectl_sched.render.sentences.headline import headline
from kubectl_sched.scheduler.scheduler import Scheduler
from kubectl_sched.simulation.equivalence_cache import EquivalenceCache
from kubectl_sched.simulation.pending_together import together
from kubectl_sched.simulation.placements import QueuedPod
from kubectl_sched.simulation.queue_simulation import Simulation
from tests.examples import examples
from tests.plugins.clusters import node, pod, requests, snapshot
from tests.plugins.neighbourhoods import neighbourhood
from tests.plugins.random_clusters import clusters, incoming_pods

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot import Snapshot

VERSIONS = st.sampled_from(["1.33", "1.36", "1.37"])


def scheduler_of(nodes: Snapshot, version: str = "1.36") -> Scheduler:
    return Scheduler(load_configuration(None, KubeVersion.parse(version), None), nodes)


def replicas(template: Pod, count: int = 3) -> list[Pod]:
    """Pods with all that tells the replicas of one workload apart while they wait."""
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    waiting = pod("waiting", status={"phase": "Pending", "conditions": [condition]}).status
    return [
        structs.replace(
            template,
            metadata=structs.replace(
                template.metadata,
                name=f"copy-{index}",
                uid=f"copy-{index}",
                creation_timestamp=f"2026-01-01T00:00:0{index}Z",
            ),
            spec=structs.replace(template.spec, node_name=""),
            status=waiting if index else template.status,
        )
        for index in range(count)
    ]


def shown(result: ScheduleResult, scheduler: Scheduler) -> dict[str, Any]:
    """All that JSON tells of it, with the evidence."""
    explanation = explanation_of(result, scheduler)
    return explanation_data(explanation, headline(explanation), evidence=lambda _: True)


def assert_shared_equals_own(nodes: Snapshot, pods: list[Pod], version: str) -> None:
    scheduler, cache = scheduler_of(nodes, version), EquivalenceCache()
    shared = [cache.schedule_one(each, scheduler) for each in pods]
    assert all(result.judged_as is shared[0] for result in shared[1:])
    for each, result in zip(pods, shared, strict=True):
        assert shown(result, scheduler) == shown(scheduler.schedule_one(each), scheduler)


def assert_as_many_as_a_whole_queue_places(nodes: Snapshot, pods: list[Pod], version: str) -> None:
    scheduler = scheduler_of(nodes, version)
    simulation = Simulation(scheduler)
    simulation.enqueue(QueuedPod(pod=each, owner=None) for each in pods)
    simulation.run()
    found = together([scheduler.schedule_one(each) for each in pods], scheduler)
    assert found.placed == simulation.result.placed


@settings(max_examples=examples(100), deadline=None)
@given(seed=st.integers(0, 2**32 - 1), version=VERSIONS)
def test_pods_that_look_at_their_neighbours(seed: int, version: str) -> None:
    where = neighbourhood(seed)
    template = structs.replace(where.incoming, spec=structs.replace(where.incoming.spec, priority=seed % 3))
    assert_shared_equals_own(where.nodes, replicas(template), version)
    others = replicas(structs.replace(where.other, metadata=structs.replace(where.other.metadata, uid="other")), 1)
    assert_as_many_as_a_whole_queue_places(where.nodes, [*replicas(template), *others], version)


@settings(max_examples=examples(100), deadline=None)
@given(cluster=clusters(), incoming=incoming_pods(), other=incoming_pods(), seed=st.integers(0, 99), version=VERSIONS)
def test_pods_that_look_at_nodes(
    cluster: tuple[list[Any], list[Any]], incoming: Pod, other: Pod, seed: int, version: str
) -> None:
    chance = Random(seed)  # noqa: S311 - to be repeatable
    made, running = cluster
    nodes = snapshot(*made, *running)
    pods = replicas(structs.replace(incoming, spec=structs.replace(incoming.spec, priority=chance.randrange(3))))
    assert_shared_equals_own(nodes, pods, version)
    rival = structs.replace(
        other,
        metadata=structs.replace(other.metadata, name="rival"),
        spec=structs.replace(other.spec, node_name="", priority=chance.randrange(3)),
    )
    assert_as_many_as_a_whole_queue_places(nodes, [*pods, rival], version)


@pytest.mark.parametrize(
    "spec",
    [
        {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]},
        {"resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}]},
        {"schedulingGroup": {"podGroupName": "group"}},
        {"status": {"nominatedNodeName": "n1"}},
        {"nodeName": "n1"},
    ],
)
def test_pods_with_something_of_their_own_share_nothing(spec: dict[str, Any]) -> None:
    scheduler, cache = scheduler_of(snapshot(node("n1"), node("n2"))), EquivalenceCache()
    for name in ("web-0", "web-1"):
        assert cache.schedule_one(pod(name, **spec), scheduler).judged_as is None


def test_pods_of_two_templates_share_nothing() -> None:
    scheduler, cache = scheduler_of(snapshot(node("n1"))), EquivalenceCache()
    first, *_, last = [
        cache.schedule_one(pod(name, **requests(cpu=cpu)), scheduler)
        for name, cpu in (("a-0", "1"), ("a-1", "1"), ("b-0", "20"))
    ]
    assert first.fits
    assert not last.fits
    assert last.judged_as is None
