from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kubectl_sched.api import affinity
from kubectl_sched.api import pod as api
from kubectl_sched.config.types import NodeAffinityArgs
from kubectl_sched.framework.cycle_state import CycleState, PluginError
from kubectl_sched.framework.status import SKIP, Code, unresolvable
from kubectl_sched.plugins.node_affinity.plugin import NodeAffinity
from tests.plugins.clusters import all_rows, explained, filtered, make, node, pod, reasons, scored, snapshot

NODES = snapshot(
    node("gpu-1", labels={"pool": "gpu", "size": "8", "zone": "a"}),
    node("gpu-2", labels={"pool": "GPU", "size": "4", "zone": "b"}),
    node("cpu-1", labels={"pool": "cpu", "zone": "a"}),
)
UNMATCHED = ("node(s) didn't match Pod's node affinity/selector",)
ENFORCED = ("node(s) didn't match scheduler-enforced node affinity",)


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": list(values)}


def term(*expressions: dict[str, Any], fields: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    return {"matchExpressions": list(expressions), "matchFields": list(fields)}


def requiring(*terms: dict[str, Any], **spec: Any) -> api.Pod:
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}
    return pod(affinity={"nodeAffinity": required}, **spec)


def preferring(*weighted: tuple[int, dict[str, Any]]) -> api.Pod:
    terms = [{"weight": weight, "preference": preference} for weight, preference in weighted]
    return pod(affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}})


def passing(incoming: api.Pod) -> list[str]:
    rejected = reasons(make(NodeAffinity), incoming, NODES)
    assert set(rejected.values()) <= {UNMATCHED}
    return [name for name in NODES.names if name not in rejected]


@pytest.mark.parametrize(
    ("incoming", "names"),
    [
        (pod(nodeSelector={"pool": "gpu"}), ["gpu-1"]),
        (pod(nodeSelector={"pool": "gpu", "zone": "b"}), []),
        (requiring(term(expression("pool", "In", "gpu", "cpu"))), ["gpu-1", "cpu-1"]),
        (requiring(term(expression("pool", "NotIn", "gpu"))), ["gpu-2", "cpu-1"]),
        (requiring(term(expression("size", "NotIn", "8"))), ["gpu-2", "cpu-1"]),
        (requiring(term(expression("size", "Exists"))), ["gpu-1", "gpu-2"]),
        (requiring(term(expression("size", "DoesNotExist"))), ["cpu-1"]),
        (requiring(term(expression("size", "Gt", "4"))), ["gpu-1"]),
        (requiring(term(expression("size", "Lt", "8"))), ["gpu-2"]),
        (requiring(term(expression("pool", "In", "gpu")), term(expression("pool", "In", "cpu"))), ["gpu-1", "cpu-1"]),
        (requiring(term(expression("zone", "In", "a")), nodeSelector={"pool": "gpu"}), ["gpu-1"]),
        (requiring(), []),
        (requiring(term()), []),
        (requiring(term(), term(expression("pool", "In", "cpu"))), ["cpu-1"]),
    ],
)
def test_required(incoming: api.Pod, names: list[str]) -> None:
    assert passing(incoming) == names


@pytest.mark.parametrize("values", [("-10",), ("four",), (), ("1", "2")])
def test_a_required_term_that_cannot_be_parsed_matches_nothing(values: tuple[str, ...]) -> None:
    broken = term(expression("size", "Gt", *values))
    if values != ("-10",):
        assert passing(requiring(broken)) == []
    assert passing(requiring(broken, term(expression("pool", "In", "cpu"))))[-1] == "cpu-1"


def test_a_preferred_term_that_cannot_be_parsed_fails_the_cycle() -> None:
    broken = preferring((1, term(expression("size", "Gt", "four"))))
    with pytest.raises(PluginError, match="for 'Gt', 'Lt' operators, the value must be an integer"):
        make(NodeAffinity).pre_score(CycleState(), broken, NODES, all_rows(NODES))


def test_without_requirements_or_preferences_it_skips() -> None:
    assert filtered(make(NodeAffinity), pod(), NODES) == [SKIP] * 3
    assert scored(make(NodeAffinity), pod(), NODES) is None


def test_an_empty_node_selector_is_none_only_when_absent() -> None:
    assert reasons(make(NodeAffinity), pod(nodeSelector={}), NODES) == {}
    assert SKIP not in filtered(make(NodeAffinity), pod(nodeSelector={}), NODES)


def named(operator: str, *names: str) -> dict[str, Any]:
    return expression("metadata.name", operator, *names)


@pytest.mark.parametrize(
    ("terms", "names"),
    [
        ([term(fields=(named("In", "gpu-1"),))], {"gpu-1"}),
        ([term(fields=(named("In", "gpu-1", "gpu-2"),))], {"gpu-1", "gpu-2"}),
        ([term(fields=(named("In", "gpu-1"),)), term(fields=(named("In", "cpu-1"),))], {"gpu-1", "cpu-1"}),
        ([term(fields=(named("In", "gpu-1"),)), term(expression("pool", "Exists"))], None),
        ([term(fields=(named("NotIn", "gpu-1"),))], None),
        ([term(fields=(named("In", "a", "b"), named("In", "b", "c")))], {"b"}),
    ],
)
def test_prefilter_narrows_to_the_names_asked_for(terms: list[dict[str, Any]], names: set[str] | None) -> None:
    result = make(NodeAffinity).pre_filter(CycleState(), requiring(*terms), NODES)
    assert result.status.is_success
    assert result.node_names == (None if names is None else frozenset(names))


def test_filter_refuses_the_several_names_that_prefilter_takes() -> None:
    assert passing(requiring(term(fields=(named("In", "gpu-1", "gpu-2"),)))) == []
    assert passing(requiring(term(fields=(named("In", "gpu-1"),)))) == ["gpu-1"]


def test_two_names_at_once_are_a_conflict() -> None:
    incoming = requiring(term(fields=(named("In", "gpu-1"), named("In", "gpu-2"))))
    plugin = make(NodeAffinity)
    assert plugin.pre_filter(CycleState(), incoming, NODES).status == unresolvable("pod affinity terms conflict")
    (evidence,) = plugin.explain_pre_filter(CycleState(), incoming, NODES)
    assert evidence.text == "no node can have two names: metadata.name=gpu-1 and metadata.name=gpu-2"


def test_preferred_weights_add_up_and_are_normalized() -> None:
    incoming = preferring(
        (10, term(expression("pool", "In", "gpu"))),
        (5, term(expression("zone", "In", "a"))),
        (0, term(expression("size", "Gt", "four"))),
        (7, term()),
    )
    assert scored(make(NodeAffinity), incoming, NODES) == [15, 0, 5]
    raw = np.array([15, 0, 5], dtype=np.int64)
    normalized = make(NodeAffinity).normalize_score(CycleState(), incoming, NODES, all_rows(NODES), raw)
    assert normalized.tolist() == [100, 0, 33]


ADDED = NodeAffinityArgs(
    added_affinity=affinity.NodeAffinity(
        required=affinity.NodeSelector(
            node_selector_terms=(
                affinity.NodeSelectorTerm(
                    match_expressions=(affinity.NodeSelectorRequirement(key="zone", operator="In", values=("a",)),)
                ),
            )
        ),
        preferred=(
            affinity.PreferredSchedulingTerm(
                weight=3,
                preference=affinity.NodeSelectorTerm(
                    match_expressions=(affinity.NodeSelectorRequirement(key="pool", operator="In", values=("cpu",)),)
                ),
            ),
        ),
    )
)


def test_added_affinity_is_asked_first_and_of_every_pod() -> None:
    plugin = make(NodeAffinity, ADDED)
    assert reasons(plugin, pod(), NODES) == {"gpu-2": ENFORCED}
    assert reasons(plugin, pod(nodeSelector={"pool": "cpu"}), NODES) == {"gpu-1": UNMATCHED, "gpu-2": ENFORCED}
    assert scored(plugin, pod(), NODES) == [0, 0, 3]
    assert explained(plugin, pod(), NODES, 1)[0] == ["the profile's added affinity: wants zone=a, the node has zone=b"]


def test_scores_without_prescore_are_the_same() -> None:
    incoming = preferring((10, term(expression("pool", "In", "gpu"))))
    assert make(NodeAffinity).score(CycleState(), incoming, NODES, all_rows(NODES)).tolist() == [10, 0, 0]


@pytest.mark.parametrize(
    ("selector", "row", "texts", "hints"),
    [
        (
            {"pool": "gpu"},
            1,
            ["nodeSelector: wants pool=gpu, the node has pool=GPU"],
            ["the node has pool=GPU, not pool=gpu"],
        ),
        (
            {"pool": "gpus"},
            2,
            ["nodeSelector: wants pool=gpus, the node has pool=cpu"],
            ["no node has pool=gpus; pool=gpu exists"],
        ),
        (
            {"Pool": "gpu"},
            0,
            ["nodeSelector: wants Pool=gpu, the node has no Pool"],
            ["the node has the label pool, not Pool"],
        ),
        (
            {"accelerator": "a100"},
            0,
            ["nodeSelector: wants accelerator=a100, the node has no accelerator"],
            ["no node has the label accelerator"],
        ),
        (
            {"pool": "cpu", "zone": "b"},
            0,
            ["nodeSelector: wants pool=cpu, the node has pool=gpu and wants zone=b, the node has zone=a"],
            [],
        ),
        (
            {"beta.kubernetes.io/os": "linux"},
            0,
            ["nodeSelector: wants beta.kubernetes.io/os=linux, the node has no beta.kubernetes.io/os"],
            ["no node has the label beta.kubernetes.io/os", "beta.kubernetes.io/os is now kubernetes.io/os"],
        ),
    ],
)
def test_evidence_and_near_misses(selector: dict[str, str], row: int, texts: list[str], hints: list[str]) -> None:
    assert explained(make(NodeAffinity), pod(nodeSelector=selector), NODES, row) == (texts, hints)


def test_evidence_of_several_terms_and_of_one_that_cannot_be_parsed() -> None:
    incoming = requiring(term(expression("pool", "In", "cpu")), term(expression("size", "Gt", "four")))
    (text,), _ = explained(make(NodeAffinity), incoming, NODES)
    assert text.startswith(
        "required node affinity: none of 2 terms matches: wants pool=cpu, the node has pool=gpu; "
        "or the term matches nothing, as it cannot be parsed ("
    )


def test_evidence_counts_how_much_is_missing() -> None:
    incoming = pod(nodeSelector={"pool": "gpu", "zone": "b"})
    state = CycleState()
    plugin = make(NodeAffinity)
    plugin.pre_filter(state, incoming, NODES)
    near, far = (plugin.explain_filter(state, incoming, NODES, row)[0] for row in (0, 2))
    assert near.distance < far.distance
    assert near.facts == {
        "source": "nodeSelector",
        "terms": [
            {
                "unmet": [{"key": "zone", "operator": "In", "values": ["b"], "nodeHas": "a"}],
                "requirements": 2,
                "errors": [],
            }
        ],
    }


def test_an_empty_list_of_preferences_is_scored_and_none_is_skipped() -> None:
    plugin, rows = make(NodeAffinity), all_rows(NODES)
    assert plugin.pre_score(CycleState(), preferring(), NODES, rows).is_success
    assert plugin.pre_score(CycleState(), pod(), NODES, rows).code is Code.SKIP
