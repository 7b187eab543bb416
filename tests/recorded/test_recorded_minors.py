"""Decisions of each supported minor's own kube-scheduler on generated clusters, recorded with `tests.oracle.record`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.decisions import recorded, wrong_cases
from tests.examples import at_length, cases
from tests.oracle.differential import disagreements

if TYPE_CHECKING:
    from tests.decisions import Recorded

DECISIONS = Path(__file__).parents[2] / "fixtures" / "decisions"


@at_length
@pytest.mark.parametrize("file", sorted(str(path.relative_to(DECISIONS)) for path in DECISIONS.glob("*/*.jsonl.gz")))
def test_we_decide_as_that_minor_does(file: str) -> None:
    def differing(case: Recorded) -> object:
        decided = case.case
        return disagreements(decided["request"], decided["responses"], Path(file).parts[0])

    assert wrong_cases(cases(recorded(DECISIONS / file), 3), differing) == {}
