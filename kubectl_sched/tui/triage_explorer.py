"""`kubectl sched` on a terminal: groups of pending pods to go through."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.tui.app import Explorer
from kubectl_sched.tui.decision import Decision
from kubectl_sched.tui.explore import prepared
from kubectl_sched.tui.explorer_input import Exploration
from kubectl_sched.tui.screens.triage_screen import TriageScreen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.queries.triage import Triaging


class TriageExplorer(Explorer):
    """The explorer, with the groups as its first screen."""

    def __init__(self, triaging: Triaging, formats: Sequence[str]) -> None:
        super().__init__(Exploration(decisions=(), formats=tuple(formats), is_list=True))
        self._triaging = triaging

    def begin(self) -> None:
        """Show the groups."""
        self.push_screen(TriageScreen(self._triaging, self.engine, self._explore))

    def _explore(self, explanation: Explanation) -> None:
        scheduler = self._triaging.schedulers.scheduler(explanation.pod)
        self.open(Decision(explanation, scheduler, self._triaging.at))


def explore_triage(triaging: Triaging, color: str, formats: Sequence[str]) -> int:
    """Show the groups until the user leaves; gives the exit code of triage."""
    prepared(color)
    explorer = TriageExplorer(triaging, formats)
    explorer.run()
    return explorer.return_code or 1
