"""The pipeline as a bar of steps; a click on one narrows the list to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message
from textual.widgets import Static

from kubectl_sched.tui.pipeline import bar_lines, stage_at
from kubectl_sched.tui.widgets.texts import as_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events

    from kubectl_sched.tui.pipeline import Stage


class PipelineBar(Static):
    """The steps with how many nodes are left after each."""

    DEFAULT_CSS = "PipelineBar { height: auto; }"

    @dataclass
    class StageClicked(Message):
        """A click on a step."""

        stage: str

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._stages: Sequence[Stage] = ()
        self._chosen: str | None = None

    def show(self, stages: Sequence[Stage], chosen: str | None) -> None:
        """Show these steps, one of them chosen."""
        self._stages, self._chosen = stages, chosen
        width = self.content_size.width or self.app.size.width
        self.update(as_texts(bar_lines(stages, chosen, width), self.app.theme))

    def on_click(self, event: events.Click) -> None:
        """Report the step that was clicked."""
        stage = stage_at(self._stages, self._chosen, self.content_size.width, event.x, event.y)
        if stage is not None:
            self.post_message(self.StageClicked(stage))
