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
DELETION_CANDIDATE = "DeletionCandidateOfClusterAutoscaler"
"""The taint of an unneeded node; its value is the time since when, in seconds."""

_OWN_TAINTS = frozenset({TO_BE_DELETED, DELETION_CANDIDATE})
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
    scales_down: bool = True
    utilization_threshold: float = 0.5
    gpu_utilization_threshold: float = 0.5
    leaves_daemon_sets_out: bool = False
    leaves_static_pods_out: bool = False
    scales_down_unready: bool = True
    skips_local_storage: bool = True
    skips_system_pods: bool = True
    unneeded_time: str = "10m"
    delay_after_add: str = "10m"
    balances_similar_groups: bool = False
    balancing_ignored_labels: tuple[str, ...] = ()
    balancing_labels: tuple[str, ...] = ()
    serves_requests: bool = False
    memory_ratio: float = 0.015
    allocatable_ratio: float = 0.05
    free_ratio: float = 0.05

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
        scales_down=flags.get("scale-down-enabled", ("true",))[-1] in TRUE,
        utilization_threshold=_share(flags, "scale-down-utilization-threshold"),
        gpu_utilization_threshold=_share(flags, "scale-down-gpu-utilization-threshold"),
        leaves_daemon_sets_out=flags.get("ignore-daemonsets-utilization", ("",))[-1] in TRUE,
        leaves_static_pods_out=flags.get("ignore-mirror-pods-utilization", ("",))[-1] in TRUE,
        scales_down_unready=flags.get("scale-down-unready-enabled", ("true",))[-1] in TRUE,
        skips_local_storage=flags.get("skip-nodes-with-local-storage", ("true",))[-1] in TRUE,
        skips_system_pods=flags.get("skip-nodes-with-system-pods", ("true",))[-1] in TRUE,
        unneeded_time=flags.get("scale-down-unneeded-time", ("10m",))[-1],
        delay_after_add=flags.get("scale-down-delay-after-add", ("10m",))[-1],
        balances_similar_groups=flags.get("balance-similar-node-groups", ("",))[-1] in TRUE,
        balancing_ignored_labels=flags.get("balancing-ignore-label", ()),
        balancing_labels=flags.get("balancing-label", ()),
        serves_requests=flags.get("enable-provisioning-requests", ("",))[-1] in TRUE,
        memory_ratio=_share(flags, "memory-difference-ratio", "0.015"),
        allocatable_ratio=_share(flags, "max-allocatable-difference-ratio", "0.05"),
        free_ratio=_share(flags, "max-free-difference-ratio", "0.05"),
    )


def _share(flags: Mapping[str, tuple[str, ...]], name: str, default: str = "0.5") -> float:
    """Return a share; the default where it is not set or no plain number."""
    whole, _, part = flags.get(name, (default,))[-1].partition(".")
    digits = f"{whole or '0'}{part}"
    is_plain = digits.isascii() and digits.isdecimal() and len(digits) < 19
    return float(f"{whole or '0'}.{part or '0'}" if is_plain else default)


def _number(flags: Mapping[str, tuple[str, ...]], name: str, default: int) -> int:
    text = flags.get(name, ("",))[-1]
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdecimal() and len(digits) < 19 else default
