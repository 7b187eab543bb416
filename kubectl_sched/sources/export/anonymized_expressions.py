"""CEL expressions that select devices, with other texts in them, so that they select the same devices as before.

The texts of devices' attributes change alike. An expression that looks at the beginning, the end or a part of a text
lists the texts of the dump that have it instead. A note says what is lost of an expression that takes a text apart.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from msgspec.json import encode

from kubectl_sched.dynamic_resource_allocation.cel.cost import metered
from kubectl_sched.dynamic_resource_allocation.cel.lexer import Token, string_of, tokens
from kubectl_sched.dynamic_resource_allocation.cel.parser import parse
from kubectl_sched.dynamic_resource_allocation.cel.regex import matches
from kubectl_sched.dynamic_resource_allocation.cel.values import CelError, CompileError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kubectl_sched.sources.export.pseudonyms import Pseudonyms

_PREDICATES: Final[Mapping[str, Callable[[str, str], bool]]] = {
    "startsWith": str.startswith,
    "endsWith": str.endswith,
    "contains": lambda text, part: part in text,
    "matches": matches,
}
_TAKEN_APART: Final = frozenset(
    {"charAt", "find", "findAll", "format", "indexOf", "join", "lastIndexOf", "lowerAscii", "replace", "size", "split",
     "substring", "trim", "upperAscii", *_PREDICATES}
)  # fmt: skip
_OF_TEXTS: Final = frozenset({"+", "<", ">", "<=", ">="})
_OF_AMOUNTS: Final = frozenset({"duration", "isQuantity", "isSemver", "quantity", "semver", "timestamp"})
_AMOUNT: Final = re.compile(r"[-+]?\d[\w.:+-]*")
_MAPS: Final = frozenset({"attributes", "capacity"})
_EQUAL: Final = frozenset({"==", "!="})
_BEFORE_TEXT: Final = frozenset({"[", ","})
_MOST_LOOKED_AT: Final = 2_000_000
_MOST_LISTED: Final = 1_000
_END: Final = Token("end", "", 0)


def expression_under_pseudonyms(new: Pseudonyms, text: str) -> str:
    """Return the expression with other texts; one that cannot be read becomes another that cannot be read."""
    try:
        parse(text)
    except CompileError:
        return new.whole(text)
    return _Expression(new, [*tokens(text, [])][:-1]).rewritten()


class _Expression:
    """The words of one expression."""

    def __init__(self, new: Pseudonyms, words: Sequence[Token]) -> None:
        self._new = new
        self._words = words
        self._lists: dict[int, int] = {}
        """The place before the texts of a list, by the place of each text that was looked at."""

    def rewritten(self) -> str:
        """Return all words, with what stood between them but for comments."""
        pieces: list[str] = []
        place, end = 0, 0
        while place < len(self._words):
            word = self._words[place]
            gap = " " if word.at > end else ""
            found = self._predicate(place)
            if found is not None:
                start, listed = found
                pieces[start] = f"({pieces[start]}" if not pieces[start].startswith(" ") else f" ({pieces[start][1:]}"
                pieces += [f" in [{listed}])", "", "", "", ""]
                place += 5
            else:
                pieces.append(gap + self._word(place))
                place += 1
            last = self._words[place - 1]
            end = last.at + len(last.text)
        return "".join(pieces)

    def _at(self, place: int) -> Token:
        return self._words[place] if 0 <= place < len(self._words) else _END

    def _reads(self, place: int, *words: str | frozenset[str]) -> bool:
        found = (self._at(place + number).text for number in range(len(words)))
        return all(
            text == word if isinstance(word, str) else text in word for text, word in zip(found, words, strict=True)
        )

    def _predicate(self, place: int) -> tuple[int, str] | None:
        """Return where the text begins that `.startsWith("x")` at this place is asked of, and those that have it."""
        name, literal = self._at(place + 1).text, self._at(place + 3)
        if name not in _PREDICATES or literal.kind != "string" or not self._reads(place, ".", name, "("):
            return None
        start = self._beginning(place - 1)
        receiver = self._words[start:place]
        part = _text_of(literal)
        if (
            part is None
            or not self._reads(place + 4, ")")
            or not receiver
            or any(each.text == "(" for each in receiver)
        ):
            return None
        if receiver[-1].text == "driver":
            return None  # its names stay
        having = self._texts_with(name, part)
        return (start, ", ".join(_quoted(self._new.value(text)) for text in having)) if having is not None else None

    def _texts_with(self, name: str, part: str) -> list[str] | None:
        """Return the texts of the dump that have the part; None if they are too many to be looked at or listed."""
        self._new.looked_at += len(self._new.device_texts)
        if self._new.looked_at > _MOST_LOOKED_AT:
            return None
        with metered():
            found = [text for text in sorted(self._new.device_texts) if _has(name, text, part)]
        return found if len(found) <= _MOST_LISTED else None

    def _beginning(self, place: int) -> int:
        """Return the place of the first word of `device.attributes["a.b"].c`, whose last is at this place."""
        while place >= 0:
            if self._at(place).text == "]":
                place = self._opening(place) - 1
                continue
            if self._at(place).kind not in {"ident", "quoted"}:
                return place + 1
            if self._at(place - 1).text not in {".", ".?"}:
                return place
            place -= 2
        return 0

    def _opening(self, place: int) -> int:
        depth = 0
        while place >= 0:
            depth += (self._at(place).text == "]") - (self._at(place).text in {"[", "[?"})
            if not depth:
                return place
            place -= 1
        return 0

    def _word(self, place: int) -> str:
        word = self._words[place]
        if word.kind != "string":
            if word.text in _TAKEN_APART and self._reads(place + 1, "(") and not self._is_of_driver(place - 2):
                self._new.taken_apart.add(word.text)
            return word.text
        text = _text_of(word)
        if text is None:
            return f"b{_quoted(self._new.whole(word.text))}"
        if self._is_key(place) or self._is_of_driver(place):
            return _quoted(self._new.whole(text) if "/" in text[:1] or " " in text else text)
        if self._at(place - 1).text == "(" and self._at(place - 2).text in _OF_AMOUNTS and _AMOUNT.fullmatch(text):
            return _quoted(text)
        if self._at(place - 1).text in _OF_TEXTS or self._at(place + 1).text in _OF_TEXTS:
            self._new.taken_apart.add("comparison or sum of texts")
        return _quoted(self._new.device_text(text))

    def _is_key(self, place: int) -> bool:
        """Report whether the text names attributes: `attributes["x"]`, or `"x" in device.attributes`."""
        before = self._at(place - 2)
        if self._at(place - 1).text in {"[", "[?"} and (
            before.text in {"]", ")"} or before.kind in {"ident", "quoted"}
        ):
            return before.text != "in"
        return self._reads(place + 1, "in", "device", ".", _MAPS) and not self._at(place + 5).text.startswith("[")

    def _is_of_driver(self, place: int) -> bool:
        """Report whether the text is compared with the driver's name, or the word at this place is that name."""
        before = self._before_list(place)
        return (
            self._reads(place, "driver")
            or self._reads(place - 2, "driver", _EQUAL)
            or self._reads(place + 1, _EQUAL, "device", ".", "driver")
            or self._reads(before - 2, "driver", "in", "[")
            or self._reads(place - 4, "driver", ".", frozenset(_PREDICATES), "(")
        )

    def _before_list(self, place: int) -> int:
        """Return the place of the bracket that opens the list of texts in which the text at this place stands."""
        before = place
        while before not in self._lists and self._at(before).kind == "string" and self._reads(before - 1, _BEFORE_TEXT):
            before -= 2 if self._at(before - 1).text == "," else 1
        self._lists[place] = self._lists.get(before, before)
        return self._lists[place]


def _has(name: str, text: str, part: str) -> bool:
    try:
        return _PREDICATES[name](text, part)
    except CelError:
        return False


def _text_of(literal: Token) -> str | None:
    """Return the text of a literal; None of bytes, or of one with an invalid escape."""
    try:
        text = string_of(literal)
    except CompileError:
        return None
    return text if isinstance(text, str) else None


def _quoted(text: str) -> str:
    return encode(text).decode()
