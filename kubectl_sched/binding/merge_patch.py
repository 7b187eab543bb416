"""JSON merge patches (RFC 7386), and how one is taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def merged(value: Any, patch: Mapping[str, Any]) -> dict[str, Any]:
    """The value with the patch applied; neither is changed."""
    result = dict(value) if isinstance(value, dict) else {}
    for key, change in patch.items():
        if change is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), change) if isinstance(change, dict) else change
    return result


def inverse(value: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """The patch that makes of the patched value the value again. Law: merged(merged(v, p), inverse(v, p)) == v."""
    undoing: dict[str, Any] = {}
    for key, change in patch.items():
        before: Any = value.get(key)
        nested = isinstance(change, dict) and isinstance(before, dict)
        undoing[key] = inverse(before, change) if nested else before
    return undoing
