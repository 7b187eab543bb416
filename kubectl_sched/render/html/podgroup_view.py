"""The content of the page about groups of pods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubectl_sched.record import Record
from kubectl_sched.render.podgroups.podgroup_headline import podgroup_headline
from kubectl_sched.render.podgroups.podgroup_tables import lines, tables

if TYPE_CHECKING:
    from kubectl_sched.render.table import Table
    from kubectl_sched.scheduler.podgroup_result import PodGroupResult

_CAPTIONS = ("Members, in the order of the cycle", "Topology domains")


class PodGroupView(Record, frozen=True, kw_only=True):
    """One group's part of the page."""

    name: str
    sentence: str
    version: str
    tables: tuple[tuple[str, Table[Any]], ...]
    lines: tuple[str, ...]


def podgroup_view(result: PodGroupResult) -> PodGroupView:
    """Return the view of one group."""
    return PodGroupView(
        name=result.info.group.key,
        sentence=f"{podgroup_headline(result)}.",
        version=result.kubernetes_version,
        tables=tuple(zip(_CAPTIONS, tables(result, in_full=True), strict=False)),
        lines=tuple(lines(result)),
    )
