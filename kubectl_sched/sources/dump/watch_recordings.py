"""Plays recordings to their end: kube-scheduler-simulator's JSON lines, kwokctl's ResourcePatch documents, watches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from kubectl_sched.api.apimachinery.strategic_merge import merge
from kubectl_sched.sources.dump.document_shapes import kind_of_word
from kubectl_sched.sources.dump.undecoded_values import fields, head, plain
from kubectl_sched.sources.kinds import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_sched.sources.dump.undecoded_values import Value

_Key: TypeAlias = tuple[str, str, str]
_State: TypeAlias = dict[_Key, dict[str, Any]]

_PATCH = "ResourcePatch"


def holds_changes(value: Value) -> bool:
    """Report whether the document is a change to an object instead of an object."""
    about = head(value)
    return about is not None and (about.kind == _PATCH or (about.kind is None and _is_record(fields(value) or {})))


def final_state(documents: Iterable[Value]) -> list[dict[str, Any]]:
    """The objects as they are after the last change."""
    state: _State = {}
    patches: list[dict[str, Any]] = []
    for document in documents:
        content = plain(document)
        if not isinstance(content, dict):
            continue
        if content.get("kind") == _PATCH:
            patches.append(content)
        elif _is_record(content):
            _record(state, content)
        else:
            for item in _items(content):
                state[_key(item)] = item
    for patch in sorted(patches, key=_moment):
        _patch(state, patch)
    return list(state.values())


def _items(content: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The objects of a list, which names the kind of those that do not, or the one object."""
    items, kind = content.get("items"), str(content.get("kind", "")).removesuffix("List")
    if not isinstance(items, list):
        yield content
        return
    of_list = {"apiVersion": content.get("apiVersion"), "kind": kind} if kind else {}
    yield from ({**of_list, **item} for item in items if isinstance(item, dict))


def _moment(patch: dict[str, Any]) -> float:
    nanoseconds = patch.get("durationNanosecond")
    return nanoseconds if isinstance(nanoseconds, int | float) else 0


def _mapping(value: Any) -> dict[str, Any]:
    """The fields of an object; none of anything else."""
    return value if isinstance(value, dict) else {}


def _is_record(content: Any) -> bool:
    return ("event" in content and "resource" in content) or ("type" in content and "object" in content)


def _record(state: _State, record: dict[str, Any]) -> None:
    """kube-scheduler-simulator: {time, event: Add|Update|Delete, resource}; a watch: {type: ADDED|DELETED, object}."""
    item = record.get("resource", record.get("object"))
    if not isinstance(item, dict):
        return
    if record.get("event") == "Delete" or record.get("type") == "DELETED":
        state.pop(_key(item), None)
    elif str(record.get("type")) not in {"BOOKMARK", "ERROR"}:
        state[_key(item)] = item


def _patch(state: _State, patch: dict[str, Any]) -> None:
    """Kwokctl (pkg/apis/action/v1alpha1): create, patch or delete the target, patches being strategic merges."""
    target, resource, template = (_mapping(patch.get(key)) for key in ("target", "resource", "template"))
    kind = kind_of_word(str(resource.get("resource", "")))
    if kind is None:
        return
    key = _key({"kind": kind.name, "metadata": target})
    match patch.get("method"):
        case "create":
            state[key] = template
        case "delete":
            state.pop(key, None)
        case "patch" if key in state:
            state[key] = merge(state[key], template)


def _key(item: dict[str, Any]) -> _Key:
    metadata = _mapping(item.get("metadata"))
    kind = str(item.get("kind", ""))
    namespaced = kind not in BY_NAME or BY_NAME[kind].namespaced
    namespace = str(metadata.get("namespace") or "default") if namespaced else ""
    return kind, namespace, str(metadata.get("name", ""))
