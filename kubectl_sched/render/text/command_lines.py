"""Shell commands folded to a terminal's width so that they can still be copied and pasted."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_INDENT = "  "
_CONTINUED = " \\"


def folded(command: str, width: int) -> str:
    """The command, indented: broken where the shell goes on reading, or between the tokens of quoted JSON."""
    if command.startswith("#"):
        return f"{_INDENT}{command}"
    room = width - len(_INDENT) - len(_CONTINUED)
    lines = [""]
    for atom, continued in _atoms(command):
        if lines[-1].strip() and len(lines[-1]) + len(atom.rstrip()) > room:
            lines[-1] = lines[-1].rstrip() + (_CONTINUED if continued else "")
            lines.append(_INDENT)
        lines[-1] += atom
    return "\n".join(f"{_INDENT}{line}" for line in lines)


def _atoms(command: str) -> Iterator[tuple[str, bool]]:
    """Pieces of the command, and whether a line that ends before the piece needs a backslash."""
    start = 0
    quote, in_string, escaped = "", False, False
    continued = True
    for index, character in enumerate(command):
        breaks = False
        if quote == "'":
            if character == "'":
                quote = ""
            elif in_string:
                in_string, escaped = character != '"' or escaped, character == "\\" and not escaped
            else:
                in_string = character == '"'
                breaks = character in ",:{["
        elif quote == '"':
            quote = "" if character == '"' else quote
        elif character in "'\"":
            quote = character
        else:
            breaks = character == " "
        if breaks:
            yield command[start : index + 1], continued
            start, continued = index + 1, not quote
    yield command[start:], continued
