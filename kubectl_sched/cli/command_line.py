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
    from kubectl_sched.cli.options.option_groups import flags

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


_TRUTH = {
    **dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False),
}
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
        written, equals, value = word.partition("=")
        new = FORMER.get(written, "")
        written = new if new in switches | takers else written
        is_short = not written.startswith("--")
        letters = written[1:] if is_short and written.startswith("-") else ""
        *before, flag = [f"-{letter}" for letter in letters] or [written]
        if not switches >= set(before):
            changed.append(word)  # what follows the first letter may be its value
        elif equals and flag in switches:
            if value not in _TRUTH:
                raise SchedError(f"{word}: it is either true or false")
            changed += [*before, flag] if _TRUTH[value] else before
        else:
            glue = "" if is_short and flag in takers and value else equals
            changed += [*before, f"{flag}{glue}{value}"]
            if flag in takers and not equals:
                changed += islice(words, 1)
    return changed
