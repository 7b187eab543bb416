"""`kubectl sched` by itself: all pending pods by what keeps them pending."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from kubectl_sched.cli import options
from kubectl_sched.cli.options.connection import ConnectionOptions  # noqa: TC001 - as above
from kubectl_sched.safe_output import can_draw

if TYPE_CHECKING:
    from kubectl_sched.queries.explain import Question
    from kubectl_sched.sources.dump.dump import Dump


def triage(
    source: options.StateSource,
    selection: options.ClusterSelection,
    scheduler: options.ProfiledScheduler,
    display: options.TriageOutput,
    connection: ConnectionOptions,
) -> None:
    """Group all pending pods by what keeps them pending, and say what helps all pods of a group."""
    from kubectl_sched.cli.options.state_source import read_source
    from kubectl_sched.queries.explain import Question

    dump, pods = read_source(source, connection, selection.pending_pods)
    if not dump.can_replay:
        from kubectl_sched.cli.unreplayed import show_decoded

        sys.exit(show_decoded(dump, pods, _format(display), display.color.value))
    question = Question(selection=pods, replay=scheduler.replay, profile=scheduler.profile, suggesting=False)
    sys.exit(_shown(question, dump, display))


def _shown(question: Question, dump: Dump, display: options.TriageOutput) -> int:
    """Open the screen if there is a terminal and something pending, else print."""
    from kubectl_sched.queries.triage import Triaging

    if display.output is None and sys.stdin.isatty() and can_draw(sys.stdout):
        triaging = Triaging(question, dump)
        if triaging.pods:
            from kubectl_sched.tui.triage_explorer import explore_triage

            return explore_triage(triaging, display.color.value, [each.value for each in options.PageOutput])
    from kubectl_sched.queries.triage import triage as triage_of
    from kubectl_sched.render.answers.triage import shown_triage, triage_exit_code
    from kubectl_sched.render.show import show
    from kubectl_sched.render.writers.progress_bar import progress

    with progress(of_bytes=False) as report:
        found = triage_of(question, dump, report)
    show(shown_triage(found), display.shown)
    return triage_exit_code(found)


def _format(display: options.TriageOutput) -> str:
    return (display.output or options.PageOutput.table).value
