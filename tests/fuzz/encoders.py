"""Writes values as JSON and as YAML in many styles, with tokens in them that no value has."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from tests.fuzz.hostile import JSON_TOKENS, YAML_LINES, YAML_TOKENS
from tests.fuzz.structures import AGAIN, SYNTAX

if TYPE_CHECKING:
    from random import Random

_JSON_SYNTAX = re.compile(f'"{SYNTAX}([0-9]+)"')
_PLAIN = re.compile(
    r"(?!(?:true|false|null|yes|no|on|off)$)(?:[A-Za-z/][A-Za-z0-9/_. -]*[A-Za-z0-9]|[A-Za-z])", re.IGNORECASE
)
_RARELY_PLAIN = re.compile(r"[A-Za-z0-9/_.+:-]*")
_INDENTS = (None,) * 12 + (0, 4)


def as_json(value: Any, chance: Random) -> bytes:
    indent = chance.choice(_INDENTS)
    separators = (",", ":") if chance.random() < 0.5 else None
    text = json.dumps(value, ensure_ascii=chance.random() < 0.5, indent=indent, separators=separators)
    text = text.replace(json.dumps(AGAIN)[1:-1], "").replace(AGAIN, "")
    text = text.replace(json.dumps(SYNTAX)[1:-1], SYNTAX)
    text = _JSON_SYNTAX.sub(lambda found: JSON_TOKENS[int(found[1]) % len(JSON_TOKENS)], text)
    return _in_bytes(text, chance)


def as_yaml(value: Any, chance: Random) -> bytes:
    lines = _block(value, 0, chance)
    text = "\n".join(lines) + "\n"
    if chance.random() < 0.2:
        text = _with_odd_lines(text, chance)
    return _in_bytes(text, chance)


def _in_bytes(text: str, chance: Random) -> bytes:
    """The text in UTF-8, or now and then in what else Windows and old editors write."""
    encoding = (
        "utf-8" if chance.random() < 0.95 else chance.choice(["utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1"])
    )
    return text.encode(encoding, "replace" if encoding == "latin-1" else "surrogatepass")


def _with_odd_lines(text: str, chance: Random) -> str:
    """The text with lines put in, dropped, doubled, or indented otherwise."""
    lines = text.split("\n")
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(lines))
        indent = lines[at][: len(lines[at]) - len(lines[at].lstrip(" "))]
        how = chance.randrange(5)
        if how == 0:
            lines.insert(at, indent + chance.choice(YAML_LINES))
        elif how == 1:
            del lines[at]
            lines = lines or [""]
        elif how == 2:
            lines.insert(at, lines[at])
        elif how == 3:
            lines[at] = " " * chance.randint(0, 9) + lines[at].lstrip(" ")
        else:
            lines.insert(at, chance.choice(YAML_LINES))
    return "\n".join(lines)


def _block(value: Any, depth: int, chance: Random) -> list[str]:
    entries = _entries(value)
    if not entries or depth > 20 or chance.random() < 0.03:
        return [_flow(value, chance)]
    lines: list[str] = []
    for head, each in entries:
        below = _block(each, depth + 1, chance)
        if len(below) == 1 and not _entries(each):
            lines.append(f"{head} {below[0]}")
        else:
            lines.append(f"{head} &a" if chance.random() < 0.01 else head)
            lines += [f"  {line}" for line in below]
    return lines


def _entries(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return [(f"{_key(key)}:", each) for key, each in value.items()]
    return [("-", each) for each in value] if isinstance(value, list) else []


def _flow(value: Any, chance: Random) -> str:
    if isinstance(value, str):
        return _scalar(value, chance)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(key)}: {_flow(each, chance)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(each, chance) for each in value) + "]"
    return "null" if value is None else json.dumps(value)


def _scalar(text: str, chance: Random) -> str:
    if text.startswith(SYNTAX):
        return YAML_TOKENS[int(text.removeprefix(SYNTAX)) % len(YAML_TOKENS)] if text[len(SYNTAX) :].isdigit() else text
    if (_PLAIN.fullmatch(text) and chance.random() < 0.7) or (
        chance.random() < 0.005 and _RARELY_PLAIN.fullmatch(text)
    ):
        return text
    if chance.random() < 0.1:
        return "'" + text.replace("'", "''") + "'"
    return json.dumps(text)


def _key(key: Any) -> str:
    text = str(key).replace(AGAIN, "")
    return text if _PLAIN.fullmatch(text) else json.dumps(text)
