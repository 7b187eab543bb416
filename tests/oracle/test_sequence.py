"""A sequence answers as if each pod that was placed had been there from the start."""

from typing import Any

import pytest
from hypothesis import given, settings

from tests.oracle.build import Answer, Oracle, Request
from tests.oracle.generate.clusters import requests
from tests.oracle.recorded import differences
from tests.oracle.test_differential import EXAMPLES, TOO_MUCH

pytestmark = pytest.mark.oracle


def test_kept_pods_are_seen_by_those_after(oracle: Oracle) -> None:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n0"}}
    node["status"] = {"allocatable": {"cpu": "2", "memory": "4Gi", "pods": "110"}}
    containers = [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]
    pods = [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"web-{i}"}, "spec": {"containers": containers}}
        for i in range(3)
    ]
    steps = [{"pod": f"default/web-{i}"} for i in range(3)]
    answers = oracle.ask({"id": "web", "objects": [node, *pods], "sequence": steps})
    assert [answer.get("kept") for answer in answers] == [{"node": "n0"}, {"node": "n0"}, None]
    assert answers[2]["message"] == "0/1 nodes are available: 1 Insufficient cpu."


def test_a_given_node_is_taken_even_where_it_does_not_suit(oracle: Oracle) -> None:
    nodes = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"allocatable": {"pods": pods}}}
        for name, pods in (("n0", "9"), ("n1", "0"))
    ]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [{"name": "c"}]}}
    steps = [{"pod": "default/web", "node": "n1"}]
    (answer,) = oracle.ask({"id": "web", "objects": [*nodes, pod], "sequence": steps})
    assert answer["best"] == ["n0"]
    assert answer["kept"]["node"] == "n1"


@pytest.mark.parametrize("topic", ["resources", "ports", "spread", "interpod", "preemption"])
def test_a_sequence_is_the_same_as_a_state_with_the_pods_bound(oracle: Oracle, topic: str) -> None:
    @settings(max_examples=max(EXAMPLES // 4, 20), deadline=None, suppress_health_check=TOO_MUCH)
    @given(requests(topic))
    def holds(request: Request) -> None:
        pending = [key for key in request["pods"] if "/pend-" in key]
        asked = request | {"pods": [], "sequence": [{"pod": key} for key in pending]}
        for key, answer in zip(pending, oracle.ask(asked), strict=True):
            (alone,) = oracle.ask(request | {"pods": [key]})
            assert differences(alone, without_kept(answer)) == []
            request = request | {"objects": [kept(found, key, answer) for found in request["objects"]]}

    holds()


def without_kept(answer: Answer) -> Answer:
    return {field: value for field, value in answer.items() if field != "kept"}


def kept(found: dict[str, Any], key: str, answer: Answer) -> dict[str, Any]:
    """The object as it is stored when the step has come to its end."""
    about = found["metadata"]
    if found["kind"] != "Pod" or f"{about['namespace']}/{about['name']}" != key:
        return found
    where = answer.get("kept") or {}
    if "node" in where:
        return found | {"spec": found["spec"] | {"nodeName": where["node"]}}
    if (answer["postFilter"] or {}).get("nominatedNode") is not None:
        return found | {"status": found["status"] | {"nominatedNodeName": where.get("nominated")}}
    return found
