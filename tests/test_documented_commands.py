"""Every example of README.md and docs/ does what the page shows, on a terminal of 80 columns and on one day.

`pytest tests/test_documented_commands.py --update-golden` writes what the program shows now into the pages.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.terminal import on_terminal

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
DAY = "2026-06-01T12:00:00+00:00"
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLE = re.compile(r"^\$ kubectl sched ?(.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
FOLDER = re.compile(r"These examples run in `(.*)`")
SHELL_LINE = re.compile(r"^.*kubectl[ -]sched .*$", re.MULTILINE)

NO_OUTPUT_SHOWN = {
    "kubectl sched explain pod web-0 -n shop --context production": "needs a cluster",
    "kubectl sched explain pod web-0 --new-nodes --node-group-label team/pool --node-template nodes.yaml": "a file",
    "kubectl sched whatif web.yaml --replicas 40 --new-nodes --instance-types types.json": "needs files",
    "kubectl sched explain pod web-0 --new-nodes": "needs a cluster with Karpenter",
    "kubectl sched explain pod web-0 --new-nodes --instance-types types.json -o json": "needs a cluster with Karpenter",
    "kubectl sched snapshot cluster.json.gz": "needs a cluster; the example of docs/snapshot.md takes one of a dump",
    "kubectl sched explain pod web-0 -n shop --from cluster.json.gz": "needs the snapshot of the line before it",
    "kubectl sched explain web-0 -o html > web-0.html": "makes a page; tests/render/test_page.py reads it",
    "kubectl sched explain pods --pending -A -o html > pending.html": "makes a page, as above",
    "kubectl sched whatif deployment/web --replicas 40 -o html > forty.html": "makes a page, as above",
    "kubectl sched explain web-0 -o markdown | xclip": "fills the clipboard of a desktop",
    "python3 -m venv .venv && .venv/bin/pip install -q . && .venv/bin/kubectl-sched explain pod web-0 --from "
    "fixtures/demo": "installs; the first example of README.md is the same command",
    "/opt/kubectl-sched/kubectl-sched explain pod web-0 --from fixtures/demo": "needs the archive of .ci/archives",
}
"""Commands in blocks without output, and the reason for which they are not run."""


class Example(NamedTuple):
    """A command on a page, what stands below it, and the folder in which it runs, if the page names one."""

    page: Path
    command: str
    output: str
    folder: str | None


def examples() -> Iterator[Example]:
    for page in PAGES:
        text = page.read_text()
        folder = FOLDER.search(text)
        for block in FENCED.finditer(text):
            for each in EXAMPLE.finditer(block[2]):
                yield Example(page, each[1], each[2], folder[1] if folder else None)


def named(example: object) -> str:
    return f"{example.page.stem}: {example.command}" if isinstance(example, Example) else ""


@pytest.mark.parametrize("example", list(examples()), ids=named)
def test_an_example_shows_what_is_shown(
    example: Example, update_golden: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PINNED_CLOCK", DAY)
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    monkeypatch.chdir(ROOT / example.folder if example.folder else tmp_path)
    shown, _ = on_terminal(shlex.split(example.command))
    if update_golden:
        line = f"$ kubectl sched {example.command}".rstrip()
        text = example.page.read_text()
        example.page.write_text(text.replace(f"{line}\n{example.output}", f"{line}\n{shown}"))
    else:
        assert shown == example.output


def test_blocks_without_output_are_left_out_for_a_reason() -> None:
    lines = {
        line
        for page in PAGES
        for block in FENCED.finditer(page.read_text())
        if block[1] in {"", "sh"}
        for line in SHELL_LINE.findall(block[2])
        if not line.startswith("tar ")
    }
    assert lines == set(NO_OUTPUT_SHOWN)


def test_pages_with_most_examples_are_found() -> None:
    found = [example.page.stem for example in examples()]
    assert {"README", "profiles", "schedulers", "snapshot", "triage", "whatif"} <= set(found)
    assert len(found) >= 26
