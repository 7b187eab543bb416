"""The options of `bind --watch`; those of leader election are kube-scheduler's."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from typer import Option

from kubectl_sched.cli.options import Output
from kubectl_sched.cli.options.option_groups import OptionGroup
from kubectl_sched.errors import SchedError

if TYPE_CHECKING:
    from kubectl_sched.binding.second_scheduler.settings import WatchOptions
    from kubectl_sched.cli.options.connection import ConnectionOptions

_TRUTH = {"true": True, "false": False}


class SecondScheduler(OptionGroup, frozen=True, kw_only=True):
    """The flags of `bind --watch`, each the field of WatchOptions of the same name besides `--watch` itself."""

    heading: ClassVar = "Second Scheduler Options"
    watch: Annotated[
        bool, Option("--watch", help="Go on as a second scheduler: serve every pending pod of a name.")
    ] = False
    scheduler_name: Annotated[
        str | None,
        Option("--scheduler-name", metavar="NAME", help="With --watch: whose pods to serve; default: all of --config."),
    ] = None
    leader_elect: Annotated[
        str | None,
        Option(
            "--leader-elect",
            metavar="true|false",
            help="Whether replicas elect one of them by a Lease; default: true.",
        ),
    ] = None
    leader_elect_lease_duration: Annotated[
        str | None,
        Option("--leader-elect-lease-duration", metavar="15s", help="How long a silent leader keeps the Lease."),
    ] = None
    leader_elect_renew_deadline: Annotated[
        str | None,
        Option("--leader-elect-renew-deadline", metavar="10s", help="How long a leader tries to renew before it ends."),
    ] = None
    leader_elect_retry_period: Annotated[
        str | None,
        Option("--leader-elect-retry-period", metavar="2s", help="How often the Lease is looked at, and renewed."),
    ] = None
    leader_elect_resource_name: Annotated[
        str | None,
        Option("--leader-elect-resource-name", metavar="LEASE", help="The Lease; default: kubectl-sched-NAME."),
    ] = None
    leader_elect_resource_namespace: Annotated[
        str | None,
        Option(
            "--leader-elect-resource-namespace",
            metavar="NAMESPACE",
            help="The Lease's namespace; default: kube-system.",
        ),
    ] = None
    listen: Annotated[
        str | None,
        Option(
            "--listen",
            metavar="ADDRESS:PORT",
            help="Where to serve /healthz, /livez, /readyz and /metrics; default: nowhere.",
        ),
    ] = None
    cycle_work: Annotated[
        str | None,
        Option(
            "--cycle-work",
            metavar="2s",
            help="The most work that one pod's cycle may take; a pod that needs more waits longer each time.",
        ),
    ] = None
    cycle_memory: Annotated[
        str | None,
        Option("--cycle-memory", metavar="256Mi", help="The most memory that one pod's cycle may take."),
    ] = None
    quiet: Annotated[bool, Option("--quiet", "-q", help="With --watch: do not print each decision.")] = False

    def settings(self, **others: Any) -> WatchOptions:
        """The flags as the second scheduler takes them, with those that are not about it alone."""
        from kubectl_sched.binding.second_scheduler.settings import WatchOptions

        own = {name: getattr(self, name) for name in self.__struct_fields__ if name != "watch"}
        return WatchOptions(**own | {"leader_elect": _truth(self.leader_elect)}, **others)

    def check_not_given(self) -> None:
        """Raise SchedError for what only a second scheduler takes."""
        for name in self.__struct_fields__:
            if getattr(self, name):
                raise SchedError(f"--{name.replace('_', '-')} is about --watch, which is not given")


def _truth(text: str | None) -> bool | None:
    """The value of --leader-elect. Raises SchedError for anything else."""
    if text is None or text in _TRUTH:
        return None if text is None else _TRUTH[text]
    raise SchedError(f"--leader-elect {text}: it is true or false")


def check_output(output: Output) -> None:
    """Raise SchedError for a form that a stream of decisions does not have."""
    if output not in {Output.table, Output.json}:
        raise SchedError(f"--watch prints decisions as sentences, or as lines of JSON: it has no -o {output.value}")


def check_with_watch(targets: tuple[str, ...], **given: object) -> None:
    """Raise SchedError for what only binding one pod takes."""
    if targets:
        raise SchedError(f"--watch serves every pod of a schedulerName, so it takes no {targets[0]}")
    for name, value in given.items():
        if value:
            raise SchedError(f"--watch goes on deciding for all pods, so it does not take --{name.replace('_', '-')}")


def run(given: WatchOptions, connection: ConnectionOptions) -> int:
    """Serve until interrupted; gives the exit code."""
    from kubectl_sched.binding.second_scheduler.settings import check_flags

    check_flags(given)
    # Nothing is written before the watches begin, and from then on SIGTERM ends what is under way first.
    before = signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    try:
        return _run(given, connection)
    finally:
        signal.signal(signal.SIGTERM, before)


def _run(given: WatchOptions, connection: ConnectionOptions) -> int:
    from kubectl_sched.binding.second_scheduler.run import run_watch
    from kubectl_sched.cli.options.interruptible_cluster import endpoint_of

    return run_watch(endpoint_of(connection.connection), given)
