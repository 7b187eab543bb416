"""What holds of every run, whatever it was given. A law that is broken is a sentence."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING, Any, NoReturn

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_sched.shell_commands import Argv
    from tests.fuzz.running import Outcome

CONTROL = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\U000e0000-\U000e007f]"
)
"""What moves a cursor, hides, or turns text around."""

_DATA = {"json": "JSON", "yaml": "YAML"}
_ERROR = re.compile(r"^(error|warning|note): ", re.MULTILINE)


def broken(arguments: list[str], outcome: Outcome, built: Mapping[str, tuple[Argv, ...]]) -> str | None:
    """The law that a run has broken, None where all hold. `built` are the commands for a shell that it has built."""
    if outcome.code is None:
        return "it takes too long"
    try:
        out, err = outcome.out.decode(), outcome.err.decode()
    except UnicodeDecodeError as error:
        return f"what it prints is no UTF-8: {error}"
    return (
        _broken_end(outcome.code, err) or _broken_text(out, err) or _broken_output(arguments, outcome.code, out, built)
    )


def _broken_end(code: int, err: str) -> str | None:
    if code not in {0, 1, 2, 3}:
        return f"exit code {code}: {err[:300]}"
    if code in {2, 3} and not _ERROR.search(err):
        return f"exit code {code} without a sentence"
    return "a traceback" if "Traceback (most recent call last)" in err else None


def _broken_text(out: str, err: str) -> str | None:
    found = CONTROL.search(out) or CONTROL.search(err)
    return f"the control character {found[0]!a}" if found else None


def _broken_output(arguments: list[str], code: int, out: str, built: Mapping[str, tuple[Argv, ...]]) -> str | None:
    output = arguments[arguments.index("-o") + 1] if "-o" in arguments else "table"
    if arguments[:1] == ["snapshot"]:
        output = "json"
    if output in _DATA and code in {0, 1}:
        try:
            data = json.loads(out, parse_constant=_no_number) if output == "json" else _loaded(out)
        except ValueError as error:
            return f"{_DATA[output]} that is none: {str(error)[:200]}"
        commands = list(_commands_in(data)) if arguments[:1] != ["snapshot"] else []
    else:
        lines = re.sub(r" \\\n +", " ", out).split("\n")
        commands = [line.strip() for line in lines if re.match(r" +kubectl (?!sched )", line)]
    for command in commands:
        if output in _DATA and command not in built:
            return f"a command that was not built as arguments: {command!a}"
        if command in built and argument_lists(command) != built[command]:
            return f"a shell would find other arguments in {command!a}"
    return None


def argument_lists(command: str) -> tuple[tuple[str, ...], ...]:
    """The argument lists that a shell finds."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="|&;>")
    lexer.whitespace_split = True
    found: list[list[str]] = [[]]
    words = iter(list(lexer))
    for word in words:
        if word == ">":
            assert next(words) in {"scheduler.yaml", "dump.json"}
        elif word in {"|", "&&", "&", ";"}:
            found.append([])
        else:
            found[-1].append(word)
    return tuple(tuple(argv) for argv in found if argv)


def _commands_in(data: Any) -> Iterator[str]:
    open_ = [data]
    while open_:
        part = open_.pop()
        if isinstance(part, dict):
            commands = part.get("commands")
            if isinstance(commands, list) and "changes" in part:
                yield from map(str, commands)
            open_.extend(part.values())
        elif isinstance(part, list):
            open_.extend(part)


def _loaded(text: str) -> Any:
    try:
        return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - it is the safe one
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None


def _no_number(word: str) -> NoReturn:
    message = f"{word} is no JSON"
    raise ValueError(message)
