from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_sched.framework.confusable_texts import edit_distance, is_near, nearest, odd_character


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("gpu", "GPU"),
        ("gpu", "gpus"),
        ("gpu", "\u201cgpu\u201d"),
        ("worker-1", "worker_1"),
        ("dedicatd", "dedicated"),
        ("acelerator", "accelerator"),
        ("nvidia.com/gpus", "nvidia.com/gpu"),
        ("topology.kubernets.io/zone", "topology.kubernetes.io/zone"),
        ("nodepool", "node-pool"),
    ],
)
def test_near(text: str, other: str) -> None:
    assert is_near(text, other)
    assert is_near(other, text)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("gpu", "gpu"),
        ("gpu", "cpu"),
        ("zone-a", "zone-b"),
        ("us-east-1a", "us-east-1b"),
        ("m5.large", "m5.xlarge"),
        ("m5.large", "m6.large"),
        ("v1.35", "v1.36"),
        ("amd64", "arm64"),
        ("dev", "prod"),
        ("", "a"),
    ],
)
def test_not_near(text: str, other: str) -> None:
    assert not is_near(text, other)
    assert not is_near(other, text)


def test_nearest_takes_the_closest() -> None:
    assert nearest("accelerater", ("accelerators", "accelerator", "pool")) == "accelerator"
    assert nearest("team", ("pool",)) is None


@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ("gpu", None),
        ("gpu\u2013a", "'gpu\u2013a' has the typographic \u2013 (U+2013) where a plain one may be meant"),
        ("gpu\u200b", r"'gpu\u200b' has the invisible character U+200B"),
        (" gpu", "' gpu' begins or ends with a space"),
        ('"gpu"', '"gpu" has quotes that are part of it'),
    ],
)
def test_odd_characters(text: str, clause: str | None) -> None:
    assert odd_character(text) == clause


WORDS = st.text(alphabet="abc-", max_size=6)


@given(WORDS, WORDS)
def test_the_distance_is_symmetric_and_zero_only_between_equals(text: str, other: str) -> None:
    distance = edit_distance(text, other)
    assert distance == edit_distance(other, text)
    assert (distance == 0) == (text == other)
    assert abs(len(text) - len(other)) <= distance <= max(len(text), len(other))


@given(WORDS, WORDS, st.integers(0, 5))
def test_a_limit_never_hides_a_distance_within_it(text: str, other: str, limit: int) -> None:
    distance = edit_distance(text, other)
    limited = edit_distance(text, other, limit)
    assert limited == distance if distance <= limit else limited > limit


@given(WORDS, st.integers(0, 5))
def test_swapped_neighbours_are_one_change(text: str, at: int) -> None:
    if at + 1 < len(text) and text[at] != text[at + 1]:
        swapped = text[:at] + text[at + 1] + text[at] + text[at + 2 :]
        assert edit_distance(text, swapped) == 1
