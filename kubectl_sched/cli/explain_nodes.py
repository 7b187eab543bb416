"""`explain node NAME`, `explain nodes`: what is free on nodes, who fits there, and why they stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.errors import SchedError
from kubectl_sched.sources.pod_selection import NODE_WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_sched.cli.options import ProfiledScheduler, StateSource
    from kubectl_sched.cli.options.connection import ConnectionOptions
    from kubectl_sched.render.display import Display


def is_about_nodes(targets: Sequence[str]) -> bool:
    """Report whether the targets of `explain` name nodes: `node n1`, `nodes`, `node/n1`."""
    return bool(targets) and targets[0].partition("/")[0].lower() in NODE_WORDS


def check_not_about_pods(flags: Mapping[str, object], these: str) -> None:
    """Raise SchedError if any of the flags was given: `these` are explained without it."""
    given = next((flag for flag, value in flags.items() if value), None)
    if given is not None:
        raise SchedError(f"{given} is about pods: {these} explained without it")


def explain_node_targets(
    targets: Sequence[str],
    selector: str | None,
    scheduler: ProfiledScheduler,
    source: StateSource,
    connection: ConnectionOptions,
    display: Display,
    *,
    instance_types: str | None,
    about_pods: Mapping[str, object],
) -> int:
    """Read, replay, print, and return the exit code. Raises SchedError if a flag about pods was given."""
    check_not_about_pods(about_pods, "nodes are")
    from kubectl_sched.cli.options.state_source import read_whole
    from kubectl_sched.queries.node import NodeQuestion, explain_nodes
    from kubectl_sched.queries.provisioning.new_nodes_flags import file_of
    from kubectl_sched.render.answers.node import nodes_exit_code, shown_nodes
    from kubectl_sched.render.show import show
    from kubectl_sched.sources.live.needed_kinds import FOR_NEW_NODES

    named = targets if "/" in targets[0] else targets[1:]
    names = [each.partition("/")[2] if each.partition("/")[0].lower() in NODE_WORDS else each for each in named]
    chosen = (*names, *((f"({selector})",) if selector else ()))
    question = NodeQuestion(
        nodes=chosen,
        profile=scheduler.profile,
        replay=scheduler.replay,
        instance_types=file_of(instance_types),
    )
    answer = explain_nodes(question, read_whole(source, connection, FOR_NEW_NODES))
    show(shown_nodes(answer), display)
    return nodes_exit_code(answer)
