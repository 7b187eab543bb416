"""`whatif`: where pods would land, whether they all fit, and how many more would fit."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from kubectl_sched.apiserver.field_validation import UnknownFields
from kubectl_sched.cli import options  # noqa: TC001 - typer reads it
from kubectl_sched.cli.options.connection import ConnectionOptions  # noqa: TC001 - as above
from kubectl_sched.cli.options.edit_flags import ClusterEdits  # noqa: TC001 - as above
from kubectl_sched.errors import SchedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.apiserver.server_dry_run import DryRun
    from kubectl_sched.queries.what_if.question import WhatIfQuestion
    from kubectl_sched.queries.whatif import WhatIfAnswer


class DryRunOption(StrEnum):
    """The judge of manifests: ourselves, or the server."""

    client = "client"
    server = "server"


def whatif(
    manifests: Annotated[
        list[str] | None,
        typer.Argument(metavar="[MANIFEST...]", help="Files, directories, - for stdin, or deployment/web."),
    ] = None,
    filename: Annotated[
        list[str] | None, typer.Option("--filename", "-f", metavar="PATH", help="A manifest, as kubectl's -f.")
    ] = None,
    replicas: Annotated[
        str | None,
        typer.Option("--replicas", metavar="N|max", help="How many pods of each; max: until one is too many."),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Take the present pods away first, instead of a rollout.")
    ] = False,
    with_pending: Annotated[
        bool, typer.Option("--with-pending", help="Place the cluster's pending pods, too.")
    ] = False,
    requeue_victims: Annotated[
        bool, typer.Option("--requeue-victims", help="Let preemption happen; its victims are pending again.")
    ] = False,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", help="Choose among tied nodes at random, repeatably.")
    ] = None,
    dry_run: Annotated[
        DryRunOption,
        typer.Option("--dry-run", metavar="client|server", help="server: it says what it would store, or refuses."),
    ] = DryRunOption.client,
    validate: Annotated[
        UnknownFields,
        typer.Option("--validate", help="Refuse unknown fields of a manifest, or only warn of them."),
    ] = UnknownFields.strict,
    find_nodes: Annotated[
        str | None, typer.Option("--find-nodes", metavar="NODE", help="How many more such nodes until all fits.")
    ] = None,
    new_nodes: Annotated[
        bool, typer.Option("--new-nodes", help="Place what does not fit on nodes that Karpenter would make.")
    ] = False,
    instance_types: options.InstanceTypes = None,
    make_room: Annotated[
        str | None,
        typer.Option("--make-room", metavar="TYPE/NAME", help="What to move so that it fits and all lands again."),
    ] = None,
    *,
    edits: ClusterEdits,
    source: options.StateSource,
    selection: options.ManifestSelection,
    scheduler: options.ProfiledScheduler,
    display: options.GateOutput,
    connection: ConnectionOptions,
) -> None:
    """Say where pods would land, whether they fit, and how many more do."""
    from kubectl_sched.cli.options.state_source import default_namespace
    from kubectl_sched.queries.provisioning.new_nodes_flags import new_nodes_flags
    from kubectl_sched.queries.what_if.question import WhatIfQuestion
    from kubectl_sched.render.answers.whatif import answer_exit_code, shown_what_if
    from kubectl_sched.render.show import show
    from kubectl_sched.simulation.queue_simulation import Choices
    from kubectl_sched.simulation.workloads_to_place import Sizing
    from kubectl_sched.sources.dump.manifest_lines import manifest_lines

    targets = (*(manifests or ()), *(filename or ()))
    ordered = edits.in_order(sys.argv[1:])
    if make_room is not None:
        others = (replace, with_pending, requeue_victims, seed, find_nodes, new_nodes, selection.selector)
        _check_alone(targets, ordered, replicas, *others)
        _make_room(make_room, _count(replicas), source, selection, scheduler, display, connection)
    if not (targets or ordered or with_pending):
        raise SchedError("nothing to simulate: name a manifest, a workload or an edit, or give --with-pending")
    if selection.selector is not None:
        _check_selector(targets, with_pending=with_pending)
    if dry_run is DryRunOption.server and source.from_:
        raise SchedError("--dry-run=server asks a running cluster, but --from reads a dump: give one of them")
    if new_nodes and (find_nodes is not None or replicas == "max"):
        raise SchedError(
            "--new-nodes asks how many nodes would be made: give it without --find-nodes and --replicas max"
        )
    flags = new_nodes_flags(instance_types, new_nodes=new_nodes)
    question = WhatIfQuestion(
        targets=targets,
        namespace=selection.namespace or default_namespace(source, connection),
        unknown_fields=validate,
        everywhere=selection.all_namespaces,
        sizing=Sizing(replicas=_count(replicas), fill=replicas == "max", replace=replace),
        edits=ordered,
        with_pending=with_pending,
        label_selector=selection.selector,
        find_nodes=find_nodes,
        new_nodes=flags,
        choices=Choices(profile=scheduler.profile, seed=seed, requeue_victims=requeue_victims),
        replay=scheduler.replay,
    )
    answer = _answer(question, source, connection, _server(connection) if dry_run is DryRunOption.server else None)
    show(shown_what_if(answer, lambda: manifest_lines(targets)), display.shown)
    sys.exit(answer_exit_code(answer))


def _answer(
    question: WhatIfQuestion, source: options.StateSource, connection: ConnectionOptions, server: DryRun | None
) -> WhatIfAnswer:
    """Place what is asked for; of a running cluster without the kinds that the pods of the manifests do not need.

    Pods that wait in the cluster already may take part and need more, such as those of a ReplicaSet whose template has
    changed since: then the cluster is read as a whole.
    """
    from kubectl_sched.cli.options.state_source import keep, read_whole
    from kubectl_sched.queries.what_if.question import manifests_alone, pods_as_written
    from kubectl_sched.queries.whatif import what_if
    from kubectl_sched.render.writers.placement_progress import placing
    from kubectl_sched.sources.live.needed_kinds import FOR_NEW_NODES, needless

    manifests = manifests_alone(question) if server is None and not source.from_ else None
    left_out = needless(pods_as_written(manifests)) if manifests is not None else frozenset[str]()
    also = FOR_NEW_NODES if question.new_nodes is not None else ()
    while True:
        dump = read_whole(source, connection, also, left_out)
        with placing() as report:
            answer = keep(what_if(question, dump, server, report, manifests))
        if left_out <= needless(answer.result.simulated.different_pods):
            return answer
        left_out = frozenset()


def _check_selector(targets: Sequence[str], *, with_pending: bool) -> None:
    """Refuse --selector where there is nothing to choose from."""
    from kubectl_sched.queries.what_if.question import is_in_cluster

    if any(map(is_in_cluster, targets)):
        raise SchedError("names and --selector exclude each other, as in kubectl: give one of them")
    if not (targets or with_pending):
        raise SchedError("--selector chooses among the objects of manifests, or pending pods: add -f or --with-pending")


def _check_alone(targets: object, edits: object, replicas: str | None, *others: object) -> None:
    """Refuse what does not go with --make-room."""
    if targets or edits or any(each not in {None, False} for each in others):
        raise SchedError(
            "--make-room asks about the cluster as it is: give it no manifest, edit or flag but --replicas"
        )
    if replicas == "max":
        raise SchedError("--make-room makes room for a number of pods: --replicas max names none")


def _make_room(
    target: str,
    replicas: int | None,
    source: options.StateSource,
    selection: options.OneNamespace,
    scheduler: options.ProfiledScheduler,
    display: options.GateOutput,
    connection: ConnectionOptions,
) -> NoReturn:
    from kubectl_sched.cli.options.state_source import default_namespace, read_whole
    from kubectl_sched.queries.make_room import MakeRoomQuestion, make_room
    from kubectl_sched.render.answers.make_room import shown_plan
    from kubectl_sched.render.show import show

    dump = read_whole(source, connection)
    question = MakeRoomQuestion(
        target=target,
        namespace=selection.namespace or default_namespace(source, connection),
        replicas=replicas,
        profile=scheduler.profile,
        replay=scheduler.replay,
    )
    answer = make_room(question, dump)
    show(shown_plan(answer), display.shown)
    sys.exit(0 if answer.found else 1)


def _server(connection: ConnectionOptions) -> DryRun:
    from kubectl_sched.apiserver.server_dry_run import DryRun
    from kubectl_sched.cli.options.interruptible_cluster import endpoint_of
    from kubectl_sched.sources.live.client import Server

    return DryRun(Server(endpoint_of(connection.connection)))


def _count(replicas: str | None) -> int | None:
    from kubectl_sched.apiserver.what_if_size_limits import decimal, pods_counted

    if replicas is None or replicas == "max":
        return None
    count = decimal(replicas)
    if count is None:
        raise SchedError(f"--replicas {replicas}: it is neither a number nor max")
    return pods_counted(count, f"--replicas {replicas}")
