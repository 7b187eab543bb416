from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kubectl_sched.api.affinity import NodeSelector, PreferredSchedulingTerm
from kubectl_sched.api.apimachinery.labels import InvalidSelector
from kubectl_sched.api.component_helpers.node_affinity import (
    RequiredNodeAffinity,
    parse_node_selector,
    parse_preferred_terms,
    strict_node_selector,
)
from kubectl_sched.api.pod import Pod

LABELS = {"zone": "a", "cores": "8", "disk": "ssd"}


def selector(*terms: dict[str, Any]) -> NodeSelector:
    return msgspec.convert({"nodeSelectorTerms": list(terms)}, NodeSelector)


def labels(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def fields(operator: str, *values: str, key: str = "metadata.name") -> dict[str, Any]:
    return {"matchFields": [{"key": key, "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    ("terms", "answer"),
    [
        ([labels("zone", "In", "a", "b")], True),
        ([labels("zone", "In", "b")], False),
        ([labels("zone", "In", "b"), labels("disk", "Exists")], True),
        ([labels("zone", "NotIn", "b")], True),
        ([labels("gpu", "DoesNotExist")], True),
        ([labels("cores", "Gt", "7")], True),
        ([labels("cores", "Gt", "8")], False),
        ([labels("cores", "Lt", "9")], True),
        ([labels("zone", "Gt", "1")], False),
        ([fields("In", "node-1")], True),
        ([fields("In", "node-2")], False),
        ([fields("NotIn", "node-2")], True),
        ([fields("In", "", key="metadata.uid")], True),
        ([fields("In", "node-1", key="metadata.uid")], False),
        ([labels("zone", "In", "b") | fields("In", "node-1")], False),
        ([{}], False),
        ([], False),
    ],
)
def test_selects_nodes(terms: list[dict[str, Any]], answer: bool) -> None:
    parsed = strict_node_selector(selector(*terms))
    assert parsed.matches(LABELS, "node-1") is answer
    assert parsed.error is None


def test_a_term_with_an_error_matches_nothing_and_others_still_do() -> None:
    broken = labels("cores", "Gt", "-10")
    lazy = parse_node_selector(selector(broken, labels("zone", "In", "a")))
    assert lazy.matches(LABELS, "node-1")
    assert not parse_node_selector(selector(broken)).matches(LABELS, "node-1")
    assert lazy.error is not None
    assert lazy.error.startswith('nodeSelectorTerms[0].matchExpressions[0].values[0][cores]: Invalid value: "-10": ')


@pytest.mark.parametrize(
    ("terms", "error"),
    [
        (
            [{}, labels("a", "Like", "x")],
            (
                'nodeSelectorTerms[1].matchExpressions[0].operator: Unsupported value: "Like": '
                'supported values: "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"'
            ),
        ),
        (
            [fields("Exists")],
            (
                'nodeSelectorTerms[0].matchFields[0].operator: Unsupported value: "Exists": '
                'supported values: "In", "NotIn"'
            ),
        ),
        (
            [fields("In", "a", "b")],
            'nodeSelectorTerms[0].matchFields[0].values: Invalid value: ["a","b"]: must have one element',
        ),
        (
            [labels("a", "Gt", "1", "2"), labels("b", "In")],
            (
                '[nodeSelectorTerms[0].matchExpressions[0].values: Invalid value: ["1","2"]: '
                "for 'Gt', 'Lt' operators, exactly one value is required, "
                "nodeSelectorTerms[1].matchExpressions[0].values: Invalid value: null: "
                "for 'in', 'notin' operators, values set can't be empty]"
            ),
        ),
    ],
)
def test_strict_parsing_fails_with_upstreams_words(terms: list[dict[str, Any]], error: str) -> None:
    with pytest.raises(InvalidSelector) as refused:
        strict_node_selector(selector(*terms))
    assert refused.value.reason == error


def preferred(*weighted: tuple[int, dict[str, Any]]) -> tuple[PreferredSchedulingTerm, ...]:
    terms = [{"weight": weight, "preference": term} for weight, term in weighted]
    return msgspec.convert(terms, tuple[PreferredSchedulingTerm, ...])


def test_preferred_terms_add_up() -> None:
    terms = parse_preferred_terms(
        preferred(
            (5, labels("zone", "In", "a")),
            (20, labels("zone", "In", "b")),
            (7, fields("In", "node-1")),
            (100, {}),
            (0, labels("a", "Like")),
        )
    )
    assert terms.score(LABELS, "node-1") == 12
    assert terms.score({"zone": "b"}, "node-2") == 20


def test_an_error_in_a_preferred_term_fails_them_all() -> None:
    with pytest.raises(InvalidSelector) as refused:
        parse_preferred_terms(preferred((1, labels("zone", "Exists")), (1, fields("In"))))
    assert refused.value.reason == "[1].matchFields[0].values: Invalid value: null: must have one element"


@pytest.mark.parametrize(
    ("spec", "answer"),
    [
        ({}, True),
        ({"nodeSelector": {"zone": "a"}}, True),
        ({"nodeSelector": {"zone": "b"}}, False),
        ({"affinity": {"nodeAffinity": {}}}, True),
        (
            {
                "nodeSelector": {"zone": "a"},
                "affinity": {
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [labels("x", "Exists")]}
                    }
                },
            },
            False,
        ),
    ],
)
def test_a_pod_requires_its_node_selector_and_its_affinity(spec: dict[str, Any], answer: bool) -> None:
    required = RequiredNodeAffinity.of(msgspec.convert({"kind": "Pod", "spec": spec}, Pod))
    assert required.matches(LABELS, "node-1") is answer
    assert hash(required) == hash(RequiredNodeAffinity.of(msgspec.convert({"kind": "Pod", "spec": spec}, Pod)))


def test_fields_are_not_asked_of_a_node_without_a_name() -> None:
    assert strict_node_selector(selector(fields("In", "node-1"))).matches({}, "")
