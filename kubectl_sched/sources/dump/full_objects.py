"""Reads pods and nodes with all fields, for callers that need more than a replay does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from kubectl_sched.sources.dump.input_files import Walk
from kubectl_sched.sources.dump.json_documents import split
from kubectl_sched.sources.dump_errors import DumpError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_KINDS = frozenset({"Pod", "Node"})


def whole_objects(paths: Sequence[str]) -> dict[tuple[str, str], dict[str, Any]]:
    """(kind, key) -> the object, of the JSON and YAML manifests and lists among these paths.

    What lies in another layout, or came on standard input or through a pipe, is left out.
    """
    walk = Walk(None)
    files = (source.content.read() for path in paths if _lasts(path) for source in walk.sources(path))
    return {
        (item["kind"], _key(item)): item
        for data in files
        for document in _documents(data)
        for item in _items(document)
        if _is_read(item)
    }


def _lasts(path: str) -> bool:
    """Report whether the content can be read again."""
    return path != "-" and not Path(path).is_fifo()


def _is_read(item: dict[str, Any]) -> bool:
    """Report whether it is a pod or a node that can be read."""
    kind, parts = item.get("kind"), (item.get("metadata"), item.get("spec", {}))
    return isinstance(kind, str) and kind in _KINDS and all(isinstance(part, dict) for part in parts)


def _documents(data: bytes) -> list[Any]:
    try:
        return [msgspec.json.decode(document) for document in split(data, "")]
    except DumpError:
        from kubectl_sched.sources.yaml.yaml_documents import documents

        return [document.value for document in documents(data, "") if document.error is None]


def _items(value: Any, kind: str = "") -> Iterator[dict[str, Any]]:
    """The objects of a value, of lists of lists, too; `kind` is that of an object that names none."""
    waiting = [(value, kind)]  # nested however deep: a call for each level would end in RecursionError
    while waiting:
        value, kind = waiting.pop()
        if isinstance(value, list):
            waiting += ((item, kind) for item in reversed(value))
        elif isinstance(value, dict):
            own = str(value.get("kind", kind))
            if not own.endswith("List"):
                yield {"kind": kind, **value}
            elif isinstance(items := value.get("items"), list):
                waiting.append((items, own.removesuffix("List")))


def _key(item: dict[str, Any]) -> str:
    metadata = item["metadata"]
    name = str(metadata.get("name", ""))
    return name if item["kind"] == "Node" else f"{metadata.get('namespace') or 'default'}/{name}"
