"""Asks for a file and a format."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from kubectl_sched.errors import SchedError
from kubectl_sched.tui.export import export, file_for, format_of
from kubectl_sched.tui.lines.line import BLANK, Span, Tone, line, wrapped
from kubectl_sched.tui.widgets.texts import as_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from kubectl_sched.tui.export import Shown
    from kubectl_sched.tui.lines.line import Line


class ExportScreen(ModalScreen[str]):
    """Ends with the sentence that says what was written."""

    DEFAULT_CSS = """
    ExportScreen { align: center middle; }
    ExportScreen Vertical {
        width: 92%; max-width: 100; height: auto; border: round $primary; padding: 0 1; background: $surface;
    }
    ExportScreen Input { border: none; height: 1; padding: 0; }
    ExportScreen Static { height: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss('')", "Close"),
        Binding("down,tab", "step(1)", "Next format", priority=True),
        Binding("up,shift+tab", "step(-1)", "Previous format", priority=True),
    ]

    def __init__(self, shown: Shown, formats: Sequence[str]) -> None:
        super().__init__()
        self._shown = shown
        self._formats = formats
        self._format = formats[0]
        self._existing: str | None = None
        self._problem = ""

    def compose(self) -> ComposeResult:
        """A file's name, and the formats below it."""
        with Vertical() as box:
            box.border_title = "Export what is shown"
            yield Static("file:", markup=False)
            yield Input(file_for(self._shown, self._format), compact=True, select_on_focus=False)
            yield Static(id="formats", markup=False)

    def on_mount(self) -> None:
        """Begin to type."""
        self.query_one(Input).focus()
        self._draw()

    def _draw(self) -> None:
        chosen: list[Span] = [Span("format: ", Tone.DIM)]
        for each in self._formats:
            text = f"[{each}]" if each == self._format else f" {each} "
            chosen.append(Span(text, Tone.CHOSEN if each == self._format else Tone.PLAIN))
        lines: list[Line] = [BLANK, tuple(chosen), BLANK]
        if self._problem:
            lines += wrapped(self._problem, max(self.size.width * 92 // 100 - 6, 20), Tone.BAD)
        lines.append(line("enter writes · up/down: format · esc: close", Tone.DIM))
        self.query_one("#formats", Static).update(as_texts(lines, self.app.theme))

    def action_step(self, step: int) -> None:
        """Another format; a proposed name follows it."""
        entry = self.query_one(Input)
        proposed = entry.value == file_for(self._shown, self._format)
        self._format = self._formats[(self._formats.index(self._format) + step) % len(self._formats)]
        if proposed:
            with self.prevent(Input.Changed):
                entry.value = file_for(self._shown, self._format)
                entry.cursor_position = len(entry.value)
        self._draw()

    def on_input_changed(self, event: Input.Changed) -> None:
        """The ending of the name chooses the format."""
        self._format = format_of(event.value, self._formats, self._format)
        self._problem, self._existing = "", None
        self._draw()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Write the file; one that is there already only when asked again."""
        try:
            told = export(self._shown, self._format, event.value, overwrite=self._existing == event.value)
        except SchedError as error:
            self._problem, self._existing = str(error), event.value
            self._draw()
            return
        self.dismiss(told)
