"""The pods that may be asked to move: a known controller makes them again, and nothing forbids their eviction.

Answers to pkg/registry/core/pod/storage/eviction.go for budgets, to `kubectl drain` and to the annotations of Karpenter
and the cluster autoscaler.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.simulation.drain import with_local_volumes
from kubectl_sched.simulation.eviction_budgets import EvictionBudgets

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.snapshot import Objects

RECREATED_BY: Final = frozenset({"ReplicaSet", "ReplicationController", "StatefulSet"})
"""Controllers that make a pod again whenever one is gone. A Job need not: its pod may have been the last try."""


class EvictionRules:
    """The pods of a cluster that may move for the sake of pods of some priority."""

    def __init__(self, objects: Objects, others: Iterable[KubernetesObject], priority: int) -> None:
        self._priority = priority
        self._local = with_local_volumes(others)
        self._budgets = EvictionBudgets.of(objects)

    def refusal(self, pod: Pod) -> str | None:
        """Return why the pod is not asked to move, None if it may be."""
        return self._of_kind(pod) or self._of_annotations(pod) or self._of_volumes(pod) or self._of_budgets(pod)

    def _of_kind(self, pod: Pod) -> str | None:
        controller = pod.metadata.controller
        if pod.metadata.deletion_timestamp is not None:
            return "being deleted already"
        if pod.is_static or pod.is_daemon:
            return "static or of a DaemonSet"
        if controller is None:
            return "without a controller"
        if controller.kind not in RECREATED_BY:
            return f"of a {controller.kind}, which may not make them again"
        return "of a higher priority" if pod.priority > self._priority else None

    @staticmethod
    def _of_annotations(pod: Pod) -> str | None:
        annotations = pod.metadata.annotations
        if annotations.do_not_disrupt == "true":
            return "annotated karpenter.sh/do-not-disrupt"
        if annotations.safe_to_evict == "false":
            return "annotated cluster-autoscaler.kubernetes.io/safe-to-evict: false"
        return None

    def _of_volumes(self, pod: Pod) -> str | None:
        if pod.metadata.annotations.safe_to_evict == "true" or not pod.spec.volumes:
            return None
        loses = any(volume.empty_dir is not None or volume.host_path is not None for volume in pod.spec.volumes)
        return "with data on their node" if loses or self._local(pod) else None

    def _of_budgets(self, pod: Pod) -> str | None:
        budgets = self._budgets.covering(pod)
        if len(budgets) > 1:
            return "under several PodDisruptionBudgets, which eviction does not support"
        if budgets and budgets[0].status.disruptions_allowed <= 0:
            return "under a PodDisruptionBudget that allows no disruption now"
        return None

    def allows(self, pods: Sequence[Pod]) -> bool:
        """Report whether budgets let all of them go before any of their successors counts as healthy."""
        return self._budgets.allow(pods)


def refusals_in_words(refused: Mapping[str, int]) -> str:
    """Return `3 without a controller, 1 being deleted already`, the most common reason first."""
    ordered = sorted(refused.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{number:,} {reason}" for reason, number in ordered)
