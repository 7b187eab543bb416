from __future__ import annotations

from kubectl_sched.framework.cycle_state import CycleState
from kubectl_sched.plugins.default_binder import DefaultBinder
from tests.plugins.clusters import make, node, pod, snapshot


def test_it_binds() -> None:
    nodes = snapshot(node("w1"), node("w2"))
    (action,) = make(DefaultBinder).binding_actions(CycleState(), pod("web-0"), nodes, 1)
    assert (action.extension_point, action.plugin) == ("bind", "DefaultBinder")
    assert action.action == "bind pod default/web-0 to node w2"
