"""The colour of each tone in the theme of the moment. Symbols and words carry the meaning where there is no colour."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from rich.style import Style
from textual.theme import BUILTIN_THEMES

from kubectl_sched.diagnostics.messages.reason_catalogue import link_to
from kubectl_sched.tui.lines.line import Tone

if TYPE_CHECKING:
    from collections.abc import Mapping

THEMES = ("textual-dark", "textual-light", "ansi-dark", "ansi-light")
"""The themes that a key goes through; the ansi ones leave all colours to the terminal."""


_WITHOUT_LINKS = frozenset({"dumb", "linux", "cons25", "vt52", "vt100", "vt102", "vt220"})
_FIRST_VTE = 5000


@cache
def palette(theme: str) -> Mapping[Tone, Style]:
    """A style for each tone; those of text have the contrast that text wants."""
    colors = _colors(theme)
    return {
        Tone.PLAIN: Style.null(),
        Tone.STRONG: Style(bold=True),
        Tone.DIM: Style(dim=True),
        Tone.GOOD: Style(color=colors["text-success"]),
        Tone.BAD: Style(color=colors["text-error"]),
        Tone.CHANGED: Style(color=colors["text-warning"], bold=True),
        Tone.BAR: Style(color=colors["text-primary"]),
        Tone.OTHER_BAR: Style(color=colors["text-accent"]),
        Tone.CHOSEN: Style(bold=True, reverse=True),
    }


@cache
def cursor_style(theme: str, *, has_focus: bool, colored: bool) -> Style:
    """Return the style of the line under the cursor: a background, or reversed if there is no colour."""
    if not colored or BUILTIN_THEMES[theme].ansi:
        return Style(reverse=True, bold=has_focus)
    return Style(bgcolor=_colors(theme)["primary-muted" if has_focus else "panel"], bold=has_focus)


def _colors(name: str) -> Mapping[str, str | None]:
    """The theme's colours as Rich names them: `blue` where Textual says `ansi_blue`; without what blends in."""
    theme = BUILTIN_THEMES[name]
    if theme.ansi:
        named = {"success": theme.success, "error": theme.error, "warning": theme.warning, "primary": theme.primary}
        named["accent"] = theme.secondary
        return {f"text-{what}": color.removeprefix("ansi_") if color else None for what, color in named.items()}
    colors = theme.to_color_system().generate()
    return {what: color[: len("#rrggbb")] for what, color in colors.items() if color.startswith("#")}


@cache
def linked_style(reason: str) -> Style:
    """Return a hyperlink (OSC 8) to the entry of a reason; nothing if it has none or the terminal shows no links."""
    return Style(link=link_to(reason) if reason and shows_links(os.environ) else None)


def shows_links(environment: Mapping[str, str]) -> bool:
    """Report whether a terminal takes hyperlinks: not a console, and no VTE that shows their addresses as text."""
    vte = environment.get("VTE_VERSION", "")
    return environment.get("TERM", "dumb") not in _WITHOUT_LINKS and not (vte.isdecimal() and int(vte) < _FIRST_VTE)


def fitting_theme(background: str) -> str:
    """The theme for a terminal that says `15;0` in COLORFGBG: light where its background is a light colour."""
    last = background.rpartition(";")[2]
    return "textual-light" if last in {"7", "15"} else "textual-dark"
