"""The flags of cluster-autoscaler that decide whether a node group grows for a pod."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.config.features import TRUE
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_sched.api.core import Taint
    from kubectl_sched.api.pod import Pod

TO_BE_DELETED = "ToBeDeletedByClusterAutoscaler"
_OWN_TAINTS = frozenset({TO_BE_DELETED, "DeletionCandidateOfClusterAutoscaler"})
_CONDITION_TAINTS = frozenset(
    {
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
        "node.kubernetes.io/unschedulable",
        "node.kubernetes.io/memory-pressure",
        "node.kubernetes.io/disk-pressure",
        "node.kubernetes.io/network-unavailable",
        "node.kubernetes.io/pid-pressure",
        "node.cloudprovider.kubernetes.io/uninitialized",
        "node.cloudprovider.kubernetes.io/shutdown",
        "cloud.google.com/impending-node-termination",
        "NodeWithImpairedVolumes",
    }
)
_STARTUP_PREFIXES = (
    "ignore-taint.cluster-autoscaler.kubernetes.io/",
    "startup-taint.cluster-autoscaler.kubernetes.io/",
)
_STATUS_PREFIX = "status-taint.cluster-autoscaler.kubernetes.io/"


class AutoscalerOptions(Record, frozen=True, kw_only=True):
    """The options, at the defaults of a release unless flags say otherwise."""

    expendable_below: int = -10
    startup_taints: frozenset[str] = frozenset()
    startup_taint_prefixes: tuple[str, ...] = _STARTUP_PREFIXES
    status_taints: frozenset[str] = frozenset()
    max_nodes_total: int = 0
    forces_daemon_sets: bool = False
    scales_from_unschedulable: bool = False

    def is_expendable(self, pod: Pod) -> bool:
        """Report whether the pod's priority is so low that no node is added for it (IsExpendablePod)."""
        return pod.spec.priority is not None and pod.spec.priority < self.expendable_below

    def is_startup_taint(self, taint: Taint) -> bool:
        """Report whether a node with the taint has not started yet."""
        return taint.key in self.startup_taints or taint.key.startswith(self.startup_taint_prefixes)

    def is_left_out(self, taint: Taint) -> bool:
        """Report whether a template does without the taint (SanitizeTaints)."""
        return (
            taint.key in _OWN_TAINTS
            or taint.key in _CONDITION_TAINTS
            or self.is_startup_taint(taint)
            or taint.key in self.status_taints
            or taint.key.startswith(_STATUS_PREFIX)
        )


def options_of(flags: Mapping[str, tuple[str, ...]]) -> AutoscalerOptions:
    """Return the options that the flags set; a number that is none is left at its default."""
    return AutoscalerOptions(
        expendable_below=_number(flags, "expendable-pods-priority-cutoff", -10),
        startup_taints=frozenset((*flags.get("startup-taint", ()), *flags.get("ignore-taint", ()))),
        startup_taint_prefixes=(*_STARTUP_PREFIXES, *filter(None, flags.get("startup-taint-prefix", ()))),
        status_taints=frozenset(flags.get("status-taint", ())),
        max_nodes_total=_number(flags, "max-nodes-total", 0),
        forces_daemon_sets=flags.get("force-ds", ("",))[-1] in TRUE,
        scales_from_unschedulable=flags.get("scale-from-unschedulable", ("",))[-1] in TRUE,
    )


def _number(flags: Mapping[str, tuple[str, ...]], name: str, default: int) -> int:
    text = flags.get(name, ("",))[-1]
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdecimal() and len(digits) < 19 else default
