"""Validation of a pod's affinity, topology spread constraints and tolerations.

Answers to validateAffinity, validateTopologySpreadConstraints and ValidateTolerations of
pkg/apis/core/validation/validation.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.apimachinery.int64 import parse_int64
from kubectl_sched.api.apimachinery.validation import (
    choice_problems,
    dns_label_errors,
    invalid,
    is_decimal_integer,
    label_key_errors,
    label_problems,
    label_value_errors,
    not_supported,
    quoted,
    subdomain_errors,
    text_problems,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.affinity import (
        Affinity,
        NodeAffinity,
        NodeSelectorRequirement,
        NodeSelectorTerm,
        PodAffinity,
        PodAffinityTerm,
        Toleration,
        TopologySpreadConstraint,
    )
    from kubectl_sched.api.meta import LabelSelector

_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_NODE_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
_SELECTOR_OPERATORS = frozenset({"In", "NotIn", "Exists", "DoesNotExist"})
_OPERATORS = ("Equal", "Exists")
_COMPARISONS = ("Lt", "Gt")
_INCLUSION_POLICIES = ("Honor", "Ignore")
_DECIMAL_IS_WRONG = "must be a valid decimal integer in canonical form"
_IN_BOTH = "exists in both matchLabelKeys and labelSelector"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def affinity_problems(affinity: Affinity | None) -> Iterator[str]:
    """Yield the errors of a pod's affinity to nodes and to pods."""
    if affinity is None:
        return
    if affinity.node_affinity is not None:
        yield from _node_affinity(affinity.node_affinity)
    for name, kind in (("podAffinity", affinity.pod_affinity), ("podAntiAffinity", affinity.pod_anti_affinity)):
        if kind is not None:
            yield from _pod_affinity(kind, f"spec.affinity.{name}")


def _node_affinity(affinity: NodeAffinity) -> Iterator[str]:
    path = "spec.affinity.nodeAffinity"
    if affinity.required is not None:
        where = f"{path}.{_REQUIRED}.nodeSelectorTerms"
        if not affinity.required.node_selector_terms:
            yield f"{where}: Required value: must have at least one node selector term"
        for index, term in enumerate(affinity.required.node_selector_terms):
            yield from _node_term(term, f"{where}[{index}]", required=True)
    for index, each in enumerate(affinity.preferred or ()):
        yield from _weight(each.weight, f"{path}.{_PREFERRED}[{index}]")
        yield from _node_term(each.preference, f"{path}.{_PREFERRED}[{index}].preference", required=False)


def _pod_affinity(affinity: PodAffinity, path: str) -> Iterator[str]:
    for index, term in enumerate(affinity.required):
        yield from _pod_term(term, f"{path}.{_REQUIRED}[{index}]")
    for index, weighted in enumerate(affinity.preferred):
        yield from _weight(weighted.weight, f"{path}.{_PREFERRED}[{index}]")
        yield from _pod_term(weighted.pod_affinity_term, f"{path}.{_PREFERRED}[{index}].podAffinityTerm")


def _weight(weight: int, path: str) -> Iterator[str]:
    if not 1 <= weight <= 100:
        yield invalid(f"{path}.weight", weight, "must be in the range 1-100")


def _pod_term(term: PodAffinityTerm, path: str) -> Iterator[str]:
    if not term.topology_key:
        yield f"{path}.topologyKey: Required value: can not be empty"
    else:
        yield from text_problems(f"{path}.topologyKey", term.topology_key, label_key_errors)
    for name in term.namespaces:
        yield from text_problems(f"{path}.namespace", name, dns_label_errors)
    yield from _label_keys(term.match_label_keys, term.label_selector, f"{path}.matchLabelKeys")
    yield from _label_keys(term.mismatch_label_keys, term.label_selector, f"{path}.mismatchLabelKeys")
    for index, key in enumerate(term.match_label_keys):
        if key in term.mismatch_label_keys:
            yield invalid(f"{path}.matchLabelKeys[{index}]", key, "exists in both matchLabelKeys and mismatchLabelKeys")
    yield from _twice_asked(term.label_selector, term.match_label_keys, path)
    yield from _selector(term.label_selector, f"{path}.labelSelector")
    yield from _selector(term.namespace_selector, f"{path}.namespaceSelector")


def _node_term(term: NodeSelectorTerm, path: str, *, required: bool) -> Iterator[str]:
    for index, expression in enumerate(term.match_expressions):
        where = f"{path}.matchExpressions[{index}]"
        yield from text_problems(f"{where}.key", expression.key, label_key_errors)
        yield from _values(expression, where, required=required)
    for index, expression in enumerate(term.match_fields):
        where = f"{path}.matchFields[{index}]"
        if expression.key != "metadata.name":
            yield invalid(f"{where}.key", expression.key, "not a valid field selector key")
        if expression.operator not in {"In", "NotIn"}:
            yield invalid(f"{where}.operator", expression.operator, "not a valid selector operator")
        elif len(expression.values) != 1:
            said = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
            yield f"{where}.values: Required value: {said}"
        for position, value in enumerate(expression.values if expression.key == "metadata.name" else ()):
            yield from text_problems(f"{where}.values[{position}]", value, subdomain_errors)


def _values(expression: NodeSelectorRequirement, path: str, *, required: bool) -> Iterator[str]:
    """Yield the errors of an operator's values; those of preferred terms need not be label values."""
    number = len(expression.values)
    operator = expression.operator
    for index, value in enumerate(expression.values if required else ()):
        yield from text_problems(f"{path}.values[{index}]", value, label_value_errors)
    if operator in {"In", "NotIn"} and not number:
        yield f"{path}.values: Required value: must be specified when `operator` is 'In' or 'NotIn'"
    elif operator in {"Exists", "DoesNotExist"} and number:
        yield f"{path}.values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
    elif operator in {"Gt", "Lt"} and number != 1:
        yield f"{path}.values: Required value: must be specified single value when `operator` is 'Lt' or 'Gt'"
    elif operator not in _NODE_OPERATORS:
        yield invalid(f"{path}.operator", operator, "not a valid selector operator")


def spread_constraint_problems(constraints: Sequence[TopologySpreadConstraint]) -> Iterator[str]:
    """Yield the errors of topology spread constraints."""
    pairs = [(each.topology_key, each.when_unsatisfiable) for each in constraints]
    for index, each in enumerate(constraints):
        path = f"spec.topologySpreadConstraints[{index}]"
        if each.max_skew <= 0:
            yield invalid(f"{path}.maxSkew", each.max_skew, "must be greater than zero")
        if not each.topology_key:
            yield f"{path}.topologyKey: Required value: can not be empty"
        if each.when_unsatisfiable not in {"DoNotSchedule", "ScheduleAnyway"}:
            yield not_supported(
                f"{path}.whenUnsatisfiable", each.when_unsatisfiable, ("DoNotSchedule", "ScheduleAnyway")
            )
        pair = (each.topology_key, each.when_unsatisfiable)
        if pair in pairs[index + 1 :]:
            yield f'{path}.{{topologyKey, whenUnsatisfiable}}: Duplicate value: "{{{pair[0]}, {pair[1]}}}"'
        if each.min_domains is not None and each.min_domains <= 0:
            yield invalid(f"{path}.minDomains", each.min_domains, "must be greater than zero")
        if each.min_domains is not None and each.when_unsatisfiable != "DoNotSchedule":
            said = "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway"
            yield invalid(f"{path}.minDomains", each.min_domains, said)
        for field, policy in (
            ("nodeAffinityPolicy", each.node_affinity_policy),
            ("nodeTaintsPolicy", each.node_taints_policy),
        ):
            if policy is not None and policy not in _INCLUSION_POLICIES:
                yield not_supported(f"{path}.{field}", policy, _INCLUSION_POLICIES)
        yield from _label_keys(each.match_label_keys, each.label_selector, f"{path}.matchLabelKeys")
        yield from _twice_asked(each.label_selector, each.match_label_keys, path)
        yield from _selector(each.label_selector, f"{path}.labelSelector")


def doubled_label_key_problems(constraints: Sequence[TopologySpreadConstraint]) -> Iterator[str]:
    """The keys that a spread constraint asks for both in matchLabelKeys and in its selector as it was written."""
    for position, each in enumerate(constraints):
        selector = each.label_selector
        if selector is None:
            continue
        stated = {*selector.match_labels, *(expression.key for expression in selector.match_expressions)}
        for index, key in enumerate(each.match_label_keys):
            if key in stated:
                yield invalid(f"spec.topologySpreadConstraints[{position}][{index}]", key, _IN_BOTH)


def toleration_problems(tolerations: Sequence[Toleration], *, comparison: bool) -> Iterator[str]:
    """Yield the errors of tolerations; `comparison` is the feature TaintTolerationComparisonOperators."""
    operators = _OPERATORS + (_COMPARISONS if comparison else ())
    for index, toleration in enumerate(tolerations):
        yield from _toleration(toleration, f"spec.tolerations[{index}]", operators)


def _toleration(toleration: Toleration, path: str, operators: tuple[str, ...]) -> Iterator[str]:
    if toleration.key:
        yield from text_problems(f"{path}.key", toleration.key, label_key_errors)
    elif toleration.operator != "Exists":
        said = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        yield invalid(f"{path}.operator", toleration.operator, said)
    if toleration.operator in {"", "Equal"}:
        problems = label_value_errors(toleration.value)
        if problems:
            yield invalid(f"{path}.operator", toleration.value, ";".join(problems))
    if toleration.operator in _COMPARISONS and toleration.operator in operators:
        yield from _compared(toleration.value, f"{path}.value")
    yield from choice_problems(f"{path}.operator", toleration.operator, operators)
    if toleration.operator == "Exists" and toleration.value:
        yield invalid(f"{path}.operator", toleration.value, "value must be empty when `operator` is 'Exists'")
    yield from choice_problems(f"{path}.effect", toleration.effect, _EFFECTS)
    if toleration.toleration_seconds is not None and toleration.effect != "NoExecute":
        yield invalid(f"{path}.effect", toleration.effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")


def _compared(value: str, path: str) -> Iterator[str]:
    """Yield an error unless the value that Lt or Gt compares is a whole number of 64 bits."""
    if not is_decimal_integer(value):
        yield invalid(path, value, _DECIMAL_IS_WRONG)
    if parse_int64(value) is None:
        why = "value out of range" if is_decimal_integer(value) else "invalid syntax"
        yield invalid(path, value, f"strconv.ParseInt: parsing {quoted(value)}: {why}")


def _twice_asked(selector: LabelSelector | None, match_label_keys: tuple[str, ...], path: str) -> Iterator[str]:
    """Keys of matchLabelKeys that the selector, into which they are merged by now, asks for more than once."""
    if selector is None:
        return
    seen = set(selector.match_labels)
    for expression in selector.match_expressions:
        if expression.key in match_label_keys and expression.key in seen:
            index = match_label_keys.index(expression.key)
            yield invalid(f"{path}[{index}]", expression.key, _IN_BOTH)
        seen.add(expression.key)


def _label_keys(keys: tuple[str, ...], selector: LabelSelector | None, path: str) -> Iterator[str]:
    if keys and selector is None:
        yield f"{path}: Forbidden: must not be specified when labelSelector is not set"
        return
    for index, key in enumerate(keys):
        yield from text_problems(f"{path}[{index}]", key, label_key_errors)


def _selector(selector: LabelSelector | None, path: str) -> Iterator[str]:
    """unversionedvalidation.ValidateLabelSelector."""
    if selector is None:
        return
    yield from label_problems(f"{path}.matchLabels", selector.match_labels)
    for index, expression in enumerate(selector.match_expressions):
        where = f"{path}.matchExpressions[{index}]"
        operator, values = expression.operator, expression.values
        if operator in {"In", "NotIn"} and not values:
            yield f"{where}.values: Required value: must be specified when `operator` is 'In' or 'NotIn'"
        elif operator in {"Exists", "DoesNotExist"} and values:
            yield f"{where}.values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        elif operator not in _SELECTOR_OPERATORS:
            yield invalid(f"{where}.operator", operator, "not a valid selector operator")
        yield from text_problems(f"{where}.key", expression.key, label_key_errors)
        for position, value in enumerate(values):
            yield from text_problems(f"{where}.values[{position}]", value, label_value_errors)
