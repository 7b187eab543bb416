"""`drain`: a plan of a drain, which changes nothing."""

from __future__ import annotations

import sys
from typing import Annotated

from typer import Argument

from kubectl_sched.cli import options  # noqa: TC001 - typer reads it
from kubectl_sched.cli.options.connection import ConnectionOptions  # noqa: TC001 - as above
from kubectl_sched.errors import SchedError


def drain(
    nodes: Annotated[
        list[str] | None, Argument(metavar="NODE...", help="Nodes: names, patterns (gpu-*) or selectors ((zone=a)).")
    ] = None,
    *,
    source: options.StateSource,
    selection: options.NodeSelection,
    scheduler: options.ProfiledScheduler,
    display: options.PageableOutput,
    connection: ConnectionOptions,
) -> None:
    """Say whether a drain would finish, what blocks it, what is lost and where pods move."""
    from kubectl_sched.cli.options.state_source import read_whole
    from kubectl_sched.queries.drain import DrainQuestion
    from kubectl_sched.queries.drain import drain as planned_drain
    from kubectl_sched.render.answers.drain import drain_exit_code, shown_drain
    from kubectl_sched.render.show import show
    from kubectl_sched.sources.live.needed_kinds import FOR_NEW_NODES

    named = selection.of(nodes)
    if not named:
        raise SchedError("nothing to drain: name a node, or select nodes with -l")
    dump = read_whole(source, connection, FOR_NEW_NODES)
    question = DrainQuestion(nodes=named, profile=scheduler.profile, replay=scheduler.replay)
    answer = planned_drain(question, dump)
    show(shown_drain(answer), display.shown)
    sys.exit(drain_exit_code(answer))
