from __future__ import annotations

import pytest

from kubectl_sched.framework.status import SKIP
from kubectl_sched.plugins.node_unschedulable import NodeUnschedulable
from tests.plugins.clusters import explained, filtered, make, node, pod, reasons, snapshot

KEY = "node.kubernetes.io/unschedulable"
CORDONED = [{"key": KEY, "effect": "NoSchedule", "timeAdded": "2026-01-02T03:04:05Z"}]
NODES = snapshot(node("cordoned", unschedulable=True, taints=CORDONED), node("open"))
REJECTED = {"cordoned": ("node(s) were unschedulable",)}
RESIZE_DEFERRED = {"conditions": [{"type": "PodResizePending", "status": "True", "reason": "Deferred"}]}


@pytest.mark.parametrize(
    ("toleration", "rejected"),
    [
        ({"key": KEY, "operator": "Exists"}, {}),
        ({"key": KEY, "effect": "NoSchedule"}, {}),
        ({"operator": "Exists"}, {}),
        ({"key": KEY, "operator": "Exists", "effect": "NoExecute"}, REJECTED),
        ({"key": KEY, "value": "true"}, REJECTED),
    ],
)
def test_a_cordoned_node_takes_pods_that_tolerate_the_taint(
    toleration: dict[str, str], rejected: dict[str, object]
) -> None:
    assert reasons(make(NodeUnschedulable), pod(tolerations=[toleration]), NODES) == rejected


def test_the_taint_alone_is_not_this_plugin_s_business() -> None:
    assert reasons(make(NodeUnschedulable), pod(), snapshot(node(taints=CORDONED))) == {}


def test_a_pod_that_waits_to_grow_in_place_is_let_be() -> None:
    waiting = pod(status=RESIZE_DEFERRED)
    grows = make(NodeUnschedulable, version="1.37", InPlacePodVerticalScalingSchedulerPreemption=True)
    assert filtered(grows, waiting, NODES) == [SKIP, SKIP]
    assert reasons(make(NodeUnschedulable, version="1.37"), waiting, NODES) == REJECTED


def test_evidence_tells_since_when_and_which_toleration_nearly_helps() -> None:
    texts, hints = explained(
        make(NodeUnschedulable), pod(tolerations=[{"key": KEY, "operator": "Exists", "effect": "NoExecute"}]), NODES
    )
    assert texts == ["is cordoned since 2026-01-02T03:04:05Z (kubectl uncordon cordoned undoes it)"]
    assert hints == [f"the pod tolerates {KEY}:NoExecute: the effect differs"]
