"""`explain`: why pods land where they do, or why they do not fit."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from kubectl_sched.cli import options
from kubectl_sched.cli.connection import takes_connection
from kubectl_sched.cli.message import WORD, explain_message
from kubectl_sched.errors import SchedError
from kubectl_sched.record import Record
from kubectl_sched.sources.live.connection_flags import Connection  # noqa: TC001 - typer reads it

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
    from kubectl_sched.sources.discovery.replay_setup import Replay
    from kubectl_sched.sources.dump.dump import Dump
    from kubectl_sched.sources.extender.extender_client import HTTPExtenders
    from kubectl_sched.sources.pod_selection import Selection


@takes_connection
def explain(
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[pod] NAME...",
            help="Pods (`web-0`, `pod/web-0`, `pods a b`) or a workload (`deployment/web`); else all that are pending.",
        ),
    ] = None,
    from_: options.From = None,
    namespace: options.Namespace = None,
    all_namespaces: options.AllNamespaces = False,
    selector: options.LabelSelector = None,
    pending: Annotated[bool, typer.Option("--pending", help="All pods that no node has yet.")] = False,
    node: options.NodeName = None,
    all_nodes: Annotated[bool, typer.Option("--all", help="Show every node (as -o wide).")] = False,
    evidence: Annotated[
        bool, typer.Option("--evidence", help="Add evidence to every verdict in JSON and YAML.")
    ] = False,
    sampling: Annotated[
        bool, typer.Option("--sampling", help="Say who wins how often, over all starts that the search may have.")
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
    drifted: Annotated[
        bool, typer.Option("--drifted", help="Only bound pods that would land elsewhere now, or would be rejected.")
    ] = False,
    config: options.Config = None,
    profile: options.Profile = None,
    kube_version: options.KubeVersionOption = None,
    feature_gates: options.FeatureGates = None,
    output: options.PageOutputOption = options.PageOutput.table,
    color: options.ColorOption = options.Color.auto,
    *,
    connection: Connection,
) -> None:
    """Explain why pods land where they do, or why they do not fit; `explain message TEXT`: what a message means."""
    if targets and targets[0] == WORD and len(targets) > 1:
        explain_message(targets[1:], output.value, color.value)
        return
    if sampling and start_index is not None:
        raise SchedError("--sampling replays every start and --start-index one: give one of them")
    if drifted and pending:
        raise SchedError(
            "--drifted is of pods that have a node and --pending of those that have none: give one of them"
        )
    if interactive:
        _check_interactive(output.value, watch=watch)
    if call_extenders:
        _check_extender_flags(config, sampling=sampling or start_index is not None)
    from kubectl_sched.sources.discovery.replay_setup import Replay
    from kubectl_sched.sources.pod_selection import Selection

    pending = pending or not (targets or selector or drifted)
    selection = Selection(tuple(targets or ()), None if all_namespaces else namespace or "", selector, pending)
    asked = _Asked(
        Replay(config, kube_version, options.joined(feature_gates)),
        profile,
        output.value,
        color.value,
        node=node,
        all_nodes=all_nodes,
        evidence=evidence,
        sampling=sampling,
        start_index=start_index,
        call_extenders=call_extenders,
        at_decision=at_decision,
        drifted=drifted,
        interactive=interactive,
        paths=tuple(from_ or ()),
    )
    sys.exit(_followed(asked, connection, selection) if watch else _answered_once(asked, connection, selection))


class _Asked(Record, frozen=True):
    """What is asked of each pod, and how to print it: the flags of the same names."""

    replay: Replay
    profile: str | None
    output: str
    color: str
    node: str | None
    all_nodes: bool
    evidence: bool
    sampling: bool
    start_index: int | None
    call_extenders: bool
    at_decision: bool
    drifted: bool
    interactive: bool
    paths: tuple[str, ...]

    @property
    def samples(self) -> bool:
        """Whether anything about where the search begins was asked."""
        return self.sampling or self.start_index is not None


def _answered_once(asked: _Asked, connection: Connection, selection: Selection) -> int:
    from kubectl_sched.cli.state_source import read_source

    dump, selection = read_source(asked.paths, connection, selection)
    return _answered(asked, dump, selection)


def _followed(asked: _Asked, connection: Connection, selection: Selection) -> int:
    if asked.paths:
        raise SchedError("--watch follows a running cluster, but --from reads a dump: give one of them")
    from kubectl_sched.cli.explain_watch import follow

    return follow(connection, selection, partial(_answered, asked), asked.output)


def _answered(asked: _Asked, dump: Dump, selection: Selection) -> int:
    """Replay, and print; the exit code."""
    if not dump.can_replay:
        from kubectl_sched.cli.unreplayed import show_decoded

        return show_decoded(dump, selection, asked.output, asked.color)
    from kubectl_sched.queries.explain import Explaining, Question
    from kubectl_sched.render.show import Display, check_is_node, show
    from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
    from kubectl_sched.sources.dump.completeness import completeness
    from kubectl_sched.sources.pod_selection import about_none

    client = _extender_client(asked.paths) if asked.call_extenders else None
    schedulers = ClusterSchedulers(dump, asked.replay, asked.profile, client)
    schedulers.check_profile()
    explaining = Explaining(dump, schedulers, Question(asked.at_decision, asked.drifted))
    one = selection.is_one_pod and not asked.drifted  # which may leave none
    results = [_more(asked, schedulers, result, one=one) for result in explaining.answers(selection)]
    if asked.node is not None and not results:
        check_is_node(asked.node, schedulers.default_scheduler.nodes)
    about = about_none(dump.objects, selection, is_live=dump.is_live) if not results and not asked.drifted else ()
    joint = explaining.together(results) if not one and selection.pending else None
    display = Display(asked.output, asked.color, asked.all_nodes, asked.node, asked.evidence, one=one, together=joint)
    about_workloads = [*explaining.about_never_created(selection), *explaining.about_daemon_sets(selection)]
    notes = [*about_workloads, *about, *schedulers.notes, *completeness(dump, results)]
    warnings = [*schedulers.warnings, *dump.warnings]
    if client is not None and client.sent_in_part:
        warnings.append(
            "extenders were sent only what a replay reads of pods and nodes; the rest could not be read again"
        )
    if asked.samples and not one:
        from kubectl_sched.render.sampling_sentence import sampling_notes

        notes = [*sampling_notes(results), *notes]
    if asked.interactive and results:
        from kubectl_sched.tui.explore import explore

        return explore(
            results, schedulers.scheduler, display, [each.value for each in options.PageOutput], [*notes, *warnings]
        )
    return show(results, display, notes, warnings)


def _more(asked: _Asked, schedulers: ClusterSchedulers, result: ScheduleResult, *, one: bool) -> ScheduleResult:
    """The result with what was asked for besides; suggestions are for one pod alone, since they take more replays."""
    scheduler = schedulers.scheduler(result.pod)
    if asked.sampling:
        result = scheduler.sampled(result)
    elif asked.start_index is not None:
        result = scheduler.from_start(result, asked.start_index)
    return scheduler.with_suggestions(result, asked.node) if one and not asked.call_extenders else result


def _check_interactive(output: str, *, watch: bool) -> None:
    if watch:
        raise SchedError("--watch follows the cluster and --interactive holds it still: give one of them")
    if output != options.PageOutput.table.value:
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
    from kubectl_sched.sources.dump.whole_objects import whole_objects
    from kubectl_sched.sources.extender.extender_client import HTTPExtenders

    return HTTPExtenders(lambda: whole_objects(paths or ()))
