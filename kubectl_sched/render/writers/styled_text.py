"""Text with styles: a pipe without colours needs nothing of rich, which takes long to import."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

if TYPE_CHECKING:
    from rich import text as rich

_LEFT_OUT: Final = dict.fromkeys((7, 8, 11, 12, 13))
"""Bell, backspace, vertical tab, form feed, carriage return: rich prints none of them."""


class Text(Struct):
    """Text in one style, with parts in others. With `no_wrap` nothing breaks it, however long it is."""

    plain: str = ""
    style: str = ""
    no_wrap: bool = False
    parts: list[tuple[str, int, int]] = field(default_factory=list)
    command: str = ""
    """The commands that are copied where the text is chosen."""

    def __post_init__(self) -> None:
        if not self.plain.isprintable():
            self.plain = self.plain.translate(_LEFT_OUT)

    def __str__(self) -> str:
        return self.plain

    def stylize(self, style: str, start: int, end: int) -> None:
        """Give a part another style."""
        self.parts.append((style, start, end))

    def indented(self, columns: int) -> Text:
        """Return the text after so many blanks."""
        parts = [(style, start + columns, end + columns) for style, start, end in self.parts]
        return Text(f"{' ' * columns}{self.plain}", self.style, self.no_wrap, parts, self.command)

    def for_console(self) -> rich.Text:
        """Return the same for a console of rich's."""
        from rich.text import Text as RichText

        made = RichText(self.plain, self.style, no_wrap=self.no_wrap)
        for style, start, end in self.parts:
            made.stylize(style, start, end)
        return made
