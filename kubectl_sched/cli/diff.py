"""`diff`: which pods fare otherwise under another configuration, version or state."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from kubectl_sched.cli import options
from kubectl_sched.cli.connection import takes_connection
from kubectl_sched.errors import SchedError
from kubectl_sched.sources.live.connection_flags import Connection  # noqa: TC001 - typer reads it

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.queries.replay_difference import Difference
    from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
    from kubectl_sched.sources.dump.dump import Dump


@takes_connection
def diff(
    targets: Annotated[
        list[str] | None, typer.Argument(metavar="[[pod] NAME...]", help="Pods or a workload; all pods without any.")
    ] = None,
    from_: options.From = None,
    namespace: options.Namespace = None,
    all_namespaces: options.AllNamespaces = False,
    selector: options.LabelSelector = None,
    pending: Annotated[bool, typer.Option("--pending", help="Only pods that no node has yet.")] = False,
    config: options.Config = None,
    kube_version: options.KubeVersionOption = None,
    feature_gates: options.FeatureGates = None,
    to_config: Annotated[
        str | None, typer.Option("--to-config", metavar="FILE", help="The configuration to compare with.")
    ] = None,
    to_kube_version: Annotated[
        str | None, typer.Option("--to-kube-version", metavar="1.37", help="The version to compare with.")
    ] = None,
    to_feature_gates: Annotated[
        list[str] | None,
        typer.Option("--to-feature-gates", metavar="A=true,B=false", help="The gates to compare with; repeatable."),
    ] = None,
    to_from: Annotated[
        list[str] | None, typer.Option("--to-from", metavar="PATH", help="The dump to compare with; repeatable.")
    ] = None,
    output: options.OutputOption = options.Output.table,
    color: options.ColorOption = options.Color.auto,
    *,
    connection: Connection,
) -> None:
    """Compare where pods land under two configurations, two versions or two dumps."""
    from kubectl_sched.cli.state_source import read_replayable
    from kubectl_sched.config.types import DEFAULT_SCHEDULER_NAME
    from kubectl_sched.render.text.diff_text import Comparison, show_diff
    from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
    from kubectl_sched.sources.discovery.replay_setup import Replay
    from kubectl_sched.sources.pod_selection import Selection, about_none, select

    if not (to_config or to_kube_version or to_feature_gates or to_from):
        raise SchedError("say what to compare with: --to-config, --to-kube-version, --to-feature-gates or --to-from")
    selection = Selection(tuple(targets or ()), None if all_namespaces else namespace or "", selector, pending)
    dump, selection = read_replayable(from_, connection, selection)
    other = _read(to_from) if to_from else dump
    before = ClusterSchedulers(dump, Replay(config, kube_version, options.joined(feature_gates)))
    replay = Replay(
        to_config or config,
        to_kube_version or kube_version,
        options.joined(to_feature_gates or feature_gates),
        "--to-config" if to_config else "--config",
    )
    after = ClusterSchedulers(other, replay)
    given = {
        "--to-config": to_config,
        "--to-kube-version": to_kube_version,
        "--to-feature-gates": options.joined(to_feature_gates),
    }
    before.assumed(DEFAULT_SCHEDULER_NAME)
    with _naming([f"{flag} {value}" for flag, value in given.items() if value]):
        after.assumed(DEFAULT_SCHEDULER_NAME)
    pods = {pod.key: pod for pod in select(dump.objects, selection)}
    there = pods if other is dump else _pods(other)
    both = [key for key in pods if key in there]
    if selection.named and len(both) < len(pods):
        raise SchedError(f"--to-from: there is no pod {next(key for key in pods if key not in there)}")
    found, unreadable = _compared(before, after, {key: (pods[key], there[key]) for key in both}, bool(selection.named))
    name = next((pods[key].spec.scheduler_name for key in both), "") or DEFAULT_SCHEDULER_NAME
    sides = before.assumed(name).configuration, after.assumed(name).configuration
    problems = tuple(dict.fromkeys((*before.warnings, *after.warnings, *dump.warnings, *other.warnings, *unreadable)))
    notes = list(dict.fromkeys((*before.notes, *after.notes)))
    if not pods:
        notes += about_none(dump.objects, selection, is_live=dump.is_live)
    notes += _not_compared(len(pods) - len(both), "first")
    if other is not dump and not selection.named:
        notes += _not_compared(len({pod.key for pod in select(other.objects, selection)} - pods.keys()), "second")
    compared = len(both) - len(unreadable)
    comparison = Comparison(*sides, compared, tuple(found), tuple(notes), problems)
    sys.exit(show_diff(comparison, output.value, color.value))


def _not_compared(pods: int, dump: str) -> list[str]:
    """A note on the pods that only one of the dumps has."""
    are = "pod is" if pods == 1 else "pods are"
    return [f"{pods:,} {are} in the {dump} dump only, and not compared"] if pods else []


def _compared(
    before: ClusterSchedulers, after: ClusterSchedulers, pods: Mapping[str, tuple[Pod, Pod]], named: bool
) -> tuple[list[Difference], list[str]]:
    """What differs, and which pods cannot be read; one that was `named` is an error."""
    from kubectl_sched.api.apimachinery.quantity import InvalidQuantity
    from kubectl_sched.queries.rejudge_bound_pods import Fates
    from kubectl_sched.queries.replay_difference import difference_of
    from kubectl_sched.render.text.progress_bar import progress

    found: list[Difference] = []
    unreadable: list[str] = []
    first, second = Fates(before), Fates(after)
    with progress(of_bytes=False) as report:
        for done, (key, (here, there)) in enumerate(pods.items()):
            if report is not None:
                report("pods compared", done, len(pods))
            try:
                differing = difference_of(here, first.of(here), second.of(there))
            except InvalidQuantity as error:
                if named:
                    raise
                unreadable.append(f"pod {key} is left out: {error}")
            else:
                found += [differing] if differing is not None else []
    return found, unreadable


@contextmanager
def _naming(flags: Sequence[str]) -> Iterator[None]:
    """Says of what is refused that these flags asked for it, unless it is said already."""
    try:
        yield
    except SchedError as error:
        if not flags or str(error).startswith("--"):
            raise
        raise SchedError(f"{', '.join(flags)}: {error}") from None


def _read(paths: Sequence[str]) -> Dump:
    from kubectl_sched.render.text.progress_bar import progress
    from kubectl_sched.sources import read

    if not all(paths):
        raise SchedError("--to-from is given an empty path; name a file, a directory, an archive or -")
    with progress() as report:
        return read(paths, progress=report)


def _pods(dump: Dump) -> dict[str, Pod]:
    from kubectl_sched.api.pod import Pod

    return {item.key: item for item in dump.objects if isinstance(item, Pod)}
