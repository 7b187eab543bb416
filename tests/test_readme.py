"""README's commands are few, and the pages of docs/ are found from their map, lead where they say, and are short."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
README = (ROOT / "README.md").read_text()
PAGES = sorted(DOCS.rglob("*.md"))
GENERATED = {"reasons.md", "versions.md"}
MOST_WORDS = 1500
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def name(page: Path) -> str:
    return os.path.relpath(page, DOCS)


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", FENCED.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_two_commands_do_everything() -> None:
    commands = re.findall(r"^python3 .*$", README, re.MULTILINE)
    assert len(commands) == 2
    explaining, testing = commands
    assert "explain pod web-0 --from fixtures/demo" in explaining
    assert "pytest" in testing
    assert (ROOT / ".ci" / "constraints.txt").exists()


@pytest.mark.parametrize("page", [page for page in DOCS.glob("*.md") if page.name not in GENERATED], ids=name)
def test_a_page_for_users_is_read_at_one_sitting(page: Path) -> None:
    assert len(page.read_text().split()) <= MOST_WORDS, "move what only maintainers need to docs/development/"


def test_the_map_names_each_page_once() -> None:
    linked = LINK.findall((DOCS / "README.md").read_text())
    named = [each for each in linked if each.endswith(".md")]
    assert sorted(named) == sorted(name(page) for page in PAGES if page.name != "README.md")


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "AGENTS.md", *PAGES], ids=name)
def test_each_link_leads_to_what_there_is(page: Path) -> None:
    for link in LINK.findall(FENCED.sub("", page.read_text())):
        path, _, anchor = link.partition("#")
        if "://" in link or path.startswith("mailto:"):
            continue
        target = Path(os.path.normpath(page.parent / path)) if path else page
        assert target.exists(), link
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), link
