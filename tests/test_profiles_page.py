"""The commands of docs/profiles.md do what the page shows."""

from __future__ import annotations

import re
import shlex

import pytest

from tests.terminal import on_terminal
from tests.test_readme import ROOT, ageless

PAGE = ROOT / "docs" / "profiles.md"
EXAMPLE = re.compile(r"^\$ kubectl sched (.*)\n((?:(?!\$ |```).*\n)*)", re.MULTILINE)


def examples() -> list[tuple[str, str]]:
    return [(found[1], found[2]) for found in EXAMPLE.finditer(PAGE.read_text())]


@pytest.mark.parametrize(("command", "output"), examples(), ids=lambda text: text.partition("\n")[0])
def test_an_example_shows_what_is_shown(
    command: str, output: str, update_golden: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    shown, _ = on_terminal(shlex.split(command))
    if update_golden:
        heading = f"$ kubectl sched {command}\n"
        PAGE.write_text(PAGE.read_text().replace(f"{heading}{output}", f"{heading}{shown}"))
    else:
        assert ageless(shown) == ageless(output)
