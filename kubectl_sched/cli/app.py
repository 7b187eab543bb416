"""Runs the command that a command line begins with."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NoReturn

from kubectl_sched.cli.arguments import leading_flags
from kubectl_sched.cli.typer_commands import COMMANDS, HELP_FLAGS, UsageError, command
from kubectl_sched.errors import SchedError
from kubectl_sched.output import write_text

if TYPE_CHECKING:
    from collections.abc import Sequence

COMPLETE = "__complete"
"""The command that completion scripts call. Everything after it stands on the line to complete."""


def app(arguments: Sequence[str], prog_name: str = "kubectl sched", **settings: Any) -> Any:
    """Run the command that the arguments begin with; `settings` are those of click's `main`.

    Only that command is built, since building all of them takes longer than a small dump takes to explain.
    """
    name, *rest = arguments or HELP_FLAGS
    if name == COMPLETE:
        from kubectl_sched.cli.completion.protocol import print_completions

        print_completions(rest)
    if name == "help":
        name, rest = (rest[0], [*rest[1:], "--help"]) if rest else ("--help", [])
    if (name, *rest[:1]) == ("explain", "message") and any(flag in rest for flag in HELP_FLAGS):
        name, *rest = rest
    if name in {*HELP_FLAGS, "options"}:
        _print_help(name)
    if name == "--version":
        name = "version"
    if name not in COMMANDS:
        raise SchedError(_misplaced(name, rest, prog_name) if name.startswith("-") else _unknown(name, prog_name))
    try:
        return command(name).main(rest, f"{prog_name} {name}", **{**settings, "standalone_mode": False})
    except UsageError as error:
        raise _in_one_sentence(error) from None


def _print_help(name: str) -> NoReturn:
    from kubectl_sched.cli.help import connection_help, overview

    text = connection_help(command("explain").params) if name == "options" else overview(COMMANDS)
    write_text(f"{text}\n")
    sys.exit(0)


def _misplaced(flag: str, rest: Sequence[str], prog_name: str) -> str:
    """Return the error of a line that begins with a flag."""
    takes_value = leading_flags()
    if takes_value.get(flag) and not rest:
        return f"{flag} needs a value, and a command beside it (see {prog_name} --help)"
    behind = next((word for word in rest if word in COMMANDS), None) if flag not in takes_value else None
    if behind is not None:
        return f"{flag} belongs behind the command: write {behind} {flag} ... (see {prog_name} {behind} --help)"
    return f"there is no command before {flag}: name one first (see {prog_name} --help)"


def _unknown(name: str, prog_name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, COMMANDS, n=1)
    meant = f"did you mean {near[0]}?" if near else f"see {prog_name} --help"
    return f'unknown command "{name}" for "{prog_name}" ({meant})'


def _in_one_sentence(error: Any) -> BaseException:
    """Return the error of a command line in the words of all other bad input."""
    message = " ".join(error.format_message().split())
    path = error.ctx.command_path if error.ctx else "kubectl sched"
    return SchedError(f"{message.rstrip('.')} (see {path} --help)")
