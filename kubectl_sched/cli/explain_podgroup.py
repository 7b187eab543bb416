"""`explain podgroup NAME`, `explain podgroups --pending` and `explain workload NAME`: the cycle of groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.errors import SchedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.cli.options import PodSelection, StateSource
    from kubectl_sched.cli.options.connection import ConnectionOptions
    from kubectl_sched.render.display import Display
    from kubectl_sched.sources.discovery.replay_setup import Replay

_GROUPS = frozenset({"podgroup", "podgroups"})
_WORKLOADS = frozenset({"workload", "workloads"})


def is_about_groups(targets: Sequence[str]) -> bool:
    """Report whether the targets of `explain` name groups: `podgroup train`, `podgroups`, `workload/train`."""
    return bool(targets) and _word(targets[0]) in _GROUPS | _WORKLOADS


def _word(target: str) -> str:
    return target.partition("/")[0].partition(".")[0].lower()


def group_names(targets: Sequence[str], *, pending: bool) -> tuple[str, ...]:
    """Return the names of the groups or workloads; none if all pending ones are meant."""
    named = tuple(targets) if "/" in targets[0] else tuple(targets[1:])
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
    display: Display,
    *,
    interactive: bool,
) -> int:
    """Read, replay, print or explore, and return the exit code."""
    from kubectl_sched.cli.options.state_source import default_namespace, read_whole
    from kubectl_sched.queries.podgroups import PodGroupQuestion, explain_podgroups

    names = group_names(targets, pending=selection.pending)
    dump = read_whole(source, connection)
    namespace = default_namespace(source, connection) if selection.in_namespace == "" else selection.in_namespace
    are_workloads = _word(targets[0]) in _WORKLOADS
    question = PodGroupQuestion(names=names, namespace=namespace, are_workloads=are_workloads, replay=replay)
    answer = explain_podgroups(question, dump)
    if interactive and any(result.members for result in answer.results):
        from kubectl_sched.cli.options import PageOutput
        from kubectl_sched.queries.podgroups import explain_members
        from kubectl_sched.render.answers.podgroups import podgroups_exit_code, sentences
        from kubectl_sched.tui.explore import explore

        members, schedulers = explain_members(answer, question, dump, tuple(sentences(answer)))
        code = explore(members, schedulers, display, [each.value for each in PageOutput])
        return code if code > 1 else podgroups_exit_code(answer)
    from kubectl_sched.render.answers.podgroups import podgroups_exit_code, shown_podgroups
    from kubectl_sched.render.show import show

    show(shown_podgroups(answer), display)
    return podgroups_exit_code(answer)
