"""The first value of an answer is read as Go reads it, and what is no JSON is told."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_sched.sources.extender.extender_client import GoJSONError, first_value

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inside: st.lists(inside) | st.dictionaries(st.text(), inside),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"", "its answer is empty"),
        (b" \n", "its answer is empty"),
        (b"<html>", "its answer is no JSON from character 1 on"),
        (b"[01]", "its answer is no JSON from character 3 on"),
        (b"[nul]", "its answer is no JSON from character 2 on"),
        (b"NaN", "its answer is no JSON: it holds a number that JSON does not have"),
        (b'["\x01"]', "its answer is no JSON from character 3 on"),
        (b"[" * 100_000, "its answer is nested too deeply"),
    ],
)
def test_a_mistake_is_one_sentence(text: bytes, says: str) -> None:
    with pytest.raises(GoJSONError) as told:
        first_value(text)
    assert str(told.value) == says


@given(json_values, st.binary(max_size=9))
def test_the_first_value_is_read_whatever_follows(value: object, following: bytes) -> None:
    assert first_value(f" {json.dumps([value])}".encode() + following) == [value]


@given(json_values, st.data())
def test_what_is_cut_off_ends_too_soon(value: object, data: st.DataObject) -> None:
    text = json.dumps([value]).encode()
    with pytest.raises(GoJSONError, match="no JSON"):
        first_value(text[: data.draw(st.integers(1, len(text) - 1))])
