"""A suggestion as a sentence, with the commands and the changes by hand below it."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from kubectl_sched.render.safe_text import safe
from kubectl_sched.render.writers.styled_text import Text
from kubectl_sched.shell_commands import folded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.shell_commands import ShellCommand
    from kubectl_sched.suggestions.change import Suggestion

_INDENT = "  "


def lines_of(suggestion: Suggestion, width: int) -> list[Text]:
    """The sentence, and below it what to paste."""
    return [Text(safe(suggestion.text)), *map(unbroken, steps_of(suggestion, suggestion.commands, width))]


def steps_of(suggestion: Suggestion, commands: Sequence[ShellCommand], width: int) -> Iterator[str]:
    """Lines that nothing may break: the commands, then what is changed by hand."""
    for command in commands:
        yield from command_lines(str(command), width)
    for manual in suggestion.manual:
        instruction = f"{safe(manual.instruction)}{':' if manual.document else ''}"
        yield from wrap(instruction, width, initial_indent=_INDENT, subsequent_indent=_INDENT, break_long_words=False)
        yield from (f"{_INDENT}{safe(line)}" for line in manual.document.split("\n") if line)


def command_lines(command: str, width: int) -> list[str]:
    """The command, indented, on lines that the shell takes for one."""
    return [f"{_INDENT}{line}" for line in folded(command, width - len(_INDENT))]


def unbroken(line: str) -> Text:
    """A line that is printed as it is, however long: a terminal copies it as one."""
    return Text(line, no_wrap=True)
