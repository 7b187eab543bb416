"""The first bytes by which compressed files and archives are told."""

from __future__ import annotations

_COMPRESSED = {b"\x1f\x8b": "gzip", b"\xfd7zXZ\x00": "xz", b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "zstd"}


def compression_of(start: bytes) -> str | None:
    """Name the algorithm that compressed something that starts so; None if it is not compressed."""
    return next((name for magic, name in _COMPRESSED.items() if start.startswith(magic)), None)


def is_tar(start: bytes, path: str) -> bool:
    """Report whether a file of this beginning and path is a tar archive."""
    return start[257:262] == b"ustar" or (path.endswith(".tar") and b"\0" in start)
