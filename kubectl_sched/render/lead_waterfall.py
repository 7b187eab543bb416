"""The difference between two nodes as signed bars, one a plugin, that add up to the lead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.record import Record
from kubectl_sched.render.safe_text import count
from kubectl_sched.render.table import Column, Table
from kubectl_sched.safe_output import safe

if TYPE_CHECKING:
    from kubectl_sched.queries.contrast import Contrast

_LONGEST_BAR = 16


class WaterfallBar(Record, frozen=True, kw_only=True):
    """One plugin: its signed points, a bar of their size, and the fact behind them."""

    points: str
    bar: str
    plugin: str
    because: str


def waterfall_heading(contrast: Contrast) -> str:
    """`w1 leads w2 by 14 points:`."""
    node, other = safe(contrast.node), safe(contrast.other)
    if not contrast.lead:
        return f"{node} and {other} are tied:"
    return f"{node} leads {other} by {count(contrast.lead, 'point')}:"


def waterfall(contrast: Contrast) -> list[WaterfallBar]:
    """Return a bar for each plugin that tells the nodes apart, the largest first."""
    largest = max((abs(each.difference) for each in contrast.plugins), default=1)
    return [
        WaterfallBar(
            points=f"{each.difference:+d}",
            bar="█" * max(1, round(_LONGEST_BAR * abs(each.difference) / largest)),
            plugin=each.plugin,
            because=safe(each.because),
        )
        for each in contrast.plugins
    ]


def waterfall_table(contrast: Contrast) -> Table[WaterfallBar]:
    """The bars as rows."""
    return Table(
        columns=(
            Column(heading="Points", cell=lambda each: each.points, kind="number"),
            Column(heading="", cell=lambda each: each.bar),
            Column(heading="Plugin", cell=lambda each: each.plugin),
            Column(heading="because", cell=lambda each: each.because, kind="words"),
        ),
        rows=waterfall(contrast),
    )
