"""`version`: which release this is, for a bug report."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class VersionOutput(StrEnum):
    """The formats for programs."""

    json = "json"
    yaml = "yaml"


def version(
    output: Annotated[
        VersionOutput | None, typer.Option("--output", "-o", metavar="json|yaml", help="As data; else a line.")
    ] = None,
) -> None:
    """Print the program's version and the Kubernetes minors that it replays."""
    from importlib.metadata import version as version_of

    from kubectl_sched.config.versions import NEWEST, OLDEST_EXACT, PRERELEASES, SUPPORTED
    from kubectl_sched.safe_output import API_VERSION, write_text

    own = version_of("kubectl-sched")
    replayed = [str(each) for each in SUPPORTED if each >= OLDEST_EXACT]
    if output is None:
        early = "".join(f", and {minor} as of {tag}" for minor, tag in PRERELEASES.items())
        write_text(f"kubectl-sched {own} (replays Kubernetes {OLDEST_EXACT} to {NEWEST}{early})\n")
        return
    from kubectl_sched.render.writers.data import write_data

    data = {"apiVersion": API_VERSION, "kind": "Version", "version": own, "kubernetesVersions": replayed}
    write_data(data, output.value)
