"""The pods that Karpenter does not move off a node that goes away (pkg/utils/pdb, pkg/utils/pod)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.api.apimachinery.labels import NOTHING, InvalidSelector, selector_of
from kubectl_sched.api.apimachinery.timestamps import seconds_between
from kubectl_sched.api.core import Taint
from kubectl_sched.config.duration import InvalidDuration, parse_duration
from kubectl_sched.node_provisioning.karpenter.provisionable_pods import is_owned_by, is_reschedulable
from kubectl_sched.node_provisioning.karpenter.scheduling.untolerated_taints import tolerates_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kubectl_sched.api.apimachinery.labels import Selector
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.api.policy import PodDisruptionBudget

_DISRUPTED: Final = (Taint(key="karpenter.sh/disrupted", effect="NoSchedule"),)
_NANOSECONDS: Final = 1e9


class DisruptionLimits:
    """The PodDisruptionBudgets of a cluster, and the time at which the pods' protection is judged (RFC 3339)."""

    def __init__(self, budgets: Iterable[PodDisruptionBudget], now: str | None) -> None:
        self._budgets = [(budget, _selector(budget)) for budget in budgets]
        self._now = now

    def lets_go(self, pod: Pod) -> bool:
        """Report whether a pod of a leaving node is placed anew (IsCurrentlyReschedulable)."""
        is_protected = _is_active(pod) and is_protected_by_annotation(pod, self._now)
        return is_reschedulable(pod) and not is_protected and not self._is_fully_blocked(pod)

    def _is_fully_blocked(self, pod: Pod) -> bool:
        """Report whether no eviction of the pod can succeed as its budgets are written (isFullyBlocked)."""
        return self._is_held(pod, _allows_none)

    def holding(self, pod: Pod) -> list[PodDisruptionBudget]:
        """Return the budget that allows no eviction of the pod now, or its budgets if it has several (CanEvictPods)."""
        is_held = self._is_held(pod, lambda budget: budget.status.disruptions_allowed == 0)
        return self._matching(pod) if is_held else []

    def _is_held(self, pod: Pod, holds: Callable[[PodDisruptionBudget], bool]) -> bool:
        is_evictable = _is_active(pod) and not is_owned_by(pod, "v1", "Node")
        if not is_evictable or tolerates_all(_DISRUPTED, pod.spec.tolerations):
            return False
        matching = self._matching(pod)
        if len(matching) != 1:
            return bool(matching)
        (budget,) = matching
        may_go_unhealthy = budget.spec.unhealthy_pod_eviction_policy == "AlwaysAllow" and any(
            each.type == "Ready" and each.status == "False" for each in pod.status.conditions
        )
        return not may_go_unhealthy and holds(budget)

    def _matching(self, pod: Pod) -> list[PodDisruptionBudget]:
        return [
            budget
            for budget, selector in self._budgets
            if budget.namespace == pod.namespace and selector.matches(pod.metadata.labels)
        ]


def is_protected_by_annotation(pod: Pod, now: str | None) -> bool:
    """Report whether karpenter.sh/do-not-disrupt holds: `true`, or a duration that the pod has not run yet."""
    value = pod.metadata.annotations.do_not_disrupt
    if value is None or value == "true":
        return value is not None
    try:
        duration = parse_duration(value)
    except InvalidDuration:
        return False
    if duration <= 0:
        return False
    age = seconds_between(pod.status.start_time, now)
    return age is None or age < duration / _NANOSECONDS


def _is_active(pod: Pod) -> bool:
    return not pod.has_ended and pod.metadata.deletion_timestamp is None


def _allows_none(budget: PodDisruptionBudget) -> bool:
    spec = budget.spec
    return spec.max_unavailable in {0, "0%"} or spec.min_available == "100%"


def _selector(budget: PodDisruptionBudget) -> Selector:
    try:
        return selector_of(budget.spec.selector)
    except InvalidSelector:
        return NOTHING
