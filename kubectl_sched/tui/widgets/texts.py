"""Lines as what Textual's own widgets draw; never read as markup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from kubectl_sched.tui.palette import palette

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_sched.tui.lines.line import Line


def as_text(line: Line, theme: str) -> Text:
    """One line in the colours of the theme of that name, cut where there is no room for it."""
    styles = palette(theme)
    return Text.assemble(*((span.text, styles[span.tone]) for span in line), no_wrap=True, overflow="ellipsis")


def as_texts(lines: Iterable[Line], theme: str) -> Text:
    """Several lines below each other."""
    return Text("\n").join(as_text(line, theme) for line in lines)
