"""`schedulers`: the schedulers, their configurations, and the pods that have none."""

from __future__ import annotations

from kubectl_sched.cli import options  # noqa: TC001 - typer reads it
from kubectl_sched.cli.options.connection import ConnectionOptions  # noqa: TC001 - as above


def schedulers(
    source: options.StateSource,
    selection: options.ClusterSelection,
    scheduler: options.SchedulerVersion,
    display: options.PageableOutput,
    connection: ConnectionOptions,
) -> None:
    """List the schedulers and their profiles, and the schedulerNames that nobody serves."""
    from kubectl_sched.cli.options.state_source import read_source
    from kubectl_sched.queries.schedulers import scheduler_report
    from kubectl_sched.render.answers.schedulers import shown_schedulers
    from kubectl_sched.render.show import show
    from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
    from kubectl_sched.sources.discovery.replay_setup import Replay
    from kubectl_sched.sources.pod_selection import Selection, select

    dump, _ = read_source(source, connection, Selection(namespace=None, replays=False))
    asking = select(
        dump.objects, Selection(namespace=selection.in_namespace, label_selector=selection.selector), dump.skipped
    )
    report = scheduler_report(ClusterSchedulers(dump, Replay(kube_version=scheduler.kube_version)), asking)
    show(shown_schedulers(report), display.shown)
