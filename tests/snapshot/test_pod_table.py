"""A table finds its own pods, whatever other versions of it have added or removed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_sched.snapshot.pod_table import PodTable
from tests.plugins.clusters import pod

NAMES = ("a", "b", "c")


def found(table: PodTable) -> dict[str, int | None]:
    return {name: table.find("default", name) for name in NAMES}


def test_each_version_finds_the_pods_that_it_has() -> None:
    first = PodTable.of([pod("a"), pod("b")], [0, 1])
    assert found(first) == {"a": 0, "b": 1, "c": None}
    renewed = first.without(np.array([0])).add(pod("a"), 2)
    other = first.add(pod("c"), 1)
    assert found(renewed) == {"a": 1, "b": 0, "c": None}
    assert found(other) == {"a": 0, "b": 1, "c": 2}
    assert found(first) == {"a": 0, "b": 1, "c": None}
    assert [table.at(index).name for table in (renewed, other) for index in range(len(table))] == [*"ba", *"abc"]
    assert [renewed.rows.tolist(), other.rows.tolist()] == [[1, 2], [0, 1, 1]]
    taken = renewed.take(np.array([2, 0]), 3)
    assert (found(taken), taken.at(0).name) == ({"a": 0, "b": None, "c": None}, "a")


def test_a_version_takes_rows_although_another_one_has_pods_on_rows_that_it_lacks() -> None:
    first = PodTable.of([pod("a"), pod("b")], [0, 1])
    first.add(pod("c"), 2)
    own = first.add(pod("d"), 0)
    taken = own.take(np.array([1, 0]), 2)
    assert ([each.name for each in taken.pods], taken.rows.tolist()) == (["a", "b", "d"], [1, 0, 1])


@given(steps=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 99), st.integers(0, 99)), max_size=30))
def test_versions_that_branch_keep_their_own_pods(steps: list[tuple[int, int, int]]) -> None:
    versions = [(PodTable.of([pod("a"), pod("b")], [0, 1]), [("a", 0), ("b", 1)])]
    for number, (adds, version, index) in enumerate(steps):
        table, expected = versions[version % len(versions)]
        added = [(f"p{number}-{each}", index + each) for each in range(adds)]
        if adds == 1:
            versions.append((table.add(pod(added[0][0]), index), [*expected, *added]))
        elif adds:
            more = table.add_all([pod(name) for name, _ in added], [row for _, row in added])
            versions.append((more, [*expected, *added]))
        elif expected:
            left = index % len(expected)
            versions.append((table.without(np.array([left])), [*expected[:left], *expected[left + 1 :]]))
    for table, expected in versions:
        assert [(each.name, row) for each, row in zip(table.pods, table.rows.tolist(), strict=True)] == expected
        assert len(table) == len(expected)
        assert [table.find("default", name) for name, _ in expected] == list(range(len(expected)))
        assert table.those(np.arange(len(expected))[::-2]) == list(table.pods)[::-2]


def test_a_pod_is_replaced_in_its_own_version_alone() -> None:
    first = PodTable.of([pod("a"), pod("b"), pod("c")], [0, 1, 2])
    labelled = pod("b", metadata={"labels": {"zone": "z"}})
    renewed = first.replacing(labelled)
    again = renewed.add(pod("d"), 0).replacing(pod("d")).replacing(pod("b"))
    assert [len(table) for table in (first, renewed, again)] == [3, 3, 4]
    assert [table.rows.tolist() for table in (first, renewed, again)] == [[0, 1, 2], [0, 2, 1], [0, 2, 0, 1]]
    assert (renewed.at(2), first.at(1)) == (labelled, pod("b"))
    taken = first.take(np.array([1, 0]), 3).replacing(labelled)
    assert (taken.rows.tolist(), list(taken.pods), len(taken)) == ([1, 0], [pod("a"), labelled], 2)
    with pytest.raises(KeyError):
        renewed.replacing(pod("e"))


def test_pods_that_come_and_go_leave_nothing_behind() -> None:
    table = PodTable.of([pod("a")], [0])
    for _ in range(3000):
        table = table.add(pod("b"), 0)
        table = table.without(np.array([table.find("default", "b")]))
    assert found(table) == {"a": 0, "b": None, "c": None}
    assert len(table._store.pods) < 1100  # noqa: SLF001 - what it keeps in memory
