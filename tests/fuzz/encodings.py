"""Values as files: JSON and YAML with everything that their syntax has, and archives of such files."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import math
import re
import tarfile
import zipfile
from typing import TYPE_CHECKING, Any

from tests.fuzz.mutations import HOSTILE_TEXTS, mutated_bytes

if TYPE_CHECKING:
    from random import Random

_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)


def as_json(value: Any, random: Random) -> bytes:
    """The value as JSON: compact or with kubectl's indentation; surrogates, NaN and Infinity as Python writes them."""
    text = json.dumps(value, indent=random.choice((None, None, 4)), ensure_ascii=random.random() < 0.5)
    if random.random() < 0.1:
        text = text.replace("{", '{"a": 1, "a": 2, ' if random.random() < 0.5 else "{ \t\n", 1)
    return _encoded(text, random)


def as_yaml(value: Any, random: Random) -> bytes:
    """The value as YAML in block style; the writer is our own, as PyYAML's recurses, and refuses what is hostile."""
    wild = random.random() < 0.2
    lines = ["---"] if random.random() < 0.3 else []
    _write_yaml(value, 0, lines, random, wild=wild)
    text = "\n".join(lines) + "\n"
    if wild and random.random() < 0.5:
        text = random.choice(_YAML_HEADS) + text
    return _encoded(text, random)


_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9/._-]*")

_YAML_TAGS = ("!!str ", "!!int ", "!!float ", "!!binary ", "&x ", "!local ", "*x ", "|\n  ")

_YAML_HEADS = (
    "%YAML 1.2\n---\n",
    "a: &a [x, x]\nb: &b [*a, *a, *a, *a]\nc: &c [*b, *b, *b, *b]\nd: [*c, *c, *c, *c]\n---\n",
    "a: &a {b: *a}\n---\n",
    "<<: {a: 1}\n---\n",
    "x: !!binary not base64\n---\n",
    "x: !!python/object/apply:os.system ['touch ran']\n---\n",
    "x: !!timestamp 2026-99-99\n---\n",
    "? [a, b]\n: c\n---\n",
    "!!set {a, b}\n---\n",
    "\t- a\n",
    "a: |2\n  x\n---\n",
)


def _write_yaml(value: Any, indent: int, lines: list[str], random: Random, *, wild: bool) -> None:
    pad = "  " * min(indent, 60)
    if indent > 60 or not isinstance(value, (dict, list)) or not value:
        lines.append(f"{pad}{_flow(value, random, wild=wild)}")
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, (dict, list)) and item:
                lines.append(f"{pad}-")
                _write_yaml(item, indent + 1, lines, random, wild=wild)
            else:
                lines.append(f"{pad}- {_flow(item, random, wild=wild)}")
    else:
        for key, item in value.items():
            name = _flow(str(key), random, wild=wild)
            if isinstance(item, (dict, list)) and item:
                lines.append(f"{pad}{name}:")
                _write_yaml(item, indent + 1, lines, random, wild=wild)
            else:
                lines.append(f"{pad}{name}: {_flow(item, random, wild=wild)}")


def _flow(value: Any, random: Random, *, wild: bool) -> str:
    """A value on one line; in a wild file also plain where it reads as something else, with tags and aliases."""
    if isinstance(value, float) and not math.isfinite(value):
        return random.choice((".inf", "-.inf", ".nan"))
    if isinstance(value, str) and (_PLAIN.fullmatch(value) or (wild and random.random() < 0.1 and "\n" not in value)):
        return value
    if wild and isinstance(value, str) and random.random() < 0.02:
        return random.choice(_YAML_TAGS) + value
    return json.dumps(value, ensure_ascii=not wild or random.random() < 0.5)


def _encoded(text: str, random: Random) -> bytes:
    encoding = random.choice(("utf-8",) * 12 + ("utf-8-sig", "utf-16", "utf-32", "latin-1"))
    data = text.encode(encoding, "surrogatepass" if encoding.startswith("utf") else "replace")
    return mutated_bytes(data, random) if random.random() < 0.15 else data


def as_documents(values: list[Any], random: Random) -> bytes:
    """Several values in one file: a List, YAML documents, or JSON after JSON."""
    if random.random() < 0.6:
        whole = {"apiVersion": "v1", "kind": "List", "items": values}
        return (as_json if random.random() < 0.6 else as_yaml)(whole, random)
    if random.random() < 0.5:
        return b"---\n".join(as_yaml(value, random) for value in values)
    return b"\n".join(as_json(value, random) for value in values)


def archived(files: dict[str, bytes], random: Random) -> bytes:
    """The files in an archive, compressed in some way, perhaps an archive in itself, perhaps damaged."""
    data = random.choice((_tar, _tar, _zip, _compressed_alone))(files, random)
    if random.random() < 0.5:
        data = _compressed(data, random)
    if random.random() < 0.1:
        return archived({"inner.tar.gz": data}, random)
    return mutated_bytes(data, random) if random.random() < 0.4 else data


def _compressed(data: bytes, random: Random) -> bytes:
    return random.choice(
        (
            lambda: gzip.compress(data, 1),
            lambda: gzip.compress(data, 1) * 2,
            lambda: bz2.compress(data, 1),
            lambda: lzma.compress(data, preset=0),
            lambda: lzma.compress(data, format=lzma.FORMAT_ALONE, preset=0),
        )
    )()


def _compressed_alone(files: dict[str, bytes], random: Random) -> bytes:
    return _compressed(next(iter(files.values())), random)


def _tar(files: dict[str, bytes], random: Random) -> bytes:
    out = io.BytesIO()
    kinds = (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)
    with tarfile.open(fileobj=out, mode="w", format=random.choice(kinds)) as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(_hostile_name(name, random))
            member.size = len(data)
            if random.random() < 0.05:
                member.type = random.choice((tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE))
                member.linkname = "/etc/passwd"
                member.size = 0
            if random.random() < 0.1:
                member.pax_headers = {random.choice(("size", "path", "x", "GNU.sparse.map")): "9" * 30}
            try:
                archive.addfile(member, io.BytesIO(data))
            except (ValueError, UnicodeError):  # a name that this format cannot hold
                archive.addfile(tarfile.TarInfo("empty"))
    return out.getvalue()


def _zip(files: dict[str, bytes], random: Random) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", random.choice(_COMPRESSIONS)) as archive:
        for name, data in files.items():
            hostile = _hostile_name(name, random).partition("\0")[0].encode("utf-8", "replace").decode()
            archive.writestr(hostile or "x", data)
    return out.getvalue()


def _hostile_name(name: str, random: Random) -> str:
    return name if random.random() < 0.8 else f"{random.choice(HOSTILE_TEXTS)[:80]}/{name}"
