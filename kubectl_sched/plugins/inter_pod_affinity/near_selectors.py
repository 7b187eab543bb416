"""Hints about the labels that a selector without any matching pod was probably meant for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.framework.near_miss import nearest

if TYPE_CHECKING:
    from kubectl_sched.api.apimachinery.labels import Selector
    from kubectl_sched.snapshot import PodTable

_SEARCHED_AT_MOST: Final = 2000


def near_selector_hints(selector: Selector, existing: PodTable) -> list[str]:
    """A hint for each requirement whose value, or whose key, is a near miss of one that pods have."""
    identities = existing.identity.values[:_SEARCHED_AT_MOST]
    hints = []
    for requirement in selector.requirements:
        key = requirement.key
        values = frozenset(labels[key] for _, labels in identities if key in labels)
        if not values:
            meant = nearest(key, frozenset(other for _, labels in identities for other in labels))
            hints.append(f"no pod has a label {key}" + (f"; did you mean {meant}?" if meant else ""))
            continue
        for value in requirement.values:
            meant = None if value in values else nearest(value, values)
            if meant is not None:
                hints.append(f"no pod has {key}={value}; did you mean {key}={meant}?")
    return hints
