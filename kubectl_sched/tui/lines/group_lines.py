"""Groups of pending pods as rows of lines, the sentences above and below them, and what came of a suggestion."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from rich.cells import cell_len

from kubectl_sched.render.answers.triage import NONE, group_table
from kubectl_sched.render.safe_text import count, safe
from kubectl_sched.render.sentences.group_sentences import fits_now, help_in_words, summary, waits_for
from kubectl_sched.render.writers.text import by_hand_lines, command_lines
from kubectl_sched.tui.lines.line import BLANK, Span, Tone, broken, line, name_in, padded, with_command, wrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.diagnostics.kubelet_refusals import Refusals
    from kubectl_sched.queries.pending.lacking_workloads import LackingWorkload
    from kubectl_sched.queries.triage import Group
    from kubectl_sched.suggestions.change import Suggestion
    from kubectl_sched.suggestions.for_all import ForAll
    from kubectl_sched.tui.lines.line import Line

_NUMBERS = 2
_GAP = "  "
_ROOMY = 120
"""From this width on all columns stand beside each other."""

_NARROW = 2
"""The number of columns of words that do so on less; the others stand below them."""

_TOO_LONG = f"{_GAP}(the commands are wider than this screen: y copies them)"

_TONES = (Tone.BAD, Tone.GOOD, Tone.DIM, Tone.DIM)


class GroupLines:
    """Writes the rows of the table of groups for one width: words wrap, and nothing is cut."""

    def __init__(
        self, groups: Sequence[Group], workloads: Sequence[LackingWorkload], at: str | None, width: int
    ) -> None:
        table = group_table(groups, workloads, at)
        columns = list(zip(table.headings, *table.texts, strict=True))
        widest = [max(map(cell_len, column)) for column in columns]
        self._numbers, self._words = table.headings[:_NUMBERS], table.headings[_NUMBERS:]
        self._number_widths = widest[:_NUMBERS]
        self._room = width - sum(self._number_widths) - len(_GAP) * _NUMBERS
        beside = len(self._words) if width >= _ROOMY else _NARROW
        self._widths = _narrowed(widest[_NUMBERS:][:beside], self._room - len(_GAP) * (beside - 1))
        self.rows = [self._row(cells, _tones(group)) for cells, group in zip(table.texts, groups, strict=True)]

    @property
    def heading(self) -> Line:
        """The columns."""
        words = (_GAP + padded(heading, width) for heading, width in zip(self._words, self._widths, strict=False))
        return (Span(f"{self._in_front(self._numbers)}{''.join(words)}".rstrip(), Tone.STRONG),)

    def _in_front(self, numbers: Sequence[str]) -> str:
        return _GAP.join(
            padded(each, width, right=True) for each, width in zip(numbers, self._number_widths, strict=True)
        )

    def _row(self, cells: Sequence[str], tones: Sequence[Tone]) -> list[Line]:
        numbers, words = self._in_front(cells[:_NUMBERS]), cells[_NUMBERS:]
        columns = [broken(cell, width) for cell, width in zip(words, self._widths, strict=False)]
        lines = zip_longest([numbers], *columns, fillvalue="")
        beside = [
            (Span(padded(first, len(numbers)), Tone.STRONG), *map(_cell, parts, self._widths, tones))
            for first, *parts in lines
        ]
        rest = list(zip(self._words, words, strict=True))[len(self._widths) :]
        told = [f"{heading[:1].lower()}{heading[1:]} {cell}" for heading, cell in rest if cell != NONE]
        indent = " " * len(numbers + _GAP)
        return [*beside, *(line(indent + part, Tone.DIM) for each in told for part in broken(each, self._room))]


def _tones(group: Group) -> Sequence[Tone]:
    """Return the tones of the columns of words; a pod that fits now is no failure."""
    return (Tone.GOOD, *_TONES[1:]) if fits_now(group) else _TONES


def _narrowed(widths: Sequence[int], room: int) -> list[int]:
    """Take what is too much from the widest columns."""
    narrowed = [min(width, room) for width in widths]
    while sum(narrowed) > max(room, len(narrowed)):
        narrowed[narrowed.index(max(narrowed))] -= 1
    return narrowed


def _cell(text: str, width: int, tone: Tone) -> Span:
    return Span(_GAP + padded(text, width), tone)


def refusal_lines(refusals: Sequence[Refusals], width: int) -> list[Line]:
    """The nodes whose kubelets refuse pods, a sentence each."""
    told = [each for refused in refusals for each in wrapped(refused.text, width, indent=_GAP)]
    return [BLANK, line("Nodes whose kubelet refuses pods", Tone.STRONG), *told] if told else []


def note_lines(notes: Sequence[str], width: int) -> list[Line]:
    """The notes, each once."""
    told = [each for note in dict.fromkeys(notes) for each in wrapped(f"note: {note}", width, Tone.DIM)]
    return [BLANK, *told] if told else []


def matching_groups(groups: Sequence[Group], text: str) -> list[Group]:
    """The groups that every word of the text matches: by sentence, workload or a pod's name."""
    words = text.lower().split()
    return [group for group in groups if all(word in _haystack(group) for word in words)] if words else list(groups)


def _haystack(group: Group) -> str:
    names = (f"{namespace}/{name}" for namespace, name in group.workloads)
    pods = (pod.key for pod in group.pods)
    return " ".join((summary(group), group.cause.outcome, *group.cause.reasons, *names, *pods)).lower()


def group_heading(group: Group, width: int) -> list[Line]:
    """The group's sentence, and what its pods wait for."""
    waiting = waits_for(group)
    told = wrapped(f"{summary(group)}.", width, Tone.STRONG)
    return [*told, *(wrapped(f"waiting for {waiting}", width, Tone.DIM) if waiting else [])]


def trial_lines(found: ForAll, number: int, total: int, width: int) -> list[Line]:
    """Return what came of a suggestion for all pods of a group: where they land, and what to paste."""
    lines = wrapped(f"{number} of {total}: {help_in_words(found)}.", width, Tone.GOOD)
    lines += wrapped(f"Replayed for {count(found.pods, 'pod')}, {found.placed:,} placed:", width)
    widest = max((len(safe(name)) for name in found.per_node), default=0)
    for name, pods in sorted(found.per_node.items(), key=lambda each: (-each[1], each[0])):
        lines.append((Span(f"  {name_in(name, min(widest, width // 2))}  "), Span(count(pods, "pod"), Tone.STRONG)))
    if found.suggestion.caution:
        lines += (BLANK, *wrapped(f"But: {found.suggestion.caution}.", width, Tone.CHANGED))
    steps = _steps(found.suggestion, width)
    if steps:
        lines += (BLANK, line("To do it:", Tone.STRONG), *steps)
    to_copy = found.suggestion.to_paste or "\n".join(each.document for each in found.suggestion.manual)
    return [with_command(each, to_copy) for each in lines]


def without_help(group: Group) -> str:
    """The sentence about a group for which there is no suggestion, with what its pods wait for."""
    found = "No change is needed" if fits_now(group) else "No change was found that helps them"
    waiting = waits_for(group)
    return f"{found}: they wait for {waiting}." if waiting else f"{found}."


def _steps(suggestion: Suggestion, width: int) -> list[Line]:
    """The commands, of which a screen breaks no argument, then what is changed by hand."""
    commands = [str(each) for command in suggestion.commands for each in command_lines(str(command), width)]
    lines = [line(each, Tone.CHANGED) for each in commands]
    if max(map(len, commands), default=0) > width:
        lines = [line(_TOO_LONG, Tone.CHANGED)]
    by_hand = by_hand_lines([(each.instruction, each.document) for each in suggestion.manual], width)
    return [*lines, *(part for each in by_hand for part in wrapped(each.strip(), width, Tone.CHANGED, indent=_GAP))]
