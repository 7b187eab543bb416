"""`schedulers`: who schedules, with which configuration, and for whom."""

from __future__ import annotations

from kubectl_sched.cli import options
from kubectl_sched.cli.connection import takes_connection
from kubectl_sched.sources.live.connection_flags import Connection  # noqa: TC001 - typer reads it


@takes_connection
def schedulers(
    from_: options.From = None,
    kube_version: options.KubeVersionOption = None,
    output: options.OutputOption = options.Output.table,
    color: options.ColorOption = options.Color.auto,
    *,
    connection: Connection,
) -> None:
    """List the schedulers and their profiles, and the schedulerNames that nobody serves."""
    from kubectl_sched.cli.state_source import read_source
    from kubectl_sched.queries.schedulers import scheduler_report
    from kubectl_sched.render.text.schedulers_text import show_schedulers
    from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
    from kubectl_sched.sources.discovery.replay_setup import Replay
    from kubectl_sched.sources.pod_selection import Selection

    dump, _ = read_source(from_, connection, Selection(namespace=None, replays=False))
    report = scheduler_report(ClusterSchedulers(dump, Replay(kube_version=kube_version)))
    show_schedulers(report, output.value, color.value)
