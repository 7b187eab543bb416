"""`explain podgroup NAME` and `explain podgroups --pending`: the cycle of groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.errors import SchedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.cli.options import PageableOutput, PodSelection, StateSource
    from kubectl_sched.cli.options.connection import ConnectionOptions
    from kubectl_sched.sources.discovery.replay_setup import Replay

_WORDS = frozenset({"podgroup", "podgroups"})


def is_about_groups(targets: Sequence[str]) -> bool:
    """Report whether the targets of `explain` name groups: `podgroup train`, `podgroups`, `podgroup/train`."""
    return bool(targets) and targets[0].partition("/")[0].partition(".")[0].lower() in _WORDS


def group_names(targets: Sequence[str], *, pending: bool) -> tuple[str, ...]:
    """Return the names of the groups; none if all pending ones are meant."""
    head, slash, _ = targets[0].partition("/")
    del head
    named = tuple(targets) if slash else tuple(targets[1:])
    names = tuple(target.partition("/")[2] if "/" in target else target for target in named)
    if pending and names:
        raise SchedError("--pending is of all groups with a pending pod: name none, or leave it out")
    if not names and not pending:
        raise SchedError("which group? name it, as in `podgroup train`, or ask for all with `podgroups --pending`")
    if not all(names):
        raise SchedError("the name of a group is missing; write `podgroup train` or `podgroup/train`")
    return names


def explain_groups(
    targets: Sequence[str],
    selection: PodSelection,
    replay: Replay,
    source: StateSource,
    connection: ConnectionOptions,
    display: PageableOutput,
) -> int:
    """Read, replay, print, and return the exit code."""
    from kubectl_sched.cli.state_source import read_whole
    from kubectl_sched.queries.podgroups import PodGroupQuestion, explain_podgroups
    from kubectl_sched.render.podgroup_output import show_podgroups

    names = group_names(targets, pending=selection.pending)
    dump, own = read_whole(source, connection)
    namespace = own if selection.in_namespace == "" else selection.in_namespace
    answer = explain_podgroups(PodGroupQuestion(names=names, namespace=namespace, replay=replay), dump)
    return show_podgroups(answer, display.output.value, display.color.value)
