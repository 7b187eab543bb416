from __future__ import annotations

from kubectl_sched.framework.cycle_state import CycleState
from kubectl_sched.framework.status import SKIP
from kubectl_sched.plugins.deferred_pod_scheduling import DeferredPodScheduling
from tests.plugins.clusters import explained, filtered, make, node, pod, reasons, snapshot

DEFERRED = {"conditions": [{"type": "PodResizePending", "status": "True", "reason": "Deferred"}]}
NODES = snapshot(
    node("calm", podPreemptionPolicy={"disableResizePreemption": ["autoscaler.example.com"]}),
    node("nobody", podPreemptionPolicy={"disableResizePreemption": []}),
    node("open"),
)


def enabled() -> DeferredPodScheduling:
    return make(DeferredPodScheduling, version="1.37", InPlacePodVerticalScalingSchedulerPreemption=True)


def test_it_skips_pods_that_wait_for_no_resize() -> None:
    infeasible = {"conditions": [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]}
    assert filtered(enabled(), pod(), NODES) == [SKIP] * 3
    assert filtered(enabled(), pod(status=infeasible), NODES) == [SKIP] * 3
    assert filtered(make(DeferredPodScheduling, version="1.37"), pod(status=DEFERRED), NODES) == [SKIP] * 3


def test_a_node_can_rule_out_that_pods_are_ended_for_a_resize() -> None:
    assert reasons(enabled(), pod(status=DEFERRED), NODES) == {"calm": ("node had resize preemption disabled",)}
    ((text,), _) = explained(enabled(), pod(status=DEFERRED), NODES)
    assert text.endswith("spec.podPreemptionPolicy names autoscaler.example.com")


def test_a_running_pod_grows_on_its_own_node_only() -> None:
    elsewhere = ("pod assigned to different node",)
    assert reasons(enabled(), pod(on="open", status=DEFERRED), NODES) == {"calm": elsewhere, "nobody": elsewhere}
    ((text,), _) = explained(enabled(), pod(on="open", status=DEFERRED), NODES)
    assert text == "is not node open, on which the pod runs and is to grow"


def test_permit_binds_it_never() -> None:
    (action,) = enabled().binding_actions(CycleState(), pod(status=DEFERRED), NODES, 2)
    assert (action.extension_point, action.plugin) == ("permit", "DeferredPodScheduling")
    assert action.action == "reject: pod resize fits, waiting for Kubelet actuation"
    assert enabled().binding_actions(CycleState(), pod(), NODES, 2) == ()
