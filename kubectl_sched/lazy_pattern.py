"""Regular expressions that are compiled when they are first used, as all of them together would delay the start."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _LazyPattern:
    """Stands for an expression until a method of it is asked for."""

    def __init__(self, expression: Any, flags: int) -> None:
        self._arguments = expression, flags

    def __getattr__(self, name: str) -> Any:
        """Return the attribute of the compiled expression, and keep it as this one's own."""
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(re.compile(*self._arguments), name)
        setattr(self, name, found)
        return found


def pattern(expression: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return the expression as `re.compile` does, but compile it later."""
    return cast("re.Pattern[AnyStr]", _LazyPattern(expression, flags))
