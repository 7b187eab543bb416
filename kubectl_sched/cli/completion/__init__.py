"""`completion`: the script by which a shell completes kubectl-sched."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Shell(StrEnum):
    """The shell whose script to print."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"


def completion(shell: Annotated[Shell, typer.Argument(help="Whose script to print.")]) -> None:
    """Print the completion script of a shell."""
    from importlib.resources import files

    from kubectl_sched.safe_output import write_page

    script = files(__name__).joinpath(f"kubectl-sched.{shell.value}")
    write_page(script.read_text("utf-8"))
