"""The source of a command's state: the dumps that `--from` names, else the cluster of the kubeconfig."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from kubectl_sched.errors import SchedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.cli.options import StateSource
    from kubectl_sched.cli.options.connection import ConnectionOptions
    from kubectl_sched.sources import Dump
    from kubectl_sched.sources.live.endpoint import Endpoint
    from kubectl_sched.sources.pod_selection import Selection

T = TypeVar("T")

_KEPT: dict[type, object] = {}


def keep(value: T) -> T:
    """Keep the last one of its type until the process ends: to take a hundred thousand objects apart takes long."""
    _KEPT[type(value)] = value
    return value


def read_source(source: StateSource, connection: ConnectionOptions, selection: Selection) -> tuple[Dump, Selection]:
    """The objects, and the selection with its namespace filled in: `""` becomes the context's own, or `default`.

    Raises SchedError for flags that contradict each other, and whatever reading raises.
    """
    from kubectl_sched.render.writers.progress_bar import progress

    if source.from_:
        if connection.given_flags:
            raise SchedError(
                f"{connection.given_flags[0]} is about a running cluster, but --from reads a dump: give one of them"
            )
        from kubectl_sched.sources.dump.reader import read

        with progress() as report:
            dump = keep(read(source.from_, progress=report))
        if source.max_age is not None:
            from kubectl_sched.sources.dump.dump_age import refuse_older

            refuse_older(dump, source.max_age)
        return dump, within(selection, "default")
    if source.max_age is not None:
        raise SchedError("--max-age is about a dump, and a running cluster is read as it is now: give --from, too")
    from kubectl_sched.sources.live.cluster_reader import read_live

    endpoint = _endpoint(connection)
    selection = within(selection, endpoint.namespace)
    with progress() as report:
        dump = keep(read_live(endpoint, selection, report))
    return dump, selection


def read_replayable(source: StateSource, connection: ConnectionOptions, selection: Selection) -> tuple[Dump, Selection]:
    """Read what can do nothing without nodes and pods: raises ClusterError where these may not be read."""
    dump, selection = read_source(source, connection, selection)
    if dump.is_live:
        from kubectl_sched.sources.live.missing_rights import check_replayable

        check_replayable(dump)
    return dump, selection


def within(selection: Selection, namespace: str) -> Selection:
    """The selection with the namespace where it says none of its own."""
    return replace(selection, namespace=namespace) if selection.namespace == "" else selection


def read_whole(
    source: StateSource,
    connection: ConnectionOptions,
    also: Sequence[str] = (),
    needless: frozenset[str] = frozenset(),
) -> Dump:
    """Return all that placing pods may look at. Raises what `read_replayable` raises.

    Of a running cluster the `needless` kinds are left out.
    """
    from kubectl_sched.sources.live.needed_kinds import EVERYTHING
    from kubectl_sched.sources.pod_selection import Selection

    kinds = tuple(kind for kind in dict.fromkeys((*EVERYTHING, *also)) if kind not in needless)
    dump, _ = read_replayable(source, connection, Selection(namespace=None, also=kinds, needless=needless))
    return dump


def default_namespace(source: StateSource, connection: ConnectionOptions) -> str:
    """Return the namespace of what names none. Raises NoClusterError where no cluster is configured."""
    if source.from_:
        return "default"
    return _endpoint(connection).namespace


def _endpoint(connection: ConnectionOptions) -> Endpoint:
    """Return the cluster that is meant. Where there is none, --from is advised, which not every command has."""
    from kubectl_sched.cli.options.interruptible_cluster import endpoint_of
    from kubectl_sched.sources.live.live_errors import NoClusterError

    try:
        return endpoint_of(connection.connection)
    except NoClusterError as error:
        raise NoClusterError(f"{error}, or a dump with --from") from None
