"""The full-screen program: a stack of screens, a theme, and the thread that replays."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, ClassVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Input

from kubectl_sched.tui.engine import Engine
from kubectl_sched.tui.keys import help_lines
from kubectl_sched.tui.palette import THEMES, fitting_theme
from kubectl_sched.tui.screens.lines_screen import Page
from kubectl_sched.tui.widgets.line_list import LineList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events
    from textual.app import ComposeResult

    from kubectl_sched.tui.decision import Decision
    from kubectl_sched.tui.explorer_input import Exploration
    from kubectl_sched.tui.keys import Key


class HelpScreen(ModalScreen[None]):
    """A page over whatever is shown; any of its keys closes it."""

    DEFAULT_CSS = """
    HelpScreen { align: center middle; }
    HelpScreen LineList { width: 92%; height: 92%; border: round $primary; padding: 0 1; background: $surface; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,question_mark,q", "dismiss", "Close")]

    def __init__(self, keys: Sequence[Key] = ()) -> None:
        super().__init__()
        self._keys = keys

    def compose(self) -> ComposeResult:
        """One list."""
        lines = LineList(cursor=False)
        lines.border_title = "Help"
        lines.border_subtitle = "esc closes"
        yield lines

    def on_resize(self) -> None:
        """Another width, other lines."""
        from kubectl_sched.tui.typed_edits import FORMS

        lines = self.query_one(LineList)
        width = max(self.size.width * 92 // 100 - 6, 20)
        lines.show_lines(help_lines(list(FORMS.values()), width, self._keys))


class Explorer(App[None]):
    """Shows one pod's decision, or a list of pods to choose from."""

    ENABLE_COMMAND_PALETTE = False
    TITLE = "kubectl sched"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c", "leave", "Quit", priority=True)]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (130, "-wide")]  # noqa: RUF012 - as Textual declares it
    VERTICAL_BREAKPOINTS = [(0, "-short"), (20, "-tall")]  # noqa: RUF012 - as Textual declares it

    def __init__(self, about: Exploration) -> None:
        colorless = "NO_COLOR" in os.environ
        super().__init__(ansi_color=True if colorless else None)  # else greys stand in for the colours
        self._about = about
        self.engine = Engine()
        self.theme = "ansi-dark" if colorless else fitting_theme(os.environ.get("COLORFGBG", ""))

    def on_mount(self) -> None:
        """Begin."""
        self.begin()

    def begin(self) -> None:
        """Show the pod, or the list of pods."""
        if self._about.is_list:
            from kubectl_sched.tui.screens.pods_screen import PodsScreen

            self.push_screen(PodsScreen(self._about.decisions, self.open))
        else:
            self.open(self._about.decisions[0])

    def on_key(self, event: events.Key) -> None:
        """Keys that were typed before the entry they are meant for had the focus.

        Textual hands a key to the widget that has the focus when it arrives, and those of a fast typist arrive before
        the first of them has opened an entry. An entry takes all printable keys, so one that comes here is from before.
        """
        if event.is_printable and event.character and isinstance(self.focused, Input):
            self.focused.insert_text_at_cursor(event.character)
            event.prevent_default()

    def on_unmount(self) -> None:
        """Let the thread end."""
        self.engine.stop()

    def open(self, decision: Decision) -> None:
        """Show one pod's decision."""
        from kubectl_sched.tui.screens.explorer_screen import ExplorerScreen  # the groups of triage come before it

        self.push_screen(ExplorerScreen(decision, self._about, self.engine))

    def action_help(self) -> None:
        """Show the keys."""
        self.push_screen(HelpScreen(self.screen.keys if isinstance(self.screen, Page) else ()))

    def action_leave(self) -> None:
        """End the program."""
        self.exit()

    def action_next_theme(self) -> None:
        """Dark, light, or the terminal's own colours."""
        at = THEMES.index(self.theme) if self.theme in THEMES else -1
        self.theme = THEMES[(at + 1) % len(THEMES)]
