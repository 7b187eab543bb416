"""The commands, by name."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import typer

from kubectl_sched.errors import SchedError

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = ("explain", "profiles", "whatif", "diff", "snapshot", "schedulers")
"""Each is the function of that name in the module of that name, in the order in which help lists them."""


def app(arguments: Sequence[str], **settings: Any) -> Any:
    """Run the command that the arguments begin with; `settings` are those of click's `main`.

    Only that command is built, since building all of them takes longer than a small dump takes to explain.
    """
    program = typer.Typer(
        name="kubectl sched",
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    program.callback()(_program)
    for name in arguments[:1] if arguments and arguments[0] in COMMANDS else COMMANDS:
        program.command()(getattr(import_module(f"kubectl_sched.cli.{name}"), name))
    try:
        return program(list(arguments), **{**settings, "standalone_mode": False})
    except UsageError as error:
        raise _in_one_sentence(error) from None


UsageError: type[Exception] = typer.BadParameter.__bases__[0]
"""Of the click that this typer is built on, be it its own or the package."""


def _in_one_sentence(error: Any) -> BaseException:
    """What is wrong with the command line, as all other bad input is said; help that was asked for stays as it is."""
    message = error.format_message().strip()
    if "\n" in message:
        error.show()
        return SystemExit(error.exit_code)
    path = error.ctx.command_path if error.ctx else "kubectl sched"
    return SchedError(f"{message.rstrip('.')} (see {path} --help)")


def _program() -> None:
    """Why did my pod land there, or why won't it schedule? Replays kube-scheduler's whole pipeline and explains it."""
