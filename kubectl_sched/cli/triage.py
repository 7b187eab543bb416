"""`kubectl sched` by itself: all pending pods by what keeps them pending."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec.structs import replace

from kubectl_sched.cli import options
from kubectl_sched.cli.options.connection import ConnectionOptions  # noqa: TC001 - as above
from kubectl_sched.errors import SchedError
from kubectl_sched.safe_output import can_draw

if TYPE_CHECKING:
    from kubectl_sched.queries.explain import ExplainQuestion
    from kubectl_sched.sources.dump.dump import Dump
    from kubectl_sched.sources.pod_selection import Selection


_OWNERS = (
    *("ResourceQuota", "Deployment", "ReplicaSet", "StatefulSet"),
    *("ReplicationController", "DaemonSet", "Job", "CronJob"),
)
"""The kinds that say how many pods are wanted, and why some were never created."""


def triage(
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Print again whenever the answer changes, until interrupted.")
    ] = False,
    *,
    source: options.StateSource,
    selection: options.ClusterSelection,
    scheduler: options.ProfiledScheduler,
    display: options.TriageOutput,
    connection: ConnectionOptions,
) -> None:
    """Group all pending pods by what keeps them pending, and say what helps all pods of a group."""
    from kubectl_sched.cli.options.state_source import read_source
    from kubectl_sched.queries.explain import ExplainQuestion

    asked = replace(selection.pending_pods, also=_OWNERS)

    def answered(dump: Dump, pods: Selection) -> int:
        if not dump.can_replay:
            from kubectl_sched.cli.unreplayed import show_decoded

            return show_decoded(dump, pods, display.shown)
        question = ExplainQuestion(selection=pods, replay=scheduler.replay, profile=scheduler.profile, suggesting=False)
        return _printed(question, dump, display) if watch else _shown(question, dump, display)

    if not watch:
        sys.exit(answered(*read_source(source, connection, asked)))
    if source.from_:
        raise SchedError("--watch follows a running cluster, but --from reads a dump: give one of them")
    from kubectl_sched.cli.explain_watch import follow

    output = display.output or options.PageOutput.table
    sys.exit(follow(connection.connection, asked, answered, output))


def _shown(question: ExplainQuestion, dump: Dump, display: options.TriageOutput) -> int:
    """Open the screen if there is a terminal and something pending, else print."""
    from kubectl_sched.queries.triage import Triaging

    if display.output is None and sys.stdin.isatty() and can_draw(sys.stdout):
        triaging = Triaging(question, dump)
        if not triaging.is_empty:
            from kubectl_sched.tui.triage_explorer import explore_triage

            return explore_triage(triaging, display.color.value, [each.value for each in options.PageOutput])
    return _printed(question, dump, display)


def _printed(question: ExplainQuestion, dump: Dump, display: options.TriageOutput) -> int:
    from kubectl_sched.queries.triage import triage as triage_of
    from kubectl_sched.render.answers.triage import shown_triage, triage_exit_code
    from kubectl_sched.render.show import show
    from kubectl_sched.render.writers.progress_bar import progress

    with progress(of_bytes=False) as report:
        found = triage_of(question, dump, report)
    show(shown_triage(found), display.shown)
    return triage_exit_code(found)
