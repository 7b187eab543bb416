"""The nodes from which the devices of a slice can be reached."""

from __future__ import annotations

import pytest

from kubectl_sched.api.affinity import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from kubectl_sched.api.apimachinery.labels import InvalidSelector
from kubectl_sched.api.core import Node
from kubectl_sched.dynamic_resource_allocation.devices import node_matches


def test_a_selector_that_cannot_be_parsed_is_shown_as_upstream_shows_it() -> None:
    expressions = (
        NodeSelectorRequirement(key="a", operator="In", values=("x", "y")),
        NodeSelectorRequirement(key="b", operator="Foo", values=("n1",)),
    )
    selector = NodeSelector(node_selector_terms=(NodeSelectorTerm(match_expressions=expressions),))
    with pytest.raises(InvalidSelector) as refused:
        node_matches(Node(), None, all_nodes=False, selector=selector)
    assert refused.value.reason == (
        "failed to parse node selector &NodeSelector{NodeSelectorTerms:[]NodeSelectorTerm{NodeSelectorTerm{"
        "MatchExpressions:[]NodeSelectorRequirement{NodeSelectorRequirement{Key:a,Operator:In,Values:[x y],},"
        "NodeSelectorRequirement{Key:b,Operator:Foo,Values:[n1],},},MatchFields:[]NodeSelectorRequirement{},},},}: "
        'nodeSelectorTerms[0].matchExpressions[1].operator: Unsupported value: "Foo": supported values: "In", "NotIn", '
        '"Exists", "DoesNotExist", "Gt", "Lt"'
    )
