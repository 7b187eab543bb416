"""Taints, and the tolerations that tolerate them.

Answers to ToleratesTaint of k8s.io/api/core/v1/toleration.go, k8s.io/component-helpers/scheduling/corev1/helpers.go and
pkg/scheduler/framework/plugins/helper/taint.go. The operators Lt and Gt count only with the feature
TaintTolerationComparisonOperators, which exists since 1.35; before that a toleration with them tolerates nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.api.apimachinery.int64 import parse_int64
from kubectl_sched.api.apimachinery.validation import is_decimal_integer
from kubectl_sched.api.core import Taint
from kubectl_sched.api.meta import with_spec

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from kubectl_sched.api.affinity import Toleration
    from kubectl_sched.api.core import Node
    from kubectl_sched.api.resource import DeviceTaint, DeviceToleration

NO_SCHEDULE: Final = "NoSchedule"
PREFER_NO_SCHEDULE: Final = "PreferNoSchedule"
NO_EXECUTE: Final = "NoExecute"
EFFECTS: Final = (NO_SCHEDULE, PREFER_NO_SCHEDULE, NO_EXECUTE)
DO_NOT_SCHEDULE: Final = frozenset({NO_SCHEDULE, NO_EXECUTE})
"""The effects that keep a pod off a node (DoNotScheduleTaintsFilterFunc)."""

UNSCHEDULABLE_TAINT: Final = Taint(key="node.kubernetes.io/unschedulable", effect=NO_SCHEDULE)
"""The taint of a cordoned node, which the node lifecycle controller sets and takes off again."""


def tolerates(
    toleration: Toleration | DeviceToleration, taint: Taint | DeviceTaint, *, comparison: bool = False
) -> bool:
    """Report whether one toleration tolerates a taint (ToleratesTaint, of nodes and of devices).

    `comparison` is TaintTolerationComparisonOperators.
    """
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in {"", "Equal"}:
        return toleration.value == taint.value
    if toleration.operator == "Exists":
        return True
    return comparison and toleration.operator in {"Lt", "Gt"} and _compares(toleration, taint)


def tolerated(taint: Taint, tolerations: Iterable[Toleration], *, comparison: bool) -> bool:
    """Report whether any toleration tolerates a taint (TolerationsTolerateTaint)."""
    return any(tolerates(toleration, taint, comparison=comparison) for toleration in tolerations)


def find_untolerated_taint(
    taints: Iterable[Taint], tolerations: Collection[Toleration], *, comparison: bool = False
) -> Taint | None:
    """The first taint that keeps a pod with these tolerations off a node (FindMatchingUntoleratedTaint)."""
    for taint in taints:
        if taint.effect in DO_NOT_SCHEDULE and not tolerated(taint, tolerations, comparison=comparison):
            return taint
    return None


def prefer_no_schedule_tolerations(tolerations: Iterable[Toleration]) -> tuple[Toleration, ...]:
    """The tolerations of PreferNoSchedule or of every effect (getAllTolerationPreferNoSchedule)."""
    return tuple(toleration for toleration in tolerations if toleration.effect in {"", PREFER_NO_SCHEDULE})


def count_intolerable_prefer_no_schedule(
    taints: Iterable[Taint], tolerations: Collection[Toleration], *, comparison: bool = False
) -> int:
    """Count the PreferNoSchedule taints that none of the tolerations tolerates: TaintToleration's score."""
    return sum(
        taint.effect == PREFER_NO_SCHEDULE and not tolerated(taint, tolerations, comparison=comparison)
        for taint in taints
    )


def _compares(toleration: Toleration | DeviceToleration, taint: Taint | DeviceTaint) -> bool:
    """Report whether the taint's number is below (Lt) or above (Gt) the toleration's; both must be canonical."""
    if not is_decimal_integer(toleration.value) or not is_decimal_integer(taint.value):
        return False
    bound, number = parse_int64(toleration.value), parse_int64(taint.value)
    if bound is None or number is None:
        return False
    return number < bound if toleration.operator == "Lt" else number > bound


def without_taint(node: Node, taint: Taint) -> Node:
    """The node as `kubectl taint` leaves it that takes a taint off: by key and effect."""
    kept = tuple(each for each in node.spec.taints if (each.key, each.effect) != (taint.key, taint.effect))
    return with_spec(node, taints=kept)


def uncordoned(node: Node) -> Node:
    """The node as `kubectl uncordon` and then the node lifecycle controller leave it."""
    taints = tuple(each for each in node.spec.taints if each.key != UNSCHEDULABLE_TAINT.key)
    return with_spec(node, taints=taints, unschedulable=False)


def cordoned(node: Node) -> Node:
    """The node as `kubectl cordon` and then the node lifecycle controller leave it."""
    taints = (*uncordoned(node).spec.taints, UNSCHEDULABLE_TAINT)
    return with_spec(node, taints=taints, unschedulable=True)
