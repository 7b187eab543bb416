"""Node selectors and tolerations that a pod has from its namespace, and not from its manifest.

The admission plugins PodNodeSelector and PodTolerationRestriction, and that of OpenShift's projects, add them from the
namespace's annotations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from kubectl_sched.api.affinity import Toleration
from kubectl_sched.api.core import Namespace
from kubectl_sched.api.decoders import UNDECODABLE
from kubectl_sched.diagnostics.findings.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources.pod_surroundings import Surroundings

KIND: Final = "NamespaceDefaults"

_SHOWN: Final = 3


def findings(result: ScheduleResult, around: Surroundings) -> Iterator[Finding]:
    """Yield what the pod has from its namespace, where that keeps it from nodes or lets it land where it does."""
    namespace = around.workloads.get(Namespace, result.pod.namespace)
    if namespace is None:
        return
    for annotation, selector in namespace.added_node_selectors.items() if _rejects(result, "NodeAffinity") else ():
        pairs = [pair for pair in selector.items() if pair in (result.pod.spec.node_selector or {}).items()]
        if pairs:
            told = ", ".join(f"{key}={value}" for key, value in pairs[:_SHOWN])
            yield Finding(
                kind=KIND,
                sentence=f"Its nodeSelector {told} comes from namespace {namespace.name} (annotation {annotation}), "
                "which admission adds to every pod there, so that taking it off the pod would not last: a cluster "
                "administrator changes the annotation, or the pod goes to another namespace",
            )
    text = namespace.metadata.annotations.default_tolerations or ""
    tolerations = [each for each in _tolerations(text) if _helps(each, result)]
    if tolerations:
        told = ", ".join(f"{each.key or 'every key'}" for each in tolerations[:_SHOWN])
        yield Finding(
            kind=KIND,
            sentence=f"It tolerates taint {told} of {result.best[0]} through namespace {namespace.name} (annotation "
            "scheduler.alpha.kubernetes.io/defaultTolerations), not through its own manifest",
        )


def _tolerations(text: str) -> tuple[Toleration, ...]:
    try:
        return msgspec.json.decode(text, type=tuple[Toleration, ...]) if text else ()
    except UNDECODABLE:
        return ()


def _rejects(result: ScheduleResult, plugin: str) -> bool:
    mask = result.rejection_masks.get(plugin)
    return mask is not None and bool(mask.any())


def _helps(toleration: Toleration, result: ScheduleResult) -> bool:
    """Report whether the pod has the toleration, and the best node a taint of its key that would keep pods away."""
    if not result.best or toleration not in result.pod.spec.tolerations:
        return False
    node = result.nodes.node(result.nodes.row_of[result.best[0]]).node
    return any(
        taint.effect in {"NoSchedule", "NoExecute"} and toleration.key in {"", taint.key} for taint in node.spec.taints
    )
