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
    ("amounts", "texts"),
    [
        ((4 * GI, 8052996 << 10), ("4Gi", "7.7Gi")),
        ((4 * GI, 4 * GI - 1024), ("4Gi", "4194303Ki")),
        ((0, 1 << 20), ("0", "1Mi")),
    ],
)
def test_amounts_that_differ_look_different(amounts: tuple[int, ...], texts: tuple[str, ...]) -> None:
    assert amount_texts("memory", *amounts) == texts


@given(st.integers(0, 1 << 60))
def test_the_text_of_an_amount_reads_back_as_the_amount(amount: int) -> None:
    assert parse_quantity(amount_text("memory", amount)).value() == amount
    assert parse_quantity(amount_text("cpu", amount)).milli_value() == amount
