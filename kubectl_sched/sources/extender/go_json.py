"""The first JSON value of an answer, and Go's words for one that is none (encoding/json, scanner.go and stream.go)."""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

_SPACE: Final = re.compile(rb"[ \t\r\n]*")
_DIGITS: Final = b"0123456789"
_LITERALS: Final = (b"true", b"false", b"null")
_ESCAPED: Final = b'bfnrtu/\\"'
_HEXADECIMAL: Final = re.compile(rb"[0-9a-fA-F]*")
_ESCAPE: Final = 4
_QUOTED: Final = dict(zip("'\\\a\b\f\n\r\t\v", ("\\'", "\\\\", *(f"\\{letter}" for letter in "abfnrtv")), strict=True))


class GoJSONError(ValueError):
    """No JSON; the text is Go's."""


def first_value(data: bytes) -> Any:
    """Return the value that the data begins with, whatever follows; raise GoJSONError."""
    data = data[_match(_SPACE, data, 0) :]
    try:
        return json.JSONDecoder(parse_constant=_refuse).raw_decode(data.decode(errors="replace"))[0]
    except RecursionError:
        raise GoJSONError("exceeded max depth") from None
    except ValueError as error:
        raise GoJSONError(_Scanner(data).problem() or str(error)) from None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _match(pattern: re.Pattern[bytes], data: bytes, at: int) -> int:
    """Return where the match ends, `at` if there is none."""
    found = pattern.match(data, at)
    return at if found is None else found.end()


class _Wrong(Exception):  # noqa: N818 - ends the scan
    """The error, in the words of Go's decoder."""


class _Scanner:
    """Goes through text that is no JSON, until what is wrong with it."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def problem(self) -> str | None:
        """Return Go's words for the first mistake; None if it is none of syntax."""
        if not self._data:
            return "EOF"
        open_brackets: list[bytes] = []
        try:
            while True:
                self._value_begins(open_brackets)
                while self._value_ends(open_brackets):
                    pass
                if not open_brackets:
                    return None
        except _Wrong as wrong:
            return str(wrong)

    def _value_begins(self, open_brackets: list[bytes]) -> None:
        """Pass a scalar, or the brackets up to the first of those inside."""
        while (char := self._next()) in {b"{", b"["}:
            self._at += 1
            if self._next() == (b"}" if char == b"{" else b"]"):
                self._at += 1
                return
            open_brackets.append(char)
            if char == b"{":
                self._key()
        if char == b'"':
            self._string()
        elif char in b"tfn":
            self._literal(next(literal for literal in _LITERALS if literal[:1] == char))
        elif char in b"-" + _DIGITS:
            self._number()
        else:
            raise self._invalid("looking for beginning of value")

    def _value_ends(self, open_brackets: list[bytes]) -> bool:
        """Pass what follows a value; say whether it closed the brackets around it."""
        if not open_brackets:
            return False
        inside, char = open_brackets[-1], self._next()
        if char == (b"}" if inside == b"{" else b"]"):
            self._at += 1
            open_brackets.pop()
            return True
        if char != b",":
            raise self._invalid(f"after {'object key:value pair' if inside == b'{' else 'array element'}")
        self._at += 1
        if inside == b"{":
            self._key()
        return False

    def _key(self) -> None:
        if self._next() != b'"':
            raise self._invalid("looking for beginning of object key string")
        self._string()
        if self._next() != b":":
            raise self._invalid("after object key")
        self._at += 1

    def _string(self) -> None:
        self._at += 1
        while (char := self._here()) != b'"':
            if char < b" ":
                raise self._invalid("in string literal")
            self._at += 1
            if char != b"\\":
                continue
            if self._here() not in _ESCAPED:
                raise self._invalid("in string escape code")
            unicode, self._at = self._here() == b"u", self._at + 1
            if unicode:
                end = min(_match(_HEXADECIMAL, self._data, self._at), self._at + _ESCAPE)
                if end < self._at + _ESCAPE:
                    self._at = end
                    raise self._invalid("in \\u hexadecimal character escape")
                self._at = end
        self._at += 1

    def _literal(self, literal: bytes) -> None:
        for at, char in enumerate(literal):
            if at and self._here() != literal[at : at + 1]:
                raise self._invalid(f"in literal {literal.decode()} (expecting '{chr(char)}')")
            self._at += 1

    def _number(self) -> None:
        if self._passes(b"-") and self._here() not in _DIGITS:
            raise self._invalid("in numeric literal")
        if not self._passes(b"0"):
            self._digits("in numeric literal")
        if self._passes(b"."):
            self._digits("after decimal point in numeric literal")
        if self._passes(b"eE"):
            self._passes(b"+-")
            self._digits("in exponent of numeric literal")

    def _digits(self, context: str) -> None:
        if self._here() not in _DIGITS:
            raise self._invalid(context)
        while self._passes(_DIGITS):
            pass

    def _passes(self, characters: bytes) -> bool:
        """Pass one of the characters, if it is here."""
        passed = self._here() in characters
        self._at += passed
        return passed

    def _next(self) -> bytes:
        """Return the next character that is no space."""
        self._at = _match(_SPACE, self._data, self._at)
        return self._here()

    def _here(self) -> bytes:
        if self._at >= len(self._data):
            raise _Wrong("unexpected EOF")
        return self._data[self._at : self._at + 1]

    def _invalid(self, context: str) -> _Wrong:
        return _Wrong(f"invalid character {_quoted(self._here())} {context}")


def _quoted(char: bytes) -> str:
    """Return a byte as Go quotes the character of that number."""
    text = char.decode("latin-1")
    if text in _QUOTED:
        return f"'{_QUOTED[text]}'"
    if text.isprintable():
        return f"'{text}'"
    return f"'\\x{ord(text):02x}'" if char.isascii() else f"'\\u{ord(text):04x}'"
