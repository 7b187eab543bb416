"""One more node like one that the pod would fit on if it were empty."""

from __future__ import annotations

from itertools import count as number_from
from itertools import islice
from typing import TYPE_CHECKING

from kubectl_sched.api.apps import DaemonSet
from kubectl_sched.controllers.daemon_set import runs_on
from kubectl_sched.simulation.node_copies import daemon_on, daemon_templates, fresh_copy
from kubectl_sched.simulation.pods_without_claims import is_plain
from kubectl_sched.suggestions.change import Change, Kind

if TYPE_CHECKING:
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.suggestions.change import Way


def more_like(result: ScheduleResult, row: int, count: int = 1) -> Way | None:
    """Return the way with copies of the row's node; None if they would lack the devices or volumes of their original.

    A copy is what `whatif --add-nodes` adds: ready, uncordoned, with the pods of the DaemonSets that belong on it.
    """
    if not is_plain(result.pod):
        return None
    nodes = result.nodes.whole
    original = result.nodes.node_objects[row]
    templates = daemon_templates(nodes.objects.all(DaemonSet), nodes.existing_pods.pods)
    names = (name for number in number_from(1) if (name := f"{original.name}-add-{number}") not in nodes.row_of)
    copies = (fresh_copy(original, name) for name in islice(names, count))
    adds = tuple((copy, tuple(daemon_on(copy, pod) for pod in templates if runs_on(pod.spec, copy))) for copy in copies)
    number = "one more node" if count == 1 else f"{count:,} more nodes"
    change = Change(
        kind=Kind.ADD_NODE,
        text=f"with {number} like {original.name}",
        node_name=original.name,
        adds=adds,
        caution="one more machine to pay for" if count == 1 else "more machines to pay for",
    )
    return (change,)
