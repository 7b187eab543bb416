"""Near misses: two texts that a person may take for the same, and the scheduler does not."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from kubectl_sched.lazy_pattern import pattern

_TYPOGRAPHIC: Final = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4`", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
}
_COUNTERS: Final = pattern(r"[0-9x]")
"""Characters in which sizes and numbers differ."""
_SEPARATORS: Final = pattern(r"[-/]")
_INVISIBLE: Final = frozenset("\u00a0\u200b\u200c\u200d\u2060\ufeff")


def odd_character(text: str) -> str | None:
    """A clause about the first character that an editor or a web page put in place of a plain one, None without one."""
    for character in text:
        if character in _TYPOGRAPHIC:
            return f"{text!r} has the typographic {character} (U+{ord(character):04X}) where a plain one may be meant"
        if character in _INVISIBLE:
            return f"{text!a} has the invisible character U+{ord(character):04X}"
    if text and text != text.strip():
        return f"{text!r} begins or ends with a space"
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return f"{text} has quotes that are part of it"
    return None


def folded(text: str) -> str:
    """The text without what people overlook: case, quotes, typographic characters, and which separator it has."""
    plain = "".join(_TYPOGRAPHIC.get(character, character) for character in text if character not in _INVISIBLE)
    return plain.strip().strip("'\"").casefold().replace("_", "-").replace(".", "-")


def is_near(text: str, other: str) -> bool:
    """Report whether the two differ, but so little that one may be meant for the other.

    Names that are told apart on purpose are not near: `zone-a` and `zone-b`, `m5.large` and `m6.xlarge`, `cpu`, `gpu`.
    """
    if text == other:
        return False
    first, second = folded(text), folded(other)
    if first == second:
        return True
    if _COUNTERS.sub("", first) == _COUNTERS.sub("", second):
        return False
    parts, other_parts = _SEPARATORS.split(first), _SEPARATORS.split(second)
    if len(parts) != len(other_parts):
        return _is_misspelt(first, second)
    differing = [pair for pair in zip(parts, other_parts, strict=True) if pair[0] != pair[1]]
    return all(_is_misspelt(*pair) for pair in differing)


def _is_misspelt(word: str, other: str) -> bool:
    """Short words may lack a letter or have one too many; in longer ones letters may differ."""
    shorter = min(len(word), len(other))
    if shorter < 3 or (shorter < 5 and len(word) == len(other)):
        return False
    allowed = 1 if shorter < 8 else 2
    return edit_distance(word, other, allowed) <= allowed


@lru_cache(maxsize=4096)
def nearest(text: str, candidates: frozenset[str] | tuple[str, ...]) -> str | None:
    """The candidate that the text may have been meant for, None if all are too different."""
    near = [candidate for candidate in candidates if is_near(text, candidate)]
    return min(near, key=lambda candidate: (edit_distance(text, candidate), candidate), default=None)


def edit_distance(text: str, other: str, limit: int | None = None) -> int:
    """Count the letters to change, insert, delete or swap with their neighbour.

    With a limit, any distance above it may come out as limit + 1.
    """
    if limit is not None and abs(len(text) - len(other)) > limit:
        return limit + 1
    before_last: list[int] = []
    last = list(range(len(other) + 1))
    for row, character in enumerate(text, start=1):
        current = [row]
        for column, other_character in enumerate(other, start=1):
            best = min(
                last[column] + 1,
                current[column - 1] + 1,
                last[column - 1] + (character != other_character),
            )
            swapped = column > 1 and row > 1 and character == other[column - 2] and text[row - 2] == other_character
            current.append(min(best, before_last[column - 2] + 1) if swapped else best)
        before_last, last = last, current
    return last[-1]
