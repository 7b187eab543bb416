from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from kubectl_sched.api.component_helpers.taints import Tolerations
from kubectl_sched.framework.cycle_state import CycleState, PluginError
from kubectl_sched.framework.status import SKIP
from kubectl_sched.plugins.taint_toleration import TaintToleration
from tests.plugins.clusters import all_rows, explained, filtered, make, node, pod, reasons, scored, snapshot

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.api.core import Node
    from kubectl_sched.api.pod import Pod

GPU = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}
SOFT = {"key": "spot", "effect": "PreferNoSchedule"}
RESIZE_DEFERRED = {"conditions": [{"type": "PodResizePending", "status": "True", "reason": "Deferred"}]}


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("1.33", "node(s) had untolerated taint {dedicated: gpu}"),
        ("1.34", "node(s) had untolerated taint(s)"),
        ("1.36", "node(s) had untolerated taint(s)"),
    ],
)
def test_the_reason_named_the_taint_until_1_33(version: str, reason: str) -> None:
    nodes = snapshot(node("gpu", taints=[SOFT, GPU]), node("soft", taints=[SOFT]), node("plain"))
    assert reasons(make(TaintToleration, version=version), pod(), nodes) == {"gpu": (reason,)}


def test_no_execute_keeps_pods_off_too() -> None:
    nodes = snapshot(node("w1", taints=[{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}]))
    assert reasons(make(TaintToleration), pod(), nodes)


def test_prefer_no_schedule_taints_are_counted_and_turned_round() -> None:
    harder = {"key": "old", "effect": "PreferNoSchedule"}
    nodes = snapshot(node("two", taints=[SOFT, harder]), node("one", taints=[SOFT]), node("none", taints=[GPU]))
    plugin, incoming = make(TaintToleration), pod()
    assert scored(plugin, incoming, nodes) == [2, 1, 0]
    raw = np.array([2, 1, 0], dtype=np.int64)
    assert plugin.normalize_score(CycleState(), incoming, nodes, all_rows(nodes), raw).tolist() == [0, 50, 100]


def test_tolerations_of_another_effect_do_not_count_in_scoring() -> None:
    nodes = snapshot(node("w1", taints=[SOFT]))
    no_schedule_only = pod(tolerations=[{"key": "spot", "operator": "Exists", "effect": "NoSchedule"}])
    any_effect = pod(tolerations=[{"key": "spot", "operator": "Exists"}])
    assert scored(make(TaintToleration), no_schedule_only, nodes) == [1]
    assert scored(make(TaintToleration), any_effect, nodes) == [0]


def strangers() -> list[Node]:
    return [
        node(f"{effect}-{index}".lower(), taints=[{"key": f"taint-{index}", "effect": effect}])
        for index in range(5)
        for effect in ("NoSchedule", "PreferNoSchedule")
    ]


def tolerating(index: int) -> Pod:
    return pod(tolerations=[{"key": f"taint-{index % 7}", "operator": ("Exists", "Equal")[index % 2]}])


@pytest.mark.parametrize("version", ["1.33", "1.36"])
def test_verdicts_that_pods_share_are_those_of_their_own_tolerations(version: str) -> None:
    plugin, shared = make(TaintToleration, version=version), snapshot(*strangers())
    for index in (*range(40), *range(40)):
        incoming, alone = tolerating(index), snapshot(*strangers())
        assert filtered(plugin, incoming, shared) == filtered(plugin, incoming, alone)
        assert scored(plugin, incoming, shared) == scored(plugin, incoming, alone)


def test_each_taint_set_is_judged_once_for_pods_with_equal_tolerations(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    for name in ("first_untolerated", "count_intolerable"):
        monkeypatch.setattr(Tolerations, name, remembering(getattr(Tolerations, name), asked))
    plugin, nodes = make(TaintToleration), snapshot(*strangers())
    for _ in range(10):
        filtered(plugin, tolerating(1), nodes)
        scored(plugin, tolerating(1), nodes)
    assert len(asked) == 2 * len(nodes)


def test_nodes_kept_out_for_the_same_reason_have_one_verdict() -> None:
    plugin, nodes = make(TaintToleration), snapshot(*strangers())
    assert len(plugin.filter(CycleState(), pod(), nodes).values) == 2


def remembering(function: Callable[..., Any], asked: list[object]) -> Callable[..., Any]:
    def remembered(tolerations: object, taints: object) -> Any:
        asked.append(taints)
        return function(tolerations, taints)

    return remembered


def test_score_without_prescore_fails_in_upstream_s_words() -> None:
    nodes = snapshot(node())
    with pytest.raises(PluginError, match='failed to read "PreScoreTaintToleration" from cycleState: not found'):
        make(TaintToleration).score(CycleState(), pod(), nodes, all_rows(nodes))


def test_a_pod_that_waits_to_grow_in_place_is_let_be() -> None:
    grows = make(TaintToleration, version="1.37", InPlacePodVerticalScalingSchedulerPreemption=True)
    assert filtered(grows, pod(status=RESIZE_DEFERRED), snapshot(node(taints=[GPU]))) == [SKIP]


@pytest.mark.parametrize(
    ("taint", "toleration", "hint"),
    [
        (GPU, {"key": "dedicated", "value": "GPU"}, "the pod tolerates dedicated=GPU: the value differs"),
        (
            GPU,
            {"key": "dedicated", "value": "gpu", "effect": "NoExecute"},
            "the pod tolerates dedicated=gpu:NoExecute: the effect differs",
        ),
        (GPU, {"key": "Dedicated", "value": "gpu"}, "the pod tolerates Dedicated=gpu: the key differs"),
        (GPU, {"key": "dedicatd", "operator": "Exists"}, "the pod tolerates dedicatd: the key differs"),
        (
            GPU,
            {"key": "dedicated"},
            "the pod tolerates dedicated=: it has no value, and its operator is Equal; Exists would match any value",
        ),
        (
            {"key": "size", "value": "4", "effect": "NoSchedule"},
            {"key": "size", "operator": "Gt", "value": "3"},
            "the pod tolerates size>3: the operator Gt needs the feature TaintTolerationComparisonOperators",
        ),
        (
            {"key": "app-blue", "effect": "NoSchedule"},
            {"key": "app", "value": "blue"},
            "the pod tolerates app=blue: app-blue is one key without a value, not app=blue",
        ),
    ],
)
def test_near_misses(taint: dict[str, Any], toleration: dict[str, Any], hint: str) -> None:
    _, hints = explained(make(TaintToleration), pod(tolerations=[toleration]), snapshot(node(taints=[taint])))
    assert hints == [hint]


def test_a_typographic_quote_is_a_near_miss() -> None:
    quoted = pod(tolerations=[{"key": "dedicated", "value": "\u201cgpu\u201d"}])
    _, (hint,) = explained(make(TaintToleration), quoted, snapshot(node(taints=[GPU])))
    assert "has the typographic \u201c (U+201C) where a plain one may be meant" in hint


@pytest.mark.parametrize("toleration", [{"key": "team", "value": "a"}, {"key": "", "value": "gpu"}])
def test_other_tolerations_are_no_near_misses(toleration: dict[str, Any]) -> None:
    assert explained(make(TaintToleration), pod(tolerations=[toleration]), snapshot(node(taints=[GPU])))[1] == []


def test_a_condition_taint_carries_the_condition() -> None:
    down = node(
        taints=[{"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}],
        conditions=[
            {
                "type": "Ready",
                "status": "Unknown",
                "reason": "NodeStatusUnknown",
                "message": "Kubelet stopped posting node status.",
                "lastTransitionTime": "2026-01-02T03:04:05Z",
            }
        ],
    )
    nodes = snapshot(down)
    (text,), _ = explained(make(TaintToleration), pod(), nodes)
    assert text == (
        "has taint node.kubernetes.io/unreachable:NoExecute: Ready is Unknown since 2026-01-02T03:04:05Z "
        "(NodeStatusUnknown: Kubelet stopped posting node status.)"
    )
    (evidence,) = make(TaintToleration).explain_filter(CycleState(), pod(), nodes, 0)
    assert evidence.facts["condition"] == {
        "type": "Ready",
        "status": "Unknown",
        "reason": "NodeStatusUnknown",
        "message": "Kubelet stopped posting node status.",
        "since": "2026-01-02T03:04:05Z",
    }


def test_every_untolerated_taint_is_told() -> None:
    other = {"key": "team", "value": "a", "effect": "NoExecute"}
    nodes = snapshot(node(taints=[GPU, SOFT, other]))
    texts, _ = explained(make(TaintToleration), pod(), nodes)
    assert [text.split(",")[0] for text in texts] == [
        "has taint dedicated=gpu:NoSchedule",
        "has taint team=a:NoExecute",
    ]
    scores = make(TaintToleration).explain_score(CycleState(), pod(), nodes, 0)
    assert [each.facts["taint"] for each in scores] == ["spot:PreferNoSchedule"]
