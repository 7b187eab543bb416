"""A suggestion as a sentence and the commands below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from kubectl_sched.render.safe_text import safe
from kubectl_sched.render.text.command_lines import folded

if TYPE_CHECKING:
    from kubectl_sched.suggestions.change import Suggestion


def lines_of(suggestion: Suggestion, width: int) -> list[Text]:
    """The sentence, and below it what to paste: also what stands in a sentence that is broken into lines."""
    sentence = safe(suggestion.text)
    below = suggestion.commands_below if len(sentence) <= width else suggestion.commands
    return [Text(sentence), *(Text(shown(each, width)) for each in below)]


def shown(command: str, width: int) -> str:
    """The command, made safe, folded and indented; a piece of a configuration keeps its lines."""
    lines = command.split("\n")
    return "\n".join(folded(safe(line), width) if len(lines) == 1 else f"  {safe(line)}" for line in lines)
