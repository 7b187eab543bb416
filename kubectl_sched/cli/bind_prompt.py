"""The dialogue of `bind` at the terminal: the plan, the question, Ctrl-C, and the outcome."""

from __future__ import annotations

import shutil
import signal
import sys
from contextlib import contextmanager
from threading import Event
from typing import TYPE_CHECKING, TextIO, TypeVar

from msgspec.structs import replace

from kubectl_sched.binding.bind_context import situation_of
from kubectl_sched.binding.bind_once import Tools, bind_once
from kubectl_sched.binding.bind_podgroup import bind_podgroup
from kubectl_sched.binding.binding_cycle import BindingCycle
from kubectl_sched.binding.binding_outcome import INTERRUPTED, as_data, group_as_data
from kubectl_sched.binding.event_recorder import EventRecorder
from kubectl_sched.binding.object_reader import find
from kubectl_sched.binding.podgroup_plan import group_situation
from kubectl_sched.binding.writer import Writer
from kubectl_sched.cli.explain_podgroup import group_names, is_about_groups
from kubectl_sched.cli.options.interruptible_cluster import endpoint_of
from kubectl_sched.errors import SchedError
from kubectl_sched.render.answers.binding_plan import plan_lines, question
from kubectl_sched.render.answers.explanation_data import explanation_data
from kubectl_sched.render.answers.podgroup_data import podgroup_data
from kubectl_sched.render.safe_text import safe
from kubectl_sched.render.sentences.headline import headline
from kubectl_sched.render.writers.data import write_data, write_names
from kubectl_sched.render.writers.progress_bar import progress
from kubectl_sched.safe_output import write_error, write_text
from kubectl_sched.sources.live.client import Server
from kubectl_sched.sources.live.cluster_reader import read_live
from kubectl_sched.sources.live.live_errors import ClusterError
from kubectl_sched.sources.live.needed_kinds import EVERYTHING
from kubectl_sched.sources.pod_selection import Selection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubectl_sched.binding.bind_context import Order, Situation
    from kubectl_sched.binding.binding_outcome import BindAnswer
    from kubectl_sched.binding.podgroup_plan import GroupSituation
    from kubectl_sched.framework.podgroup_info import Group
    from kubectl_sched.render.answers.binding_plan import BindingPlan
    from kubectl_sched.sources.dump.dump import Dump
    from kubectl_sched.sources.live.connection_flags import Connection
    from kubectl_sched.sources.live.endpoint import Endpoint

T = TypeVar("T")


class GivenUpError(SchedError):
    """Ctrl-C before anything was written, or a second one before it was taken back."""

    exit_code = INTERRUPTED


def run_once(targets: tuple[str, ...], namespace: str, order: Order, output: str, connection: Connection) -> int:
    """Bind the one pod that is named, and print what became of it; returns the exit code."""
    if is_about_groups(targets):
        return _run_group(targets, namespace, order, output, connection)
    selection = Selection(targets=targets, namespace=namespace, also=("Lease",))
    if not selection.is_one_pod:
        raise SchedError("bind takes one pod or one group: bind pod NAME, bind podgroup NAME")
    endpoint = endpoint_of(connection)
    selection = replace(selection, namespace=namespace or endpoint.namespace)

    tools = _tools(endpoint, order, output)

    def look() -> Situation:
        return situation_of(_read(endpoint, selection), selection, order)

    answer = _until_interrupted(lambda: bind_once(order, tools, look), tools.stop)
    _print(answer, order, output)
    return answer.exit_code


def _run_group(targets: tuple[str, ...], namespace: str, order: Order, output: str, connection: Connection) -> int:
    """Bind the members of a group, and print what became of them; returns the exit code."""
    given = {"--node": order.node, "--preempt": order.preempt, "--profile": order.profile}
    for flag in (flag for flag, value in given.items() if value):
        raise SchedError(f"{flag} is for one pod: bind podgroup takes the nodes that its cycle chooses")
    names = group_names(targets, pending=False)
    if len(names) != 1:
        raise SchedError("bind takes one group: bind podgroup NAME")
    endpoint = endpoint_of(connection)
    tools = _tools(endpoint, order, output)
    within = Selection(namespace=None, also=(*EVERYTHING, "Lease"))

    def path_of(group: Group) -> str | None:
        found = find(tools.writer, type(group).__name__, group.name, group.namespace)
        return found.path if found is not None else None

    def look() -> GroupSituation:
        dump = _read(endpoint, within)
        return group_situation(dump, names[0], namespace or endpoint.namespace, order, path_of)

    answer = _until_interrupted(lambda: bind_podgroup(order, tools, look), tools.stop)
    if output in {"json", "yaml"}:
        write_data(group_as_data(answer, order.dry_run, podgroup_data(answer.result)), output)
    else:
        new = [each for each in answer.warnings if output == "name" or each not in answer.plan.notes]
        write_error("".join(f"warning: {safe(warning)}\n" for warning in new))
    if answer.exit_code != 0:
        lines = (*(f"left: {left}" for left in answer.left), f"error: {answer.message}")
        write_error("".join(f"{safe(line)}\n" for line in lines))
    elif output == "name":
        write_names(f"pod/{each.pod.name} node/{each.node_name}" for each in answer.result.members if each.node_name)
    elif output in {"table", "wide"}:
        write_text(f"{safe(answer.message)}\n")
    return answer.exit_code


def _read(endpoint: Endpoint, selection: Selection) -> Dump:
    with progress() as report:
        dump = read_live(endpoint, selection, report)
    if not dump.can_replay:
        raise ClusterError("; ".join(dump.warnings))
    return dump


def _tools(endpoint: Endpoint, order: Order, output: str) -> Tools:
    server, stop = Server(endpoint), Event()
    writer = Writer(server, dry_run=order.dry_run == "server")
    recorder = EventRecorder(writer)
    return Tools(
        show=lambda plan: _show(plan) if output in {"table", "wide"} else None,
        ask=lambda plan: _ask(plan, shown=output in {"table", "wide"}),
        uninterrupted=lambda: _uninterrupted(stop),
        writer=writer,
        recorder=recorder,
        cycle=BindingCycle(writer, recorder),
        stop=stop,
        can_ask=sys.stdin.isatty(),
    )


def _until_interrupted(run: Callable[[], T], stop: Event) -> T:
    try:
        return run()
    except KeyboardInterrupt:
        left = "what was written stays; the next run names it" if stop.is_set() else "nothing was written"
        raise GivenUpError(f"interrupted: {left}") from None


@contextmanager
def _uninterrupted(stop: Event) -> Iterator[None]:
    """Ctrl-C and SIGTERM let what is being written come to an end in order; a second Ctrl-C does not wait for that."""

    def stopped(*_: object) -> None:
        stop.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        write_error("interrupted: taking back what was written (Ctrl-C again leaves it as it is)\n")

    before = {number: signal.signal(number, stopped) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _show(plan: BindingPlan) -> None:
    write_text("".join(f"{line}\n" for line in plan_lines(plan, _width(sys.stdout))) + "\n")
    sys.stdout.flush()


def _width(stream: TextIO) -> int | None:
    """A pipe has no width."""
    return shutil.get_terminal_size().columns if stream.isatty() else None


def _ask(plan: BindingPlan, *, shown: bool) -> bool:
    if not shown:
        write_error("".join(f"{line}\n" for line in plan_lines(plan, _width(sys.stderr))) + "\n")
    write_error(question(plan))
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _print(answer: BindAnswer, order: Order, output: str) -> None:
    if output in {"json", "yaml"}:
        told = explanation_data(answer.explanation, headline(answer.explanation))
        write_data(as_data(answer, order.dry_run, told), output)
    else:
        shown = answer.shown if output != "name" else ()
        new = (warning for warning in answer.warnings if warning not in shown)
        write_error("".join(f"warning: {safe(warning)}\n" for warning in new))
    if answer.exit_code != 0:
        for left in answer.left:
            write_error(f"left: {safe(left)}\n")
        write_error(f"error: {safe(answer.message)}\n")
    elif output == "name":
        write_text(f"pod/{answer.explanation.pod.name} node/{answer.plan.node}\n")
    elif output in {"table", "wide"}:
        write_text(f"{safe(answer.message)}\n")
