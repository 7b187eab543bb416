"""Selecting by columns selects what asking the selector about each pod and node selects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_sched.api.apimachinery.labels import selector_of
from kubectl_sched.api.component_helpers.node_affinity import RequiredNodeAffinity
from kubectl_sched.api.meta import LabelSelector
from kubectl_sched.snapshot.node_selection import nodes_required
from kubectl_sched.snapshot.pod_table import PodTable
from tests.plugins.clusters import node, pod, snapshot
from tests.plugins.neighbourhoods import NAMESPACES, pod_labels, selectors

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod

identities = st.lists(st.tuples(st.sampled_from(NAMESPACES), pod_labels), max_size=8)


def running(identity: tuple[str, dict[str, str]]) -> Pod:
    return pod(metadata={"namespace": identity[0], "labels": identity[1]})


@given(identities, identities, selectors, st.sets(st.sampled_from(NAMESPACES)))
def test_pods_are_selected_by_columns_as_one_by_one(
    first: list[tuple[str, dict[str, str]]],
    later: list[tuple[str, dict[str, str]]],
    stored: dict[str, object] | None,
    namespaces: set[str],
) -> None:
    selector = selector_of(None if stored is None else msgspec.convert(stored, LabelSelector))
    table = PodTable.of([running(each) for each in first], [0] * len(first))
    for each in (None, *later):
        if each is not None:
            table = table.add(running(each), 0)
        one_by_one = [
            other.metadata.namespace in namespaces and selector.matches(other.metadata.labels) for other in table.pods
        ]
        assert table.selected(selector, namespaces.__contains__).tolist() == one_by_one


@pytest.mark.parametrize("removed", [[], [0, 2]])
@pytest.mark.parametrize("asks_before", [True, False])
def test_a_version_that_leaves_its_store_selects_as_before(removed: list[int], *, asks_before: bool) -> None:
    web, other = selector_of(LabelSelector(match_labels={"app": "web"})), ("default", {"app": "other"})
    apps = ["web", "db", "web", "web", "db"]
    table = PodTable.of([running(("default", {"app": app})) for app in apps], [0, 1, 2, 3, 4])
    if asks_before:
        table.selected(web, bool)
    table = table.without(np.array(removed, dtype=np.intp)) if removed else table
    aside = table
    for _ in range(1001):
        aside = aside.add(running(other), 5)
    aside.selected(web, bool)
    table = table.add(running(("default", {"app": "new"})), 6).add(running(("default", {"app": "web"})), 7)
    assert table.rows.tolist() == [row for row in [0, 1, 2, 3, 4, 6, 7] if row not in removed]
    expected = [each.metadata.labels["app"] == "web" for each in table.pods]
    assert table.selected(web, bool).tolist() == expected
    assert not aside.selected(web, bool)[-1001:].any()


@pytest.mark.parametrize("sees_all", [True, False])
def test_a_version_that_leaves_its_store_asks_about_no_pod_again(*, sees_all: bool) -> None:
    asked: list[str] = []

    def app_of(each: Pod) -> str:
        asked.append(each.metadata.name)
        return each.metadata.name

    table = PodTable.of([pod(f"old-{index}") for index in range(4)], [0, 0, 0, 0])
    table = table if sees_all else table.without(np.array([1], dtype=np.intp))
    table.column("name", app_of)
    aside = table
    for _ in range(1001):
        aside = aside.add(pod("aside"), 0)
    asked.clear()
    names = table.add(pod("new"), 0).column("name", app_of)
    assert list(names) == [each.metadata.name for each in table.pods] + ["new"]
    assert asked == ["new"]


def test_a_version_that_leaves_its_store_lets_go_of_what_no_pod_of_it_has() -> None:
    table = PodTable.of([pod("stays")], [0])
    for index in range(2010):
        table = table.add(pod("came", metadata={"labels": {"job": str(index)}}), 0)
        assert len(table.identity) == 2
        table = table.without(np.array([1], dtype=np.intp))
    assert len(table.identity.values) < 1010


node_expressions = st.one_of(
    st.builds(
        lambda operator, value: {"key": "size", "operator": operator, "values": [value]},
        st.sampled_from(["In", "NotIn", "Gt", "Lt", "Near"]),
        st.sampled_from(["1", "2", "x"]),
    ),
    st.sampled_from([{"key": "size", "operator": "Exists"}, {"key": "pool", "operator": "DoesNotExist"}]),
)
node_fields = st.builds(
    lambda key, operator, value: {"key": key, "operator": operator, "values": [value]},
    st.sampled_from(["metadata.name", "metadata.uid"]),
    st.sampled_from(["In", "NotIn"]),
    st.sampled_from(["n0", "n7", ""]),
)
node_terms = st.builds(
    lambda expressions, fields: {"matchExpressions": expressions, "matchFields": fields},
    st.lists(node_expressions, max_size=2),
    st.lists(node_fields, max_size=1),
)
node_labels = st.fixed_dictionaries({}, optional={"size": st.sampled_from(["1", "2", "y"]), "pool": st.just("gpu")})


@given(
    st.lists(node_labels, min_size=1, max_size=5),
    st.sampled_from([{}, {"pool": "gpu"}]),
    st.none() | st.lists(node_terms, max_size=3),
)
def test_nodes_are_required_by_columns_as_one_by_one(
    labels: list[dict[str, str]], node_selector: dict[str, str], terms: list[dict[str, object]] | None
) -> None:
    nodes = snapshot(*(node(f"n{index}", labels=each) for index, each in enumerate(labels)))
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    affinity = {} if terms is None else {"nodeAffinity": required}
    wanted = RequiredNodeAffinity.of(pod(nodeSelector=node_selector, affinity=affinity))
    one_by_one = [wanted.matches(each.labels, each.name) for each in nodes]
    assert nodes_required(nodes.table, wanted).tolist() == one_by_one
