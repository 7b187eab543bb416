"""The text of a file, however it was saved."""

from __future__ import annotations

import codecs

_BYTE_ORDER_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def utf8(data: bytes) -> bytes:
    """The text in UTF-8, without byte order marks; PowerShell's `>` writes UTF-16.

    What is no UTF-8 becomes U+FFFD, as in Go.
    """
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if data.startswith(mark):
            return _without_marks(data.decode(encoding, errors="replace").encode())
    unmarked = _unmarked_utf_16(data)
    if unmarked is not None:
        return data.decode(unmarked, errors="replace").encode()
    try:
        data.decode()
    except UnicodeDecodeError:
        data = data.decode(errors="replace").encode()
    return _without_marks(data)


def _without_marks(data: bytes) -> bytes:
    """Files that were joined have one where each began."""
    return data.replace(b"\n" + codecs.BOM_UTF8, b"\n") if codecs.BOM_UTF8 in data else data


def _unmarked_utf_16(data: bytes) -> str | None:
    """Tell UTF-16 from plain text by its beginning: in English text every other byte is zero."""
    start = data[:_TELLING]
    if len(start) < _TELLING:
        return None
    even, odd = any(start[::2]), any(start[1::2])
    return None if even == odd else "utf-16-le" if even else "utf-16-be"


_TELLING = 64
