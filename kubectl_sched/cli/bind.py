"""`bind`: the whole cycle for one pending pod, with all that it writes; `bind --watch`: a second scheduler."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from kubectl_sched.cli import options, watch_options
from kubectl_sched.cli.connection import takes_connection
from kubectl_sched.errors import SchedError
from kubectl_sched.sources.live.connection_flags import Connection  # noqa: TC001 - typer reads it


@takes_connection
def bind(
    targets: Annotated[list[str] | None, typer.Argument(metavar="[pod] NAME", help="The pod to bind.")] = None,
    namespace: options.Namespace = None,
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
    config: options.Config = None,
    profile: options.Profile = None,
    kube_version: options.KubeVersionOption = None,
    feature_gates: options.FeatureGates = None,
    output: options.OutputOption = options.Output.table,
    watch: watch_options.Watch = False,
    scheduler_name: watch_options.SchedulerName = None,
    leader_elect: watch_options.LeaderElect = None,
    leader_elect_lease_duration: watch_options.LeaseDuration = None,
    leader_elect_renew_deadline: watch_options.RenewDeadline = None,
    leader_elect_retry_period: watch_options.RetryPeriod = None,
    leader_elect_resource_name: watch_options.ResourceName = None,
    leader_elect_resource_namespace: watch_options.ResourceNamespace = None,
    listen: watch_options.Listen = None,
    quiet: watch_options.Quiet = False,
    *,
    connection: Connection,
) -> None:
    """Bind one pending pod as its scheduler would: filters, scores, volumes, devices, the binding and its event."""
    from kubectl_sched.binding.bind_context import Order
    from kubectl_sched.binding.second_scheduler.settings import WatchOptions
    from kubectl_sched.cli.bind_prompt import run_once
    from kubectl_sched.sources.discovery.replay_setup import Replay

    serving = WatchOptions(
        scheduler_name,
        config,
        kube_version,
        options.joined(feature_gates),
        watch_options.truth(leader_elect),
        leader_elect_lease_duration,
        leader_elect_renew_deadline,
        leader_elect_retry_period,
        leader_elect_resource_name,
        leader_elect_resource_namespace,
        listen,
        preempt,
        take_over,
        yes,
        quiet,
        output is options.Output.json,
    )
    if watch:
        watch_options.check_output(output)
        once = {"node": node, "ignore_filters": ignore_filters, "dry_run": dry_run != "none", "profile": profile}
        watch_options.check_with_watch(tuple(targets or ()), **once)
        sys.exit(watch_options.run(serving, connection))
    watch_options.check_without_watch(serving)
    if dry_run not in {"none", "client", "server"}:
        raise SchedError(f"--dry-run={dry_run}: it is none, client or server")
    if ignore_filters and node is None:
        raise SchedError("--ignore-filters binds to a node that you name: it needs --node")
    replay = Replay(config, kube_version, options.joined(feature_gates))
    order = Order(node, ignore_filters, take_over, preempt, dry_run, yes, replay, profile)
    sys.exit(run_once(tuple(targets or ()), namespace or "", order, output.value, connection))
