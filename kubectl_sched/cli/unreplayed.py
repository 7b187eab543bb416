"""`explain` for those who may not read nodes or other pods: what the schedulers said, without a replay."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kubectl_sched.render.display import Display
    from kubectl_sched.sources import Dump
    from kubectl_sched.sources.pod_selection import Selection

_FORBIDDEN = 3
_SNAPSHOT = "kubectl sched snapshot cluster.json.gz"


def show_decoded(dump: Dump, selection: Selection, display: Display) -> int:
    """Print it; the exit code is that of something forbidden, since nothing was replayed."""
    from kubectl_sched.diagnostics.scheduler_statements import statements_of
    from kubectl_sched.queries.never_created.never_created import never_created
    from kubectl_sched.render.answers.unreplayed_pods import Limits, shown_decoded
    from kubectl_sched.render.show import show
    from kubectl_sched.sources.pod_selection import select
    from kubectl_sched.sources.pod_surroundings import Surroundings

    around = Surroundings(dump, sees_all_pods=False)
    told = [statements_of(pod, around) for pod in select(dump.objects, selection)]
    missing = never_created(around, selection.namespace) if selection.means_all_pending else ()
    lacking = tuple(each.whole for each in missing if not each.on_purpose)
    limits = Limits((*lacking, *dump.warnings), tuple(forbidden.rule for forbidden in dump.forbidden), _SNAPSHOT)
    shown = shown_decoded(told, limits, one=selection.is_one_pod and len(told) == 1)
    show(shown, display)
    return _FORBIDDEN
