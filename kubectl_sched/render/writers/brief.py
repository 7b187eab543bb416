"""Brief answers: the essence of an answer's data, no larger than a number of bytes.

A brief answer has fields of the whole one, and `leftOut`: by path, how many entries or characters are missing there. A
list loses its last entries, a text its end, which `…` marks; a command is whole or left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

POD_BYTES: Final = 8 * 1024
"""The size of a brief answer about one pod."""

ANSWER_BYTES: Final = 32 * 1024
"""The size of any other brief answer."""

LEFT_OUT: Final = "leftOut"
"""The field that only a brief answer has."""

MARK: Final = "…"
"""The end of a text that was cut."""

_WIDTHS: Final = (
    *((100, 4000), (50, 2000), (30, 1500), (20, 1000), (12, 1000), (8, 700), (6, 500), (5, 400), (4, 300)),
    *((3, 260), (2, 260), (1, 260), (1, 130), (0, 60), (0, 13)),
)
"""The entries of a list and the characters of a text that are tried, one after the other. A name has 253 at most."""

_MOST_FIELDS: Final = 40
_LONGEST_KEY: Final = 317
"""The characters of a label's key."""

_NESTED: Final = 4
"""A list within a list has a fourth of the entries."""

_NAMES_SHOWN: Final = 5
_NAMES: Final = frozenset({"best", "feasible", "pods", "tied"})
_WHOLE_OR_NOT: Final = frozenset({"commands", "patches"})

_RUNG: Final = ("rung", "text", "summary", "commands", "manual", "ends", "lost", "caution", "placed", "pods")

_VIEWS: Final[Mapping[str, Mapping[str, Sequence[str]]]] = {
    "Explanation": {
        **dict.fromkeys(("pod", "schedulerName", "kubernetesVersion", "kubernetesPatch", "currentNode"), ()),
        **dict.fromkeys(("outcome", "verdict"), ()),
        **dict.fromkeys(("unreadable", "said", "message", "error", "groups", "closest", "funnel", "feasible"), ()),
        **dict.fromkeys(("best", "findings", "marks"), ()),
        "suggestions": _RUNG,
        "gates": ("gate", "owner", "says", "fitsUngated"),
        **dict.fromkeys(("podGroup", "stage", "unknown", "warnings"), ()),
    },
    "Triage": {
        **dict.fromkeys(("pending", "workloads"), ()),
        "groups": ("cause", "summary", "pods", "workloads", "oldest", "suggestions", "waitingFor"),
        "suggestions": _RUNG,
        **dict.fromkeys(("refusingNodes", "warnings"), ()),
    },
    "WhatIf": {
        **dict.fromkeys(("kubernetesVersion", "kubernetesPatch", "placed", "unplaced", "stopped"), ()),
        **dict.fromkeys(("nodesNeeded", "newNodes"), ()),
        **dict.fromkeys(("rollouts", "drain"), ()),
        "placements": ("pod", "owner", "outcome", "node", "nominatedNode", "event", "reason"),
        **dict.fromkeys(("perNode", "interrupted", "warnings"), ()),
    },
}
"""By kind, the fields of a brief answer, and of the entries of a list, wherever it stands: `()` is all of them."""


def brief_fields(kind: str) -> Mapping[str, Sequence[str]] | None:
    """Return the fields of a brief answer, and of the entries of its lists (none: all); None if it has every field."""
    return _VIEWS.get(kind)


def brief(data: Mapping[str, Any], size: Callable[[Any], int]) -> dict[str, Any]:
    """Return the brief answer. `size` is the number of bytes of a value in the format that is written.

    The items of a list of explanations are an iterator, each an answer of its own.
    """
    if data["kind"] == "ExplanationList":
        about_all = fitted({key: value for key, value in data.items() if key != "items"}, size, POD_BYTES)
        return {**about_all, "items": (brief(each, size) for each in data["items"])}
    return fitted(_essence(data), size, POD_BYTES if data["kind"] == "Explanation" else ANSWER_BYTES)


def fitted(data: Mapping[str, Any], size: Callable[[Any], int], most: int) -> dict[str, Any]:
    """Return the data with lists and texts so long that they fit into `most` bytes, and `leftOut`."""
    shortened = {key: data[key] for key in ("apiVersion", "kind") if key in data}
    for entries, characters in _WIDTHS:
        cut = _Cut(entries, characters, most, data.get(LEFT_OUT, {}))
        with suppress(_TooLargeError):
            shortened = {key: cut.value(value, key) for key, value in data.items() if key != LEFT_OUT}
            shortened[LEFT_OUT] = cut.left_out
            if size(shortened) <= most:
                break
    return shortened


def _essence(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a brief answer; pods that have no place come first."""
    view = brief_fields(data["kind"])
    if view is None:
        return dict(data)
    chosen = {key: _chosen(data[key], view, key) for key in ("apiVersion", "kind", *view) if key in data}
    if "placements" in chosen:
        chosen["placements"] = sorted(chosen["placements"], key=lambda each: each["node"] is not None)
    return chosen


def _chosen(value: Any, view: Mapping[str, Sequence[str]], name: str) -> Any:
    fields = view.get(name, ())
    if isinstance(value, list):
        return [_chosen(each, view, name) for each in value]
    if not isinstance(value, dict) or not fields:
        return value
    return {key: _chosen(value[key], view, key) for key in fields if key in value}


class _TooLargeError(Exception):
    """The value is too large however it is written."""


class _Cut:
    """The most entries and characters, and what they leave out by path.

    It ends with an error as soon as the characters alone are too many, so that no attempt takes long.
    """

    def __init__(self, entries: int, characters: int, most: int, left_out: Mapping[str, int]) -> None:
        self.entries = entries
        self.characters = characters
        self.left_out = dict(left_out)
        self._room = most

    def value(self, value: Any, path: str) -> Any:
        self._room -= 1
        if self._room < 0:
            raise _TooLargeError
        if isinstance(value, str):
            return self._text(value, path)
        if isinstance(value, Mapping):
            return self._mapping(value, path)
        return self._list(value, path) if isinstance(value, list | tuple) else value

    def _text(self, text: str, path: str) -> str:
        self._room -= min(len(text), self.characters)
        over = len(text) - self.characters
        if over <= 0 or path in {"apiVersion", "kind"}:
            return text
        self._count(path, over)
        return text[: self.characters] + MARK

    def _mapping(self, value: Mapping[str, Any], path: str) -> dict[str, Any]:
        """Return an object with all its fields, or a map with so many keys of a name's length."""
        is_object = len(value) <= _MOST_FIELDS and all(key.isalpha() and key.isascii() for key in value)
        kept = list(value) if is_object else [key for key in value if len(key) <= _LONGEST_KEY][: self.entries]
        self._count(path, len(value) - len(kept))
        return {key: self.value(value[key], f"{path}.{key}") for key in kept}

    def _list(self, value: Sequence[Any], path: str) -> list[Any]:
        name = path.rpartition(".")[2]
        most = -(-self.entries // _NESTED) if "[]" in path else self.entries
        most = min(most, _NAMES_SHOWN) if name in _NAMES else most
        kept: Iterable[Any] = value[:most]
        if name in _WHOLE_OR_NOT:
            kept = [each for each in kept if not isinstance(each, str) or len(each) <= self.characters]
        entries = list(kept)
        self._count(path, len(value) - len(entries))
        return [self.value(each, f"{path}[]") for each in entries]

    def _count(self, path: str, number: int) -> None:
        if number:
            self.left_out[path] = self.left_out.get(path, 0) + number
