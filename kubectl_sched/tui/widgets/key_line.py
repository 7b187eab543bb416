"""The bottom line: which keys there are here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import Static

from kubectl_sched.tui.keys import keys_line
from kubectl_sched.tui.widgets.texts import as_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.tui.keys import Key


class KeyLine(Static):
    """The keys that the width has room for."""

    DEFAULT_CSS = "KeyLine { height: 1; dock: bottom; }"

    def __init__(self, keys: Sequence[Key]) -> None:
        super().__init__(markup=False)
        self._keys = keys

    def show(self, keys: Sequence[Key]) -> None:
        """Show other keys."""
        self._keys = keys
        self._draw()

    def on_resize(self) -> None:
        """More or less room."""
        self._draw()

    def on_mount(self) -> None:
        """Colours follow the theme."""
        self.watch(self.app, "theme", self._draw, init=False)

    def _draw(self) -> None:
        self.update(as_text(keys_line(self._keys, self.size.width), self.app.theme))
