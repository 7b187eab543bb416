"""PodDisruptionBudgets as the API server asks them before it evicts (pkg/registry/core/pod/storage/eviction.go)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from kubectl_sched.api.apimachinery.labels import InvalidSelector, selector_of
from kubectl_sched.api.policy import PodDisruptionBudget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.apimachinery.labels import Selector
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.snapshot import Objects

_UNPROTECTED: Final = frozenset({"Pending", "Succeeded", "Failed"})
"""Phases in which the API server evicts a pod without asking budgets (canIgnorePDB)."""


class EvictionBudgets:
    """The budgets of a cluster, looked up once for each distinct namespace and label set."""

    def __init__(self, budgets: Sequence[PodDisruptionBudget]) -> None:
        self._budgets = [(budget, _selector(budget)) for budget in budgets]
        self._covering: dict[tuple[str, tuple[tuple[str, str], ...]], tuple[PodDisruptionBudget, ...]] = {}

    @classmethod
    def of(cls, objects: Objects) -> EvictionBudgets:
        """Return the budgets of these objects, the same value whenever they are asked for."""
        return objects.derived(PodDisruptionBudget, cls)

    def covering(self, pod: Pod) -> tuple[PodDisruptionBudget, ...]:
        """Return the budgets that cover the pod."""
        if not self._budgets:
            return ()
        key = (pod.namespace, tuple(pod.metadata.labels.items()))
        if key not in self._covering:
            self._covering[key] = tuple(
                budget
                for budget, selector in self._budgets
                if selector is not None and budget.namespace == pod.namespace and selector.matches(pod.metadata.labels)
            )
        return self._covering[key]

    def allow(self, pods: Sequence[Pod]) -> bool:
        """Report whether budgets let all of them go before any of their successors counts as healthy."""
        return not any(self.forbidding(pods))

    def forbidding(self, pods: Sequence[Pod]) -> Iterator[str]:
        """Yield the keys of the budgets that forbid that all of these are evicted, in the order of the pods.

        Eviction supports no pod under several budgets, so that each of these forbids it.
        """
        allowed = {budget.key: budget.status.disruptions_allowed for pod in pods for budget in self.covering(pod)}
        taken = Counter(budget.key for pod in pods for budget in self.covering(pod))
        several = {each.key for pod in pods if len(found := self.covering(pod)) > 1 for each in found}
        yield from (key for key in allowed if taken[key] > allowed[key] or key in several)

    def asked_for(self, pod: Pod) -> tuple[PodDisruptionBudget, ...]:
        """Return the budgets that must let the pod go; none for a pod that has not started, or that is not ready."""
        found = self.covering(pod)
        if pod.status.phase in _UNPROTECTED or pod.metadata.deletion_timestamp is not None:
            return ()
        return () if len(found) == 1 and not _is_ready(pod) and _lets_unready_go(found[0]) else found


def _is_ready(pod: Pod) -> bool:
    condition = pod.condition("Ready")
    return condition is not None and condition.status == "True"


def _lets_unready_go(budget: PodDisruptionBudget) -> bool:
    if budget.spec.unhealthy_pod_eviction_policy == "AlwaysAllow":
        return True
    return budget.status.current_healthy >= budget.status.desired_healthy > 0


def _selector(budget: PodDisruptionBudget) -> Selector | None:
    try:
        return selector_of(budget.spec.selector)
    except InvalidSelector:
        return None
