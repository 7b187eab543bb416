"""The requirements that Karpenter refuses in pods and NodeOverlays (pkg/apis/v1/nodeclaim_validation.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.api.apimachinery.int64 import parse_int64
from kubectl_sched.api.apimachinery.validation import label_key_errors, label_value_errors
from kubectl_sched.node_provisioning.karpenter.karpenter_labels import (
    CAPACITY_TYPE,
    CAPACITY_TYPES,
    GROUP,
    NORMALIZED,
    RESTRICTED,
)
from kubectl_sched.node_provisioning.karpenter.scheduling.requirement import DOES_NOT_EXIST, EXISTS, IN, NOT_IN

if TYPE_CHECKING:
    from collections.abc import Iterator

_NUMERIC: Final = frozenset({"Gt", "Lt", "Gte", "Lte"})
_OPERATORS: Final = frozenset({IN, NOT_IN, EXISTS, DOES_NOT_EXIST}) | _NUMERIC


def requirement_errors(
    key: str,
    operator: str,
    values: tuple[str, ...],
    well_known: frozenset[str],
    domains: frozenset[str] = frozenset({GROUP}),
) -> Iterator[str]:
    """Return what Karpenter has against a requirement (ValidateRequirement)."""
    key = NORMALIZED.get(key, key)
    if operator not in _OPERATORS:
        yield f"key {key} has an unsupported operator {operator} not in {_shown(_OPERATORS)}"
    if _is_restricted(key, well_known, domains):
        yield (
            f"using label {key} is not allowed as it might interfere with the internal provisioning logic; "
            f"specify a well known label: {_shown(well_known)}, "
            f"or a custom label that does not use a restricted domain: {_shown(domains)}"
        )
    if key == CAPACITY_TYPE and operator == IN and not CAPACITY_TYPES.intersection(values):
        listed = "[" + " ".join(values) + "]"
        yield (
            f"no valid values found in {listed} for {key}, "
            f"expected one of: map[on-demand:{{}} reserved:{{}} spot:{{}}], got: {listed}"
        )
    for wrong in label_key_errors(key):
        yield f"key {key} is not a qualified name, {wrong}"
    for value in values:
        for wrong in label_value_errors(value):
            yield f"invalid value {value} for key {key}, {wrong}"
    if operator == IN and not values:
        yield f"key {key} with operator {operator} must have a value defined"
    if operator in _NUMERIC and not _is_bound(values):
        yield f"key {key} with operator {operator} must have a single positive integer value"


def _is_bound(values: tuple[str, ...]) -> bool:
    number = parse_int64(values[0]) if len(values) == 1 else None
    return number is not None and number >= 0


def _is_restricted(key: str, well_known: frozenset[str], domains: frozenset[str]) -> bool:
    """Report whether the label is Karpenter's own, or its provider's (IsRestrictedLabel)."""
    if key in well_known:
        return False
    domain = key.partition("/")[0] if "/" in key else ""
    return key in RESTRICTED or any(domain == each or domain.endswith(f".{each}") for each in domains)


def _shown(values: frozenset[str]) -> str:
    return f"[{' '.join(sorted(values))}]"
