"""One more node like one that the pod would fit on if it were empty."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.apps import DaemonSet
from kubectl_sched.controllers.daemon_set import runs_on
from kubectl_sched.simulation.node_copies import daemon_on, daemon_templates, fresh_copy
from kubectl_sched.simulation.plain_pods import is_plain
from kubectl_sched.suggestions.change import Change, Kind

if TYPE_CHECKING:
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.suggestions.change import Way


def one_more_like(result: ScheduleResult, row: int) -> Way | None:
    """Return the way with a copy of the row's node; None if the copy would lack the devices or volumes of its original.

    The copy is what `whatif --add-nodes` adds: ready, uncordoned, with the pods of the DaemonSets that belong on it.
    """
    if not is_plain(result.pod):
        return None
    nodes = result.nodes.whole
    original = result.nodes.node_objects[row]
    name = next(
        name for number in range(1, len(nodes) + 2) if (name := f"{original.name}-add-{number}") not in nodes.row_of
    )
    copy = fresh_copy(original, name)
    templates = daemon_templates(nodes.objects.all(DaemonSet), nodes.existing_pods.pods)
    daemons = tuple(daemon_on(copy, pod) for pod in templates if runs_on(pod.spec, copy))
    return (Change(Kind.ADD_NODE, f"with one more node like {original.name}", adds=(copy, daemons)),)
