"""Packs files as the reader meets them: tar with its dialects, zip, compression, and archives inside archives."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import tarfile
import zipfile
from typing import TYPE_CHECKING, Any

from tests.fuzz.hostile import TEXTS

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random

_KINDS: tuple[bytes, ...] = (
    tarfile.REGTYPE,
    tarfile.SYMTYPE,
    tarfile.LNKTYPE,
    tarfile.DIRTYPE,
    tarfile.FIFOTYPE,
    tarfile.CHRTYPE,
)
_KINDS += (tarfile.GNUTYPE_SPARSE, tarfile.CONTTYPE, b"Z", b"x", b"g", b"L", b"K")
_PAX = (
    "path",
    "size",
    "mtime",
    "linkpath",
    "hdrcharset",
    "GNU.sparse.major",
    "GNU.sparse.map",
    "GNU.sparse.size",
    "comment",
)
_NAMES: tuple[str, ...] = (
    "../../nodes.json",
    "/etc/nodes.json",
    "cluster-resources/pods/default.json",
    "nodes.json/",
    "n\x1b[31m.json",
)
_NAMES += (
    "namespaces/default/pods/web-0/web-0.yaml",
    "kube-system/kube-scheduler-cp/kube-scheduler.log",
    "a.tar",
    "-x.json",
)

COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "": lambda data: data,
    ".gz": lambda data: gzip.compress(data, 1, mtime=0),
    ".tgz": lambda data: gzip.compress(data[:600], 1, mtime=0) + gzip.compress(data[600:], 1, mtime=0),
    ".bz2": lambda data: bz2.compress(data, 1),
    ".xz": lambda data: lzma.compress(data, preset=0),
    ".zst": lambda data: zstd.compress(data, 1),
}


def packed(files: Mapping[str, bytes], chance: Random) -> tuple[str, bytes]:
    """A name and the bytes of a file that holds these files, each perhaps compressed by itself."""
    members = {_name(name, chance): content for name, content in files.items()}
    if chance.random() < 0.15:
        suffix = chance.choice(list(COMPRESSIONS))
        members = {f"{name}{suffix}": COMPRESSIONS[suffix](content) for name, content in members.items()}
    if chance.random() < 0.15:
        inner, content = packed(members, chance)
        members = {f"inner-{inner}": content}
    kind = chance.random()
    if kind < 0.3:
        return "dump.zip", zipped(members, chance)
    suffix = chance.choices(list(COMPRESSIONS), [4, 4, 1, 1, 1, 2])[0]
    if kind < 0.4 and members:
        return f"dump.json{suffix}", COMPRESSIONS[suffix](next(iter(members.values())))
    return f"dump.tar{suffix}", COMPRESSIONS[suffix](tarred(members, chance))


def _name(name: str, chance: Random) -> str:
    kind = chance.random()
    if kind < 0.8:
        return name
    return chance.choice(_NAMES) if kind < 0.9 else f"{chance.choice(TEXTS)[:300]}{name}"


def tarred(files: Mapping[str, bytes], chance: Random) -> bytes:
    written = io.BytesIO()
    dialect = chance.choice([tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
    with tarfile.open(fileobj=written, mode="w", format=dialect, errors="surrogateescape") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            odd = chance.random()
            if odd < 0.1:
                member.type = chance.choice(_KINDS)
            elif odd < 0.2 and dialect == tarfile.PAX_FORMAT:
                member.pax_headers = {
                    chance.choice(_PAX): chance.choice(TEXTS)[:2000] for _ in range(chance.randint(1, 3))
                }
            elif odd < 0.25:
                member.linkname = chance.choice(_NAMES)
                member.size = chance.choice([0, 1, len(content) + 1, 2**33, len(content)])
            try:
                archive.addfile(member, io.BytesIO(content))
            except (ValueError, UnicodeError, OSError):
                continue  # this dialect cannot say it
    return written.getvalue()


def zipped(files: Mapping[str, bytes], chance: Random) -> bytes:
    written = io.BytesIO()
    method = chance.choices(
        [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA], [4, 8, 1, 1]
    )[0]
    with zipfile.ZipFile(written, "w", method, compresslevel=1) as archive:
        for name, content in files.items():
            try:
                member = zipfile.ZipInfo(name)
                member.compress_type = method
                _make_odd(member, chance)
                archive.writestr(member, content)
            except (ValueError, UnicodeError):
                continue  # no name of a member
    return written.getvalue()


def _make_odd(member: Any, chance: Random) -> None:
    odd = chance.random()
    if odd < 0.05:
        member.external_attr = 0o120777 << 16
    elif odd < 0.1:
        member.extra = chance.randbytes(chance.randint(1, 30))
    elif odd < 0.15:
        member.comment = chance.choice(TEXTS).encode("utf-8", "replace")[:60_000]
