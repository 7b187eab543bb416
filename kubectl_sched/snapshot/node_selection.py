"""Nodes that a pod's nodeSelector and required node affinity select, asked once per distinct label value."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.api.apimachinery.labels import COMPARISON, GREATER_THAN
from kubectl_sched.api.component_helpers.node_affinity import METADATA_NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.apimachinery.labels import Requirement, Selector
    from kubectl_sched.api.component_helpers.node_affinity import (
        FieldRequirement,
        NodeSelector,
        RequiredNodeAffinity,
        Term,
    )
    from kubectl_sched.snapshot.array_types import Mask
    from kubectl_sched.snapshot.node_table import NodeTable


_LOOKS_A_VALUE = 4
_OPERATIONS = 2
"""On arrays of nodes, for each condition."""


def selection_work(table: NodeTable, affinity: RequiredNodeAffinity) -> tuple[int, int]:
    """Count what `nodes_required` does: operations on arrays of nodes, and entries looked at one by one."""
    terms = affinity.node_selector.terms if affinity.node_selector is not None else ()
    arrays, entries = terms_work(table, terms)
    if affinity.label_selector is None:
        return arrays, entries
    own_arrays, own_entries = _work(table, affinity.label_selector.requirements)
    return arrays + own_arrays, entries + own_entries


def terms_work(table: NodeTable, terms: Sequence[Term]) -> tuple[int, int]:
    """Count what `nodes_of_term` does for these terms, in the same units."""
    arrays, entries = _work(table, [each for term in terms for each in term.labels.requirements])
    fields = sum(len(term.fields) for term in terms)
    return arrays + _OPERATIONS * (len(terms) + fields), entries


def _work(table: NodeTable, requirements: Sequence[Requirement]) -> tuple[int, int]:
    keys = Counter(each.key for each in requirements if each.operator not in COMPARISON)
    compared = {each.key for each in requirements if each.operator in COMPARISON}
    looked_at = sum(table.most_label_values(key) * times for key, times in keys.items())
    numbered = sum(map(table.most_label_values, compared))
    unread = table.unread_labels(keys.keys() | compared)
    return _OPERATIONS * len(requirements), unread + _LOOKS_A_VALUE * (looked_at + numbered)


def nodes_required(table: NodeTable, affinity: RequiredNodeAffinity) -> Mask:
    """bool[n]: the nodes that satisfy both; parse errors match nothing (RequiredNodeAffinity.matches)."""
    chosen = np.ones(len(table), dtype=np.bool_)
    if affinity.label_selector is not None:
        chosen &= nodes_labelled(table, affinity.label_selector)
    if affinity.node_selector is not None:
        chosen &= nodes_selected(table, affinity.node_selector)
    return chosen


def nodes_selected(table: NodeTable, selector: NodeSelector) -> Mask:
    """bool[n]: the nodes that any term selects."""
    chosen = np.zeros(len(table), dtype=np.bool_)
    for term in selector.terms:
        chosen |= nodes_of_term(table, term)
    return chosen


def nodes_of_term(table: NodeTable, term: Term) -> Mask:
    """bool[n]: the nodes that one term selects."""
    if term.errors:
        return np.zeros(len(table), dtype=np.bool_)
    chosen = nodes_labelled(table, term.labels)
    for requirement in term.fields:
        chosen &= _nodes_of_field(table, requirement)
    return chosen


def nodes_labelled(table: NodeTable, selector: Selector) -> Mask:
    """bool[n]: the nodes whose labels the selector selects."""
    if selector.nothing:
        return np.zeros(len(table), dtype=np.bool_)
    chosen = np.ones(len(table), dtype=np.bool_)
    for requirement in selector.requirements:
        chosen &= _meeting(table, requirement)
    return chosen


def _meeting(table: NodeTable, requirement: Requirement) -> Mask:
    key = requirement.key
    if requirement.operator in COMPARISON:
        bound = requirement.bound
        numbers, are_numbers = table.label_numbers(key)
        if bound is None:
            return np.zeros(len(table), dtype=np.bool_)
        meets: Mask = are_numbers & (numbers > bound if requirement.operator == GREATER_THAN else numbers < bound)
        return meets[table.label(key).codes]
    return table.label(key).where(lambda value: requirement.matches({} if value is None else {key: value}))


def _nodes_of_field(table: NodeTable, requirement: FieldRequirement) -> Mask:
    """A field other than metadata.name is empty on every node; a node without a name meets any."""
    if requirement.field != METADATA_NAME:
        return np.full(len(table), requirement.matches("-"), dtype=np.bool_)
    chosen = np.full(len(table), not requirement.equal, dtype=np.bool_)
    row = table.row_of.get(requirement.value)
    if row is not None:
        chosen[row] = requirement.equal
    return chosen
