"""Decoders of our types, made one at a time.

msgspec describes a type when it is first needed, and hands the description out before it is whole. Where two threads
need types with a part in common for the first time at once, one of them reads through a null pointer and the
interpreter dies (msgspec 0.22). So whatever may run in a thread takes its decoder from here.
"""

from __future__ import annotations

import threading
from typing import Any, Final, TypeVar

import msgspec

T = TypeVar("T")

UNDECODABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""Errors by which msgspec refuses a text: not JSON or not the type, not UTF-8, nested too deeply."""

_MAKING = threading.Lock()
_MADE: dict[Any, msgspec.json.Decoder[Any]] = {}


def decoder(kind: type[T]) -> msgspec.json.Decoder[T]:
    """The decoder of JSON for this type, made when it is first asked for."""
    found = _MADE.get(kind)
    if found is None:
        with _MAKING:
            found = _MADE.get(kind)
            if found is None:
                found = _MADE[kind] = msgspec.json.Decoder(kind)
    return found
