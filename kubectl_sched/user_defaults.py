"""Defaults set by the user: `KUBECTL_SCHED_*` variables and one file in the home directory.

They say how answers are shown and never where state comes from. No other folder is looked in, so that whoever made a
dump, or the folder that a command runs in, sets none.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kubectl_sched.bounded_files import content
from kubectl_sched.errors import SchedError

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE: Final = ".kubectl-sched.toml"
PREFIX: Final = "KUBECTL_SCHED_"

_VALUES: Final[Mapping[str, tuple[str, ...]]] = {
    "output": ("table", "wide", "json", "yaml"),
    "color": ("auto", "always", "never"),
    "notes": ("true", "false"),
    "pager": (),
}
"""The values of each default; any text for one that lists none."""


def user_defaults() -> dict[str, str]:
    """Return what is set; a variable counts before the file. Raises SchedError for what cannot be set so."""
    told = {name: os.environ[f"{PREFIX}{name.upper()}"] for name in _VALUES if f"{PREFIX}{name.upper()}" in os.environ}
    for name, value in told.items():
        _check(name, value, f"{PREFIX}{name.upper()}")
    return {**_of_file(), **told}


def _of_file() -> dict[str, str]:
    try:
        path = Path.home() / FILE
        text = content(path).decode()
    except (FileNotFoundError, NotADirectoryError, RuntimeError):  # the last: there is no home directory
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise SchedError(f"~/{FILE} cannot be read: {getattr(error, 'strerror', None) or 'it is no text'}") from error
    import tomllib

    try:
        told = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SchedError(f"~/{FILE} is no TOML: {error}") from error
    for name, value in told.items():
        _check(name, _as_text(value), f"{name} in ~/{FILE}")
    return {name: _as_text(value) for name, value in told.items()}


def _as_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _check(name: str, value: str, where: str) -> None:
    if name not in _VALUES:
        raise SchedError(f"{where} is no default; there are {', '.join(_VALUES)}")
    if _VALUES[name] and value not in _VALUES[name]:
        raise SchedError(f"{where} is {value!r}, and not one of {', '.join(_VALUES[name])}")
