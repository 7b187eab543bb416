from __future__ import annotations

from kubectl_sched.framework.cycle_state import CycleState
from kubectl_sched.plugins.node_name import NodeName
from tests.plugins.clusters import explained, make, node, pod, reasons, snapshot

NODES = snapshot(node("worker-1"), node("worker-2"))
REASON = ("node(s) didn't match the requested node name",)


def test_without_a_name_every_node_will_do() -> None:
    assert reasons(make(NodeName), pod(), NODES) == {}


def test_only_the_named_node_will_do() -> None:
    assert reasons(make(NodeName), pod(nodeName="worker-2"), NODES) == {"worker-1": REASON}


def test_from_1_37_on_prefilter_narrows_the_search() -> None:
    pre_filter = make(NodeName, version="1.37").pre_filter
    assert pre_filter(CycleState(), pod(), NODES).node_names is None
    assert pre_filter(CycleState(), pod(nodeName="worker-2"), NODES).node_names == frozenset({"worker-2"})


def test_a_name_that_no_node_has_is_named_with_the_nearest() -> None:
    texts, hints = explained(make(NodeName), pod(nodeName="worker_2"), NODES)
    assert texts == ["is not worker_2, which the pod's spec.nodeName asks for"]
    assert hints == ["no node is named worker_2; there is worker-2"]
