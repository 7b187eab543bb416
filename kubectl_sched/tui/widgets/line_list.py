"""A list of lines of which only those on the screen are made: five thousand open as fast as five."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from kubectl_sched.tui.lines.line import DOTS, Tone, plain
from kubectl_sched.tui.palette import cursor_style, linked_style, palette

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual import events
    from textual.geometry import Region

    from kubectl_sched.tui.lines.line import Line


class LineList(ScrollView, can_focus=True):
    """Lines under an optional heading that stays. With a cursor, one of them is chosen; without, keys scroll.

    A row is a line, or several (`show_rows`), which the cursor is on together.
    """

    DEFAULT_CSS = """
    LineList {
        height: 1fr;
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("pagedown,ctrl+f,ctrl+d", "page(1)", "Page down", show=False),
        Binding("pageup,ctrl+b", "page(-1)", "Page up", show=False),
        Binding("home,g", "move_to(0)", "First", show=False),
        Binding("end,G", "move_to(-1)", "Last", show=False),
        Binding("enter", "choose", "Open", show=False),
    ]

    @dataclass
    class Moved(Message):
        """The cursor is on another line."""

        lines: LineList
        index: int

        @property
        def control(self) -> LineList:
            """The list that it happened in."""
            return self.lines

    class Chosen(Moved):
        """Enter, or a click, on a line."""

    class HeadingClicked(Moved):
        """A click on the heading; `index` is the cell."""

    def __init__(self, *, cursor: bool = True, id: str | None = None) -> None:  # noqa: A002 - textual's word
        super().__init__(id=id)
        self._has_cursor = cursor
        self._row: Callable[[int], Sequence[Line]] = lambda _: ()
        self._tops: Sequence[int] = range(1)
        self._below: Sequence[Line] = ()
        self._heading: Line | None = None
        self._base = Style.null()
        self.count = 0
        self.cursor = 0

    def show(self, count: int, line: Callable[[int], Line], *, heading: Line | None, cursor: int) -> None:
        """Show so many lines, each made by the function when it is seen."""
        self._row, self._tops, self._below = lambda index: (line(index),), range(count + 1), ()
        self._begin(heading, cursor)

    def show_lines(self, lines: Sequence[Line], heading: Line | None = None, cursor: int = 0) -> None:
        """Show lines that are made already."""
        self.show(len(lines), lines.__getitem__, heading=heading, cursor=cursor)

    def show_rows(
        self,
        rows: Sequence[Sequence[Line]],
        *,
        heading: Line | None,
        cursor: int,
        below: Sequence[Line],
    ) -> None:
        """Show rows of several lines each, and after the last of them lines that the cursor does not go to."""
        self._row, self._tops, self._below = rows.__getitem__, list(accumulate(map(len, rows), initial=0)), below
        self._begin(heading, cursor)

    def _begin(self, heading: Line | None, cursor: int) -> None:
        self.count, self._heading = len(self._tops) - 1, heading
        self.cursor = max(0, min(cursor, self.count - 1))
        self._measure()
        if self._has_cursor:
            self._scroll_to_cursor()
        else:
            self.scroll_to(y=0, animate=False)
        self.refresh()

    @property
    def _heading_height(self) -> int:
        return 0 if self._heading is None else 1

    @property
    def _height(self) -> int:
        """The number of lines below the heading."""
        return self._tops[-1] + len(self._below)

    def _measure(self) -> None:
        self.virtual_size = Size(self.scrollable_content_region.width, self._height + self._heading_height)

    def _row_at(self, line: int) -> int:
        """The row that a line belongs to."""
        return bisect_right(self._tops, line) - 1

    def on_resize(self) -> None:
        """Another width, another number of lines on the screen."""
        self._measure()
        if self._has_cursor:
            self._scroll_to_cursor()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Several lines; what their colours begin from is the same for all."""
        self._base = self.rich_style
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """One line of the screen: the heading on top, then as much as fits."""
        width, base = self.scrollable_content_region.width, self._base
        at = y + self.scroll_offset.y - self._heading_height
        if self._heading is not None and y == 0:
            return self._strip(self._heading, base + Style(underline=True), width)
        if not 0 <= at < self._height:
            return Strip.blank(width, base)
        index = self._row_at(at)
        if index == self.count:
            return self._strip(self._below[at - self._tops[-1]], base, width)
        over = self._cursor_style if self._has_cursor and index == self.cursor else None
        return self._strip(self._row(index)[at - self._tops[index]], base, width, over=over)

    @property
    def _cursor_style(self) -> Style:
        return cursor_style(self.app.theme, has_focus=self.has_focus, colored=not self.app.no_color)

    def _strip(self, line: Line, base: Style, width: int, over: Style | None = None) -> Strip:
        """The line in exactly the width, cut with dots; reversed lines keep no colours of their own."""
        styles = dict.fromkeys(Tone, over) if over is not None and over.reverse else palette(self.app.theme)
        base = base if over is None else base + over
        segments = [Segment(span.text, base + styles[span.tone] + linked_style(span.reason)) for span in line]
        strip = Strip(segments)
        if cell_len(plain(line)) > width > 0:
            strip = Strip([*strip.crop(0, width - 1), Segment(DOTS, base)])
        return strip.adjust_cell_length(width, base)

    def move_cursor(self, index: int) -> None:
        """Put the cursor on a line, and say so."""
        index = max(0, min(index, self.count - 1))
        if index != self.cursor and self.count:
            for row in (self.cursor, index):
                for line in range(self._tops[row], self._tops[row + 1]):
                    self.refresh_line(line + self._heading_height)
            self.cursor = index
            self._scroll_to_cursor()
            self.post_message(self.Moved(self, index))

    @property
    def _visible(self) -> int:
        """The number of lines that there is room for below the heading."""
        return self.scrollable_content_region.height - self._heading_height

    def _scroll_to_cursor(self) -> None:
        """Show the whole row under the cursor; the last one with what stands below it."""
        if self._visible <= 0 or not self.count:
            return
        top, end = self._tops[self.cursor], self._tops[self.cursor + 1]
        if self.cursor == self.count - 1 and self._height - top <= self._visible:
            end = self._height
        if top < self.scroll_offset.y or end - top > self._visible:
            self.scroll_to(y=top, animate=False, force=True)
        elif end > self.scroll_offset.y + self._visible:
            self.scroll_to(y=end - self._visible, animate=False, force=True)

    @property
    def command(self) -> str:
        """The command that the row under the cursor is a part of, else the first one below it."""
        rows = map(self._row, range(self.cursor, self.count)) if self._has_cursor else ()
        return next((span.command for row in rows for line in row for span in line if span.command), "")

    def action_move(self, step: int) -> None:
        """A line up or down."""
        if self._has_cursor and self.cursor + step < self.count:
            self.move_cursor(self.cursor + step)
        elif self._has_cursor and self.cursor < self.count - 1:
            self.move_cursor(self.count - 1)
        else:
            self.scroll_relative(y=step, animate=False)

    def action_page(self, direction: int) -> None:
        """A screen up or down."""
        lines = direction * max(self.scrollable_content_region.height - 2, 1)
        if not self._has_cursor or not self.count:
            self.scroll_relative(y=lines, animate=False)
            return
        beyond = self._row_at(max(self._tops[self.cursor] + lines, 0)) - self.cursor
        self.action_move(beyond or direction)

    def action_move_to(self, index: int) -> None:
        """To the first line or (-1) the last."""
        if self._has_cursor:
            self.move_cursor(self.count - 1 if index < 0 else index)
        else:
            self.scroll_to(y=self.count if index < 0 else index, animate=False)

    def action_choose(self) -> None:
        """Open the line under the cursor."""
        if self.count and self._has_cursor:
            self.post_message(self.Chosen(self, self.cursor))

    def on_click(self, event: events.Click) -> None:
        """A click moves the cursor, a second one on the same line opens it."""
        if self._heading is not None and event.y == 0:
            self.post_message(self.HeadingClicked(self, event.x))
            return
        index = self._row_at(event.y + self.scroll_offset.y - self._heading_height)
        if not self._has_cursor or not 0 <= index < self.count:
            return
        if index == self.cursor:
            self.action_choose()
        else:
            self.move_cursor(index)
