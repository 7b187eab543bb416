"""Completion: what may stand where the cursor is, in the protocol that kubectl and cobra's scripts speak.

`kubectl-sched __complete WORDS...` and `kubectl_complete-sched WORDS...` print one candidate a line, after a tab what
it is, and last `:N` with the directive. The last word is the one that is being written, and may be empty.
"""

from __future__ import annotations

import os
import re
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

from kubectl_sched.cli.command_line import command_first, leading_flags
from kubectl_sched.cli.completion.values import Candidate, candidates, is_file
from kubectl_sched.cli.help import help_texts
from kubectl_sched.cli.lazy_commands import COMMANDS, HELP_FLAGS, TRIAGE, UsageError, command
from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.safe_output import write_candidate, write_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FILES: Final = 0
"""ShellCompDirectiveDefault: where there is no candidate, the shell offers files."""
NO_SPACE: Final = 2
"""ShellCompDirectiveNoSpace: the word goes on."""
NO_FILES: Final = 4
"""ShellCompDirectiveNoFileComp."""

_WORD_BREAKS: Final = ("=", ":")
_GO_ON: Final = ("=", "/")
_PLAIN: Final = pattern(r"[\w./:@+=,-]+", re.ASCII)
"""A value that any shell takes for one word: the scripts of kubectl insert a candidate as it is, without quotes."""


class Completions(NamedTuple):
    """The candidates, and what the shell is to make of them."""

    candidates: tuple[Candidate, ...]
    directive: int


def kubectl_complete() -> NoReturn:
    """The program kubectl_complete-sched, which kubectl runs for `kubectl sched`."""
    print_completions(sys.argv[1:])


def print_completions(words: Sequence[str]) -> NoReturn:
    """Print what completes the line. Nothing is asked of the person at it, and nothing that goes wrong is shown."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 2):
        os.dup2(nothing, stream)
    try:
        found = completions(words)
    except Exception:  # noqa: BLE001 - a line that makes no sense has nothing to go on with
        found = Completions((), NO_FILES)
    for value, about in found.candidates:
        if _PLAIN.fullmatch(value):
            write_candidate(value, about)
    write_text(f":{found.directive}\n")
    sys.stdout.flush()
    os._exit(0)  # a cluster that has not answered in time is not waited for


def completions(words: Sequence[str]) -> Completions:
    """Return the candidates for the last of these words, which follow the program's name."""
    *before, incomplete = _joined(words) or [""]
    before = command_first(before)
    named = bool(before) and not before[0].startswith("-")
    wants_value = bool(before) and leading_flags().get(before[-1], False)
    if before[:1] == ["help"] or not (named or wants_value or incomplete.startswith("-")):
        return Completions(tuple(_commands(incomplete)), NO_FILES)
    name, *rest = before if named else [TRIAGE, *before]
    if name not in COMMANDS:
        return Completions((), NO_FILES)
    return _of_command(name, rest, incomplete)


def _joined(words: Iterable[str]) -> list[str]:
    """The words as they were written: bash hands on `--from=x`, `w1=a` and `arn:aws` as three words each."""
    joined: list[str] = []
    goes_on = False
    for word in words:
        if joined and (goes_on or word in _WORD_BREAKS):
            joined[-1] += word
        else:
            joined.append(word)
        goes_on = word in _WORD_BREAKS
    return joined


def _commands(incomplete: str) -> Iterable[Candidate]:
    texts = help_texts().commands
    for name in (*COMMANDS, "help", "options"):
        if name.startswith(incomplete):
            yield Candidate(name, texts[name].short if name in texts else "")
    if incomplete.startswith("-"):
        yield from (Candidate(flag, "") for flag in HELP_FLAGS if flag.startswith(incomplete))


def _of_command(name: str, rest: list[str], incomplete: str) -> Completions:
    """Complete by the command as typer built it, with our own values for those that it does not know."""
    built = command(name)
    for parameter in built.params:
        if not (parameter.type.name == "choice" or getattr(parameter, "is_flag", False)):
            _take_over(name, parameter)
    items = _engine()(built, {}, name, "").get_completions(rest, incomplete)
    if any(item.type != "plain" for item in items):
        return Completions((), FILES)
    found = tuple(Candidate(str(item.value), item.help or "") for item in items)
    goes_on = bool(found) and all(each.value.endswith(_GO_ON) for each in found)
    return Completions(found, NO_FILES | (NO_SPACE if goes_on else 0))


def _take_over(name: str, parameter: Any) -> None:
    """Have the parameter complete its values from what the cluster or the dump holds."""
    item = _shell_completion().CompletionItem

    def shell_complete(ctx: Any, incomplete: str) -> list[Any]:
        if is_file(name, parameter.name, incomplete):
            return [item(incomplete, type="file")]
        found = candidates(name, parameter.name, ctx.params, incomplete)
        if not found and "|" in (parameter.metavar or ""):
            return [item(each) for each in parameter.metavar.split("|") if each.startswith(incomplete)]
        return [item(each.value, help=each.about) for each in found]

    parameter.shell_complete = shell_complete


def _shell_completion() -> Any:
    """The module of the click that this typer is built on."""
    return import_module(f"{UsageError.__module__.rpartition('.')[0]}.shell_completion")


def _engine() -> Any:
    """The class that finds out which parameter is being written, whatever the shell."""
    base = _shell_completion().ShellComplete
    of_a_shell = dict.fromkeys(getattr(base, "__abstractmethods__", ()), lambda _: None)
    return type("_Engine", (base,), of_a_shell)
