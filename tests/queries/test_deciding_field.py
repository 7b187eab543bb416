"""The field behind a verdict is one that the pod has, whatever rejects it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given

from kubectl_sched.queries.verdict.deciding_field import deciding_field
from tests.plugins.clusters import node, pod
from tests.plugins.random_clusters import clusters, incoming_pods
from tests.queries.test_verdict import SITUATIONS, explained
from tests.scheduler.cycles import explain

if TYPE_CHECKING:
    from kubectl_sched.api.core import Node
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import ScheduleResult


def _check(result: ScheduleResult) -> None:
    field = deciding_field(result)
    if field is None:
        return
    assert field.label
    spec = msgspec.to_builtins(result.pod.spec)
    assert any(_has(spec, path) for path in field.paths), field


def _has(value: Any, path: tuple[str | int, ...]) -> bool:
    for name in path:
        try:
            value = value[name]
        except (KeyError, IndexError):
            return False
    return True


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda each: str(each["situation"]))
def test_each_situation_of_verdicts(situation: dict[str, Any]) -> None:
    _check(explained(situation).result)


@given(clusters(), incoming_pods())
def test_any_cluster(cluster: tuple[list[Node], list[Pod]], incoming: Pod) -> None:
    nodes, running = cluster
    _check(explain(incoming, *nodes, *running))


@pytest.mark.parametrize("key", ["node.kubernetes.io/memory-pressure", "node.kubernetes.io/not-ready"])
def test_a_taint_that_a_controller_takes_off_is_no_matter_of_the_manifest(key: str) -> None:
    tainted = node("w1", taints=[{"key": key, "effect": "NoSchedule"}])
    assert deciding_field(explain(pod("new"), tainted)) is None
