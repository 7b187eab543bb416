"""Completion of an entry of the what-if pane: words, nodes, taints, labels and plugins that there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.tui.typed_edits import FORMS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubectl_sched.scheduler.result import ScheduleResult

_LABELS_OFFERED = 2000


def words_of(result: ScheduleResult) -> Mapping[str, tuple[str, ...]]:
    """The words that may follow each verb."""
    nodes, pod = result.nodes, result.pod
    taints = sorted({str(taint) for taints in nodes.taints.values for taint in taints})
    resources = sorted(nodes.table.allocatable.keys() - {"pods"})
    objects = nodes.node_objects[:_LABELS_OFFERED]
    labels = sorted({f"{key}={value}" for node in objects for key, value in node.metadata.labels.items()})
    scores = result.framework.profile.plugins.get("score", ()) if isinstance(result, CycleResult) else ()
    names = tuple(sorted(nodes.names))
    return {
        "tolerate": (*taints, *(f"{each.key}-" for each in pod.spec.tolerations if each.key)),
        "request": tuple(f"{resource}=" for resource in resources),
        "label": ("node", "pod", *(f"{key}=" for key in pod.metadata.labels)),
        "label node": (*names, *labels),
        "select": tuple(labels),
        "taint": (*names, *taints),
        "cordon": names,
        "uncordon": names,
        "weight": tuple(f"{each.name}={each.weight}" for each in scores),
    }


def completion(entry: str, words: Mapping[str, Iterable[str]]) -> str | None:
    """The whole entry with its last word completed; None if nothing fits."""
    head, blank, last = entry.rpartition(" ")
    if not blank:
        return next((f"{verb} " for verb in FORMS if verb.startswith(last) and verb != last), None) if last else None
    verbs = head.split()
    known = words.get(" ".join(verbs[:2])) or words.get(verbs[0] if verbs else "", ())
    found = next((word for word in known if word.startswith(last) and word != last), None) if last else None
    return None if found is None else f"{head} {found}"
