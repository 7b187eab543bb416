"""Prints a triage in the format that was asked for, and returns the exit code."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kubectl_sched.own_error import EXIT_CODE
from kubectl_sched.render.writers.data import warn, write_data, write_names
from kubectl_sched.scheduler.result import UNKNOWN_EXIT_CODE, Outcome

if TYPE_CHECKING:
    from kubectl_sched.queries.triage import Triage
    from kubectl_sched.render.display import Display


def show_triage(triage: Triage, display: Display) -> int:
    """Print the triage."""
    output = display.output
    if output in {"json", "yaml"}:
        from kubectl_sched.render.triage_data import triage_data

        write_data(triage_data(triage), output)
        return triage_exit_code(triage)
    warn(triage.warnings)
    if output == "name":
        write_names(f"pod/{pod.name}" for group in triage.groups for pod in group.pods)
    else:
        from kubectl_sched.render.answers.triage import triage_text
        from kubectl_sched.render.writers.terminal import print_parts

        print_parts(partial(triage_text, triage, display=display), display.color)
    return triage_exit_code(triage)


def triage_exit_code(triage: Triage) -> int:
    """Return 0 if nothing is pending, 1 if anything is, 3 if a budget ended, 4 if a bug left anything open."""
    if any(each.result.has_met_a_bug for group in triage.groups for each in group.explanations):
        return EXIT_CODE
    if any(each.result.outcome is Outcome.UNKNOWN for group in triage.groups for each in group.explanations):
        return UNKNOWN_EXIT_CODE
    return 1 if triage.groups else 0
