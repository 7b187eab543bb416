"""The nodes from which the devices of a slice can be reached."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from kubectl_sched.api.affinity import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from kubectl_sched.api.apimachinery.labels import InvalidSelector
from kubectl_sched.api.core import Node
from kubectl_sched.dynamic_resource_allocation.devices import node_matches
from kubectl_sched.queries.explain import ExplainQuestion, explain
from kubectl_sched.sources.dump.reader import read
from kubectl_sched.sources.pod_selection import Selection
from tests.apiserver.manifests import listing, obj

if TYPE_CHECKING:
    from pathlib import Path


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


def test_a_slice_whose_selector_has_two_terms_fails_the_allocation_of_its_devices(tmp_path: Path) -> None:
    chosen = [{"matchExpressions": [{"key": "a", "operator": "In", "values": [name]}]} for name in ("n1", "n2")]
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    published = {"driver": "x.io", "pool": pool, "devices": [{"name": "d"}]}
    exactly = {"deviceClassName": "c", "allocationMode": "ExactCount", "count": 1}
    group = "resource.k8s.io/v1"
    container = {"name": "c", "image": "i", "resources": {"claims": [{"name": "x"}]}}
    spec = {"containers": [container], "resourceClaims": [{"name": "x", "resourceClaimName": "claim"}]}
    items = [
        obj("Node", "n1", metadata={"labels": {"a": "n1"}}, status={"allocatable": {"pods": "10"}}),
        obj("ResourceSlice", "s", "", group, spec={**published, "nodeSelector": {"nodeSelectorTerms": chosen}}),
        obj("DeviceClass", "c", "", group, spec={}),
        obj("ResourceClaim", "claim", "", group, spec={"devices": {"requests": [{"name": "r", "exactly": exactly}]}}),
        obj("Pod", "web", spec=spec),
    ]
    (tmp_path / "all.json").write_text(json.dumps(listing(*items)))
    dump = read([str(tmp_path / "all.json")])
    (found,) = explain(ExplainQuestion(selection=Selection(targets=("pod", "web"))), dump)[0].explanations
    said = "create NodeSelector for claim claim: unsupported ResourceSlice.NodeSelector with 2 terms"
    assert str(found.result.error).endswith(said)
