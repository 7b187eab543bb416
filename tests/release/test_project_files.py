"""The files that stand around the program: workflows, templates, and what a release is refused for."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
CHANGELOG = "# Changelog\n\n## 1.2.0\n"


def project(**changes: Any) -> dict[str, Any]:
    return {"version": "1.2.0", "urls": {"Homepage": "https://example.com/who/kubectl-sched"}, **changes}


@pytest.fixture
def release(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / ".ci" / "archives"))
    return import_module("release")


def test_a_release_that_is_complete_is_let_through(release: Any) -> None:
    release.check("v1.2.0", project(), CHANGELOG)


@pytest.mark.parametrize(
    ("tag", "changes", "changelog", "obstacle"),
    [
        ("v1.2.1", {}, CHANGELOG, "the tag is v1.2.1, and pyproject.toml has version 1.2.0"),
        (
            "v1.2.0",
            {"urls": {"Issues": "https://example.com/OWNER/x"}},
            CHANGELOG,
            "the address Issues still has OWNER",
        ),
        ("v1.2.0", {}, "# Changelog\n\n## Unreleased\n", "no section 1.2.0"),
    ],
)
def test_what_is_missing_stops_a_release(
    release: Any, tag: str, changes: dict[str, Any], changelog: str, obstacle: str
) -> None:
    with pytest.raises(SystemExit, match=re.escape(obstacle)):
        release.check(tag, project(**changes), changelog)


@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("vendor.github-workflows", WORKFLOWS),
        ("vendor.dependabot", [ROOT / ".github" / "dependabot.yml"]),
        ("vendor.github-actions", [ROOT / "integrations" / "github-action" / "action.yml"]),
    ],
)
def test_what_github_reads_is_as_its_schema_wants(schema: str, files: list[Path]) -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_starts_with_no_right_but_to_read(path: Path) -> None:
    assert yaml.safe_load(path.read_text("utf-8"))["permissions"] == {"contents": "read"}


def test_a_form_asks_for_what_shows_a_wrong_answer() -> None:
    text = (ROOT / ".github" / "ISSUE_TEMPLATE" / "wrong-answer.yml").read_text("utf-8")
    form = yaml.safe_load(text)
    assert "snapshot report.json.gz --anonymize" in text
    assert {"command", "answer", "expected", "snapshot", "versions"} <= {each.get("id") for each in form["body"]}


def test_a_link_between_project_files_leads_somewhere() -> None:
    for name in ("SECURITY.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md"):
        for link in re.findall(r"\]\(([^)#:]+)\)", (ROOT / name).read_text("utf-8")):
            assert (ROOT / link).exists(), f"{name}: {link}"
