"""`explain`: why pods land where they do, or why they do not fit."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec.structs import replace

from kubectl_sched.cli import options
from kubectl_sched.cli.explain_nodes import check_not_about_pods, explain_node_targets, is_about_nodes
from kubectl_sched.cli.explain_podgroup import explain_groups, is_about_groups
from kubectl_sched.cli.options.connection import ConnectionOptions  # noqa: TC001 - typer reads it
from kubectl_sched.cli.options.explain_flags import ExplainFlags  # noqa: TC001 - typer reads it
from kubectl_sched.errors import SchedError
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.queries.explain import ExplainQuestion
    from kubectl_sched.render.display import Display
    from kubectl_sched.sources.dump.dump import Dump
    from kubectl_sched.sources.extender.extender_client import HTTPExtenders
    from kubectl_sched.sources.pod_selection import Selection


_SENT_IN_PART = "extenders were sent only what a replay reads of pods and nodes; the rest could not be read again"


def explain(
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[pod] NAME...",
            help="Pods (`web-0`, `pod/web-0`, `pods a b`) or a workload (`deployment/web`); else all that are pending.",
        ),
    ] = None,
    *,
    flags: ExplainFlags,
    invocation: typer.Context,
    source: options.StateSource,
    selection: options.PodSelection,
    scheduler: options.ProfiledScheduler,
    display: options.PageableOutput,
    connection: ConnectionOptions,
) -> None:
    """Explain why pods land where they do, or why they do not fit; `explain message TEXT`: what a message means."""
    message = targets[1:] if targets and targets[0] == "message" else ()
    is_set = getattr(invocation.get_parameter_source("output"), "name", "") == "DEFAULT_MAP"
    if is_set and (message or flags.interactive):  # the user's default is for what prints in every format
        display = replace(display, output=options.PageOutput.table)
    if message:
        from kubectl_sched.cli.message import explain_message

        explain_message(message, display)
        return
    line = _Line(
        targets=tuple(targets or ()),
        flags=flags,
        source=source,
        selection=selection,
        scheduler=scheduler,
        output=display,
        connection=connection,
    )
    if is_about_nodes(line.targets):
        sys.exit(_of_nodes(line))
    sys.exit(_of_groups(line) if is_about_groups(line.targets) else _of_pods(line))


class _Line(Record, frozen=True, kw_only=True):
    """The command line."""

    targets: tuple[str, ...]
    flags: ExplainFlags
    source: options.StateSource
    selection: options.PodSelection
    scheduler: options.ProfiledScheduler
    output: options.PageableOutput
    connection: ConnectionOptions


class _Asked(Record, frozen=True, kw_only=True):
    """The question about pods, the form of the answer, and the line that asked."""

    question: ExplainQuestion
    display: Display
    line: _Line


def _of_nodes(line: _Line) -> int:
    flags, selection = line.flags, line.selection
    given = {"--interactive": flags.interactive, "--watch": flags.watch, "--filename": flags.filename}
    return explain_node_targets(
        line.targets,
        selection.selector,
        line.scheduler,
        line.source,
        line.connection,
        line.output.shown,
        instance_types=flags.instance_types,
        about_pods={**given, **flags.about_pods, "--pending": selection.pending},
    )


def _of_groups(line: _Line) -> int:
    flags, selection = line.flags, line.selection
    given = {
        "--watch": flags.watch,
        "--selector": selection.selector is not None,
        "--profile": line.scheduler.profile,
        "--instance-types": flags.instance_types,
    }
    check_not_about_pods({**given, **flags.about_pods}, "a group is")
    if flags.interactive:
        _check_interactive(line.output.output, watch=False)
    return explain_groups(
        line.targets,
        selection,
        line.scheduler.replay,
        line.source,
        line.connection,
        replace(line.output.shown, all_nodes=flags.all_nodes),
        interactive=flags.interactive,
    )


def _of_pods(line: _Line) -> int:
    _check_flags(line)
    flags = line.flags
    shown = replace(line.output.shown, all_nodes=flags.all_nodes, node=flags.node, evidence=flags.evidence)
    asked = _Asked(question=_question(line), display=shown, line=line)
    if flags.filename:
        return _of_manifests(asked, flags.filename)
    return _followed(asked) if flags.watch else _answered_once(asked)


def _check_flags(line: _Line) -> None:
    """Raise SchedError for flags that contradict each other."""
    flags, selection = line.flags, line.selection
    others = line.targets or selection.selector or selection.pending or flags.watch or flags.drifted
    if flags.filename and others:
        raise SchedError(
            "-f explains the pods of a manifest: give it no names, and no --selector, --pending, --drifted or --watch"
        )
    starts = flags.start_index is not None
    _check_pair("--sampling replays every start and --start-index one", flags.sampling, starts)
    _check_pair(
        "--drifted is of pods that have a node and --pending of those that have none", flags.drifted, selection.pending
    )
    if flags.interactive:
        _check_interactive(line.output.output, watch=flags.watch)
    if flags.call_extenders:
        _check_extender_flags(line.scheduler.config, sampling=flags.sampling or starts)


def _question(line: _Line) -> ExplainQuestion:
    from kubectl_sched.queries.explain import ExplainQuestion
    from kubectl_sched.queries.provisioning.new_nodes_flags import new_nodes_flags

    flags, chosen = line.flags, line.selection
    pods = chosen.of(line.targets, pending=chosen.pending or not (line.targets or chosen.selector or flags.drifted))
    return ExplainQuestion(
        selection=_with_node_pools(pods, drifted=flags.drifted) if flags.new_nodes else pods,
        replay=line.scheduler.replay,
        profile=line.scheduler.profile,
        node=flags.node,
        at_decision=flags.at_decision,
        drifted=flags.drifted,
        sampling=flags.sampling,
        start_index=flags.start_index,
        new_nodes=new_nodes_flags(
            flags.instance_types, flags.node_group_label, flags.node_template, new_nodes=flags.new_nodes
        ),
    )


def _answered_once(asked: _Asked) -> int:
    from kubectl_sched.cli.options.state_source import read_source

    dump, selection = read_source(asked.line.source, asked.line.connection, asked.question.selection)
    return _answered(asked, dump, selection)


def _of_manifests(asked: _Asked, paths: Sequence[str]) -> int:
    """Explain one pod of each workload of the manifests, as if they were applied."""
    from kubectl_sched.apiserver.refused_manifest import RefusedError, UnknownFieldError
    from kubectl_sched.cli.options.state_source import default_namespace, read_whole
    from kubectl_sched.queries.what_if.question import WhatIfQuestion
    from kubectl_sched.queries.whatif import what_if, with_manifests
    from kubectl_sched.render.answers.whatif import shown_what_if, what_if_exit_code
    from kubectl_sched.render.show import show

    source, connection = asked.line.source, asked.line.connection
    question = WhatIfQuestion(
        targets=tuple(paths),
        namespace=asked.line.selection.namespace or default_namespace(source, connection),
        replay=asked.question.replay,
    )
    dump = read_whole(source, connection)
    try:
        applied = with_manifests(question, dump)
    except (RefusedError, UnknownFieldError) as error:
        from kubectl_sched.render.answers.explain_output import refused_lines

        error.details = refused_lines(error, paths, question.namespace)
        raise
    if not (applied.pods or applied.refused):
        answer = what_if(question, dump)
        show(shown_what_if(answer), asked.display)
        return what_if_exit_code(answer.result)
    selection = replace(asked.question.selection, targets=(), pending=False, looks_elsewhere=False)
    return _answered(replace(asked, question=replace(asked.question, manifests=applied)), applied.dump, selection)


def _followed(asked: _Asked) -> int:
    if asked.line.source.from_:
        raise SchedError("--watch follows a running cluster, but --from reads a dump: give one of them")
    from kubectl_sched.cli.explain_watch import follow

    connection = asked.line.connection.connection
    return follow(connection, asked.question.selection, partial(_answered, asked), asked.display.output)


def _with_whole_node_name(asked: _Asked, dump: Dump) -> _Asked:
    if asked.display.node is None:
        return asked
    from kubectl_sched.api.core import Node
    from kubectl_sched.near_names import with_domain

    name = with_domain(asked.display.node, (item.name for item in dump.others if isinstance(item, Node)))
    return replace(asked, question=replace(asked.question, node=name), display=replace(asked.display, node=name))


def _answered(asked: _Asked, dump: Dump, selection: Selection) -> int:
    """Replay, print, and return the exit code."""
    from kubectl_sched.sources.resolved_names import resolved

    selection, asked = resolved(selection, dump.objects), _with_whole_node_name(asked, dump)
    if is_about_groups(selection.targets):
        group = options.PodSelection(namespace=selection.namespace)
        line = asked.line
        return explain_groups(
            selection.targets,
            group,
            asked.question.replay,
            line.source,
            line.connection,
            asked.display,
            interactive=line.flags.interactive,
        )
    if not dump.can_replay:
        from kubectl_sched.cli.unreplayed import show_decoded

        return show_decoded(dump, selection, asked.display)
    from kubectl_sched.queries.explain import explain
    from kubectl_sched.render.answers.explain_output import check_is_node, exit_code, shown_explanations
    from kubectl_sched.render.show import show

    client = _extender_client(asked.line.source.from_) if asked.line.flags.call_extenders else None
    answer, schedulers = explain(replace(asked.question, selection=selection), dump, client)
    if asked.display.node is not None and not answer.explanations:
        check_is_node(asked.display.node, schedulers.default_scheduler.nodes)
    if client is not None and client.sent_in_part:
        answer = replace(answer, warnings=(*answer.warnings, _SENT_IN_PART))
    if asked.line.flags.interactive and answer.explanations:
        from kubectl_sched.tui.explore import explore

        return explore(answer, schedulers, asked.display, [each.value for each in options.PageOutput])
    show(shown_explanations(answer, asked.display), asked.display)
    return exit_code(answer.explanations, asked.display)


def _with_node_pools(selection: Selection, *, drifted: bool) -> Selection:
    """The selection of one pod, with what autoscalers look at."""
    if drifted or not selection.is_one_pod:
        raise SchedError("--new-nodes is about one pod: name it, as in explain pod web-0 --new-nodes")
    from kubectl_sched.sources.live.needed_kinds import FOR_NEW_NODES

    return replace(selection, also=FOR_NEW_NODES)


def _check_pair(contradiction: str, first: bool, second: bool) -> None:
    if first and second:
        raise SchedError(f"{contradiction}: give one of them")


def _check_interactive(output: options.PageOutput, *, watch: bool) -> None:
    if watch:
        raise SchedError("--watch follows the cluster and --interactive holds it still: give one of them")
    if output is not options.PageOutput.table:
        raise SchedError(
            "--interactive shows a screen and -o prints: give one of them (e within it exports any format)"
        )
    from kubectl_sched.tui.explore import check_terminal

    check_terminal()


def _check_extender_flags(config: str | None, *, sampling: bool) -> None:
    if config is None:
        raise SchedError(
            "--call-extenders asks the extenders of a configuration that you name: it needs --config (addresses out of "
            "a dump are never called)"
        )
    if sampling:
        raise SchedError(
            "--call-extenders cannot be joined with --sampling or --start-index: it asks once for each pod"
        )


def _extender_client(paths: Sequence[str] | None) -> HTTPExtenders:
    from kubectl_sched.sources.dump.full_objects import whole_objects
    from kubectl_sched.sources.extender.extender_client import HTTPExtenders

    return HTTPExtenders(lambda: whole_objects(paths or ()))
