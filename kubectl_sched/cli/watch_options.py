"""The options of `bind --watch`; those of leader election are kube-scheduler's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from kubectl_sched.cli.options import Output
from kubectl_sched.errors import SchedError

if TYPE_CHECKING:
    from kubectl_sched.binding.second_scheduler.settings import WatchOptions
    from kubectl_sched.sources.live.connection_flags import Connection

_PANEL = "Second scheduler"
_TRUTH = {"true": True, "false": False}


def _option(name: str, metavar: str, text: str) -> Any:
    return typer.Option(name, metavar=metavar, help=text, rich_help_panel=_PANEL)


Watch = Annotated[
    bool,
    typer.Option(
        "--watch", help="Go on as a second scheduler: serve every pending pod of a name.", rich_help_panel=_PANEL
    ),
]
SchedulerName = Annotated[
    str | None, _option("--scheduler-name", "NAME", "With --watch: whose pods to serve; default: all of --config.")
]
LeaderElect = Annotated[
    str | None, _option("--leader-elect", "true|false", "Whether replicas elect one of them by a Lease; default: true.")
]
LeaseDuration = Annotated[
    str | None, _option("--leader-elect-lease-duration", "15s", "How long a silent leader keeps the Lease.")
]
RenewDeadline = Annotated[
    str | None, _option("--leader-elect-renew-deadline", "10s", "How long a leader tries to renew before it ends.")
]
RetryPeriod = Annotated[
    str | None, _option("--leader-elect-retry-period", "2s", "How often the Lease is looked at, and renewed.")
]
ResourceName = Annotated[
    str | None, _option("--leader-elect-resource-name", "LEASE", "The Lease; default: kubectl-sched-NAME.")
]
ResourceNamespace = Annotated[
    str | None,
    _option("--leader-elect-resource-namespace", "NAMESPACE", "The Lease's namespace; default: kube-system."),
]
Listen = Annotated[
    str | None,
    _option("--listen", "ADDRESS:PORT", "Where to serve /healthz, /livez, /readyz and /metrics; default: nowhere."),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="With --watch: do not print each decision.", rich_help_panel=_PANEL)
]


def truth(text: str | None) -> bool | None:
    """The value of --leader-elect. Raises SchedError for anything else."""
    if text is None or text in _TRUTH:
        return None if text is None else _TRUTH[text]
    raise SchedError(f"--leader-elect {text}: it is true or false")


def check_output(output: Output) -> None:
    """Raises SchedError for a form that a stream of decisions does not have."""
    if output not in {Output.table, Output.json}:
        raise SchedError(f"--watch prints decisions as sentences, or as lines of JSON: it has no -o {output.value}")


def check_with_watch(targets: tuple[str, ...], **given: object) -> None:
    """Raises SchedError for what only binding one pod takes."""
    if targets:
        raise SchedError(f"--watch serves every pod of a schedulerName, so it takes no {targets[0]}")
    for name, value in given.items():
        if value:
            raise SchedError(f"--watch goes on deciding for all pods, so it does not take --{name.replace('_', '-')}")


def check_without_watch(given: WatchOptions) -> None:
    """Raises SchedError for what only a second scheduler takes."""
    names = [name for name in given.__struct_fields__ if name.startswith("leader_elect") or name in _ONLY_WITH_WATCH]
    for name in names:
        if getattr(given, name) not in {None, False}:
            raise SchedError(f"--{name.replace('_', '-')} is about --watch, which is not given")


_ONLY_WITH_WATCH = frozenset({"scheduler_name", "listen", "quiet"})


def run(given: WatchOptions, connection: Connection) -> int:
    """Serve until interrupted; gives the exit code."""
    from kubectl_sched.binding.second_scheduler.settings import check_flags

    check_flags(given)
    from kubectl_sched.binding.second_scheduler.run import run_watch
    from kubectl_sched.sources.live.kubeconfig import resolve

    return run_watch(resolve(connection), given)
