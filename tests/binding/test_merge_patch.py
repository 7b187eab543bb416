from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kubectl_sched.binding.pre_bind import inverse, merged

scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=3)
values = st.recursive(
    scalars, lambda each: st.lists(each, max_size=3) | st.dictionaries(st.sampled_from("abc"), each, max_size=3)
)
patches = st.dictionaries(st.sampled_from("abc"), values, max_size=3)


def without_nulls(value: Any) -> Any:
    """An object as a server stores it: no key is null."""
    if isinstance(value, dict):
        return {key: without_nulls(each) for key, each in value.items() if each is not None}
    return value


documents = patches.map(without_nulls)


@given(documents, patches)
def test_the_inverse_takes_a_patch_back(document: dict[str, Any], patch: dict[str, Any]) -> None:
    back = merged(merged(document, patch), inverse(document, patch))
    assert normal(back) == normal(document)


def normal(value: Any) -> Any:
    """An object that a patch has made empty stays as an empty one, as with any server."""
    if isinstance(value, dict):
        kept = {key: normal(each) for key, each in value.items()}
        return {key: each for key, each in kept.items() if each != {}}
    return value


@given(documents, patches)
def test_a_patch_that_stands_changes_nothing(document: dict[str, Any], patch: dict[str, Any]) -> None:
    once = merged(document, patch)
    assert merged(once, patch) == once


def test_neither_side_is_changed() -> None:
    document, patch = {"a": {"b": 1}}, {"a": {"b": None, "c": 2}}
    assert merged(document, patch) == {"a": {"c": 2}}
    assert (document, patch) == ({"a": {"b": 1}}, {"a": {"b": None, "c": 2}})
