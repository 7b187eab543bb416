"""Tolerations that a namespace allows, as pkg/util/tolerations compares them."""

from __future__ import annotations

import pytest

from kubectl_sched.api.affinity import Toleration
from kubectl_sched.apiserver.tolerations import are_allowed, merged_tolerations


@pytest.mark.parametrize(("operator", "covers"), [("", True), ("Equal", True), ("Exists", True), ("Gt", False)])
def test_a_toleration_that_compares_numbers_covers_no_other(operator: str, covers: bool) -> None:
    narrow = Toleration(key="k", operator="Equal", value="5")
    wide = Toleration(key="k", operator=operator, value="5")
    assert are_allowed([narrow], [wide]) == covers
    assert (narrow in merged_tolerations([narrow, wide])) == (not covers or narrow == wide)
    assert are_allowed([wide], [wide])
