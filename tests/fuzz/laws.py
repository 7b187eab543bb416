"""The laws that hold for every case."""

from __future__ import annotations

import html
import json
import re
import shlex
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tests.fuzz.program import Outcome

Argvs = tuple[tuple[str, ...], ...]

CONTROL = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2061-\u206f\u2800\u2d7f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\U0001107f\U00013441\U00013442"
    "\U00016fe4\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Control and invisible characters but for line feed, and for WORD JOINER, which Markdown needs."""

_COMMAND_LINE = re.compile(r"^ *(?=kubectl )")
_HTML_COMMAND = re.compile(r'<div class="command"><pre[^>]*><code>(.*?)</code>', re.DOTALL)
_UNKNOWN_IN_WORDS = ("not known", "not judged", "may or may not fit", "Unknown")
_FILES = frozenset({"scheduler.yaml", "dump.json"})
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def broken(outcome: Outcome, arguments: Sequence[str]) -> str | None:
    """The first law that is broken, by its name and what shows it; None if all hold."""
    return next(_broken(outcome, arguments), None)


def _broken(outcome: Outcome, arguments: Sequence[str]) -> Iterator[str]:
    if outcome.crash is not None:
        yield f"crash: {outcome.crash}"
    if outcome.code not in {0, 1, 2, 3}:
        yield f"exit code {outcome.code}: {outcome.stderr[-300:]!r}"
    if b"Traceback" in outcome.stderr:
        yield "traceback"
    if b"could not be written" in outcome.stderr:
        yield f"output error: {outcome.stderr[-200:]!r}"
    answers = outcome.code == 3 and _says_unknown(outcome.stdout, _format(arguments))
    if outcome.code in {2, 3} and not outcome.stderr.strip() and not answers:
        yield "no sentence: it fails and says nothing"
    for name, data in (("stdout", outcome.stdout), ("stderr", outcome.stderr)):
        if data.isascii() and data.translate(None, b"\t\n").isalnum():
            continue
        yield from _in_stream(name, data)
    yield from _in_format(outcome, arguments)
    for text, argvs in outcome.commands.items():
        if (found := argument_lists(text)) != argvs:
            yield f"command: a shell finds {found!r} in {text!r}, and {argvs!r} was built"


def _says_unknown(stdout: bytes, form: str) -> bool:
    """Report whether an answer says in its own words that something that decides is not known."""
    text = stdout.decode(errors="replace")
    if form not in {"json", "yaml"}:
        return any(words in text for words in _UNKNOWN_IN_WORDS)
    try:
        document = json.loads(text) if form == "json" else yaml.load(text, Loader=_LOADER)  # noqa: S506 - it is a safe one
    except (yaml.YAMLError, ValueError, RecursionError):
        return False
    return _has_unknown_outcome(document)


def _has_unknown_outcome(data: Any) -> bool:
    if isinstance(data, dict):
        return data.get("outcome") == "Unknown" or any(map(_has_unknown_outcome, data.values()))
    return isinstance(data, list) and any(map(_has_unknown_outcome, data))


def _in_stream(name: str, data: bytes) -> Iterator[str]:
    try:
        found = CONTROL.search(data.decode())
    except UnicodeDecodeError as error:
        yield f"encoding of {name}: {error}"
    else:
        if found is not None:
            yield f"control character on {name}: {found[0]!a} at {found.start()}"


def _in_format(outcome: Outcome, arguments: Sequence[str]) -> Iterator[str]:
    form = _format(arguments)
    text = outcome.stdout.decode(errors="replace")
    if form == "json" and (text or outcome.code in {0, 1}):
        try:
            document = json.loads(text, parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            yield f"json: {error}"
        else:
            yield from _unbuilt(commands_in(document), outcome)
    elif form == "yaml" and (text or outcome.code in {0, 1}):
        try:
            document = yaml.load(text, Loader=_LOADER)  # noqa: S506 - it is a safe one
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            yield f"yaml: {error}"
        else:
            yield from _unbuilt(commands_in(document), outcome)
    elif form == "html" and "<script>alert" in text:
        yield "markup: text of the input is markup of the page"
    elif form == "html":
        shown = map(html.unescape, _HTML_COMMAND.findall(text))
        yield from _unbuilt([each for each in shown if _COMMAND_LINE.match(each)], outcome)  # else it is a patch
    elif form in {"table", "wide"}:
        unfolded = text.replace(" \\\n", " ")
        lines = [line for line in unfolded.split("\n") if _COMMAND_LINE.match(line)]
        yield from _unbuilt(lines, outcome)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _format(arguments: Sequence[str]) -> str:
    if list(arguments[:2]) == ["snapshot", "-"]:
        return "json"
    if arguments[0] == "read":
        return "none"
    return arguments[arguments.index("-o") + 1] if "-o" in arguments else "table"


def _unbuilt(found: Sequence[str], outcome: Outcome) -> Iterator[str]:
    built = set(map(argument_lists, outcome.commands))
    for text in found:
        if argument_lists(text) not in built:
            yield f"command: {text!r} is printed and was never built"


def commands_in(data: Any) -> list[str]:
    """The commands that data name as such."""
    if isinstance(data, dict):
        own = data.get("commands")
        texts = [each for each in own if isinstance(each, str)] if isinstance(own, list) else []
        return texts + [each for value in data.values() for each in commands_in(value)]
    return [each for value in data for each in commands_in(value)] if isinstance(data, list) else []


@lru_cache(10_000)
def argument_lists(text: str) -> Argvs | None:
    """The argument lists that a shell finds; None if it finds anything but commands, operators and files of ours."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars="|&;>")
    lexer.whitespace_split = True
    lexer.commenters = ""
    argvs: list[list[str]] = [[]]
    try:
        words = iter(list(lexer))
    except ValueError:
        return None
    for word in words:
        if word == ">":
            if next(words, None) not in _FILES:
                return None
        elif word in {"|", "&&", "&", ";"}:
            argvs.append([])
        else:
            argvs[-1].append(word)
    return tuple(tuple(argv) for argv in argvs if argv)


def law_of(broken_law: str) -> str:
    """The name of the law, by which one tells whether a smaller input breaks the same."""
    return broken_law.partition(":")[0]


def known(commands: Mapping[str, Argvs], seen: set[str]) -> dict[str, Argvs]:
    """The commands that were not seen before, which they are from now on."""
    new = {text: argvs for text, argvs in commands.items() if text not in seen}
    seen.update(new)
    return new
