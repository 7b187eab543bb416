"""Runs the command that a command line begins with."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NoReturn

from kubectl_sched.cli.command_line import leading_flags
from kubectl_sched.cli.lazy_commands import COMMANDS, HELP_FLAGS, TRIAGE, UsageError, command
from kubectl_sched.errors import SchedError
from kubectl_sched.safe_output import can_draw, write_text
from kubectl_sched.user_defaults import user_defaults

if TYPE_CHECKING:
    from collections.abc import Sequence

COMPLETE = "__complete"
"""The command that completion scripts call. Everything after it stands on the line to complete."""


_FORMATTED = frozenset({TRIAGE, "explain", "whatif", "drain", "capacity", "diff", "profiles", "schedulers"})
"""The commands whose format of answers a user may set for all."""


def app(arguments: Sequence[str], prog_name: str = "kubectl sched", **settings: Any) -> Any:
    """Run the command that the arguments begin with; `settings` are those of click's `main`.

    Only that command is built, since building all of them takes longer than a small dump takes to explain.
    """
    name, *rest = with_command(arguments, prog_name)
    if name == COMPLETE:
        from kubectl_sched.cli.completion.protocol import print_completions

        print_completions(rest)
    if name in {*HELP_FLAGS, "options"}:
        _print_help(name)
    try:
        settings = {**settings, "standalone_mode": False, "default_map": _defaults(name)}
        return command(name).main(rest, f"{prog_name} {name}", **settings)
    except UsageError as error:
        raise _in_one_sentence(error) from None


def with_command(arguments: Sequence[str], prog_name: str = "kubectl sched") -> list[str]:
    """Return the line with the command that it means in front; a line that names none is a triage.

    Raises SchedError for a flag that stands before its command and belongs behind it.
    """
    name, *rest = arguments or (TRIAGE,)
    if name == "help":
        name, rest = (rest[0], [*rest[1:], "--help"]) if rest else ("--help", [])
    if (name, *rest[:1]) == ("explain", "message") and any(flag in rest for flag in HELP_FLAGS):
        return rest
    if name == "--version":
        return ["version", *rest]
    if not name.startswith("-") or name in HELP_FLAGS:
        is_command = name in {*COMMANDS, *HELP_FLAGS, "options", COMPLETE}
        return [name, *rest] if is_command else ["explain", _checked_name(name, prog_name), *rest]
    flag = next((word for word in arguments if word.startswith("-") and word not in leading_flags()), None)
    behind = next((word for word in arguments if word in COMMANDS), None)
    if flag in {"-f", "--filename"} and behind is None:
        raise SchedError(f"{flag} needs a command: write {prog_name} explain {flag} FILE, or whatif {flag} FILE")
    if flag is not None and behind is not None:
        raise SchedError(
            f"{flag} belongs behind the command: write {behind} {flag} ... (see {prog_name} {behind} --help)"
        )
    return [TRIAGE, *arguments]


def _defaults(name: str) -> dict[str, str]:
    """Return the user's defaults that the command takes: no format for what shows a screen or has few formats."""
    told = user_defaults()
    has_screen = name == TRIAGE and sys.stdin.isatty() and can_draw(sys.stdout)
    if has_screen or name not in _FORMATTED:
        told.pop("output", None)
    return told


def _print_help(name: str) -> NoReturn:
    from kubectl_sched.cli.help import connection_help, overview

    text = connection_help(command("explain").params) if name == "options" else overview()
    write_text(f"{text}\n")
    sys.exit(0)


def _checked_name(name: str, prog_name: str) -> str:
    """Return the first word of a line without a command, which names what is to be explained.

    Raises SchedError for a near miss of a command and for a command of kubectl, before anything is read.
    """
    if "/" in name:
        return name
    from difflib import get_close_matches

    near = get_close_matches(name, COMMANDS, n=1, cutoff=_NEAR_MISS)
    if not near and len(name) >= _SHORTEST_PREFIX:
        near = [each for each in COMMANDS if each.startswith(name)][:1]
    if near:
        raise SchedError(
            f'unknown command "{name}" for "{prog_name}" (did you mean {near[0]}? a pod of that name is pod/{name})'
        )
    if name in _MEANT:
        raise SchedError(f'unknown command "{name}" for "{prog_name}" (write `{prog_name} {_MEANT[name]}`)')
    if name in _OF_KUBECTL or not name:
        raise SchedError(
            f'unknown command "{name}" for "{prog_name}" (write `{prog_name} web-0` or `{prog_name} deploy/web`; see '
            f"{prog_name} --help)"
        )
    return name


_NEAR_MISS = 0.75
"""The similarity from which a word is taken for a misspelt command."""

_SHORTEST_PREFIX = 3
_MEANT = {
    "cordon": "whatif --cordon NODE",
    "uncordon": "whatif --uncordon NODE",
    "taint": "whatif --taint NODE=KEY=VALUE:EFFECT",
    "scale": "whatif deploy/web --replicas N",
    "pending": "explain pods --pending -A",
}
"""The command that a first word stands for."""

_OF_KUBECTL = frozenset(
    (
        "get",
        "describe",
        "logs",
        "top",
        "apply",
        "create",
        "delete",
        "edit",
        "rollout",
        "exec",
    )
)
"""Commands of kubectl, of which nobody means a pod's name."""


def _in_one_sentence(error: Any) -> BaseException:
    """Return the error of a command line in the words of all other bad input."""
    message = " ".join(error.format_message().split())
    path = error.ctx.command_path if error.ctx else "kubectl sched"
    return SchedError(f"{message.rstrip('.')} (see {path} --help)")
