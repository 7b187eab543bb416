"""Facts that no plugin reads are named: each situation of fixtures/findings and fixtures/public has its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.situations import problems, situations

if TYPE_CHECKING:
    from pathlib import Path

    from tests.situations import Situation


@pytest.mark.parametrize("situation", situations("findings"), ids=lambda each: str(each["situation"]))
def test_the_answer_names_the_facts(situation: Situation, tmp_path: Path) -> None:
    assert problems(situation, tmp_path) == []


@pytest.mark.parametrize("situation", situations("public"), ids=lambda each: str(each["situation"]))
def test_the_answer_to_a_public_report_names_the_facts(situation: Situation, tmp_path: Path) -> None:
    assert situation["source"]
    assert situation["ended"]
    assert problems(situation, tmp_path) == []
