"""The outcome of a suggestion that was replayed for all pods of a group."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from kubectl_sched.render.sentences.group_sentences import cause_in_words, pods_in_words
from kubectl_sched.tui.keys import TRIAL
from kubectl_sched.tui.lines.group_lines import trial_lines, without_help
from kubectl_sched.tui.lines.line import Tone, wrapped
from kubectl_sched.tui.screens.lines_screen import Page

if TYPE_CHECKING:
    from kubectl_sched.queries.triage import Group


class TrialScreen(Page[None]):
    """One suggestion at a time; the same key goes on to the next."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("tab,right,l", "next", "Next")]

    def __init__(self, group: Group) -> None:
        super().__init__(TRIAL, cursor=True)
        self._group = group
        self._at = 0

    def draw(self) -> None:
        """The suggestion, at the present width."""
        group, width = self._group, self.size.width
        self.head(wrapped(f"{pods_in_words(group)}: {cause_in_words(group)}", width, Tone.STRONG))
        found = group.suggestions or ()
        if not found:
            self.lines.show_lines(wrapped(without_help(group), width))
            return
        self.lines.show_lines(trial_lines(found[self._at], self._at + 1, len(found), width - 1))

    def action_next(self) -> None:
        """The next suggestion, after the last the first."""
        self._at = (self._at + 1) % max(len(self._group.suggestions or ()), 1)
        self.draw()
