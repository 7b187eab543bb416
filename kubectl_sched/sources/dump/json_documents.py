"""Reads JSON of any shape: one document, JSON lines, documents one after the other, or documents among logs."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec

from kubectl_sched.sources.dump.json_lists import CHUNK, NotAList, find_frame, pieces
from kubectl_sched.sources.dump.layouts import list_kind, take, take_items
from kubectl_sched.sources.dump.text_encoding import utf8
from kubectl_sched.sources.errors import DumpError
from kubectl_sched.sources.kinds import KINDS, Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.sources.dump.collection import Collection

_DECODERS: dict[Kind | None, msgspec.json.Decoder[Any]] = {}
_LOGS = re.compile(rb"^==== START logs for .*?^==== END logs for [^\n]*$", re.DOTALL | re.MULTILINE)
_BLOCK = re.compile(rb"^\{[ \t\r]*$.*?^\}[ \t\r]*$", re.DOTALL | re.MULTILINE)
_OPENED = re.compile(rb"^\{[ \t\r]*$", re.MULTILINE)
_YAML_FOLLOWS = re.compile(rb"^---(?=\s|$)", re.MULTILINE)
_SPACE = re.compile(r"\s*")
_RAW_ITEMS = msgspec.json.Decoder(list[msgspec.Raw])


def _decoder(kind: Kind | None) -> msgspec.json.Decoder[Any]:
    """Decodes an array of that kind, or of objects that name their kinds."""
    if kind not in _DECODERS:
        item: Any = kind.type if kind else KINDS[0].type
        for other in () if kind else KINDS[1:]:
            item |= other.type
        _DECODERS[kind] = msgspec.json.Decoder(list[item])
    return _DECODERS[kind]


def read_list(
    file: BinaryIO,
    source: str,
    collection: Collection,
    hint: Kind | None = None,
    tell: Callable[[int], None] = lambda _: None,
    chunk: int = CHUNK,
) -> None:
    """Takes in a file that is one List written by machine, piece by piece.

    Raises NotAList for any other file; what was taken before that showed is in the file all the same.
    """
    frame = find_frame(file)
    kind, foreign = list_kind(frame.header.kind, frame.header.api_version, hint)
    if foreign:
        collection.passed_over.add(frame.header.kind.removesuffix("List"))
        return
    if kind is None and not frame.items_name_their_kind:
        raise NotAList
    if kind is not None:
        collection.listed(kind.name)
    if frame.header.metadata.snapshot:
        collection.take_snapshot(frame.header.metadata)
    decoder = _decoder(kind)
    for piece in pieces(file, frame, tell, chunk):
        try:
            collection.add(decoder.decode(piece), source)
        except (msgspec.ValidationError, UnicodeDecodeError, RecursionError):
            take_items(_items(utf8(bytes(piece))), source, collection, kind)
        except msgspec.DecodeError:
            raise NotAList from None


def _items(piece: bytes) -> list[msgspec.Raw]:
    try:
        return _RAW_ITEMS.decode(piece)
    except msgspec.DecodeError:
        raise NotAList from None


def read_json(data: bytes, source: str, collection: Collection, hint: Kind | None = None) -> None:
    """Takes in JSON of any shape, in UTF-8.

    Raises DumpError where none of it is JSON, or where it ends too early.
    """
    from kubectl_sched.sources.dump.recordings import final_state, holds_changes

    documents: list[Any] = list(split(data, source))
    if any(holds_changes(document) for document in documents):
        documents = final_state(documents)
    for document in documents:
        take(document, source, collection, hint)


def split(data: bytes, source: str) -> list[msgspec.Raw]:
    """The JSON documents in the data."""
    try:
        msgspec.json.decode(data, type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError) as error:
        documents = _lines(data) or _among_logs(data, source) or _joined(data)
        if documents:
            return documents
        raise DumpError(f"{source}: {_problem(data, error)}") from None
    return [msgspec.Raw(data)]


def _lines(data: bytes) -> list[msgspec.Raw]:
    """Every line a document of its own; none if any line is not."""
    documents = [msgspec.Raw(line) for line in data.splitlines() if line.strip()]
    return documents if all(_is_document(line) for line in documents) else []


def _among_logs(data: bytes, source: str) -> list[msgspec.Raw]:
    """Documents from a brace alone in the first column to one that closes it, as `cluster-info dump` mixes them.

    None where documents of YAML stand among them. Raises DumpError where the last one was cut off.
    """
    text = without_logs(data)
    if _YAML_FOLLOWS.search(text):
        return []
    found = [msgspec.Raw(match[0]) for match in _BLOCK.finditer(text)]
    documents = [document for document in found if _is_document(document)]
    if documents and _OPENED.search(_BLOCK.sub(b"", text)):
        raise DumpError(f"{source}: the last of its documents ends too early: it was cut off; make the dump again")
    return documents


def _joined(data: bytes) -> list[msgspec.Raw]:
    """Documents right behind one another; none if anything else is among them."""
    text, decoder, documents, at = data.decode(errors="replace"), json.JSONDecoder(), [], 0
    while at < len(text):
        try:
            _, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return []
        documents.append(msgspec.Raw(text[at:end].encode()))
        between = _SPACE.match(text, end)
        at = between.end() if between is not None else end
    return documents


def without_logs(data: bytes) -> bytes:
    """The data without the containers' logs that `kubectl cluster-info dump` mixes in."""
    return _LOGS.sub(b"", data) if b"==== START logs for " in data else data


def _is_document(value: msgspec.Raw) -> bool:
    try:
        msgspec.json.decode(value, type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _problem(data: bytes, error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is JSON nested too deeply to be a dump"
    if "truncated" in str(error):
        return f"its JSON ends too early, after {len(data)} bytes: it was cut off; make the dump again"
    position = re.search(r"byte (\d+)", str(error))
    at = int(position[1]) if position else 0
    line = data.count(b"\n", 0, at) + 1
    column = at - data.rfind(b"\n", 0, at)
    return f"it is not JSON: {str(error).partition(': ')[2].partition(' (')[0]} at line {line}, column {column}"
