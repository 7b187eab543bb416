"""Damages bytes as disks, networks and people do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fuzz.hostile import TEXTS

if TYPE_CHECKING:
    from random import Random

_SPLICES = (
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\x80",
    b"\xed\xa0\x80",
    b"\n---\n",
    b"{",
    b"}",
    b'"',
    b"\\",
    b"\r\n",
    b"\x1b[31m",
)


def damaged(data: bytes, chance: Random, most: int = 4) -> bytes:
    """The bytes with 1 to `most` places cut, flipped, overwritten, doubled or spliced."""
    for _ in range(chance.randint(1, most)):
        data = _damaged_once(data, chance)
    return data


def _damaged_once(data: bytes, chance: Random) -> bytes:
    at = chance.randint(0, len(data))
    length = chance.choice([1, 1, 2, 4, 16, 200])
    before, piece, after = data[:at], data[at : at + length], data[at + length :]
    return before + _WAYS[chance.randrange(len(_WAYS))](piece, after, chance)


def _cut_off(_piece: bytes, _after: bytes, _chance: Random) -> bytes:
    return b""


def _left_out(_piece: bytes, after: bytes, _chance: Random) -> bytes:
    return after


def _overwritten(piece: bytes, after: bytes, chance: Random) -> bytes:
    return chance.randbytes(len(piece)) + after


def _flipped(piece: bytes, after: bytes, chance: Random) -> bytes:
    return bytes(each ^ (1 << chance.randrange(8)) for each in piece[:1]) + piece[1:] + after


def _repeated(piece: bytes, after: bytes, chance: Random) -> bytes:
    return piece * chance.choice([2, 3, 40]) + after


def _spliced(piece: bytes, after: bytes, chance: Random) -> bytes:
    text = chance.choice(TEXTS).encode("utf-8", "surrogatepass")
    return (chance.choice(_SPLICES) if chance.random() < 0.7 else text) + piece + after


_WAYS = (_cut_off, _left_out, _overwritten, _flipped, _flipped, _repeated, _spliced, _spliced)
