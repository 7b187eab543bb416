"""A suggestion as a sentence and the commands below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from kubectl_sched.render.commands import folded
from kubectl_sched.render.text import safe

if TYPE_CHECKING:
    from kubectl_sched.scheduler.change import Suggestion


def lines_of(suggestion: Suggestion, width: int, more: str = "") -> list[Text]:
    """The sentence, `more` behind it, and each command that is not in it already."""
    text = safe(suggestion.text)
    return [
        Text(text + more),
        *(Text(shown(each, width)) for each in suggestion.commands if each not in suggestion.text),
    ]


def shown(command: str, width: int) -> str:
    """The command, made safe, folded and indented; a piece of a configuration keeps its lines."""
    return "\n".join(
        folded(safe(line), width) if "\n" not in command else f"  {safe(line)}" for line in command.split("\n")
    )
