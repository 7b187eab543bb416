"""Members of groups go where each minor's kube-scheduler put them, recorded with `tests.oracle.loops.signed_groups`."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from tests.oracle.loops.signed_groups import FOLDER, differs, tied_of, unbatched

CASES: list[tuple[str, dict[str, Any]]] = [
    (path.name.removesuffix(".jsonl.gz"), json.loads(line))
    for path in sorted(FOLDER.glob("*.jsonl.gz"))
    for line in gzip.decompress(path.read_bytes()).splitlines()
]


@pytest.mark.parametrize(("minor", "case"), CASES, ids=[f"{minor}-{case['request']['id']}" for minor, case in CASES])
def test_each_member_goes_where_the_real_one_put_it(minor: str, case: dict[str, Any]) -> None:
    assert differs(case["request"], case["answer"], minor) is None


def test_since_1_37_members_take_the_order_of_the_one_before_them() -> None:
    changed = [
        minor for minor, case in CASES if tied_of(case["request"], minor) != tied_of(unbatched(case["request"]), minor)
    ]
    assert len(changed) >= 10
    assert set(changed) == {"1.37", "1.38"}
