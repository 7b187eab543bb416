"""The colour of each tone in the theme of the moment. Symbols and words carry the meaning where there is no colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.style import Style

from kubectl_sched.tui.lines import Tone

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.theme import Theme

THEMES = ("textual-dark", "textual-light", "ansi-dark", "ansi-light")
"""Those that a key goes through; the ansi ones leave all colours to the terminal."""


def palette(theme: Theme) -> Mapping[Tone, Style]:
    """A style for each tone."""
    good = _style(theme.success)
    return {
        Tone.PLAIN: Style.null(),
        Tone.STRONG: Style(bold=True),
        Tone.DIM: Style(dim=True),
        Tone.GOOD: good,
        Tone.BAD: _style(theme.error),
        Tone.CHANGED: _style(theme.warning) + Style(bold=True),
        Tone.BAR: _style(theme.primary),
        Tone.OTHER_BAR: _style(theme.accent),
        Tone.CHOSEN: Style(bold=True, reverse=True),
    }


def cursor_style(variables: Mapping[str, str], *, has_focus: bool, colored: bool) -> Style:
    """How the line under the cursor stands out: by its background, and where there is no colour by being reversed."""
    name = variables.get("primary-muted" if has_focus else "panel", "")
    if not colored or not name.startswith("#"):
        return Style(reverse=True, bold=has_focus)
    return Style(bgcolor=name[:7], bold=has_focus)


def _style(color: str | None) -> Style:
    """A style of one colour; Textual says `ansi_blue` where Rich says `blue`."""
    return Style(color=color.removeprefix("ansi_") if color else None)


def fitting_theme(background: str) -> str:
    """The theme for a terminal that says `15;0` in COLORFGBG: light where its background is a light colour."""
    last = background.rpartition(";")[2]
    return "textual-light" if last in {"7", "15"} else "textual-dark"
