"""Disruptions that violate a PodDisruptionBudget (filterPodsWithPDBViolation in default_preemption.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.apimachinery.labels import InvalidSelector, selector_of
from kubectl_sched.api.policy import PodDisruptionBudget

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.apimachinery.labels import Selector
    from kubectl_sched.api.meta import Labels
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.snapshot import Objects


class Budgets:
    """The budgets of the cluster, asked once for each distinct (namespace, labels)."""

    def __init__(self, objects: Objects, *, one_violation_is_enough: bool, may_select_all: bool) -> None:
        self._one_is_enough = one_violation_is_enough
        self._may_select_all = may_select_all
        self._budgets = list(objects.all(PodDisruptionBudget))
        self._selectors = [self._selector(budget) for budget in self._budgets]
        self._matching: dict[tuple[str, tuple[tuple[str, str], ...]], tuple[int, ...]] = {}

    def split(self, pods: Sequence[Pod]) -> tuple[list[Pod], list[Pod], tuple[str, ...]]:
        """(violating, others, names of the violated budgets), each in the order given; a pod uses up what it takes."""
        violates, violated = self.violating(pods)
        return (
            [pod for pod, each in zip(pods, violates, strict=True) if each],
            [pod for pod, each in zip(pods, violates, strict=True) if not each],
            violated,
        )

    def select(self, namespace: str, labels: Labels) -> bool:
        """Report whether some budget selects pods like that."""
        return bool(self._selecting(namespace, labels))

    def violating(self, pods: Sequence[Pod]) -> tuple[list[bool], tuple[str, ...]]:
        """Report for each pod whether its eviction in this order violates a budget, and name those budgets."""
        if not self._budgets:
            return [False] * len(pods), ()
        allowed = [budget.status.disruptions_allowed for budget in self._budgets]
        found: list[bool] = []
        violated: dict[str, None] = {}
        for pod in pods:
            violates = False
            for index in self._of(pod):
                if pod.metadata.name in self._budgets[index].status.disrupted_pods:
                    continue
                allowed[index] -= 1
                if allowed[index] < 0:
                    violates = True
                    violated[self._budgets[index].key] = None
                    if self._one_is_enough:
                        break
            found.append(violates)
        return found, tuple(violated)

    def violations_of_units(self, units: Sequence[Sequence[Pod]]) -> list[int]:
        """Count for each unit its pods that would violate a budget if they went in this order.

        A pod ends with the first budget that it violates. Up to 1.36 so does its unit: its other pods take nothing.
        """
        allowed = [budget.status.disruptions_allowed for budget in self._budgets]
        found: list[int] = []
        for unit in units:
            violations = 0
            for pod in unit:
                if violations and not self._one_is_enough:
                    break
                violations += self._takes(pod, allowed)
            found.append(violations)
        return found

    def _takes(self, pod: Pod, allowed: list[int]) -> bool:
        """Take what the pod uses up, and say whether it violates a budget."""
        for index in self._of(pod):
            if pod.metadata.name in self._budgets[index].status.disrupted_pods:
                continue
            allowed[index] -= 1
            if allowed[index] < 0:
                return True
        return False

    def _of(self, pod: Pod) -> tuple[int, ...]:
        return self._selecting(pod.metadata.namespace, pod.metadata.labels)

    def _selecting(self, namespace: str, labels: Labels) -> tuple[int, ...]:
        """The budgets that select pods with these labels. Up to 1.37 a pod without labels is selected by none."""
        if not self._budgets or (not labels and not self._may_select_all):
            return ()
        key = (namespace, tuple(labels.items()))
        found = self._matching.get(key)
        if found is None:
            found = self._matching[key] = tuple(
                index
                for index, (budget, selector) in enumerate(zip(self._budgets, self._selectors, strict=True))
                if selector is not None and budget.metadata.namespace == namespace and selector.matches(labels)
            )
        return found

    def _selector(self, budget: PodDisruptionBudget) -> Selector | None:
        """None for a selector that matches nothing: one that is invalid or nil, and up to 1.37 an empty one."""
        try:
            selector = selector_of(budget.spec.selector)
        except InvalidSelector:
            return None
        return None if selector.nothing or (selector.is_empty and not self._may_select_all) else selector
