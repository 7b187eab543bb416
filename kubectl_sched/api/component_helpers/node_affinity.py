"""Node affinity of pods and volumes, ready to match nodes.

Answers to k8s.io/component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go. Nodes are given as their labels and
name. A term that cannot be parsed matches nothing; whether its error is reported differs by who asks.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from kubectl_sched.api.affinity import Affinity
from kubectl_sched.api.apimachinery.labels import (
    DOES_NOT_EXIST,
    EXISTS,
    GREATER_THAN,
    IN,
    LESS_THAN,
    NOT_IN,
    InvalidSelector,
    Requirement,
    Selector,
    requirement_errors,
    selector_from_set,
)
from kubectl_sched.api.apimachinery.validation import aggregate, invalid, not_supported
from kubectl_sched.api.component_helpers.parsed_pods import ParsedPods
from kubectl_sched.api.meta import with_spec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubectl_sched.api import affinity
    from kubectl_sched.api import pod as api

METADATA_NAME: Final = "metadata.name"

_OPERATORS: Final = {
    "In": IN, "NotIn": NOT_IN, "Exists": EXISTS, "DoesNotExist": DOES_NOT_EXIST, "Gt": GREATER_THAN, "Lt": LESS_THAN,
}  # fmt: skip
_FIELD_OPERATORS: Final = ("In", "NotIn")


class FieldRequirement(msgspec.Struct, frozen=True):
    """A condition on a field of the node; metadata.name is the only field that has a value."""

    field: str
    value: str
    equal: bool

    def matches(self, name: str) -> bool:
        """Report whether a node of this name meets the condition; any other field is empty."""
        return ((name if self.field == METADATA_NAME else "") == self.value) == self.equal


class Term(msgspec.Struct, frozen=True):
    """A parsed term: all of its requirements must hold, and with `errors` it matches nothing."""

    labels: Selector = Selector()
    fields: tuple[FieldRequirement, ...] = ()
    errors: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str], name: str) -> bool:
        """Report whether a node is selected."""
        if self.errors or not self.labels.matches(labels):
            return False
        return not name or all(requirement.matches(name) for requirement in self.fields)


class NodeSelector(msgspec.Struct, frozen=True):
    """Terms of which any must match (LazyErrorNodeSelector); empty terms are left out."""

    terms: tuple[Term, ...] = ()

    def matches(self, labels: Mapping[str, str], name: str) -> bool:
        """Report whether a node is selected; terms that cannot be parsed match nothing (Match, its error ignored)."""
        return any(term.matches(labels, name) for term in self.terms)

    @property
    def error(self) -> str | None:
        """All parse errors in upstream's words, None if there are none (what NewNodeSelector fails with).

        Match returns it for a node that no term matches.
        """
        return _flattened(self.terms)


class PreferredSchedulingTerms(msgspec.Struct, frozen=True):
    """Weighted terms; those with weight 0 or without requirements are left out."""

    terms: tuple[tuple[int, Term], ...] = ()

    def score(self, labels: Mapping[str, str], name: str) -> int:
        """The sum of the weights of the terms that select a node (Score)."""
        return sum(weight for weight, term in self.terms if term.matches(labels, name))


class RequiredNodeAffinity(msgspec.Struct, frozen=True):
    """A pod's nodeSelector and required node affinity, either None if the pod has none."""

    label_selector: Selector | None = None
    node_selector: NodeSelector | None = None

    @classmethod
    def of(cls, pod: api.Pod) -> RequiredNodeAffinity:
        """Return the node affinity and node selector that a pod requires (GetRequiredNodeAffinity)."""
        node_affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
        required, labels = node_affinity.required if node_affinity else None, pod.spec.node_selector
        if required is None and not labels:
            return _ANY_NODE
        size = len(labels or ()) + (0 if required is None else terms_listed(required.node_selector_terms))
        return _REQUIRED.of(
            pod,
            (required, labels),
            size,
            lambda: cls(
                selector_from_set(labels) if labels else None,
                parse_node_selector(required) if required is not None else None,
            ),
        )

    @property
    def is_empty(self) -> bool:
        """Report whether it admits every node."""
        return self.label_selector is None and self.node_selector is None

    def matches(self, labels: Mapping[str, str], name: str) -> bool:
        """Report whether a node satisfies both; parse errors match nothing (Match, its error ignored)."""
        if self.label_selector is not None and not self.label_selector.matches(labels):
            return False
        return self.node_selector is None or self.node_selector.matches(labels, name)


_ANY_NODE: Final = RequiredNodeAffinity()
_REQUIRED: Final[ParsedPods[RequiredNodeAffinity]] = ParsedPods()
_PREFERRED: Final[ParsedPods[PreferredSchedulingTerms]] = ParsedPods()

_FEW: Final = 16
"""Terms and values of a selector that is kept for everybody who asks about an equal one."""


def terms_listed(terms: Iterable[affinity.NodeSelectorTerm]) -> int:
    """Count the conditions and their values."""
    return sum(1 + len(each.values) for term in terms for each in (*term.match_expressions, *term.match_fields))


def parse_node_selector(selector: affinity.NodeSelector) -> NodeSelector:
    """Parse lazily (NewLazyErrorNodeSelector): errors stay in the terms."""
    few = terms_listed(selector.node_selector_terms) <= _FEW
    return _parse_few(selector) if few else _parse_node_selector(selector)


def _parse_node_selector(selector: affinity.NodeSelector) -> NodeSelector:
    return NodeSelector(
        tuple(
            _parse_term(term, f"nodeSelectorTerms[{index}]")
            for index, term in enumerate(selector.node_selector_terms)
            if not _is_empty(term)
        )
    )


_parse_few = lru_cache(maxsize=1 << 14)(_parse_node_selector)


def preferred_terms(pod: api.Pod) -> PreferredSchedulingTerms | None:
    """Return the node affinity that a pod prefers, None if it prefers none; raise InvalidSelector with all errors."""
    node_affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    if node_affinity is None or node_affinity.preferred is None:
        return None
    preferred = node_affinity.preferred
    size = terms_listed(term.preference for term in preferred)
    return _PREFERRED.of(pod, (preferred,), size, lambda: parse_preferred_terms(preferred))


def strict_node_selector(selector: affinity.NodeSelector) -> NodeSelector:
    """Parse or raise InvalidSelector with all errors (NewNodeSelector)."""
    parsed = parse_node_selector(selector)
    if parsed.error is not None:
        raise InvalidSelector(parsed.error)
    return parsed


def parse_preferred_terms(preferred: tuple[affinity.PreferredSchedulingTerm, ...]) -> PreferredSchedulingTerms:
    """Parse or raise InvalidSelector with all errors (NewPreferredSchedulingTerms)."""
    terms = tuple(
        (term.weight, _parse_term(term.preference, f"[{index}]"))
        for index, term in enumerate(preferred)
        if term.weight and not _is_empty(term.preference)
    )
    error = _flattened(tuple(term for _, term in terms))
    if error is not None:
        raise InvalidSelector(error)
    return PreferredSchedulingTerms(terms)


def _is_empty(term: affinity.NodeSelectorTerm) -> bool:
    return not term.match_expressions and not term.match_fields


def _flattened(terms: tuple[Term, ...]) -> str | None:
    errors = [error for term in terms for error in term.errors]
    return aggregate(errors) if errors else None


def _parse_term(term: affinity.NodeSelectorTerm, path: str) -> Term:
    requirements: list[Requirement] = []
    errors: list[str] = []
    for index, expression in enumerate(term.match_expressions):
        at = f"{path}.matchExpressions[{index}]"
        operator = _OPERATORS.get(expression.operator)
        wrong = (
            [not_supported(f"{at}.operator", expression.operator, _OPERATORS)]
            if operator is None
            else requirement_errors(expression.key, operator, expression.values, at)
        )
        errors += wrong
        if operator is not None and not wrong:
            requirements.append(Requirement(expression.key, operator, expression.values))
    fields: list[FieldRequirement] = []
    for index, expression in enumerate(term.match_fields):
        at = f"{path}.matchFields[{index}]"
        if expression.operator not in _FIELD_OPERATORS:
            errors.append(not_supported(f"{at}.operator", expression.operator, _FIELD_OPERATORS))
        elif len(expression.values) != 1:
            errors.append(invalid(f"{at}.values", expression.values, "must have one element"))
        else:
            fields.append(FieldRequirement(expression.key, expression.values[0], expression.operator == "In"))
    return Term(Selector().add(*requirements), tuple(fields), tuple(errors))


def with_node_affinity(pod: api.Pod, node_affinity: affinity.NodeAffinity) -> api.Pod:
    """The pod with another node affinity."""
    changed = replace(pod.spec.affinity or Affinity(), node_affinity=node_affinity)
    return with_spec(pod, affinity=changed)
