from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_sched.api.apimachinery.quantity import parse_quantity
from kubectl_sched.framework.amounts import amount_text, amount_texts

GI = 1 << 30


@pytest.mark.parametrize(
    ("resource", "amount", "text"),
    [
        ("cpu", 1500, "1500m"),
        ("cpu", 2000, "2"),
        ("cpu", 0, "0"),
        ("memory", 512 << 20, "512Mi"),
        ("memory", 8052996 << 10, "8052996Ki"),
        ("memory", 1000, "1000"),
        ("hugepages-2Mi", 4 << 20, "4Mi"),
        ("nvidia.com/gpu", 1024, "1024"),
    ],
)
def test_one_amount(resource: str, amount: int, text: str) -> None:
    assert amount_text(resource, amount) == text


@pytest.mark.parametrize(
    ("resource", "amounts", "texts"),
    [
        ("memory", (4 * GI, 8052996 << 10), ("4Gi", "7.7Gi")),
        ("memory", (4 * GI, 4 * GI - 1024), ("4194304Ki", "4194303Ki")),
        ("memory", (0, 1 << 20), ("0", "1Mi")),
        ("memory", (GI, 128 << 20, 8 * GI), ("1Gi", "0.125Gi", "8Gi")),
        ("memory", (128 << 20, 8 * GI), ("128Mi", "8192Mi")),
        ("memory", (GI, 1 << 10), ("1024Mi", "0.001Mi")),
        ("cpu", (3900, 4000, 50, 1), ("3.9", "4", "0.05", "0.001")),
        ("nvidia.com/gpu", (1, 10), ("1", "10")),
    ],
)
def test_amounts_of_one_sentence_have_one_unit_and_look_different(
    resource: str, amounts: tuple[int, ...], texts: tuple[str, ...]
) -> None:
    assert amount_texts(resource, *amounts) == texts


@given(st.lists(st.integers(0, 1 << 60), min_size=1, max_size=5), st.sampled_from(["cpu", "memory"]))
def test_different_amounts_have_different_texts_in_one_unit(amounts: list[int], resource: str) -> None:
    texts = amount_texts(resource, *amounts)
    assert len(set(texts)) == len(set(amounts))
    assert len({text.lstrip("-.0123456789") for text in texts if text != "0"}) <= 1


@given(st.integers(0, 1 << 60))
def test_the_text_of_an_amount_reads_back_as_the_amount(amount: int) -> None:
    assert parse_quantity(amount_text("memory", amount)).value() == amount
    assert parse_quantity(amount_text("cpu", amount)).milli_value() == amount
