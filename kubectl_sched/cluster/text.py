"""The text of a file, however it was saved."""

from __future__ import annotations

import codecs

_BYTE_ORDER_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def utf8(data: bytes) -> bytes:
    """The same text in UTF-8, without a byte order mark; PowerShell's `>` writes UTF-16.

    What is no UTF-8 becomes U+FFFD, as in Go.
    """
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if data.startswith(mark):
            return data.decode(encoding, errors="replace").encode()
    try:
        data.decode()
    except UnicodeDecodeError:
        return data.decode(errors="replace").encode()
    return data
