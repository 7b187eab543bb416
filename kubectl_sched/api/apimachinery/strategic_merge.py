"""Strategic merge patches, for the lists of the kinds that are read.

Answers to k8s.io/apimachinery/pkg/util/strategicpatch and to the patchMergeKey of the types in k8s.io/api/core/v1.
"""

from __future__ import annotations

from typing import Any

_MERGE_KEYS = {
    "conditions": "type",
    "addresses": "type",
    "containers": "name",
    "initContainers": "name",
    "ephemeralContainers": "name",
    "volumes": "name",
    "env": "name",
    "schedulingGates": "name",
    "resourceClaims": "name",
    "resourceClaimStatuses": "name",
    "imagePullSecrets": "name",
    "ports": "containerPort",
    "volumeMounts": "mountPath",
    "volumeDevices": "devicePath",
    "topologySpreadConstraints": "topologyKey",
    "ownerReferences": "uid",
}
"""Lists of objects that are merged by a key; all others are replaced."""

_MERGED_SETS = frozenset({"finalizers"})

_DIRECTIVE = "$patch"
_RETAIN_KEYS = "$retainKeys"
_DELETE_FROM = "$deleteFromPrimitiveList/"


def merge(original: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """The original with the patch applied; neither is changed. A list not of the form that its key asks for is none."""
    if patch.get(_DIRECTIVE) == "replace":
        return {key: value for key, value in patch.items() if key != _DIRECTIVE}
    if patch.get(_DIRECTIVE) == "delete":
        return {}
    kept = patch.get(_RETAIN_KEYS)
    merged = {key: value for key, value in original.items() if not isinstance(kept, list) or key in kept}
    for key, value in patch.items():
        if key.startswith(_DELETE_FROM):
            name = key.removeprefix(_DELETE_FROM)
            merged[name] = [item for item in _listed(merged.get(name)) if item not in _listed(value)]
        elif key.startswith("$"):
            continue
        elif value is None:
            merged.pop(key, None)
        else:
            merged[key] = _merge_field(key, merged.get(key), value)
    return merged


def _merge_field(key: str, original: Any, patch: Any) -> Any:
    if isinstance(patch, dict):
        return merge(original if isinstance(original, dict) else {}, patch)
    if isinstance(patch, list) and key in _MERGED_SETS:
        return [*_listed(original), *(item for item in patch if item not in _listed(original))]
    if key in _MERGE_KEYS and _is_keyed(patch, _MERGE_KEYS[key]):
        return _merge_list(original if _is_keyed(original, _MERGE_KEYS[key]) else [], patch, _MERGE_KEYS[key])
    return patch


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_keyed(items: Any, merge_key: str) -> bool:
    """Report whether it is a list of objects that the key may tell apart."""
    return isinstance(items, list) and all(
        isinstance(item, dict) and isinstance(item.get(merge_key), str | int | None) for item in items
    )


def _merge_list(original: list[Any], patch: list[dict[str, Any]], merge_key: str) -> list[Any]:
    if any(set(item) == {_DIRECTIVE} and item[_DIRECTIVE] == "replace" for item in patch):
        return [item for item in patch if set(item) != {_DIRECTIVE}]
    merged = {item.get(merge_key): item for item in original}
    for item in patch:
        name = item.get(merge_key)
        if item.get(_DIRECTIVE) == "delete":
            merged.pop(name, None)
        else:
            merged[name] = merge(merged.get(name, {}), item)
    return list(merged.values())


def difference(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """The smallest patch of which `merge(before, patch)` is `after`, but for the order of merged lists.

    Both are objects in plain dictionaries and lists, as JSON has them.
    """
    patch: dict[str, Any] = {key: None for key in before if key not in after}
    for key, value in after.items():
        if key not in before or before[key] != value:
            patch[key] = _field_difference(key, before.get(key, type(value)()), value)
    return patch


def _field_difference(key: str, before: Any, after: Any) -> Any:
    if isinstance(before, dict) and isinstance(after, dict):
        return difference(before, after)
    merge_key = _MERGE_KEYS.get(key)
    if merge_key is None or not isinstance(before, list) or not isinstance(after, list):
        return after
    if not _are_told_apart(before, merge_key) or not _are_told_apart(after, merge_key):
        return [{_DIRECTIVE: "replace"}, *after]
    was, becomes = ({item[merge_key]: item for item in items} for items in (before, after))
    gone = [{merge_key: name, _DIRECTIVE: "delete"} for name in was if name not in becomes]
    changed = [
        {merge_key: name, **difference(was.get(name, {}), item)}
        for name, item in becomes.items()
        if item != was.get(name)
    ]
    return [*gone, *changed]


def _are_told_apart(items: list[Any], merge_key: str) -> bool:
    """Report whether each item has a value of the merge key that no other has: only then does a patch find it."""
    names = [item.get(merge_key) for item in items]
    return None not in names and len(set(names)) == len(names)
