"""The sentence that tells of an error in kubectl-sched itself."""

from __future__ import annotations

import os
import traceback
from typing import Final

EXIT_CODE: Final = 4

_PLUGINS = "kubectl_sched.plugins."
_LONGEST = 200
_REPORT = "kubectl sched snapshot report.json.gz --anonymize"

_noted: Final[dict[str, str]] = {}
_MOST_NOTED = 4

HOW_TO_REPORT: Final = f"this is a bug in kubectl-sched: report it with the file that `{_REPORT}` makes"


def own_error_sentence(error: BaseException) -> str:
    """Return one sentence: the plugin as far as it is known, the error, and how to report it."""
    plugin = _plugin_of(error)
    within = f" in the plugin {plugin}" if plugin is not None else ""
    return f"{error_in_one_line(error)}{within}; {HOW_TO_REPORT}"


def error_in_one_line(error: BaseException) -> str:
    """Return the type and the text of an error, bounded, with what no terminal should see escaped."""
    said = " ".join(f"{type(error).__name__}: {error}".split())
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in said[:_LONGEST])


def shown_traceback(error: BaseException) -> str:
    """The traceback where KUBECTL_SCHED_DEBUG=1 asks for it; else nothing."""
    return "".join(traceback.format_exception(error)) if os.environ.get("KUBECTL_SCHED_DEBUG") == "1" else ""


def note_error(error: BaseException) -> None:
    """Note an error that costs a part of an answer, so that the program ends with it; the first of them suffice."""
    if len(_noted) < _MOST_NOTED:
        _noted[own_error_sentence(error)] = shown_traceback(error)


def take_noted() -> list[tuple[str, str]]:
    """Take each distinct error that was noted: its sentence and, where it is asked for, its traceback."""
    noted = list(_noted.items())
    _noted.clear()
    return noted


def _plugin_of(error: BaseException) -> str | None:
    """The name of the plugin in which the error arose."""
    found: str | None = None
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if str(frame.f_globals.get("__name__", "")).startswith(_PLUGINS):
            name = getattr(frame.f_locals.get("self"), "name", None)
            found = name if isinstance(name, str) else found
    return found
