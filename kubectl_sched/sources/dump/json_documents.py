"""Reads JSON of any shape: one document, JSON lines, documents one after the other, or documents among logs."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec

from kubectl_sched.api.decoders import UNDECODABLE
from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.sources.budget import Budget, values_in
from kubectl_sched.sources.dump.document_shapes import list_kind, take, take_items
from kubectl_sched.sources.dump.json_lists import CHUNK, NotAList, Pieces, find_frame
from kubectl_sched.sources.dump.text_encoding import utf8
from kubectl_sched.sources.dump.undecoded_values import plain
from kubectl_sched.sources.dump_errors import DumpError
from kubectl_sched.sources.kinds import KINDS
from kubectl_sched.sources.rare_fields import with_rare_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.sources.dump.collection import Collection
    from kubectl_sched.sources.dump.json_lists import Frame
    from kubectl_sched.sources.kinds import Kind

_LOG_STARTS = pattern(rb"^==== START logs for ", re.MULTILINE)
_LOG_ENDS = pattern(rb"^==== END logs for [^\n]*$", re.MULTILINE)
_BRACKET = pattern(rb"^([][{}]|\{.+\}|\[.+\])[ \t\r]*$", re.MULTILINE)
_TRAILING = pattern(r"trailing characters \(byte (\d+)\)")
"""msgspec counts the first of them."""

_YAML_FOLLOWS = pattern(rb"^---(?=\s|$)", re.MULTILINE)
_SURROGATE = pattern(rb"\\u[dD][89a-fA-F]")
_KIND = pattern(rb'"kind"\s*:\s*"(\w+)"')
_SMALL = 4 << 20

_CHECKED_AFTER = 50_000
_RAW_ITEMS = msgspec.json.Decoder(list[msgspec.Raw])


@cache
def _decoder(kinds: tuple[Kind, ...]) -> msgspec.json.Decoder[Any]:
    """Decodes an array of objects of these kinds, those of one spelling as namesakes."""
    of: dict[str, Any] = {}
    for kind in kinds:
        if kind.spelled in of:
            from kubectl_sched.sources.dump.ambiguous_kinds import namesake

            of[kind.spelled] = namesake(kind.spelled)
        else:
            of[kind.spelled] = kind.type
    item: Any = next(iter(of.values()))
    for other in of.values():
        item |= other
    return msgspec.json.Decoder(list[item])


def _kinds_in(piece: memoryview, size: int) -> tuple[Kind, ...]:
    """The kinds that a small piece names: to describe all kinds to msgspec takes longer than to decode ten nodes."""
    if size > _SMALL:
        return KINDS
    named = set(_KIND.findall(piece))
    return tuple(kind for kind in KINDS if kind.spelled.encode() in named) or KINDS


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
    if not foreign and not frame.items_name_their_kind and (kind is None or _may_be_of_another(frame, chunk)):
        raise NotAList
    pieces = Pieces(file, frame, tell, chunk)
    for piece in pieces:
        if foreign:
            _pass_over(piece)
        else:
            _take_piece(piece, pieces, source, collection, kind)
    if foreign:
        collection.passed_over.add(frame.header.kind.removesuffix("List"))
    listed = list_kind(pieces.header.kind, pieces.header.api_version, hint)[0]
    if listed is not None:
        collection.listed(listed.name)
    if pieces.header.metadata.snapshot:
        collection.take_snapshot(pieces.header.metadata)


def _may_be_of_another(frame: Frame, chunk: int) -> bool:
    """Report whether items would be taken in before it shows that the kind behind them is that of a later List."""
    return frame.kind_follows and frame.end is not None and frame.end - frame.start > chunk


def _pass_over(piece: memoryview) -> None:
    """Raises NotAList where the piece is no array: another list may follow, of a kind that is read."""
    try:
        msgspec.json.decode(piece, type=msgspec.Raw)
    except UNDECODABLE:
        raise NotAList from None


def _take_piece(piece: memoryview, pieces: Pieces, source: str, collection: Collection, kind: Kind | None) -> None:
    if pieces.size > 2 * CHUNK:  # one item of this size, which would be made as a whole before it is charged
        collection.budget.check(source, values=values_in(bytes(piece)))
    try:
        collection.add(_objects(_kinds_in(piece, pieces.size) if kind is None else (kind,), piece), source)
        collection.budget.take_in(pieces.size, piece, source)
    except (msgspec.ValidationError, UnicodeDecodeError, RecursionError):
        text = utf8(bytes(piece))
        collection.budget.take_text(text, source)
        take_items(_items(text), source, collection, kind)
    except UNDECODABLE:
        raise NotAList from None


def _objects(kinds: tuple[Kind, ...], piece: memoryview) -> list[KubernetesObject]:
    """Decode a piece; of what comes out nothing refers to the piece, which is released afterwards."""
    found = with_rare_fields(_decoder(kinds).decode(piece), piece)
    if not _has_namesakes(kinds):
        return found
    from kubectl_sched.sources.dump.ambiguous_kinds import told_apart

    return told_apart(found)


def _has_namesakes(kinds: tuple[Kind, ...]) -> bool:
    return len({kind.spelled for kind in kinds}) < len(kinds)


def _items(piece: bytes) -> list[msgspec.Raw]:
    try:
        return _RAW_ITEMS.decode(piece)
    except UNDECODABLE:
        raise NotAList from None


def read_json(data: bytes, source: str, collection: Collection, hint: Kind | None = None) -> None:
    """Takes in JSON of any shape, in UTF-8.

    Raises DumpError where none of it is JSON, or where it ends too early.
    """
    from kubectl_sched.sources.dump.watch_recordings import final_state, holds_changes

    documents: list[Any] = list(split(data, source, collection.budget))
    if any(holds_changes(document) for document in documents):
        documents = final_state(_plain(documents, data, source))
    for count, document in enumerate(documents):
        if count % _CHECKED_AFTER == 0:
            collection.budget.check(source)
        try:
            take(document, source, collection, hint)
        except UNDECODABLE as error:
            raise MalformedError(f"{source}: {_malformed(data, document, error)}") from None


class MalformedError(DumpError):
    """A value inside a document is no JSON. What stands before it was taken in."""


def _plain(documents: Sequence[Any], data: bytes, source: str) -> Iterator[Any]:
    for document in documents:
        try:
            yield plain(document)
        except UNDECODABLE as error:
            raise MalformedError(f"{source}: {_malformed(data, document, error)}") from None


def _malformed(data: bytes, document: Any, error: Exception) -> str:
    """Describe the first place of the document that is no JSON. Its skeleton was found to be JSON before."""
    content = bytes(document) if isinstance(document, msgspec.Raw) else b""
    try:
        msgspec.json.decode(content)
    except UNDECODABLE as strict:
        error = strict
    return _problem(data, error, content)


def split(data: bytes, source: str, budget: Budget | None = None) -> list[msgspec.Raw]:
    """The JSON documents in the data, which stand right behind one another or among logs."""
    budget = budget or Budget()
    budget.take_text(data, source)
    text, documents, at = without_logs(data), list[msgspec.Raw](), 0
    while at < len(text):
        try:
            msgspec.json.decode(memoryview(text)[at:], type=msgspec.Raw)
            end = len(text)
        except UNDECODABLE as error:
            rest = _TRAILING.search(str(error))
            if rest is None:
                among_others = _among_logs(text, data, source)
                if among_others:
                    return among_others
                raise DumpError(f"{source}: {_problem(data, error, text[at:])}") from None
            end = at + int(rest[1]) - 1
        documents.append(msgspec.Raw(text[at:end]))
        if len(documents) % _CHECKED_AFTER == 0:
            budget.check(source)
        at = end
    return documents


def _among_logs(text: bytes, data: bytes, source: str) -> list[msgspec.Raw]:
    """Documents of whole lines, as `cluster-info dump` mixes them with logs; none if YAML follows.

    Raises DumpError where one beside others is no JSON or was cut off.
    """
    if _YAML_FOLLOWS.search(text):
        return []
    documents: list[msgspec.Raw] = []
    problem = ""
    for start, end in _blocks(text):
        block = text[start:end]
        try:
            msgspec.json.decode(block, type=msgspec.Raw)
        except UNDECODABLE as error:
            if end == len(text) and "truncated" in str(error):
                problem = problem or "the last of its documents ends too early: it was cut off; make the dump again"
            elif _KIND.search(block):
                problem = problem or _problem(data, error, block)
        else:
            documents.append(msgspec.Raw(block))
    if documents and problem:
        raise DumpError(f"{source}: {problem}")
    return documents


def _blocks(text: bytes) -> Iterator[tuple[int, int]]:
    """Yield the places from a bracket alone in the first column to one that closes it, and of lines in brackets."""
    opened: int | None = None
    for bracket in _BRACKET.finditer(text):
        if bracket[1] in {b"{", b"["}:
            opened = bracket.start() if opened is None else opened
        elif opened is not None and bracket[1] in {b"}", b"]"}:
            yield opened, bracket.end()
            opened = None
        elif opened is None and _KIND.search(bracket[1]):
            yield bracket.span()
    if opened is not None:
        yield opened, len(text)


def without_logs(data: bytes) -> bytes:
    """The data without the containers' logs that `kubectl cluster-info dump` mixes in."""
    if b"==== START logs for " not in data:
        return data  # a regular expression takes longer to find that
    kept: list[bytes] = []
    at = 0
    while (start := _LOG_STARTS.search(data, at)) and (end := _LOG_ENDS.search(data, start.end())):
        kept.append(data[at : start.start()])
        at = end.end()
    return b"".join((*kept, data[at:])) if at else data


def _problem(data: bytes, error: Exception, piece: bytes) -> str:
    """Describe an error of the JSON in this piece of the data."""
    if isinstance(error, RecursionError):
        return "it is JSON nested too deeply to be a dump"
    start = max(data.find(piece), 0)
    if "truncated" in str(error):
        if _SURROGATE.search(data) and data.rstrip()[-1:] in {b"}", b"]"}:
            return f"it is not JSON: a text of the document at byte {start} holds half of a surrogate pair"
        return f"its JSON ends too early, after {len(data)} bytes: it was cut off; make the dump again"
    position = re.search(r"byte (\d+)", str(error))
    at = start + (int(position[1]) if position else 0)
    line = data.count(b"\n", 0, at) + 1
    column = at - data.rfind(b"\n", 0, at)
    said = str(error).partition(" (byte")[0].removeprefix("JSON is malformed: ")
    return f"it is not JSON: {said} at line {line}, column {column} (byte {at})"
