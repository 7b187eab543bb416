"""Answers to small situations of everyday kinds: each has the facts that it must have (fixtures/answers)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.situations import problems, situations

if TYPE_CHECKING:
    from pathlib import Path

    from tests.situations import Situation


@pytest.mark.parametrize("situation", situations("answers"), ids=lambda each: str(each["situation"]))
def test_the_answer_has_the_facts(situation: Situation, tmp_path: Path) -> None:
    assert problems(situation, tmp_path) == []
