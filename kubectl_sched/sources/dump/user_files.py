"""Reads the files that people write: configurations and manifests, as plain mappings."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from kubectl_sched.bounded_files import MOST_BYTES, first_bytes
from kubectl_sched.errors import words_of
from kubectl_sched.sources.dump.text_encoding import utf8
from kubectl_sched.sources.dump_errors import DumpError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def read_document(path: str) -> Mapping[str, Any]:
    """The one document of a YAML or JSON file (`-`: standard input), strict about duplicate keys as kube-scheduler is.

    Raises DumpError where it cannot be read, is no mapping, or holds several documents.
    """
    documents = read_documents(path)
    if len(documents) != 1:
        raise DumpError(f"{path}: it holds {len(documents)} documents instead of one")
    return documents[0]


def read_documents(path: str) -> tuple[Mapping[str, Any], ...]:
    """All documents of a YAML or JSON file, the items of a List being documents of their own.

    Raises DumpError as `read_document` does; there is at least one document.
    """
    name = "standard input" if path == "-" else path
    return documents_of(_content(path), name)


def documents_of(content: bytes, name: str) -> tuple[Mapping[str, Any], ...]:
    """All documents of YAML or JSON in UTF-8, for errors called `name`. Raises DumpError, as `read_documents` does."""
    documents = tuple(item for value in _values(content, name) for item in _flat(value, name))
    if not documents:
        raise DumpError(f"{name}: it is empty")
    return documents


def _content(path: str) -> bytes:
    name = "standard input" if path == "-" else path
    try:
        content = bounded_content(path)
    except OSError as error:
        from kubectl_sched.near_names import near_files

        raise DumpError(f"{path}: {words_of(error)}{near_files(path)}") from None
    check_size(content, name)
    return utf8(content)


def bounded_content(path: str) -> bytes:
    """The bytes of a file (`-`: standard input), no further than shows that it is too large. Raises OSError."""
    if path == "-":
        from kubectl_sched.sources.standard_input import standard_input

        return standard_input().read(MOST_BYTES + 1)
    return first_bytes(path)


def check_size(content: bytes, name: str) -> None:
    """Raises DumpError for more than people write."""
    if len(content) > MOST_BYTES:
        raise DumpError(f"{name}: it is larger than {MOST_BYTES >> 20} MiB, which is no file that people write")


def _values(data: bytes, name: str) -> Iterator[Any]:
    if data.lstrip()[:1] == b"{":
        try:
            yield json_value(data, name)
        except json.JSONDecodeError as error:
            if b"\n---" not in data and not _is_flow(data):
                raise DumpError(f"{name}: it is not JSON at line {error.lineno}: {error.msg.lower()}") from None
        else:
            return
    from kubectl_sched.sources.yaml.yaml_documents import documents

    for document in documents(data, name, strict=True):
        if document.error is not None:
            raise document.error
        yield document.value


def _is_flow(data: bytes) -> bool:
    """Report whether what begins with a brace is YAML's flow style rather than JSON: its first key is not quoted."""
    return data.lstrip()[1:].lstrip()[:1] not in {b'"', b"}", b""}


def json_value(data: bytes, name: str) -> Any:
    """The value of a JSON text, as Go reads it: what is no character is U+FFFD.

    Raises JSONDecodeError where it is no JSON; DumpError where it is nested too deeply, or holds a number that is too
    long or a key twice.
    """
    try:
        value = json.loads(data.decode(errors="replace"), object_pairs_hook=lambda pairs: _unique(pairs, name))
        return _characters(value) if _SURROGATE.search(data) else value
    except json.JSONDecodeError:
        raise
    except (RecursionError, ValueError):
        raise DumpError(f"{name}: it is nested too deeply, or holds a number that is too long") from None


def _characters(value: Any) -> Any:
    """The value with U+FFFD for each half of a surrogate pair in its texts."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_characters(key): _characters(item) for key, item in value.items()}
    return [_characters(item) for item in value] if isinstance(value, list) else value


def _unique(pairs: list[tuple[str, Any]], name: str) -> dict[str, Any]:
    """The fields of an object. Raises DumpError for one that is there twice."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        twice = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise DumpError(f"{name}: key {twice!r} is already set in the same object")
    return fields


def _flat(value: Any, name: str) -> Iterator[Mapping[str, Any]]:
    if not isinstance(value, dict):
        raise DumpError(f"{name}: it holds {_in_words(value)} where an object with apiVersion and kind belongs")
    if str(value.get("kind", "")).endswith("List") and isinstance(value.get("items"), list):
        for item in value["items"]:
            yield from _flat(item, name)
    else:
        yield value


def _in_words(value: Any) -> str:
    return (
        "a list" if isinstance(value, list) else f"the text {value[:40]!r}" if isinstance(value, str) else repr(value)
    )
