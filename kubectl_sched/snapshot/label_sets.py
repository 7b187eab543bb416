"""Matches selectors against the distinct (namespace, labels) of pods, with one column per label key for speed.

Pods of StatefulSets and Jobs each have labels of their own: there are as many identities as pods, and to ask the
selector about each is slow. But a selector is about a few keys, in which few pods differ. So one column is kept for
each key that a selector ever asked about, and each requirement is a comparison of codes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.api.apimachinery.labels import DOES_NOT_EXIST, EXISTS, HOLDS_VALUE, LACKS_VALUE
from kubectl_sched.snapshot.growing_column import ABSENT, GrowingColumn

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from typing import TypeAlias

    from kubectl_sched.api.apimachinery.labels import Requirement, Selector
    from kubectl_sched.api.meta import Labels
    from kubectl_sched.snapshot.array_types import Codes, Mask

    Identity: TypeAlias = tuple[str, Labels]

_MOST_COLUMNS = 256
"""Columns that are kept, each of four bytes an identity; the oldest one makes room for the next."""

_COMPARED = 4
"""With more values a table of them is made."""


class Identities:
    """Columns over the identities of one append-only list of pods."""

    def __init__(self) -> None:
        self._namespaces: GrowingColumn[Identity, str] = GrowingColumn(lambda identity: identity[0])
        self._labels: dict[str, GrowingColumn[Identity, str | None]] = {}

    def selected(self, identities: Sequence[Identity], selector: Selector, in_namespace: Callable[[str], bool]) -> Mask:
        """bool[len(identities)]: those that the selector selects in the namespaces that the predicate holds for."""
        size = len(identities)
        chosen = np.zeros(size, dtype=np.bool_)
        if not selector.nothing:
            few = np.flatnonzero(self._labelled(identities, size, selector))
            chosen[few] = self._namespaces.upto(size, identities).take(few).where(in_namespace)
        return chosen

    def work(self, selectors: Collection[Selector], identities: Sequence[Identity]) -> tuple[int, int]:
        """Count the operations on arrays that the selectors take, and the entries looked at one after the other."""
        requirements = [each for selector in selectors for each in selector.requirements]
        new_keys = {each.key for each in requirements} - self._labels.keys()
        namespaces = len(self._namespaces.upto(len(identities), identities).values)
        entries = len(identities) * len(new_keys) + len(selectors) * namespaces
        return 2 * len(requirements), entries + sum(len(each.values) for each in requirements)

    def _labelled(self, identities: Sequence[Identity], size: int, selector: Selector) -> Mask:
        chosen = np.ones(size, dtype=np.bool_)
        for requirement in selector.requirements:
            chosen &= self._meeting(identities, size, requirement)
        return chosen

    def _meeting(self, identities: Sequence[Identity], size: int, requirement: Requirement) -> Mask:
        growing = self._label(requirement.key)
        column = growing.upto(size, identities)
        if requirement.operator in HOLDS_VALUE:
            return _is_among(column.codes, [growing.code(value) for value in requirement.values])
        if requirement.operator in LACKS_VALUE:
            return ~_is_among(column.codes, [growing.code(value) for value in requirement.values])
        if requirement.operator == EXISTS:
            return ~_is_among(column.codes, [growing.code(None)])
        if requirement.operator == DOES_NOT_EXIST:
            return _is_among(column.codes, [growing.code(None)])
        return column.where(lambda value: requirement.matches({} if value is None else {requirement.key: value}))

    def _label(self, key: str) -> GrowingColumn[Identity, str | None]:
        growing = self._labels.get(key)
        if growing is None:
            if len(self._labels) >= _MOST_COLUMNS:
                del self._labels[next(iter(self._labels))]
            growing = self._labels[key] = GrowingColumn(lambda identity: identity[1].get(key))
        return growing


def _is_among(codes: Codes, few: Sequence[int]) -> Mask:
    few = [code for code in few if code != ABSENT]
    if len(few) <= _COMPARED:
        among = np.zeros(len(codes), dtype=np.bool_)
        for code in few:
            among |= codes == code
        return among
    chosen = np.zeros(max(int(codes.max(initial=0)), *few) + 1, dtype=np.bool_)
    chosen[few] = True
    return chosen[codes]
