"""One requirement on a label: a set of values or the complement of one, and bounds (pkg/scheduling/requirement.go)."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, Final

import msgspec

from kubectl_sched.api.apimachinery.int64 import MAX_INT64, MIN_INT64, parse_int64
from kubectl_sched.node_provisioning.karpenter.karpenter_labels import AZURE_DISK_ZONE, AZURE_NO_ZONE, NORMALIZED

if TYPE_CHECKING:
    from collections.abc import Iterable

IN: Final = "In"
NOT_IN: Final = "NotIn"
EXISTS: Final = "Exists"
DOES_NOT_EXIST: Final = "DoesNotExist"
_NEGATIVE: Final = frozenset({NOT_IN, DOES_NOT_EXIST})
_SHOWN_VALUES: Final = 5


class Requirement(msgspec.Struct, frozen=True):
    """The values that a label may have: `values`, or all but these (`complement`) within inclusive bounds."""

    key: str
    complement: bool = False
    values: frozenset[str] = frozenset()
    gte: int | None = None
    lte: int | None = None
    min_values: int | None = None

    @property
    def operator(self) -> str:
        """The operator that says the same, bounds aside (Operator)."""
        if self.complement:
            return NOT_IN if self.values else EXISTS
        return IN if self.values else DOES_NOT_EXIST

    @property
    def is_negative(self) -> bool:
        """Report whether an absent label meets it."""
        return self.operator in _NEGATIVE

    @property
    def only_value(self) -> str | None:
        """The one value that is allowed; None if there are others or none."""
        return next(iter(self.values)) if not self.complement and len(self.values) == 1 else None

    @property
    def any_value(self) -> str:
        """A value that is allowed, empty if there is none. Upstream takes one at random (Any)."""
        if not self.complement:
            return min(self.values, default="")
        return next(text for number in count(self.gte or 0) if (text := str(number)) not in self.values)

    def has(self, value: str) -> bool:
        """Report whether the value is allowed (Has)."""
        return (value in self.values) != self.complement and within(value, self.gte, self.lte)

    def intersection(self, other: Requirement) -> Requirement:
        """Return what both allow (Intersection)."""
        if self == other and not self.bounded:
            return self
        gte, lte = largest(self.gte, other.gte), smallest(self.lte, other.lte)
        min_values = largest(self.min_values, other.min_values)
        if gte is not None and lte is not None and gte > lte:
            return Requirement(self.key, min_values=min_values)
        complement = self.complement and other.complement
        values = self._common(other)
        if gte is not None or lte is not None:
            values = frozenset(value for value in values if within(value, gte, lte))
        if not complement:
            gte = lte = None
        return Requirement(self.key, complement, values, gte, lte, min_values)

    @property
    def bounded(self) -> bool:
        """Report whether it has a bound."""
        return self.gte is not None or self.lte is not None

    def _common(self, other: Requirement) -> frozenset[str]:
        if self.complement:
            return self.values | other.values if other.complement else other.values - self.values
        return self.values - other.values if other.complement else self.values & other.values

    def has_intersection(self, other: Requirement) -> bool:
        """Report whether both allow some value (HasIntersection)."""
        gte, lte = largest(self.gte, other.gte), smallest(self.lte, other.lte)
        if gte is not None and lte is not None and gte > lte:
            return False
        if self.complement and other.complement:
            return True
        if gte is None and lte is None:
            return bool(self._common(other))
        return any(within(value, gte, lte) for value in self._common(other))

    def excludes(self, incoming: Requirement) -> bool:
        """Report whether the two contradict each other; two negative ones never do (Intersects)."""
        return not self.has_intersection(incoming) and not (incoming.is_negative and self.is_negative)

    def __str__(self) -> str:
        text = f"{self.key} {self.operator}"
        if self.values:
            shown = sorted(self.values)
            if len(shown) > _SHOWN_VALUES:
                shown = [*shown[:_SHOWN_VALUES], f"and {len(shown) - _SHOWN_VALUES} others"]
            text += f" [{' '.join(shown)}]"
        if self.gte is not None:
            text += f" >={self.gte}"
        if self.lte is not None:
            text += f" <={self.lte}"
        return text if self.min_values is None else f"{text} minValues {self.min_values}"

    def as_selector(self) -> list[dict[str, Any]]:
        """The requirement as a NodeClaim holds it (NodeSelectorRequirement): two of them if it has both bounds."""
        bounds = [("Gte", self.gte), ("Lte", self.lte)]
        made: list[dict[str, Any]] = [
            {"key": self.key, "operator": operator, "values": [str(bound)]}
            for operator, bound in bounds
            if bound is not None
        ] or [{"key": self.key, "operator": self.operator}]
        if not self.bounded and self.values:
            made[0]["values"] = sorted(self.values)
        if self.min_values is not None:
            for each in made:
                each["minValues"] = self.min_values
        return made


def requirement(key: str, operator: str, values: Iterable[str] = (), min_values: int | None = None) -> Requirement:
    """The requirement of an operator (NewRequirementWithFlexibility): Gt and Lt become inclusive bounds."""
    values = tuple(values) if key != AZURE_DISK_ZONE else tuple(each or AZURE_NO_ZONE for each in values)
    key = NORMALIZED.get(key, key)
    if operator in {IN, NOT_IN, DOES_NOT_EXIST}:
        listed = frozenset() if operator == DOES_NOT_EXIST else frozenset(values)
        return Requirement(key, complement=operator == NOT_IN, values=listed, min_values=min_values)
    if operator not in {"Gt", "Lt", "Gte", "Lte"}:
        return Requirement(key, complement=True, min_values=min_values)
    bound = _integer(values[0] if values else "") or 0
    if operator == "Gt" and bound == MAX_INT64:
        return Requirement(key)
    if operator in {"Gt", "Gte"}:
        return Requirement(key, complement=True, gte=bound + (operator == "Gt"), min_values=min_values)
    return Requirement(key, complement=True, lte=bound - (operator == "Lt"), min_values=min_values)


def within(value: str, gte: int | None, lte: int | None) -> bool:
    """Report whether a value is within the bounds; with a bound, only integers are (withinBounds)."""
    if gte is None and lte is None:
        return True
    number = parse_int64(value)
    return number is not None and (gte is None or number >= gte) and (lte is None or number <= lte)


def largest(left: int | None, right: int | None) -> int | None:
    """The larger number; None is no number (maxIntPtr)."""
    if left is None or right is None:
        return right if left is None else left
    return max(left, right)


def smallest(left: int | None, right: int | None) -> int | None:
    """The smaller number; None is no number (minIntPtr)."""
    if left is None or right is None:
        return right if left is None else left
    return min(left, right)


def _integer(text: str) -> int | None:
    """Return what strconv.Atoi leaves: a number beyond int64 becomes the nearest one, another text none."""
    if (number := parse_int64(text)) is not None:
        return number
    digits = text[1:] if text[:1] in {"+", "-"} else text
    if not digits.isascii() or not digits.isdigit():
        return None
    return MIN_INT64 if text.startswith("-") else MAX_INT64
