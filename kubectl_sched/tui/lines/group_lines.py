"""Groups of pending pods as lines: how many pods, how old, why, and what helps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.render.ages import age
from kubectl_sched.render.safe_text import count, safe
from kubectl_sched.render.text.suggestion_text import steps_of
from kubectl_sched.render.triage.group_sentences import (
    cause_in_words,
    help_in_words,
    summary,
    waits_for,
    what_helps,
)
from kubectl_sched.tui.lines.line import BLANK, Span, Tone, line, name_in, padded, with_command, wrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.queries.triage import Group
    from kubectl_sched.suggestions.for_all import ForAll
    from kubectl_sched.tui.lines.line import Line

_PODS = 6
_AGE = 6
_SHARE = 0.45
"""Of the width that is left: the cause's part, the rest is what helps."""

_SEARCHING = "…"


class GroupLines:
    """Writes the lines of a list of groups for one width; ages count from the moment `at`."""

    def __init__(self, width: int, at: str | None) -> None:
        room = max(width - _PODS - _AGE - 2, 20)
        self._why = int(room * _SHARE)
        self._helps = room - self._why - 2
        self._at = at

    @property
    def heading(self) -> Line:
        """The columns."""
        numbers = padded("Pods", _PODS, right=True) + padded("Age", _AGE, right=True)
        return (Span(f"{numbers}  {padded('Why', self._why)}  What helps", Tone.STRONG),)

    def __call__(self, group: Group) -> Line:
        """Return one group's line."""
        pods = padded(f"{len(group.explanations):,}", _PODS, right=True)
        waited = padded(age(group.oldest, self._at) or "-", _AGE, right=True)
        helps = _SEARCHING if group.suggestions is None else what_helps(group) or waits_for(group) or "-"
        return (
            Span(pods, Tone.STRONG),
            Span(f"{waited}  "),
            Span(padded(cause_in_words(group), self._why), Tone.BAD),
            Span("  "),
            Span(padded(helps, self._helps).rstrip(), Tone.GOOD if group.suggestions else Tone.DIM),
        )


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
    told = wrapped(f"{summary(group)}.", width, Tone.STRONG)[:3]
    return [*told, *(wrapped(f"waiting for {waiting}", width, Tone.DIM)[:1] if waiting else [])]


def trial_lines(found: ForAll, number: int, total: int, width: int) -> list[Line]:
    """Return what came of a suggestion for all pods of a group: where they land, and what to paste."""
    lines = wrapped(f"{number} of {total}: {help_in_words(found)}.", width, Tone.GOOD)
    lines += wrapped(f"Replayed for {count(found.pods, 'pod')}, {found.placed:,} placed:", width)
    widest = max((len(safe(name)) for name in found.per_node), default=0)
    for name, pods in sorted(found.per_node.items(), key=lambda each: (-each[1], each[0])):
        lines.append((Span(f"  {name_in(name, min(widest, width // 2))}  "), Span(count(pods, "pod"), Tone.STRONG)))
    if found.suggestion.caution:
        lines += (BLANK, *wrapped(f"But: {found.suggestion.caution}.", width, Tone.CHANGED))
    steps = list(steps_of(found.suggestion, found.suggestion.commands, width))
    if steps:
        lines += (BLANK, line("To do it:", Tone.STRONG), *(line(step, Tone.CHANGED) for step in steps))
    return [with_command(each, found.suggestion.to_paste) for each in lines]
