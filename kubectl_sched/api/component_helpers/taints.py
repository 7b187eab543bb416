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
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Protocol

    from kubectl_sched.api.affinity import Toleration
    from kubectl_sched.api.core import Node
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.api.resource import DeviceTaint, DeviceToleration

    class Gates(Protocol):
        """The feature gates of a cluster."""

        def enabled(self, name: str) -> bool:
            """Report whether the gate is on."""


NO_SCHEDULE: Final = "NoSchedule"
PREFER_NO_SCHEDULE: Final = "PreferNoSchedule"
NO_EXECUTE: Final = "NoExecute"
EFFECTS: Final = (NO_SCHEDULE, PREFER_NO_SCHEDULE, NO_EXECUTE)
DO_NOT_SCHEDULE: Final = frozenset({NO_SCHEDULE, NO_EXECUTE})
"""The effects that keep a pod off a node (DoNotScheduleTaintsFilterFunc)."""

UNSCHEDULABLE_TAINT: Final = Taint(key="node.kubernetes.io/unschedulable", effect=NO_SCHEDULE)
"""The taint of a cordoned node, which the node lifecycle controller sets and takes off again."""


class Tolerations(Record, frozen=True, kw_only=True):
    """The tolerations of a pod, with the feature gate by which their operators Lt and Gt count."""

    each: tuple[Toleration, ...]
    compare: bool = False

    @classmethod
    def of(cls, pod: Pod, gates: Gates) -> Tolerations:
        """The pod's tolerations in a cluster with these feature gates."""
        return cls(each=pod.spec.tolerations, compare=gates.enabled("TaintTolerationComparisonOperators"))

    def tolerate(self, taint: Taint) -> bool:
        """Report whether any of them tolerates a taint (TolerationsTolerateTaint)."""
        return any(tolerates(toleration, taint, compare=self.compare) for toleration in self.each)

    def first_untolerated(self, taints: Iterable[Taint]) -> Taint | None:
        """The first taint that keeps the pod off a node (FindMatchingUntoleratedTaint)."""
        for taint in taints:
            if taint.effect in DO_NOT_SCHEDULE and not self.tolerate(taint):
                return taint
        return None

    def count_intolerable(self, taints: Iterable[Taint]) -> int:
        """Count the PreferNoSchedule taints that none of them tolerates: TaintToleration's score."""
        return sum(taint.effect == PREFER_NO_SCHEDULE and not self.tolerate(taint) for taint in taints)

    def of_prefer_no_schedule(self) -> Tolerations:
        """The tolerations of PreferNoSchedule or of every effect (getAllTolerationPreferNoSchedule)."""
        kept = tuple(each for each in self.each if each.effect in {"", PREFER_NO_SCHEDULE})
        return Tolerations(each=kept, compare=self.compare)


def tolerates(toleration: Toleration | DeviceToleration, taint: Taint | DeviceTaint, *, compare: bool = False) -> bool:
    """Report whether one toleration tolerates a taint (ToleratesTaint, of nodes and of devices)."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in {"", "Equal"}:
        return toleration.value == taint.value
    if toleration.operator == "Exists":
        return True
    return compare and toleration.operator in {"Lt", "Gt"} and _compares(toleration, taint)


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
