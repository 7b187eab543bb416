"""Finds a command by its name, and builds it with typer only when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperOption

from kubectl_sched.cli.command_line import respelled
from kubectl_sched.cli.options.kubectl_formats import refuse_templates
from kubectl_sched.cli.options.option_groups import flattened

COMMANDS = (
    *("triage", "explain", "message", "whatif", "drain", "capacity", "bind", "diff", "profiles", "schedulers"),
    *("snapshot", "mcp", "schema", "completion", "version"),
)
"""Each is the function of that name in the module of that name; `help_texts.toml` has what help says of it."""

TRIAGE = "triage"
"""The command of a line that names none."""

HELP_FLAGS = ("-h", "--help")

UsageError: type[Exception] = typer.BadParameter.__bases__[0]
"""Of the click that this typer is built on, be it its own or the package."""


def command(name: str) -> Any:
    """The command as typer builds it. Its module is imported only now."""
    single = typer.Typer(
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": list(HELP_FLAGS)},
    )
    single.command(name, cls=_Documented)(flattened(getattr(import_module(f"kubectl_sched.cli.{name}"), name)))
    return typer.main.get_command(single)


class _Documented(TyperCommand):
    """A command whose help looks like kubectl's, and whose flags may be written as kubectl's may."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        flags = [each for each in self.get_params(ctx) if isinstance(each, TyperOption)]
        switches = {name for each in flags if each.is_flag for name in each.opts}
        takers = {name for each in flags if not each.is_flag for name in each.opts}
        words = respelled(args, switches, takers)
        if "--output" in takers:
            refuse_templates(words)
        return super().parse_args(ctx, words)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        from kubectl_sched.cli.help import command_help

        formatter.write(command_help(self.name or "", self.get_params(ctx)))
