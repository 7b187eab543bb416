"""Help as kubectl prints it: what it is, examples, options one below the other, usage, and where there is more."""

from __future__ import annotations

import shutil
import textwrap
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

PROGRAM: Final = "kubectl sched"
CONNECTION: Final = "Connection"
"""The panel of the options that all commands share; they have a page of their own, as kubectl's have."""

_TABLE: Final = Path(__file__).with_name("help_texts.toml")
_WIDEST: Final = 100
_MORE: Final = f'Use "{PROGRAM} <command> --help" for more information about a given command.'
_OPTIONS: Final = f'Use "{PROGRAM} options" for the connection options, which all commands take.'


class CommandHelp(Record, frozen=True, kw_only=True):
    """A command in one phrase, in paragraphs, by usage, and by example lines with what each is wanted for."""

    short: str
    usage: str
    text: str
    examples: dict[str, str]


class HelpTexts(Record, frozen=True, kw_only=True):
    """The first line of the help as a whole, the commands by group, and the texts of each."""

    about: str
    groups: dict[str, tuple[str, ...]]
    commands: dict[str, CommandHelp]


@cache
def help_texts() -> HelpTexts:
    """Return the table."""
    return msgspec.toml.decode(_TABLE.read_bytes(), type=HelpTexts)


def overview() -> str:
    """Return the text of `kubectl sched --help`: the commands, group by group."""
    texts = help_texts()
    width = max(map(len, texts.commands))
    lines = [*_wrapped(texts.about), ""]
    for group, names in texts.groups.items():
        lines += [f"{group}:", *(f"  {name:<{width}}   {texts.commands[name].short}" for name in names), ""]
    return "\n".join([*lines, "Usage:", f"  {PROGRAM} <command> [flags] [options]", "", _MORE, _OPTIONS])


def command_help(name: str, parameters: Sequence[Any]) -> str:
    """Return the text of `kubectl sched NAME --help`; `parameters` are those of the command as it was built."""
    known = help_texts().commands[name]
    lines = [*_paragraphs(known.text), "", "Examples:"]
    for line, wanted in known.examples.items():
        lines += [f"  # {wanted}", f"  {line}", ""]
    panels: dict[str, list[Any]] = {}
    for parameter in parameters:
        if parameter.param_type_name == "option" and parameter.name != "help" and not parameter.hidden:
            panels.setdefault(getattr(parameter, "rich_help_panel", None) or "Options", []).append(parameter)
    shared = panels.pop(CONNECTION, [])
    for panel, options in panels.items():
        lines += [f"{panel}:", *_options(options)]
    lines += ["Usage:", f"  {PROGRAM} {known.usage}"]
    return "\n".join([*lines, "", _OPTIONS] if shared else lines)


def connection_help(parameters: Sequence[Any]) -> str:
    """Return the text of `kubectl sched options`: the connection options, which all commands share."""
    shared = [each for each in parameters if getattr(each, "rich_help_panel", None) == CONNECTION]
    lines = ["The following options can be passed to any command that reads a cluster:", "", *_options(shared)]
    return "\n".join(lines).rstrip("\n")


def _options(options: Iterable[Any]) -> Iterator[str]:
    for option in options:
        names = sorted(option.opts, key=len)
        yield f"    {', '.join(names)}={_default(option)}:"
        yield from _wrapped(_described(option), indent=8)
        yield ""


def _default(option: Any) -> str:
    if option.is_flag:
        return "false"
    if option.multiple:
        return "[]"
    default = option.default
    return f"'{'' if default is None or callable(default) else getattr(default, 'value', default)}'"


def _described(option: Any) -> str:
    text = option.help or ""
    form = option.metavar or ""
    choices = [getattr(choice, "value", choice) for choice in getattr(option.type, "choices", ())]
    choices = choices or (form.split("|") if "|" in form else [])
    if choices:
        return f"{text} One of: ({', '.join(choices)})."
    return f"{text} Written {form}." if "=" in form else text


def _paragraphs(text: str) -> Iterator[str]:
    """The first as it is, the others set in by a blank, as kubectl does."""
    first, *others = text.split("\n\n")
    yield from _wrapped(first)
    for other in others:
        yield ""
        yield from _wrapped(other, indent=1)


def _wrapped(text: str, indent: int = 0) -> list[str]:
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    prefix = " " * indent
    return textwrap.wrap(
        text,
        width=max(width, 40),
        initial_indent=prefix,
        subsequent_indent=prefix,
        break_long_words=False,
        break_on_hyphens=False,
    )
