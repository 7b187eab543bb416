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
    filename: Annotated[
        list[str] | None,
        typer.Option("--filename", "-f", metavar="PATH", help="A manifest: a pod of each of its workloads."),
    ] = None,
    node: Annotated[
        str | None,
        typer.Option(
            "--node",
            metavar="NAME",
            callback=options.not_empty,
            help="Why not this node, in full, and what it would take.",
        ),
    ] = None,
    all_nodes: Annotated[bool, typer.Option("--all-nodes", help="Show every node (as -o wide).")] = False,
    evidence: Annotated[
        bool, typer.Option("--evidence", help="Add evidence to every verdict in JSON and YAML.")
    ] = False,
    sampling: Annotated[
        bool, typer.Option("--sampling", help="Show each node's win rate over all search start indexes.")
    ] = False,
    start_index: Annotated[
        int | None, typer.Option("--start-index", metavar="N", help="Let the search begin at the Nth node.")
    ] = None,
    call_extenders: Annotated[
        bool, typer.Option("--call-extenders", help="Ask the extenders of --config, over HTTP(S).")
    ] = False,
    at_decision: Annotated[
        bool,
        typer.Option("--at-decision", help="Leave out pods and nodes that are younger than a bound pod's placement."),
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Explain again whenever the answer changes, until interrupted.")
    ] = False,
    interactive: Annotated[
        bool, typer.Option("--interactive", "-i", help="Explore the answer on a full screen, and change it there.")
    ] = False,
    new_nodes: Annotated[
        bool, typer.Option("--new-nodes", help="Say whether the autoscaler would make a node for a pod, and which.")
    ] = False,
    instance_types: options.InstanceTypes = None,
    node_group_label: Annotated[
        str | None,
        typer.Option(
            "--node-group-label", metavar="KEY", help="The label that names cluster-autoscaler's node groups."
        ),
    ] = None,
    node_template: Annotated[
        str | None,
        typer.Option("--node-template", metavar="FILE", help="Nodes as cluster-autoscaler's empty groups would have."),
    ] = None,
    drifted: Annotated[
        bool, typer.Option("--drifted", help="Only bound pods that would land elsewhere now, or would be rejected.")
    ] = False,
    *,
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
    if is_set and (message or interactive):  # the user's default is for what prints in every format
        display = replace(display, output=options.PageOutput.table)
    if message:
        from kubectl_sched.cli.message import explain_message

        explain_message(message, display)
        return
    about_pods = {
        "--node": node,
        "--evidence": evidence,
        "--sampling": sampling,
        "--start-index": start_index is not None,
        "--call-extenders": call_extenders,
        "--at-decision": at_decision,
        "--drifted": drifted,
        "--new-nodes": new_nodes,
        "--node-group-label": node_group_label,
        "--node-template": node_template,
    }
    if is_about_nodes(targets or ()):
        _check_pair("nodes are explained by tables, and --interactive shows pods", bool(targets), interactive or watch)
        shown = display.shown
        sys.exit(
            explain_node_targets(
                targets or (),
                selection.selector,
                scheduler,
                source,
                connection,
                shown,
                instance_types=instance_types,
                about_pods={**about_pods, "--filename": filename, "--pending": selection.pending},
            )
        )
    if is_about_groups(targets or ()):
        given = {
            "--watch": watch,
            "--selector": selection.selector is not None,
            "--profile": scheduler.profile,
            "--instance-types": instance_types,
        }
        check_not_about_pods({**given, **about_pods}, "a group is")
        if interactive:
            _check_interactive(display.output, watch=False)
        shown = replace(display.shown, all_nodes=all_nodes)
        sys.exit(
            explain_groups(
                targets or (), selection, scheduler.replay, source, connection, shown, interactive=interactive
            )
        )
    others = targets or selection.selector or selection.pending or watch or drifted
    _check_alone(of_manifest=bool(filename), others=bool(others))
    _check_pair("--sampling replays every start and --start-index one", sampling, start_index is not None)
    _check_pair(
        "--drifted is of pods that have a node and --pending of those that have none", drifted, selection.pending
    )
    if interactive:
        _check_interactive(display.output, watch=watch)
    if call_extenders:
        _check_extender_flags(scheduler.config, sampling=sampling or start_index is not None)
    from kubectl_sched.queries.explain import ExplainQuestion
    from kubectl_sched.queries.provisioning.new_nodes_flags import new_nodes_flags

    pods = selection.of(targets, pending=selection.pending or not (targets or selection.selector or drifted))
    question = ExplainQuestion(
        selection=_with_node_pools(pods, drifted=drifted) if new_nodes else pods,
        replay=scheduler.replay,
        profile=scheduler.profile,
        node=node,
        at_decision=at_decision,
        drifted=drifted,
        sampling=sampling,
        start_index=start_index,
        new_nodes=new_nodes_flags(instance_types, node_group_label, node_template, new_nodes=new_nodes),
    )
    asked = _Asked(
        question=question,
        display=replace(display.shown, all_nodes=all_nodes, node=node, evidence=evidence),
        source=source,
        connection=connection,
        call_extenders=call_extenders,
        interactive=interactive,
    )
    if filename:
        sys.exit(_of_manifests(asked, filename, selection.namespace))
    sys.exit(_followed(asked) if watch else _answered_once(asked))


class _Asked(Record, frozen=True, kw_only=True):
    """The question, the form of the answer, and where the state comes from."""

    question: ExplainQuestion
    display: Display
    source: options.StateSource
    connection: ConnectionOptions
    call_extenders: bool
    interactive: bool


def _answered_once(asked: _Asked) -> int:
    from kubectl_sched.cli.options.state_source import read_source

    dump, selection = read_source(asked.source, asked.connection, asked.question.selection)
    return _answered(asked, dump, selection)


def _of_manifests(asked: _Asked, paths: Sequence[str], namespace: str | None) -> int:
    """Explain one pod of each workload of the manifests, as if they were applied; say first what no quota admits."""
    from kubectl_sched.cli.options.state_source import default_namespace, read_whole
    from kubectl_sched.queries import whatif
    from kubectl_sched.render.answers.whatif import shown_what_if, what_if_exit_code
    from kubectl_sched.render.show import show

    question = whatif.WhatIfQuestion(
        targets=tuple(paths),
        namespace=namespace or default_namespace(asked.source, asked.connection),
        replay=asked.question.replay,
    )
    dump = read_whole(asked.source, asked.connection)
    applied, pods = whatif.with_manifests(question, dump)
    if not pods:
        answer = whatif.what_if(question, dump)
        show(shown_what_if(answer), asked.display)
        return what_if_exit_code(answer.result)
    places = {pod.namespace for pod in pods}
    selection = replace(
        asked.question.selection,
        targets=tuple(f"pod/{pod.name}" for pod in pods),
        namespace=places.pop() if len(places) == 1 else None,
        pending=False,
        looks_elsewhere=False,
    )
    return _answered(replace(asked, question=replace(asked.question, selection=selection)), applied, selection)


def _followed(asked: _Asked) -> int:
    if asked.source.from_:
        raise SchedError("--watch follows a running cluster, but --from reads a dump: give one of them")
    from kubectl_sched.cli.explain_watch import follow

    return follow(
        asked.connection.connection, asked.question.selection, partial(_answered, asked), asked.display.output
    )


def _answered(asked: _Asked, dump: Dump, selection: Selection) -> int:
    """Replay, print, and return the exit code."""
    from kubectl_sched.sources.resolved_names import resolved

    selection = resolved(selection, dump.objects)
    if is_about_groups(selection.targets):
        group = options.PodSelection(namespace=selection.namespace)
        return explain_groups(
            selection.targets,
            group,
            asked.question.replay,
            asked.source,
            asked.connection,
            asked.display,
            interactive=asked.interactive,
        )
    if not dump.can_replay:
        from kubectl_sched.cli.unreplayed import show_decoded

        return show_decoded(dump, selection, asked.display.output, asked.display.color)
    from kubectl_sched.queries.explain import explain
    from kubectl_sched.render.answers.explain_output import check_is_node, exit_code, shown_explanations
    from kubectl_sched.render.show import show

    client = _extender_client(asked.source.from_) if asked.call_extenders else None
    answer, schedulers = explain(replace(asked.question, selection=selection), dump, client)
    if asked.display.node is not None and not answer.explanations:
        check_is_node(asked.display.node, schedulers.default_scheduler.nodes)
    if client is not None and client.sent_in_part:
        answer = replace(answer, warnings=(*answer.warnings, _SENT_IN_PART))
    if asked.interactive and answer.explanations:
        from kubectl_sched.tui.explore import explore

        return explore(answer, schedulers.scheduler, asked.display, [each.value for each in options.PageOutput])
    show(shown_explanations(answer, asked.display), asked.display)
    return exit_code(answer.explanations, asked.display)


def _with_node_pools(selection: Selection, *, drifted: bool) -> Selection:
    """The selection of one pod, with what autoscalers look at."""
    if drifted or not selection.is_one_pod:
        raise SchedError("--new-nodes is about one pod: name it, as in explain pod web-0 --new-nodes")
    from kubectl_sched.sources.live.needed_kinds import FOR_NEW_NODES

    return replace(selection, also=FOR_NEW_NODES)


def _check_alone(*, of_manifest: bool, others: bool) -> None:
    if of_manifest and others:
        raise SchedError(
            "-f explains the pods of a manifest: give it no names, and no --selector, --pending, --drifted or --watch"
        )


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
