"""Strings (cel-go ext/strings, apiserver pkg/cel/library/regex)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.dynamic_resource_allocation.cel.cost import METER, CostExceeded
from kubectl_sched.dynamic_resource_allocation.cel.library.arguments import Function, on_text, want, want_text
from kubectl_sched.dynamic_resource_allocation.cel.library.operators import equal
from kubectl_sched.dynamic_resource_allocation.cel.regex import find_all, matches
from kubectl_sched.dynamic_resource_allocation.cel.values import CelError, Value

if TYPE_CHECKING:
    from collections.abc import Callable


def _find_all(text: Value, pattern: Value, limit: Value = -1) -> list[str]:
    want_text(text, pattern)
    want(limit, int)
    try:
        return list(find_all(text, pattern, limit))
    except CostExceeded:
        raise
    except CelError as wrong:
        raise CelError(f"Illegal regex: {wrong}") from wrong


def _find(text: Value, pattern: Value) -> str:
    return next(iter(_find_all(text, pattern, 1)), "")


def _index_of(text: Value, part: Value, start: Value = 0) -> int:
    if isinstance(text, list):
        return next((place for place, item in enumerate(text) if equal(item, part)), -1)
    want_text(text, part)
    want(start, int)
    if not part:
        return int(start)
    if not 0 <= start < max(len(text), 1):
        raise CelError(f"index out of range: {start}")
    return int(text.find(part, start))


def _last_index_of(text: Value, part: Value, start: Value = None) -> int:
    if isinstance(text, list):
        return max((place for place, item in enumerate(text) if equal(item, part)), default=-1)
    want_text(text, part)
    if start is None:
        return int(text.rfind(part))
    if not 0 <= start < len(text):
        raise CelError(f"index out of range: {start}")
    return int(text.rfind(part, 0, start + len(part)))


def _char_at(text: Value, place: Value) -> str:
    want_text(text)
    want(place, int)
    if not 0 <= place <= len(text):
        raise CelError(f"index out of range: {place}")
    return text[place : place + 1] if isinstance(text, str) else ""


def _substring(text: Value, start: Value, end: Value = None) -> str:
    want_text(text)
    end = len(text) if end is None else end
    for place in (start, end):
        want(place, int)
        if not 0 <= place <= len(text):
            raise CelError(f"index out of range: {place}")
    if start > end:
        raise CelError(f"invalid substring range. start: {start}, end: {end}")
    return str(text[start:end])


def _replace(text: Value, old: Value, new: Value, limit: Value = -1) -> str:
    want_text(text, old, new)
    METER.get().work(len(text) + text.count(old) * len(new))
    return str(text.replace(old, new, limit))


def _split(text: Value, separator: Value, limit: Value = -1) -> list[str]:
    want_text(text, separator)
    if not limit:
        return []
    if not separator:
        parts = list(text)
        return parts if limit < 0 or len(parts) <= limit else [*parts[: limit - 1], "".join(parts[limit - 1 :])]
    return list(text.split(separator, limit - 1 if limit > 0 else -1))


def _join(items: Value, separator: Value = "") -> str:
    want(items, list)
    want_text(separator, *items)
    METER.get().work(sum(map(len, items)) + len(items) * len(separator))
    return str(separator.join(items))


def _case(change: Callable[[str], str], letters: str) -> Function:
    def changed(text: Value) -> str:
        want_text(text)
        return "".join(change(letter) if letter in letters else letter for letter in text)

    return changed


_QUOTED = {
    '"': '\\"',
    "\\": "\\\\",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\v": "\\v",
}


def _quote(text: Value) -> str:
    want_text(text)
    METER.get().work(len(text))
    return '"' + "".join(_QUOTED.get(letter, letter) for letter in text) + '"'


_LOWER, _UPPER = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


FUNCTIONS: dict[str, Function] = {
    "matches": on_text(matches),
    "contains": on_text(lambda text, part: part in text),
    "startsWith": on_text(lambda text, part: text.startswith(part)),
    "endsWith": on_text(lambda text, part: text.endswith(part)),
    "charAt": _char_at,
    "indexOf": _index_of,
    "lastIndexOf": _last_index_of,
    "lowerAscii": _case(str.lower, _UPPER),
    "upperAscii": _case(str.upper, _LOWER),
    "trim": on_text(lambda text: text.strip()),
    "replace": _replace,
    "split": _split,
    "substring": _substring,
    "join": _join,
    "strings.quote": _quote,
    "find": _find,
    "findAll": _find_all,
}
