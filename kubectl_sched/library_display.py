"""An answer of the library that shows itself in the formats of the command line, and as a data frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from kubectl_sched.library_frames import frame, rows_of
from kubectl_sched.render.display import Display

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.text import Text

    from kubectl_sched.library_frames import Row
    from kubectl_sched.render.document import Document
    from kubectl_sched.render.show import Shown

_WIDTH = 100
_LARGEST_IN_NOTEBOOK = 100_000
"""The bytes of an answer in a notebook, which keeps the outputs of all its cells in one file."""


class Answer:
    """An answer. `print` shows its table, a notebook its page; `to_dict` has all of it, `to_frame` its list."""

    _entries: ClassVar = "items"
    _columns: ClassVar[Sequence[str]] = ()
    _node: str | None = None

    def __init__(self, answer: Any, shown: Shown) -> None:
        self._answer = answer
        self._shown = shown

    @property
    def verdict(self) -> str:
        """The first line of every format."""
        return self._document(Display()).verdict.line

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the state and the configuration that the answer rests on."""
        notes = self._document(Display()).notes
        return (*notes.changing, *notes.premises)

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as `-o json` prints it."""
        data = dict(self._shown.data())
        return {**data, "items": list(data["items"])} if "items" in data else data

    def to_frame(self) -> Any:
        """Return the list of the answer as a DataFrame of pandas, else of polars.

        Raises SchedError if neither is installed.
        """
        return frame(self._rows(), self._columns)

    def to_html(self) -> str:
        """Return the page of `-o html`: one file that needs no network."""
        return self._page("html")

    def to_markdown(self) -> str:
        """Return the answer as `-o markdown` prints it."""
        return self._page("markdown")

    def __str__(self) -> str:
        """The table, without colour."""
        return self.__rich__().plain

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.verdict.rstrip('.')}>"

    def __rich__(self) -> Text:
        """The table, in colour."""
        from io import StringIO

        from rich.console import Console
        from rich.text import Text

        from kubectl_sched.render.writers.terminal import rendered

        console = Console(file=StringIO(), width=_WIDTH, force_terminal=True, markup=False, highlight=False)
        display = Display(node=self._node)
        text = Text()
        for line in rendered(self._document(display), display, console, None):
            for piece in line:
                text.append(piece.text, piece.style)
            text.append("\n")
        return text

    def _repr_html_(self) -> str:
        """Show the answer in a notebook: its page in a frame of its own, or the first lines of a long one."""
        from html import escape

        from kubectl_sched.render.writers.html import html

        page = escape(html(self._document(Display(node=self._node))), quote=True)
        framed = f'<iframe srcdoc="{page}" sandbox="allow-scripts" style="width:100%;height:40em;border:0"></iframe>'
        if len(framed.encode()) < _LARGEST_IN_NOTEBOOK:
            return framed
        lines = str(self).splitlines()
        kept, size = [], 0
        for line in lines:
            kept.append(escape(line))
            size += len(kept[-1].encode()) + 1
            if size > _LARGEST_IN_NOTEBOOK // 2:
                kept[-1] = f"... and {len(lines) - len(kept) + 1:,} more lines: to_html() has all"
                break
        return f"<pre>{chr(10).join(kept)}</pre>"

    def _rows(self) -> list[Row]:
        return rows_of(self.to_dict()[self._entries], self._columns)

    def _document(self, display: Display) -> Document:
        from kubectl_sched.render.show import whole_document

        return whole_document(self._shown, display)

    def _page(self, output: str) -> str:
        from kubectl_sched.render.show import as_page

        display = Display(output=output, node=self._node)
        return as_page(self._document(display), display)
