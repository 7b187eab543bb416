"""The examples of docs/whatif.md show what the program prints."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.terminal import on_terminal

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "whatif.md"
EXAMPLES = re.findall(r"^\$ kubectl sched (whatif .*)\n((?:(?!```).*\n)*)", PAGE.read_text(), re.MULTILINE)
PROGRESS = re.compile(r"[^\n]*\r\x1b\[K")
"""What a slow machine shows meanwhile, and erases."""


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 4


@pytest.mark.parametrize(("command", "output"), EXAMPLES, ids=[command for command, _ in EXAMPLES])
def test_an_example_shows_what_is_printed(
    command: str, output: str, update_golden: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT / "fixtures" / "what-if")
    written, _ = on_terminal(shlex.split(command), columns=110)
    shown = PROGRESS.sub("", written)
    if update_golden:
        heading = f"$ kubectl sched {command}\n"
        PAGE.write_text(PAGE.read_text().replace(f"{heading}{output}", f"{heading}{shown}"))
    else:
        assert shown == output
