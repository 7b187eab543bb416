"""Command lines as kubectl takes them: flags before the command or after it, values in each of pflag's spellings."""

from __future__ import annotations

from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from kubectl_sched.errors import SchedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from collections.abc import Set as AbstractSet

FORMER = {"--all": "--all-nodes", "--to-from": "--to-dump"}
"""Flags that were renamed; the old names are accepted and not listed."""


@cache
def leading_flags() -> dict[str, bool]:
    """Return the flags that may stand before a command, and whether each takes a value."""
    from kubectl_sched.cli import options
    from kubectl_sched.cli.options.connection import ConnectionOptions
    from kubectl_sched.cli.options.groups import flags

    groups = (options.StateSource, options.PodSelection, options.ProfiledScheduler, ConnectionOptions)
    options_of_all = (option for group in groups for option in flags(group).values())
    return {flag: option.takes_value for option in options_of_all for flag in option.spellings}


def command_first(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with flags that stand before the command's name moved behind it, if there is one."""
    if not arguments or not arguments[0].startswith("-"):
        return list(arguments)
    takes_value = leading_flags()
    glued = tuple(flag for flag in takes_value if len(flag) == len("-n"))
    width = 0
    while width < len(arguments):
        flag, equals, _ = arguments[width].partition("=")
        if flag not in takes_value and (flag.startswith("--") or not flag.startswith(glued)):
            break
        width += 2 if takes_value.get(flag) and not equals else 1
    if any(word.startswith("-") for word in arguments[width : width + 1]):
        return list(arguments)
    return [*arguments[width : width + 1], *arguments[:width], *arguments[width + 1 :]]


_TRUE, _FALSE = (
    frozenset({"1", "t", "T", "true", "TRUE", "True"}),
    frozenset({"0", "f", "F", "false", "FALSE", "False"}),
)
"""Go's strconv.ParseBool."""


def respelled(arguments: Iterable[str], switches: AbstractSet[str], takers: AbstractSet[str]) -> list[str]:
    """A command's arguments in spellings that click knows, too: not `-n=team`, nor `--all-namespaces=true`.

    `switches` are the flags that stand alone and `takers` those that take a value, with their dashes. Raises SchedError
    for a switch that is set to what is neither true nor false.
    """
    changed: list[str] = []
    words = iter(arguments)
    for word in words:
        if word == "--":
            return [*changed, word, *words]
        awaits_value = False
        if word.startswith("--"):
            name, equals, value = word.partition("=")
            if FORMER.get(name) in switches | takers:
                name = FORMER[name]
            changed += _switch(name, value) if equals and name in switches else [f"{name}{equals}{value}"]
            awaits_value = not equals and name in takers
        elif word.startswith("-"):
            short, awaits_value = _short(word[1:], switches, takers)
            changed += short
        else:
            changed.append(word)
        if awaits_value:
            changed += islice(words, 1)
    return changed


def _short(letters: str, switches: AbstractSet[str], takers: AbstractSet[str]) -> tuple[list[str], bool]:
    """Short flags in one word, each in a word of its own; whether the last of them awaits its value."""
    apart: list[str] = []
    while letters:
        flag, rest = f"-{letters[0]}", letters[1:]
        value = rest[1:] if rest.startswith("=") else ""
        if flag in takers:
            return [*apart, f"{flag}{value or rest}"], not rest
        if flag not in switches:
            break  # click says that there is no such flag
        if value:
            return [*apart, *_switch(flag, value)], False
        apart.append(flag)
        letters = rest
    return ([*apart, f"-{letters}"] if letters or not apart else apart), False


def _switch(flag: str, value: str) -> list[str]:
    if value not in _TRUE | _FALSE:
        raise SchedError(f"{flag}={value}: it is either true or false")
    return [flag] if value in _TRUE else []
