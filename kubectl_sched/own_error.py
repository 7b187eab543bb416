"""The sentence that tells of an error in kubectl-sched itself."""

from __future__ import annotations

import os
import traceback
from typing import Final

EXIT_CODE: Final = 4

_PLUGINS = "kubectl_sched.plugins."
_LONGEST = 200
_REPORT = "kubectl sched snapshot report.json.gz --anonymize"


def own_error_sentence(error: BaseException) -> str:
    """Return one sentence: the plugin as far as it is known, the error, and how to report it."""
    plugin = _plugin_of(error)
    within = f" in the plugin {plugin}" if plugin is not None else ""
    said = " ".join(f"{type(error).__name__}: {error}".split())[:_LONGEST]
    return f"{said}{within}; this is a bug in kubectl-sched: report it with the file that `{_REPORT}` makes"


def shown_traceback(error: BaseException) -> str:
    """The traceback where KUBECTL_SCHED_DEBUG=1 asks for it; else nothing."""
    return "".join(traceback.format_exception(error)) if os.environ.get("KUBECTL_SCHED_DEBUG") == "1" else ""


def _plugin_of(error: BaseException) -> str | None:
    """The name of the plugin in which the error arose."""
    found: str | None = None
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if str(frame.f_globals.get("__name__", "")).startswith(_PLUGINS):
            name = getattr(frame.f_locals.get("self"), "name", None)
            found = name if isinstance(name, str) else found
    return found
