"""`kubectl sched` by itself: all pending pods by what keeps them pending."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from kubectl_sched.cli import options  # noqa: TC001 - typer reads it
from kubectl_sched.cli.options.connection import ConnectionOptions  # noqa: TC001 - as above

if TYPE_CHECKING:
    from kubectl_sched.queries.explain import Question
    from kubectl_sched.sources.dump.dump import Dump


def triage(
    source: options.StateSource,
    selection: options.PendingSelection,
    scheduler: options.ProfiledScheduler,
    display: options.ColoredOutput,
    connection: ConnectionOptions,
) -> None:
    """Group all pending pods by what keeps them pending, and say what helps all pods of a group."""
    from kubectl_sched.cli.state_source import read_source
    from kubectl_sched.queries.explain import Question

    dump, pods = read_source(source, connection, selection.pending_pods)
    if not dump.can_replay:
        from kubectl_sched.cli.unreplayed import show_decoded

        sys.exit(show_decoded(dump, pods, display.output.value, display.color.value))
    question = Question(selection=pods, replay=scheduler.replay, profile=scheduler.profile, suggesting=False)
    sys.exit(_printed(question, dump, display))


def _printed(question: Question, dump: Dump, display: options.ColoredOutput) -> int:
    from kubectl_sched.queries.triage import triage as triage_of
    from kubectl_sched.render.text.progress_bar import progress
    from kubectl_sched.render.triage.triage_output import show_triage

    with progress(of_bytes=False) as report:
        found = triage_of(question, dump, report)
    return show_triage(found, display.output.value, display.color.value)
