"""Groups of options: a class declares one, and a command takes it as one argument."""

from __future__ import annotations

import inspect
from functools import cache, wraps
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, get_type_hints

from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable

    from typer.models import OptionInfo


class OptionGroup(Record, frozen=True, kw_only=True):
    """Options that stand together. Each field is annotated with its option and has a default."""

    heading: ClassVar[str]
    """The heading in the help of every command that takes the group."""


class Flags(NamedTuple):
    """The flags of one option, as they are written."""

    spellings: tuple[str, ...]
    takes_value: bool


@cache
def declared(group: type[OptionGroup]) -> dict[str, tuple[Any, OptionInfo]]:
    """Return the type and the option of each field, under the group's heading."""
    hints = get_type_hints(group, include_extras=True)
    options = {name: (hints[name].__origin__, hints[name].__metadata__[0]) for name in group.__struct_fields__}
    for _, option in options.values():
        option.rich_help_panel = group.heading
    return options


def flags(group: type[OptionGroup]) -> dict[str, Flags]:
    """Return the flags of each field."""
    # The first stands where typer has the default of an option that is no annotation.
    return {
        name: Flags((str(option.default), *(option.param_decls or ())), takes_value=kind is not bool)
        for name, (kind, option) in declared(group).items()
    }


def flattened(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with the options of its groups as parameters of its own, as typer reads them."""
    hints = get_type_hints(command, include_extras=True)
    groups = {name: hint for name, hint in hints.items() if isinstance(hint, type) and issubclass(hint, OptionGroup)}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name in groups:
            parameters += _parameters(groups[name])
        else:
            parameters.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))

    @wraps(command)
    def flat(**values: Any) -> None:
        made = {
            name: group(**{field: values.pop(field) for field in group.__struct_fields__})
            for name, group in groups.items()
        }
        command(**values, **made)

    flat.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined] # inspect reads it
    flat.__annotations__ = {each.name: each.annotation for each in parameters}
    return flat


def _parameters(group: type[OptionGroup]) -> list[inspect.Parameter]:
    defaults = group()
    return [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=getattr(defaults, name),
            annotation=Annotated[kind, option],
        )
        for name, (kind, option) in declared(group).items()
    ]
