"""`bind`: the whole cycle for one pending pod, with all that it writes; `bind --watch`: a second scheduler."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from kubectl_sched.cli import options
from kubectl_sched.cli.options import bind_watch_options
from kubectl_sched.cli.options.connection import ConnectionOptions  # noqa: TC001 - typer reads it
from kubectl_sched.errors import SchedError


def bind(
    targets: Annotated[
        list[str] | None, typer.Argument(metavar="[pod|podgroup] NAME", help="The pod or the group to bind.")
    ] = None,
    node: Annotated[str | None, typer.Option("--node", metavar="NAME", help="Bind to this node.")] = None,
    ignore_filters: Annotated[
        bool, typer.Option("--ignore-filters", help="With --node: bind there though the filters reject it.")
    ] = False,
    take_over: Annotated[
        bool, typer.Option("--take-over", help="Bind a pod although the scheduler that serves it is running.")
    ] = False,
    preempt: Annotated[
        bool, typer.Option("--preempt", help="Delete the pods that have to make room, as kube-scheduler does.")
    ] = False,
    dry_run: Annotated[
        str,
        typer.Option("--dry-run", metavar="none|client|server", help="client: only plan; server: let it be checked."),
    ] = "none",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    *,
    selection: options.OneNamespace,
    scheduler: options.ProfiledScheduler,
    display: options.PlainOutput,
    second_scheduler: bind_watch_options.SecondScheduler,
    connection: ConnectionOptions,
) -> None:
    """Bind one pending pod or group as its scheduler would: filters, scores, volumes, devices, bindings and events."""
    from kubectl_sched.binding.bind_context import Order
    from kubectl_sched.cli.bind_prompt import run_once

    replay = scheduler.replay
    if selection.all_namespaces:
        raise SchedError("bind writes to one namespace: name it with -n instead of -A")
    if second_scheduler.watch:
        bind_watch_options.check_output(display.output)
        once = {"node": node, "ignore_filters": ignore_filters, "dry_run": dry_run != "none"}
        bind_watch_options.check_with_watch(tuple(targets or ()), **once, profile=scheduler.profile)
        settings = second_scheduler.settings(
            config=replay.config,
            kube_version=replay.kube_version,
            feature_gates=replay.feature_gates,
            preempt=preempt,
            take_over=take_over,
            yes=yes,
            as_json=display.output is options.Output.json,
        )
        sys.exit(bind_watch_options.run(settings, connection))
    second_scheduler.check_not_given()
    if dry_run not in {"none", "client", "server"}:
        raise SchedError(f"--dry-run={dry_run}: it is none, client or server")
    if ignore_filters and node is None:
        raise SchedError("--ignore-filters binds to a node that you name: it needs --node")
    order = Order(
        node=node,
        ignore_filters=ignore_filters,
        take_over=take_over,
        preempt=preempt,
        dry_run=dry_run,
        yes=yes,
        replay=replay,
        profile=scheduler.profile,
    )
    sys.exit(
        run_once(tuple(targets or ()), selection.namespace or "", order, display.output.value, connection.connection)
    )
