"""A dry run writes nothing, and so it asks nothing."""

from __future__ import annotations

from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest

from kubectl_sched.api.scheduling import GangSchedulingPolicy, PodGroup, PodGroupSchedulingPolicy, PodGroupSpec
from kubectl_sched.binding.bind_context import Order
from kubectl_sched.binding.bind_podgroup import bind_podgroup
from kubectl_sched.binding.podgroup_plan import group_situation
from kubectl_sched.sources import Dump
from kubectl_sched.sources.discovery.replay_setup import Replay
from tests.plugins.clusters import node, pod, requests


@pytest.mark.parametrize(("dry_run", "asked"), [("none", 1), ("client", 0), ("server", 0)])
def test_a_group_that_does_not_fit_is_asked_about_only_if_that_is_written(dry_run: str, asked: int) -> None:
    policy = PodGroupSchedulingPolicy(gang=GangSchedulingPolicy(min_count=1))
    metadata = {"name": "train", "namespace": "default"}
    group = PodGroup(metadata=pod(metadata=metadata).metadata, spec=PodGroupSpec(scheduling_policy=policy))
    member = pod(schedulingGroup={"podGroupName": "train"}, **requests(cpu="99"))
    dump = Dump(objects=(node("w1"), group, member), present=frozenset({"Node", "Pod"}))
    gates = "GenericWorkload=true,GangScheduling=true"
    order = Order(dry_run=dry_run, replay=Replay(kube_version="1.36", feature_gates=gates))
    situation = group_situation(dump, "train", "default", order, lambda _: None)
    questions: list[object] = []
    tools: Any = SimpleNamespace(stop=Event(), can_ask=True, show=lambda _: None, ask=questions.append)
    answer = bind_podgroup(order, tools, lambda: situation)
    assert (answer.outcome, answer.exit_code, len(questions)) == ("Unschedulable", 1, asked)
