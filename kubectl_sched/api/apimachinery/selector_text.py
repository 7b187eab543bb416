"""The textual form of label selectors, as `-l` takes it: `a=b,c!=d,e in (x,y),!f`.

Answers to Parse in k8s.io/apimachinery/pkg/labels/selector.go, with its error texts.
"""

from __future__ import annotations

import re
from typing import Final

from kubectl_sched.api.apimachinery.labels import (
    DOES_NOT_EXIST,
    DOUBLE_EQUALS,
    EQUALS,
    EXISTS,
    GREATER_THAN,
    IN,
    LESS_THAN,
    NOT_EQUALS,
    NOT_IN,
    InvalidSelector,
    Requirement,
    Selector,
    requirement,
)
from kubectl_sched.api.apimachinery.validation import invalid, label_key_errors
from kubectl_sched.lazy_pattern import pattern

_END: Final = ""
_IDENTIFIER: Final = "identifier"
_SYMBOLS: Final = "=!(),><"
_TOKENS: Final = frozenset({")", ",", "!", "==", "=", ">", "in", "<", "!=", "notin", "("})
_OPERATORS: Final = {
    "in": IN, "=": EQUALS, "==": DOUBLE_EQUALS, ">": GREATER_THAN, "<": LESS_THAN, "notin": NOT_IN, "!=": NOT_EQUALS,
}  # fmt: skip
_BINARY: Final = f"{IN}, {NOT_IN}, {EQUALS}, {DOUBLE_EQUALS}, {NOT_EQUALS}, {GREATER_THAN}, {LESS_THAN}"
_WORD: Final = pattern(rf"[^{re.escape(_SYMBOLS)} \t\r\n\0]+")
_SPACES: Final = pattern(r"[ \t\r\n]*")


def parse_selector(text: str) -> Selector:
    """Read a selector; raise InvalidSelector with upstream's error."""
    parser = _Parser(_scanned(text))
    return Selector().add(*parser.requirements())


def _scanned(text: str) -> list[tuple[str, str]]:
    """The tokens of a text and their literals, the end included (Lexer)."""
    tokens: list[tuple[str, str]] = []
    position = 0
    while True:
        spaces = _SPACES.match(text, position)
        position = spaces.end() if spaces else position
        if position >= len(text) or text[position] == "\0":
            return [*tokens, (_END, "")]
        word = _WORD.match(text, position)
        if word is not None:
            literal = word[0]
            tokens.append((literal if literal in _TOKENS else _IDENTIFIER, literal))
        else:
            literal = _symbol(text, position)
            tokens.append((literal, literal))
        position += len(literal)


def _symbol(text: str, position: int) -> str:
    """The longest token that begins here; every single symbol is one."""
    two = text[position : position + 2]
    return two if two in _TOKENS else text[position]


class _Parser:
    """Reads requirements from tokens. `in` and `notin` are plain words except where an operator must stand."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self._tokens = tokens
        self._position = 0

    def requirements(self) -> list[Requirement]:
        found: list[Requirement] = []
        while self._next()[0] != _END:
            kind, literal = self._next()
            if kind not in {_IDENTIFIER, "!"}:
                raise InvalidSelector(f"found '{literal}', expected: !, identifier, or 'end of string'")
            try:
                found.append(self._requirement())
            except InvalidSelector as error:
                raise InvalidSelector(f"unable to parse requirement: {error.reason}") from error
            kind, literal = self._take()
            if kind == _END:
                return found
            if kind != ",":
                raise InvalidSelector(f"found '{literal}', expected: ',' or 'end of string'")
            kind, literal = self._next()
            if kind not in {_IDENTIFIER, "!"}:
                raise InvalidSelector(f"found '{literal}', expected: identifier after ','")
        return found

    def _next(self) -> tuple[str, str]:
        kind, literal = self._tokens[self._position]
        return (_IDENTIFIER if kind in {"in", "notin"} else kind), literal

    def _take(self) -> tuple[str, str]:
        taken = self._next()
        self._position += 1
        return taken

    def _requirement(self) -> Requirement:
        kind, key = self._take()
        absent = kind == "!"
        if absent:
            kind, key = self._take()
        if kind != _IDENTIFIER:
            raise InvalidSelector(f"found '{key}', expected: identifier")
        if wrong := label_key_errors(key):
            raise InvalidSelector(invalid("<nil>", key, "; ".join(wrong)))
        if absent:
            return requirement(key, DOES_NOT_EXIST)
        if self._next()[0] in {_END, ","}:
            return requirement(key, EXISTS)
        operator = self._operator()
        values = self._values() if operator in {IN, NOT_IN} else {self._exact_value()}
        return requirement(key, operator, sorted(values))

    def _operator(self) -> str:
        kind, literal = self._tokens[self._position]
        self._position += 1
        if kind not in _OPERATORS:
            raise InvalidSelector(f"found '{literal}', expected: {_BINARY}")
        return _OPERATORS[kind]

    def _exact_value(self) -> str:
        if self._next()[0] in {_END, ","}:
            return ""
        kind, literal = self._take()
        if kind != _IDENTIFIER:
            raise InvalidSelector(f"found '{literal}', expected: identifier")
        return literal

    def _values(self) -> set[str]:
        kind, literal = self._take()
        if kind != "(":
            raise InvalidSelector(f"found '{literal}' expected: '('")
        kind, literal = self._next()
        if kind == ")":
            self._take()
            return {""}
        if kind not in {_IDENTIFIER, ","}:
            raise InvalidSelector(f"found '{literal}', expected: ',', ')' or identifier")
        values = self._listed()
        self._take()
        return values

    def _listed(self) -> set[str]:
        """The values up to the closing parenthesis; nothing between two commas is the empty value."""
        values: set[str] = set()
        while True:
            kind, literal = self._take()
            after, after_literal = self._next() if self._position < len(self._tokens) else (_END, "")
            if kind == _IDENTIFIER:
                values.add(literal)
                if after == ")":
                    return values
                if after != ",":
                    raise InvalidSelector(f"found '{after_literal}', expected: ',' or ')'")
            elif kind == ",":
                if not values or after in {")", ","}:
                    values.add("")
                if after == ")":
                    return values
            else:
                raise InvalidSelector(f"found '{literal}', expected: ',', or identifier")
