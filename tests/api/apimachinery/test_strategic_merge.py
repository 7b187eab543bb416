"""A difference between two objects is the patch that makes the one of the other."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubectl_sched.api.apimachinery.strategic_merge import difference, merge
from tests.examples import examples

scalars = st.sampled_from(["", "a", "b"]) | st.integers(0, 2)
ports = st.lists(
    st.fixed_dictionaries({}, optional={"containerPort": st.sampled_from([80, 443]), "hostPort": scalars}), max_size=3
)
containers = st.lists(
    st.fixed_dictionaries({"name": st.sampled_from(["a", "b", "c"])}, optional={"image": scalars, "ports": ports}),
    max_size=3,
)
specs = st.fixed_dictionaries(
    {},
    optional={
        "containers": containers,
        "tolerations": st.lists(st.fixed_dictionaries({"key": scalars}), max_size=2),
        "nodeSelector": st.dictionaries(st.sampled_from(["a", "b"]), scalars),
        "priority": scalars,
    },
)


def sorted_lists(value: Any) -> Any:
    """Merged lists keep no order."""
    if isinstance(value, dict):
        return {key: sorted_lists(each) for key, each in value.items()}
    return sorted(map(sorted_lists, value), key=_text) if isinstance(value, list) else value


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


@settings(max_examples=examples(500))
@given(specs, specs)
def test_a_difference_merged_gives_the_other(before: dict[str, Any], after: dict[str, Any]) -> None:
    merged = merge({"spec": before}, difference({"spec": before}, {"spec": after}))
    assert sorted_lists(merged) == sorted_lists({"spec": after})


@given(specs)
def test_what_is_the_same_gives_an_empty_patch(spec: dict[str, Any]) -> None:
    assert difference(spec, spec) == {}


@pytest.mark.parametrize(
    ("before", "after", "patch"),
    [
        ({"a": 1, "b": 2}, {"a": 1}, {"b": None}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}}, {"a": {"c": 3}}),
        (
            {"containers": [{"name": "a", "image": "x"}, {"name": "b"}]},
            {"containers": [{"name": "a", "image": "y"}]},
            {"containers": [{"name": "b", "$patch": "delete"}, {"name": "a", "image": "y"}]},
        ),
        ({"tolerations": [{"key": "a"}]}, {"tolerations": []}, {"tolerations": []}),
        (
            {"ports": [{"containerPort": 1}, {"containerPort": 1, "protocol": "UDP"}]},
            {"ports": [{"containerPort": 1}]},
            {"ports": [{"$patch": "replace"}, {"containerPort": 1}]},
        ),
    ],
)
def test_a_patch_holds_no_more_than_it_must(before: dict[str, Any], after: dict[str, Any], patch: Any) -> None:
    assert difference(before, after) == patch
