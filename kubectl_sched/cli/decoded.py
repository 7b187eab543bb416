"""`explain` where nodes or other pods may not be read: what was said of the pods, in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kubectl_sched.cluster import Dump
    from kubectl_sched.cluster.selection import Selection

_FORBIDDEN = 3


def show_decoded(dump: Dump, selection: Selection, output: str, color: str) -> int:
    """Print it; the exit code is that of something forbidden, since nothing was replayed."""
    from kubectl_sched.api.core import Event
    from kubectl_sched.cluster.refusal import good_dump
    from kubectl_sched.cluster.selection import select
    from kubectl_sched.render.decoded import Limits, decoded_data, decoded_lines
    from kubectl_sched.render.show import write_data
    from kubectl_sched.scheduler.told import told_of

    events = [item for item in dump.objects if isinstance(item, Event)]
    told = [told_of(pod, events) for pod in select(dump.objects, selection)]
    limits = Limits(dump.warnings, tuple(forbidden.rule for forbidden in dump.forbidden), good_dump())
    if output in {"json", "yaml"}:
        write_data(decoded_data(told, limits, one=selection.is_one_pod), output)
    elif output != "name":
        from kubectl_sched.render.terminal import print_parts

        print_parts(decoded_lines(told, limits), color)
    return _FORBIDDEN
