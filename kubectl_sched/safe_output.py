"""The only way out: whatever is printed, on stdout or stderr and in any format, is written here.

Names and messages of a cluster are hostile. Characters that control a terminal, hide or reverse text, or look like a
blank or like nothing are escaped: in text visibly, in data by the syntax of the format.
"""

from __future__ import annotations

import io
import os
import sys
import unicodedata
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple, TextIO

from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.visible_text import is_plain

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable

    from rich.console import Console
    from rich.style import Style

API_VERSION: Final = "kubectl-sched/v1"
"""The apiVersion of the answers in JSON and YAML."""

JOINER: Final = "\u2060"
"""An invisible character that Markdown needs (WORD JOINER); it may stand in a page."""

_HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_NOT_PLAIN: Final = pattern("[^ -~]")
_NOT_PLAIN_IN_PAGE: Final = pattern(f"[^\n -~{JOINER}]")
_NOT_PLAIN_IN_JSON: Final = pattern("[\x7f-\U0010ffff]")
_DELETE: Final = b"\x7f"
_CLEAR_LINE: Final = "\r\x1b[K"
_DUMB: Final = frozenset({"dumb", "unknown"})


class Piece(NamedTuple):
    """A piece of a line, in one style."""

    text: str
    style: Style | None = None


def safe(text: str) -> str:
    """Return the text with control and invisible characters escaped, so that no name can move the cursor or hide."""
    return text if is_plain(text) else _NOT_PLAIN.sub(_as_text, text)


def safe_json(data: bytes) -> bytes:
    """Return the JSON with such characters in JSON's own escapes; msgspec escapes only those below a blank."""
    if data.isascii() and _DELETE not in data:
        return data
    return _NOT_PLAIN_IN_JSON.sub(_as_json, data.decode()).encode()


def write_text(text: str) -> None:
    """Print lines on stdout."""
    _stdout().write(_safe_lines(text))


def write_error(text: str) -> None:
    """Print lines on stderr at once."""
    sys.stderr.write(_safe_lines(text))
    sys.stderr.flush()


def write_progress(text: str) -> None:
    """Replace the last line of stderr, which is a terminal."""
    sys.stderr.write(f"{_CLEAR_LINE}{safe(text)}")
    sys.stderr.flush()


def write_json(data: bytes) -> None:
    """Print JSON, or a part of it, on stdout."""
    sys.stdout.buffer.write(safe_json(data))


def write_candidate(value: str, about: str) -> None:
    """Print what completes a line and, after a tab, what it is."""
    _stdout().write(f"{safe(value)}\t{safe(about)}\n" if about else f"{safe(value)}\n")


def write_page(page: str) -> None:
    """Print a page or YAML on stdout, in UTF-8 as it says of itself, whatever the locale."""
    sys.stdout.buffer.write(_NOT_PLAIN_IN_PAGE.sub(_as_text, page).encode())


def append_page(path: str, page: str) -> None:
    """Append a page to a file, in UTF-8, with the characters escaped that `write_page` escapes."""
    with open(path, "ab") as file:  # noqa: PTH123 - the one place that writes an answer to a file
        file.write(_NOT_PLAIN_IN_PAGE.sub(_as_text, page).encode())


def write_lines(lines: Iterable[Iterable[Piece]], console: Console | None, in_pager: Callable[[str], bool]) -> None:
    """Print lines on a console of stdout or as they are; if they are more than the terminal has, in the pager.

    Control sequences come of the pieces' styles alone.
    """
    if console is None:
        _stdout().writelines("".join((*(safe(part.text) for part in line), "\n")) for line in lines)
        return
    from rich.segment import Segment, Segments

    stdout, shown = _stdout(), list(lines)
    parts = [
        Segment(safe(part.text), part.style) if part is not None else Segment.line()
        for line in shown
        for part in (*line, None)
    ]
    with console.capture() as captured:
        console.print(Segments(parts), end="", crop=False, soft_wrap=True)
    is_long = len(shown) >= console.height and _is_terminal(stdout)
    if not is_long or not in_pager(captured.get()):
        stdout.write(captured.get())


def write_again(out: bytes, err: bytes) -> None:
    """Print what was written here before and held back."""
    sys.stdout.buffer.write(out)
    sys.stdout.buffer.flush()
    sys.stderr.buffer.write(err)
    sys.stderr.buffer.flush()


def can_draw(stream: TextIO) -> bool:
    """Report whether the stream is a terminal, unless TERM says that it takes no colours and moves no cursor."""
    return stream.isatty() and os.environ.get("TERM") not in _DUMB


def _is_terminal(stream: TextIO) -> bool:
    """Report whether the stream is a terminal, and not one that only stands for it, as that of --watch."""
    with suppress(io.UnsupportedOperation):
        return os.isatty(stream.fileno())
    return False


def _stdout() -> TextIO:
    """Standard output; a name that the locale cannot write must not end the program."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    return sys.stdout


def _safe_lines(text: str) -> str:
    return "\n".join(map(safe, text.split("\n")))


def _as_text(found: re.Match[str]) -> str:
    character = found[0]
    if is_plain(character) and unicodedata.category(character) not in _HIDDEN_CATEGORIES:
        return character
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _as_json(found: re.Match[str]) -> str:
    character = found[0]
    if safe(character) == character:
        return character
    code = character.encode("utf-16-be").hex()
    return "".join(f"\\u{code[start : start + 4]}" for start in range(0, len(code), 4))
