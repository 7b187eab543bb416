"""Nodes that a pod's nodeSelector and required node affinity select, asked once per distinct label value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.api.component_helpers.node_affinity import METADATA_NAME

if TYPE_CHECKING:
    from kubectl_sched.api.apimachinery.labels import Requirement, Selector
    from kubectl_sched.api.component_helpers.node_affinity import (
        FieldRequirement,
        NodeSelector,
        RequiredNodeAffinity,
        Term,
    )
    from kubectl_sched.snapshot.array_types import Mask
    from kubectl_sched.snapshot.node_table import NodeTable


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
