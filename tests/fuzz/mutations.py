"""Changes to values as JSON has them: what is there goes, comes twice, changes its type, or says something hostile."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

HOSTILE_TEXTS = [
    "",
    " ",
    "-x",
    "--all",
    "--server=http://attacker.example.com",
    "x;touch${IFS}ran",
    "$(touch ran)",
    "`touch ran`",
    "a\n$(touch ran)\n",
    "a'; touch ran; '",
    'a"; touch ran; "',
    "a && touch ran",
    "> ran",
    "!touch",
    "\\\ntouch ran\n",
    "~root",
    "../../../etc/passwd",
    "\x00",
    "\x1b]52;c;cm0gLXJm\x07",
    "\x1b[2J\x1b[31m",
    "\x9b31m\x90",
    "\u202egpj.exe\u2066",
    "\u200b\u2028\ufeff\U000e0041",
    "a\rb\tc\x7f\x08",
    "[red]x[/red][/]",
    "<script>alert(1)</script>",
    "| a | b |\n|---|---|",
    "{{ 1 }} {% x %}",
    "%s %n {0}",
    "null",
    "NaN",
    "0x10",
    "1e400",
    "9" * 400,
    "-9223372036854775809",
    "1Ki",
    "1e18Ei",
    "0.0000000001m",
    "100%",
    "2026-01-01T00:00:00Z",
    "9999-12-31T23:59:60.999999999+25:00",
    "x" * 300,
    "x" * 70 + " $(touch ran)",
    "é" * 64,
    "a.b/c.d/e",
    "a/b",
    "*",
    "(a+)+$",
    "[",
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!'.matches('^(a+)+$')",
    "(" * 200,
    "[1].map(x, [1].map(y, [1].map(z, x)))",
    "lists.range(1000000000).size() > 0",
    "device.attributes['a'].b.c.d",
]

NUMBERS: list[Any] = [
    0,
    -1,
    1,
    2**31,
    2**53 + 1,
    2**63 - 1,
    -(2**63),
    2**64,
    10**400,
    -0.0,
    0.5,
    1e308,
    float("inf"),
    float("-inf"),
    float("nan"),
]

_LARGEST_COPY = 2_000
"""Items that a part which is copied may have; else a few mutations make a case of megabytes."""

Path = tuple[Any, ...]


def mutated(value: Any, random: Random) -> Any:
    """The value, which is changed in place, after a few mutations; it may be another value altogether."""
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 5, 8))):
        value = _mutated_once(value, random)
    return value


def scalar(random: Random) -> Any:
    """A value that nobody expects."""
    return random.choice(
        (
            lambda: random.choice(HOSTILE_TEXTS),
            lambda: random.choice(HOSTILE_TEXTS) + random.choice(HOSTILE_TEXTS),
            lambda: random.choice(NUMBERS),
            lambda: random.choice((None, True, False, [], {}, [None], {"": None})),
            lambda: _deep(random.choice((5, 40, 300))),
            lambda: "".join(chr(random.choice((random.randrange(128), random.randrange(0xD800)))) for _ in range(9)),
            lambda: "\ud800" + random.choice(HOSTILE_TEXTS),
        )
    )()


def mutated_text(text: str, random: Random) -> str:
    """The text with pieces of it cut, doubled, moved or replaced."""
    for _ in range(random.randint(1, 4)):
        start, end = sorted((random.randint(0, len(text)), random.randint(0, len(text))))
        piece = text[start:end]
        new = random.choice(
            ("", piece * 2, piece[::-1], random.choice(HOSTILE_TEXTS), str(random.choice(NUMBERS)), piece.upper())
        )
        text = text[:start] + new + text[end:]
    return text[:100_000]


def mutated_bytes(data: bytes, random: Random) -> bytes:
    """The bytes cut short, flipped, doubled or with others in between."""
    for _ in range(random.randint(1, 3)):
        at = random.randint(0, len(data))
        end = at + random.choice((1, 1, 2, 8, 64, 512))
        new = random.choice(
            (
                b"",
                data[at:end] * 3,
                random.randbytes(end - at),
                data[at:end] + random.choice((b"\xff\xfe", b"\xef\xbb\xbf", b"\x00", b"\n---\n")),
            )
        )
        data = data[:at] + new + (b"" if random.random() < 0.2 else data[end:])
    return data


def _mutated_once(value: Any, random: Random) -> Any:
    paths = list(_paths(value))
    path = random.choice(paths)
    if not path:
        return scalar(random) if random.random() < 0.02 else value
    parent = value
    for step in path[:-1]:
        parent = parent[step]
    random.choice(_CHANGES)(parent, path[-1], value, paths, random)
    return value


def _paths(value: Any) -> list[Path]:
    """The paths to all parts of a value, itself included; not recursive, as values may be deep."""
    found: list[Path] = [()]
    open_: list[tuple[Path, Any]] = [((), value)]
    while open_:
        path, part = open_.pop()
        keys = part if isinstance(part, dict) else range(len(part)) if isinstance(part, list) else ()
        for key in keys:
            below = (*path, key)
            if len(below) < 40:
                found.append(below)
                open_.append((below, part[key]))
    return found


def _size(value: Any) -> int:
    return len(_paths(value))


def _replace(parent: Any, key: Any, _: Any, __: list[Path], random: Random) -> None:
    parent[key] = scalar(random)


def _drop(parent: Any, key: Any, _: Any, __: list[Path], ___: Random) -> None:
    del parent[key]


def _double(parent: Any, key: Any, _: Any, __: list[Path], random: Random) -> None:
    part = parent[key]
    if _size(part) * 4 > _LARGEST_COPY:
        return
    if isinstance(parent, list):
        parent.extend(copy.deepcopy(part) for _ in range(random.randint(1, 3)))
    else:
        parent[key] = [copy.deepcopy(part), part]


def _rename(parent: Any, key: Any, _: Any, __: list[Path], random: Random) -> None:
    if isinstance(parent, dict):
        parent[random.choice((*HOSTILE_TEXTS, str(key).upper(), f"{key}s"))] = parent.pop(key)


def _graft(parent: Any, key: Any, root: Any, paths: list[Path], random: Random) -> None:
    """Another part of the value stands here, too."""
    part = root
    for step in random.choice(paths):
        part = part[step]
    if _size(part) < _LARGEST_COPY // 4:
        parent[key] = copy.deepcopy(part)


def _edit(parent: Any, key: Any, _: Any, __: list[Path], random: Random) -> None:
    part = parent[key]
    if isinstance(part, str):
        parent[key] = mutated_text(part, random)
    elif isinstance(part, (int, float)):
        parent[key] = random.choice((-part, part + 1, str(part), [part], random.choice(NUMBERS)))
    else:
        parent[key] = scalar(random)


_Change: TypeAlias = "Callable[[Any, Any, Any, list[Path], Random], None]"

_CHANGES: list[_Change] = [_replace, _drop, _double, _rename, _graft, _edit, _edit]


def _deep(depth: int) -> Any:
    value: Any = "deep"
    for level in range(depth):
        value = [value] if level % 2 else {"a": value}
    return value
