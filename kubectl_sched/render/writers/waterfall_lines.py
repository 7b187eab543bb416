"""The waterfall as text: a heading, and a signed bar for each plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.render.lead_waterfall import waterfall, waterfall_heading
from kubectl_sched.render.table import without_common_ends
from kubectl_sched.render.writers.first_screen import folded, length
from kubectl_sched.render.writers.styled_text import Text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.queries.contrast import Contrast

_INDENT = "      "


def waterfall_lines(contrast: Contrast, among: Sequence[str], width: int, *, in_full: bool) -> list[Text]:
    """Return bars that add up to the lead, with the fact behind the largest, or behind each in full."""
    lines = [Text(_heading(contrast, among, width))]
    bars = waterfall(contrast)
    points, longest = max(len(bar.points) for bar in bars), max(len(bar.bar) for bar in bars)
    for number, bar in enumerate(bars):
        because = f": {bar.because}" if bar.because and (in_full or not number) else ""
        start = f"  {bar.points:>{points}} {bar.bar:<{longest}} "
        first, *rest = folded(f"{'.' * (len(start) - 1)} {bar.plugin}{because}", width)
        line = Text(f"{start}{first[len(start) :]}")
        line.stylize("red" if bar.points.startswith("-") else "green", len(start) - longest - 1, len(start))
        below = folded(" ".join(rest), width - len(_INDENT)) if rest else ()
        lines += (line, *(Text(f"{_INDENT}{each}") for each in below))
    return lines


def _heading(contrast: Contrast, among: Sequence[str], width: int) -> str:
    """Return the heading; where it is too wide, the names go without the ends that all nodes share."""
    heading = waterfall_heading(contrast)
    if length(heading) <= width:
        return heading
    node, other = without_common_ends((contrast.node, contrast.other), among)
    return waterfall_heading(replace(contrast, node=node, other=other))
