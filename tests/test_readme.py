"""README's commands do what README shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.terminal import on_terminal

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
EXAMPLES = re.findall(r"^\$ kubectl sched (.*)\n((?:(?!\$ |```).*\n)*)", README, re.MULTILINE)


def ageless(text: str) -> str:
    """How old a fixture is depends on the day."""
    text = re.sub(r"\(\d+ (days|h|min)\s+ago\)", "(N days ago)", text)
    return re.sub(r"\s+", " ", text).strip()


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 5


@pytest.mark.parametrize(("command", "output"), EXAMPLES, ids=[command for command, _ in EXAMPLES])
def test_an_example_shows_what_is_shown(
    command: str, output: str, update_golden: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    shown, _ = on_terminal(shlex.split(command))
    assert all(len(line) <= 80 for line in shown.splitlines() if not line.startswith("    '"))
    if update_golden:
        readme = ROOT / "README.md"
        heading = f"$ kubectl sched {command}\n"
        readme.write_text(readme.read_text().replace(f"{heading}{output}", f"{heading}{shown}"))
    else:
        assert ageless(shown) == ageless(output)


def test_two_commands_do_everything() -> None:
    commands = re.findall(r"^python3 .*$", README, re.MULTILINE)
    assert len(commands) == 2
    explaining, testing = commands
    assert "explain pod web-0 --from fixtures/demo" in explaining
    assert "pytest" in testing
    assert (ROOT / ".ci" / "constraints.txt").exists()


def test_every_file_that_is_linked_exists() -> None:
    for link in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / link).exists(), link
