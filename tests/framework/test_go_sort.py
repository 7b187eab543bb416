"""Orders that Go's sort.Slice produced, ties included (by the index each element came from)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kubectl_sched.framework.go_sort import go_sort

ORDERS = Path(__file__).parents[2] / "fixtures" / "go_sort" / "orders.jsonl"


@pytest.mark.parametrize("line", ORDERS.read_text().splitlines())
def test_equal_elements_end_where_go_leaves_them(line: str) -> None:
    case = json.loads(line)
    indexed = list(enumerate(case["keys"]))
    ordered = go_sort(indexed, lambda left, right: left[1] < right[1])
    assert [index for index, _ in ordered] == case["order"]
