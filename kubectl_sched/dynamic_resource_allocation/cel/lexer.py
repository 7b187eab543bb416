"""Reads an expression word by word (cel-go parser/gen/CEL.g4)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kubectl_sched.dynamic_resource_allocation.cel.values import MAX_INT, MAX_UINT, CompileError, UInt, Value

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*)
    |(?P<string>[bB]?[rR]?(?:\"{3}(?:\\.|[^\\])*?\"{3}|'{3}(?:\\.|[^\\])*?'{3}
        |"(?:\\.|[^\\"\n\r])*"|'(?:\\.|[^\\'\n\r])*')
      |[rR][bB]?(?:"[^"\n\r]*"|'[^'\n\r]*'))
    |(?P<float>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)
    |(?P<int>0[xX][0-9a-fA-F]+[uU]?|[0-9]+[uU]?)
    |(?P<ident>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<quoted>`[A-Za-z0-9_.\-/ ]+`)
    |(?P<sign>\.\?|\[\?|==|!=|<=|>=|&&|\|\||[-+*/%<>!?:.,()\[\]{}])""",
    re.VERBOSE | re.DOTALL,
)
_MOST_DIGITS = 21
_REPORTED_AT_MOST = 100
_ESCAPES = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "`": "`", "?": "?",
}  # fmt: skip


class Token(NamedTuple):
    """A word and where it begins."""

    kind: str
    text: str
    at: int


def located(text: str, at: int, message: str) -> str:
    """A message with the place it is about, as cel-go prints it."""
    before = text[:at]
    line = before.count("\n")
    column = at - (before.rfind("\n") + 1)
    shown = text.split("\n")[line]
    return f"ERROR: <input>:{line + 1}:{column + 1}: {message}\n | {shown}\n | {'.' * column}^"


def tokens(text: str, problems: list[str]) -> Iterator[Token]:
    """Yield the tokens and the end; anything else goes to the problems. Raises CompileError for over a hundred."""
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            wrong = text[at]
            if wrong in "'\"":
                wrong = re.split(r"(?<=[\r\n])", text[at:])[0]
            shown = wrong.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
            if len(problems) == _REPORTED_AT_MOST:
                raise CompileError("\n".join([*problems, "1 more errors were truncated"]))
            problems.append(located(text, at, f"Syntax error: token recognition error at: '{shown}'"))
            at += len(wrong)
            continue
        if found.lastgroup != "space":
            yield Token(str(found.lastgroup), found[0], at)
        at = found.end()
    yield Token("end", "<EOF>", len(text))


def number_of(token: Token, sign: int) -> Value:
    """Return the value of a number literal. Raises CompileError without a position."""
    if token.kind == "float":
        return sign * float(token.text)
    digits = token.text.rstrip("uU")
    number = sign * _magnitude(digits)
    if digits != token.text:
        if not 0 <= number <= MAX_UINT:
            raise CompileError("invalid uint literal")
        return UInt(number)
    if not -MAX_INT - 1 <= number <= MAX_INT:
        raise CompileError("invalid int literal")
    return number


def _magnitude(digits: str) -> int:
    if digits.lower().startswith("0x"):
        return int(digits, 16)
    # What has more digits than any number of 64 bits stays too large without its last ones.
    return int(digits.lstrip("0")[:_MOST_DIGITS] or 0)


def string_of(token: Token) -> Value:
    """The string or bytes that a word says; raises CompileError with no place."""
    prefix = re.match("[bBrR]*", token.text)
    kinds = prefix[0].lower() if prefix else ""
    body = token.text[len(kinds) :]
    quotes = 3 if body[:3] in {'"""', "'''"} else 1
    body = body[quotes:-quotes]
    is_bytes = "b" in kinds
    if "r" in kinds:
        return body.encode() if is_bytes else body
    return _unescaped(body, is_bytes)


_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|X([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(.))", re.DOTALL
)


def _unescaped(body: str, is_bytes: bool) -> Value:
    def replaced(found: re.Match[str]) -> str:
        if found[6] is not None:
            if found[6] not in _ESCAPES:
                raise CompileError("invalid escape sequence")
            return _ESCAPES[found[6]]
        number = int(found[5], 8) if found[5] else int(next(filter(None, found.groups())), 16)
        return chr(number)

    if not is_bytes:
        return _ESCAPE.sub(replaced, body)
    pieces: list[bytes] = []
    last = 0
    for found in _ESCAPE.finditer(body):
        pieces.append(body[last : found.start()].encode())
        text = replaced(found)
        pieces.append(bytes([ord(text)]) if found[1] or found[2] or found[5] else text.encode())
        last = found.end()
    return b"".join([*pieces, body[last:].encode()])
