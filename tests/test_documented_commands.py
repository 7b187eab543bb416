"""The commands that pages of docs/ show do what the pages show."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import pytest

from tests.terminal import on_terminal
from tests.test_readme import ROOT, ageless

if TYPE_CHECKING:
    from pathlib import Path

PAGES = ("profiles", "schedulers", "snapshot", "triage")
EXAMPLE = re.compile(r"^\$ kubectl sched (.*)\n((?:(?!\$ |```).*\n)*)", re.MULTILINE)


def examples() -> list[tuple[str, str, str]]:
    found = ((page, EXAMPLE.finditer((ROOT / "docs" / f"{page}.md").read_text())) for page in PAGES)
    return [(page, each[1], each[2]) for page, matches in found for each in matches]


@pytest.mark.parametrize(("page", "command", "output"), examples(), ids=lambda text: text.partition("\n")[0])
def test_an_example_shows_what_is_shown(
    page: str, command: str, output: str, update_golden: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    monkeypatch.chdir(tmp_path)
    shown, _ = on_terminal(shlex.split(command))
    if update_golden:
        path = ROOT / "docs" / f"{page}.md"
        heading = f"$ kubectl sched {command}\n"
        path.write_text(path.read_text().replace(f"{heading}{output}", f"{heading}{shown}"))
    else:
        assert ageless(shown) == ageless(output)


@pytest.mark.parametrize("page", PAGES)
def test_every_page_has_examples(page: str) -> None:
    assert any(each[0] == page for each in examples())
