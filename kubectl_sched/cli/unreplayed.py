"""`explain` for those who may not read nodes or other pods: what the schedulers said, without a replay."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kubectl_sched.errors import SchedError

if TYPE_CHECKING:
    from kubectl_sched.sources import Dump
    from kubectl_sched.sources.pod_selection import Selection

_FORBIDDEN = 3
_SNAPSHOT = "kubectl sched snapshot cluster.json.gz"


def show_decoded(dump: Dump, selection: Selection, output: str, color: str) -> int:
    """Print it; the exit code is that of something forbidden, since nothing was replayed."""
    from kubectl_sched.diagnostics.pods_not_created import never_created
    from kubectl_sched.diagnostics.scheduler_statements import statements_of
    from kubectl_sched.render.answers.unreplayed_pods import Limits, decoded_data, decoded_lines
    from kubectl_sched.render.display import PAGES
    from kubectl_sched.render.writers.data import write_data
    from kubectl_sched.sources.pod_selection import select
    from kubectl_sched.sources.pod_surroundings import Surroundings

    if output in PAGES:
        raise SchedError(f"there is no -o {output} where the cluster may not be read: it is table, json or yaml")
    around = Surroundings(dump, sees_all_pods=False)
    told = [statements_of(pod, around) for pod in select(dump.objects, selection)]
    lacking = never_created(selection.namespace, around) if selection.means_all_pending else ()
    limits = Limits((*lacking, *dump.warnings), tuple(forbidden.rule for forbidden in dump.forbidden), _SNAPSHOT)
    if output in {"json", "yaml"}:
        write_data(decoded_data(told, limits, one=selection.is_one_pod and len(told) == 1), output)
    elif output != "name":
        from kubectl_sched.render.writers.terminal import print_parts

        print_parts(partial(decoded_lines, told, limits), color)
    return _FORBIDDEN
