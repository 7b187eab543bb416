"""`snapshot`: what a replay needs, in one file that can be passed on."""

from __future__ import annotations

from typing import Annotated

import typer

from kubectl_sched.cli import options  # noqa: TC001 - typer reads it
from kubectl_sched.cli.options.connection import ConnectionOptions  # noqa: TC001 - typer reads it


def snapshot(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Where to: a .json or .json.gz file, or - for stdout.")],
    anonymize: Annotated[
        bool, typer.Option("--anonymize", help="Replace names, labels and images; every verdict stays the same.")
    ] = False,
    *,
    source: options.StateSource,
    selection: options.ClusterSelection,
    connection: ConnectionOptions,
) -> None:
    """Save what a replay needs and nothing that is secret, for --from."""
    from kubectl_sched.cli.options.state_source import read_replayable, read_source
    from kubectl_sched.diagnostics.messages.scheduler_reasons import own_reasons
    from kubectl_sched.render.writers.data import warn
    from kubectl_sched.safe_output import write_error
    from kubectl_sched.shell_commands import explain_from
    from kubectl_sched.sources.export.chosen_pods import with_chosen_pods
    from kubectl_sched.sources.export.snapshot_file import check_name, write_snapshot
    from kubectl_sched.sources.live.needed_kinds import EVERYTHING, GATES
    from kubectl_sched.sources.pod_selection import Selection

    check_name(file)
    own = selection.in_namespace
    read = read_replayable if own is None else read_source  # what was said of its pods is worth keeping, too
    everything = Selection(namespace=None, also=(*EVERYTHING, *GATES), own_namespace=own)
    dump, _ = read(source, connection, everything)
    warn(dump.warnings)
    dump = with_chosen_pods(dump, own, selection.selector)
    if anonymize:
        from kubectl_sched.sources.export.anonymizer import anonymized

        dump = anonymized(dump)
        warn(dump.warnings)
    size = write_snapshot(dump, file, own_reasons)
    command = explain_from(file)
    use = f": {command}" if command is not None else ""
    write_error(f"{len(dump.objects):,} objects, {size:,} bytes{use}\n")
