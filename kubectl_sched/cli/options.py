"""The options that commands share, as kubectl and the contract have them."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence


class Output(StrEnum):
    """The format of the answer."""

    table = "table"
    wide = "wide"
    json = "json"
    yaml = "yaml"
    name = "name"


class PageOutput(StrEnum):
    """The same, and whole pages to hand on: of commands that explain pods."""

    table = "table"
    wide = "wide"
    json = "json"
    yaml = "yaml"
    name = "name"
    html = "html"
    markdown = "markdown"


class Color(StrEnum):
    """When to colour."""

    auto = "auto"
    always = "always"
    never = "never"


def _named(value: str | None) -> str | None:
    """The value. Refuses an empty one, which a script gives whose variable is not set."""
    if value == "":
        raise typer.BadParameter("it is given an empty name")
    return value


From = Annotated[
    list[str] | None,
    typer.Option("--from", metavar="PATH", help="Read a dump (file, directory, archive or - for stdin); repeatable."),
]
Namespace = Annotated[str | None, typer.Option("--namespace", "-n", help="The namespace to look in.")]
AllNamespaces = Annotated[bool, typer.Option("--all-namespaces", "-A", help="Look in all namespaces.")]
LabelSelector = Annotated[
    str | None, typer.Option("--selector", "-l", help="Only pods whose labels match, as kubectl's -l.")
]
Config = Annotated[
    str | None,
    typer.Option("--config", metavar="FILE", callback=_named, help="A KubeSchedulerConfiguration to replay."),
]
Profile = Annotated[
    str | None,
    typer.Option(
        "--profile", metavar="NAME", callback=_named, help="The profile by schedulerName; the default is the pod's own."
    ),
]
NodeName = Annotated[
    str | None,
    typer.Option("--node", metavar="NAME", callback=_named, help="Why not this node, in full, and what it would take."),
]
KubeVersionOption = Annotated[
    str | None, typer.Option("--kube-version", metavar="1.36", help="Whose behaviour to replay.")
]
FeatureGates = Annotated[
    list[str] | None,
    typer.Option("--feature-gates", metavar="A=true,B=false", help="As kube-scheduler's flag; repeatable."),
]
OutputOption = Annotated[Output, typer.Option("--output", "-o", help="How to print the answer.")]
PageOutputOption = Annotated[PageOutput, typer.Option("--output", "-o", help="How to print the answer.")]
ColorOption = Annotated[Color, typer.Option("--color", help="When to colour.")]


def joined(feature_gates: Sequence[str] | None) -> str | None:
    """All gates of a flag that was given several times; None where it was not."""
    return ",".join(feature_gates) if feature_gates else None
