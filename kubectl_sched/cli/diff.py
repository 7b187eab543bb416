"""`diff`: pods that land elsewhere under another configuration, version or state."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec.structs import replace

from kubectl_sched.cli import options
from kubectl_sched.cli.options.connection import ConnectionOptions  # noqa: TC001 - typer reads it
from kubectl_sched.errors import SchedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.sources.dump.dump import Dump


def diff(
    targets: Annotated[
        list[str] | None, typer.Argument(metavar="[[pod] NAME...]", help="Pods or a workload; all pods without any.")
    ] = None,
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
    to_dump: Annotated[
        list[str] | None, typer.Option("--to-dump", metavar="PATH", help="The dump to compare with; repeatable.")
    ] = None,
    *,
    source: options.StateSource,
    selection: options.PodSelection,
    scheduler: options.ConfiguredScheduler,
    display: options.GateOutput,
    connection: ConnectionOptions,
) -> None:
    """Compare where pods land under two configurations, two versions or two dumps."""
    from kubectl_sched.cli.options.state_source import read_replayable
    from kubectl_sched.queries.diff import DiffQuestion
    from kubectl_sched.queries.diff import diff as difference
    from kubectl_sched.render.answers.diff import shown_diff
    from kubectl_sched.render.show import show
    from kubectl_sched.render.writers.progress_bar import progress
    from kubectl_sched.sources.discovery.replay_setup import Replay
    from kubectl_sched.sources.resolved_names import resolved

    if not (to_config or to_kube_version or to_feature_gates or to_dump):
        raise SchedError(
            "nothing to compare with: give --to-config, --to-kube-version, --to-feature-gates or --to-dump"
        )
    asked = selection.of(targets, pending=selection.pending)
    if not targets:
        asked = replace(asked, namespace=selection.namespace or None)
    dump, compared = read_replayable(source, connection, asked)
    compared = resolved(compared, dump.objects)
    other = _read(to_dump) if to_dump else None
    question = DiffQuestion(
        selection=compared,
        replay=scheduler.replay,
        to_replay=Replay(
            config=to_config, kube_version=to_kube_version, feature_gates=options.joined(to_feature_gates)
        ),
    )
    with progress(of_bytes=False) as report:
        answer = difference(question, dump, other, report)
    show(shown_diff(answer), display.shown)
    sys.exit(1 if answer.differences else 0)


def _read(paths: Sequence[str]) -> Dump:
    from kubectl_sched.render.writers.progress_bar import progress
    from kubectl_sched.sources.dump.reader import read

    if not all(paths):
        raise SchedError("--to-dump is given an empty path; name a file, a directory, an archive or -")
    with progress() as report:
        return read(paths, progress=report)
