"""README's commands do what README shows."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


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
