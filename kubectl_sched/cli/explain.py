"""`explain`: why pods land where they do, or why they do not fit."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from kubectl_sched.cli import options
from kubectl_sched.cli.connection import takes_connection
from kubectl_sched.cli.message import WORD, explain_message
from kubectl_sched.cluster.live.connection import Connection  # noqa: TC001 - typer reads it
from kubectl_sched.errors import SchedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.cluster.extenders import HTTPExtenders


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
    node: Annotated[str | None, typer.Option("--node", metavar="NAME", help="Show this node in full.")] = None,
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
    drifted: Annotated[
        bool, typer.Option("--drifted", help="Only bound pods that would land elsewhere now, or would be rejected.")
    ] = False,
    config: options.Config = None,
    profile: options.Profile = None,
    kube_version: options.KubeVersionOption = None,
    feature_gates: options.FeatureGates = None,
    output: options.OutputOption = options.Output.table,
    color: options.ColorOption = options.Color.auto,
    *,
    connection: Connection,
) -> None:
    """Explain why pods land where they do, or why they do not fit; `explain message TEXT`: what a message means."""
    if targets and targets[0] == WORD and len(targets) > 1:
        explain_message(targets[1:], output.value, color.value)
        return
    from kubectl_sched.cli.source import read_source
    from kubectl_sched.cluster.completeness import completeness
    from kubectl_sched.cluster.explaining import Explaining, Question
    from kubectl_sched.cluster.in_force import InForce
    from kubectl_sched.cluster.selection import Selection
    from kubectl_sched.cluster.state import Replay
    from kubectl_sched.render.show import Display, show

    if sampling and start_index is not None:
        raise SchedError("--sampling replays every start and --start-index one: give one of them")
    if call_extenders:
        _check_extender_flags(config, sampling=sampling or start_index is not None)
    pending = pending or not (targets or selector or drifted)
    selection = Selection(tuple(targets or ()), None if all_namespaces else namespace or "", selector, pending)
    dump, selection = read_source(from_, connection, selection)
    if not dump.can_replay:
        from kubectl_sched.cli.decoded import show_decoded

        sys.exit(show_decoded(dump, selection, output.value, color.value))
    client = _extender_client(from_) if call_extenders else None
    in_force = InForce(dump, Replay(config, kube_version, feature_gates), profile, client)
    in_force.check_profile()
    explaining = Explaining(dump, in_force, Question(at_decision, drifted))
    results = explaining.answers(selection)
    if sampling:
        results = [in_force.scheduler(result.pod).sampled(result) for result in results]
    elif start_index is not None:
        results = [in_force.scheduler(result.pod).from_start(result, start_index) for result in results]
    if selection.is_one_pod and not call_extenders:
        results = [in_force.scheduler(result.pod).with_suggestions(result) for result in results]
    joint = explaining.together(results) if not selection.is_one_pod and selection.pending else None
    display = Display(output.value, color.value, all_nodes, node, evidence, one=selection.is_one_pod, together=joint)
    notes = [*in_force.notes, *completeness(dump, results)]
    if client is not None and client.sent_in_part:
        notes.append("extenders were sent only what a replay reads of pods and nodes; the rest could not be read again")
    if (sampling or start_index is not None) and not selection.is_one_pod:
        from kubectl_sched.render.sampling import sampling_notes

        notes = [*sampling_notes(results), *notes]
    sys.exit(show(results, display, notes))


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
    from kubectl_sched.cluster.extenders import HTTPExtenders
    from kubectl_sched.cluster.whole_objects import whole_objects

    return HTTPExtenders(lambda: whole_objects(paths or ()))
