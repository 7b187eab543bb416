"""The taints that a pod does not tolerate, in Karpenter's words (pkg/scheduling/taints.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.api.component_helpers.taints import Tolerations

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_sched.api.affinity import Toleration
    from kubectl_sched.api.core import Taint

_EPHEMERAL: Final = frozenset(
    {
        ("node.kubernetes.io/not-ready", "NoSchedule"),
        ("node.kubernetes.io/not-ready", "NoExecute"),
        ("node.kubernetes.io/unreachable", "NoSchedule"),
        ("node.cloudprovider.kubernetes.io/uninitialized", "NoSchedule"),
        ("karpenter.sh/unregistered", "NoExecute"),
    }
)
_EPHEMERAL_PREFIX: Final = "readiness.k8s.io/"


def tolerates_all(taints: Iterable[Taint], tolerations: tuple[Toleration, ...]) -> bool:
    """Report whether every taint is tolerated, PreferNoSchedule included (Tolerates)."""
    return all(map(Tolerations(each=tolerations, compare=True).tolerate, taints))


def untolerated_text(taints: Iterable[Taint], tolerations: tuple[Toleration, ...]) -> str:
    """Return what Karpenter says of the taints that are not tolerated."""
    known = Tolerations(each=tolerations, compare=True)
    return "; ".join(f"did not tolerate taint (taint={taint})" for taint in taints if not known.tolerate(taint))


def is_ephemeral(taint: Taint) -> bool:
    """Report whether a node has the taint only while it starts (IsKnownEphemeralTaint)."""
    return (taint.key, taint.effect) in _EPHEMERAL or taint.key.startswith(_EPHEMERAL_PREFIX)


def is_same(left: Taint, right: Taint) -> bool:
    """Report whether two taints are the same but for their value (MatchTaint)."""
    return left.key == right.key and left.effect == right.effect
