"""Label selectors, ready to match labels.

Answers to k8s.io/apimachinery/pkg/labels/selector.go and LabelSelectorAsSelector of pkg/apis/meta/v1/helpers.go. The
textual form has its parser in `selector_text`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

import msgspec

from kubectl_sched.api.apimachinery.int64 import parse_int64
from kubectl_sched.api.apimachinery.validation import (
    aggregate,
    child,
    invalid,
    label_key_errors,
    label_value_errors,
    not_supported,
    quoted,
)
from kubectl_sched.errors import SchedError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from kubectl_sched.api.meta import LabelSelector, LabelSelectorRequirement

IN: Final = "in"
NOT_IN: Final = "notin"
EXISTS: Final = "exists"
DOES_NOT_EXIST: Final = "!"
EQUALS: Final = "="
DOUBLE_EQUALS: Final = "=="
NOT_EQUALS: Final = "!="
GREATER_THAN: Final = "gt"
LESS_THAN: Final = "lt"

HOLDS_VALUE: Final = frozenset({IN, EQUALS, DOUBLE_EQUALS})
LACKS_VALUE: Final = frozenset({NOT_IN, NOT_EQUALS})
_EXACT: Final = frozenset({EQUALS, DOUBLE_EQUALS, NOT_EQUALS})
_PRESENCE: Final = frozenset({EXISTS, DOES_NOT_EXIST})
COMPARISON: Final = frozenset({GREATER_THAN, LESS_THAN})
_SUPPORTED: Final = (
    IN, NOT_IN, EQUALS, DOUBLE_EQUALS, NOT_EQUALS, GREATER_THAN, LESS_THAN, EXISTS, DOES_NOT_EXIST,
)  # fmt: skip
OF_LABEL_SELECTOR: Final = {"In": IN, "NotIn": NOT_IN, "Exists": EXISTS, "DoesNotExist": DOES_NOT_EXIST}
_SIGNS: Final = {IN: " in ", NOT_IN: " notin ", GREATER_THAN: ">", LESS_THAN: "<"}
_SCANNED_AT_MOST: Final = 8


class InvalidSelector(SchedError):  # noqa: N818 - read as a sentence: raise InvalidSelector
    """A selector that Kubernetes cannot parse; `reason` is its own error text."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"not a selector: {reason}")


class Requirement(msgspec.Struct, frozen=True):
    """One condition on one label. `requirement` makes one that is valid."""

    key: str
    operator: str
    values: tuple[str, ...] = ()
    _lookup: frozenset[str] | tuple[str, ...] = ()
    bound: int | None = None
    """The number that Gt and Lt compare with; None for other operators, and where the value is no number."""

    def __post_init__(self) -> None:
        many = len(self.values) > _SCANNED_AT_MOST
        msgspec.structs.force_setattr(self, "_lookup", frozenset(self.values) if many else self.values)
        if self.operator in COMPARISON and len(self.values) == 1:
            msgspec.structs.force_setattr(self, "bound", parse_int64(self.values[0]))

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Report whether labels meet the condition (Requirement.Matches)."""
        value = labels.get(self.key)
        if self.operator in HOLDS_VALUE:
            return value is not None and value in self._lookup
        if self.operator in LACKS_VALUE:
            return value is None or value not in self._lookup
        if self.operator in _PRESENCE:
            return (value is not None) == (self.operator == EXISTS)
        return value is not None and self._compares(value)

    def _compares(self, value: str) -> bool:
        number = parse_int64(value) if self.bound is not None else None
        if number is None or self.bound is None:
            return False
        return number > self.bound if self.operator == GREATER_THAN else number < self.bound

    def __str__(self) -> str:
        if self.operator in _PRESENCE:
            return f"!{self.key}" if self.operator == DOES_NOT_EXIST else self.key
        values = ",".join(sorted(self.values))
        if self.operator in {IN, NOT_IN}:
            values = f"({values})"
        return f"{self.key}{_SIGNS.get(self.operator, self.operator)}{values}"


class Selector(msgspec.Struct, frozen=True):
    """Requirements that must all hold, ordered by key. Hashable; equal selectors select alike.

    No requirements select everything; `nothing` selects nothing at all (labels.Nothing).
    """

    requirements: tuple[Requirement, ...] = ()
    nothing: bool = False

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Report whether labels are selected."""
        if self.nothing:
            return False
        for requirement in self.requirements:  # noqa: SIM110 - asked for every distinct label set
            if not requirement.matches(labels):
                return False
        return True

    @property
    def is_empty(self) -> bool:
        """Report whether it restricts nothing (Empty); false for the selector of nothing."""
        return not self.requirements and not self.nothing

    def add(self, *requirements: Requirement) -> Selector:
        """The selector with more requirements; nothing stays nothing."""
        if self.nothing:
            return self
        return Selector(_by_key((*self.requirements, *requirements)))

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))


EVERYTHING: Final = Selector()
NOTHING: Final = Selector(nothing=True)


def requirement(key: str, operator: str, values: Collection[str] = ()) -> Requirement:
    """A valid requirement (NewRequirement); raise InvalidSelector."""
    values = tuple(values)
    errors = requirement_errors(key, operator, values)
    if errors:
        raise InvalidSelector(aggregate(errors))
    return Requirement(key, operator, values)


def requirement_errors(key: str, operator: str, values: tuple[str, ...], path: str = "") -> list[str]:
    """Return the errors of NewRequirement, in its words and order, naming fields below `path`."""
    errors = []
    if wrong := label_key_errors(key):
        errors.append(invalid(child(path, "key"), key, "; ".join(wrong)))
    at = child(path, "values")
    errors += _value_count_errors(operator, values, path)
    for index, value in enumerate(values):
        if operator in COMPARISON and parse_int64(value) is None:
            errors.append(invalid(f"{at}[{index}]", value, "for 'Gt', 'Lt' operators, the value must be an integer"))
    for index, value in enumerate(values):
        if wrong := label_value_errors(value):
            errors.append(invalid(f"{at}[{index}][{key}]", value, "; ".join(wrong)))
    return errors


def selector_of(selector: LabelSelector | None) -> Selector:
    """Return a stored selector ready to match (LabelSelectorAsSelector): None matches nothing, an empty one all.

    Raise InvalidSelector with the words of 1.36.
    """
    if selector is None:
        return NOTHING
    if not selector.match_labels and not selector.match_expressions:
        return EVERYTHING
    return _selector_of(tuple(sorted(selector.match_labels.items())), selector.match_expressions)


def selector_from_set(labels: Mapping[str, str]) -> Selector:
    """The selector of exactly these values, unchecked (SelectorFromSet); no labels select everything."""
    return _from_items(tuple(sorted(labels.items())))


@lru_cache(maxsize=1 << 14)
def _from_items(items: tuple[tuple[str, str], ...]) -> Selector:
    return Selector(tuple(Requirement(key, EQUALS, (value,)) for key, value in items))


@lru_cache(maxsize=1 << 14)
def _selector_of(
    match_labels: tuple[tuple[str, str], ...], match_expressions: tuple[LabelSelectorRequirement, ...]
) -> Selector:
    requirements = [requirement(key, EQUALS, (value,)) for key, value in match_labels]
    for expression in match_expressions:
        operator = OF_LABEL_SELECTOR.get(expression.operator)
        if operator is None:
            raise InvalidSelector(f"{quoted(expression.operator)} is not a valid label selector operator")
        requirements.append(requirement(expression.key, operator, expression.values))
    return Selector(_by_key(requirements))


def _by_key(requirements: Iterable[Requirement]) -> tuple[Requirement, ...]:
    return tuple(sorted(requirements, key=lambda requirement: requirement.key))


def _value_count_errors(operator: str, values: tuple[str, ...], path: str) -> list[str]:
    if operator not in _SUPPORTED:
        return [not_supported(child(path, "operator"), operator, _SUPPORTED)]
    if operator in {IN, NOT_IN} and not values:
        detail = "for 'in', 'notin' operators, values set can't be empty"
    elif operator in _EXACT and len(values) != 1:
        detail = "exact-match compatibility requires one single value"
    elif operator in _PRESENCE and values:
        detail = "values set must be empty for exists and does not exist"
    elif operator in COMPARISON and len(values) != 1:
        detail = "for 'Gt', 'Lt' operators, exactly one value is required"
    else:
        return []
    return [invalid(child(path, "values"), values, detail)]
