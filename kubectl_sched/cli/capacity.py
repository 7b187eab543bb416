"""`capacity`: how many more pods of each shape fit, and where what is free is stranded."""

from __future__ import annotations

import sys
from typing import Annotated

from typer import Option

from kubectl_sched.cli import options  # noqa: TC001 - typer reads it
from kubectl_sched.cli.options.connection import ConnectionOptions  # noqa: TC001 - as above


def capacity(
    shape: Annotated[
        list[str] | None,
        Option(
            "--shape",
            metavar="NAME=cpu=4,memory=16Gi",
            help="Requests of a pod to try, with or without a name; repeatable. The default: the shapes of all pods.",
        ),
    ] = None,
    *,
    source: options.StateSource,
    selection: options.ClusterSelection,
    scheduler: options.ProfiledScheduler,
    display: options.PageableOutput,
    connection: ConnectionOptions,
) -> None:
    """Say how many more pods of each shape fit, and where what is free is stranded."""
    from kubectl_sched.cli.options.state_source import read_whole
    from kubectl_sched.queries.capacity import CapacityQuestion
    from kubectl_sched.queries.capacity import capacity as room_left
    from kubectl_sched.render.answers.capacity import capacity_exit_code, shown_capacity
    from kubectl_sched.render.show import show

    dump = read_whole(source, connection)
    question = CapacityQuestion(
        shapes=tuple(shape or ()),
        namespace=selection.in_namespace,
        selector=selection.selector,
        profile=scheduler.profile,
        replay=scheduler.replay,
    )
    answer = room_left(question, dump)
    show(shown_capacity(answer), display.shown)
    sys.exit(capacity_exit_code(answer))
