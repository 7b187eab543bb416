"""Command lines on small clusters, as their authors type them: the exit code, the first line, and what is said.

A file below fixtures/commands holds a list of situations. Each has a cluster in the short form of
`tests/situations.py`, `files` to write beside it, and `lines`: what is asked, with the exit code, the first line or the
error, and texts that the output has or lacks, white space collapsed.
"""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

import pytest

from tests.program import run
from tests.situations import objects_of, situations

if TYPE_CHECKING:
    from pathlib import Path

LINES = [(situation, line) for situation in situations("commands") for line in situation["lines"]]


@pytest.mark.parametrize(
    ("situation", "line"), LINES, ids=[f"{each['situation']}: {line['ask']}" for each, line in LINES]
)
def test_the_answer_has_its_first_line_and_its_exit_code(
    situation: dict[str, Any], line: dict[str, Any], tmp_path: Path
) -> None:
    objects = {"apiVersion": "v1", "kind": "List", "items": objects_of({"nodes": [], **situation})}
    (tmp_path / "cluster.json").write_text(json.dumps(objects))
    for name, text in situation.get("files", {}).items():
        (tmp_path / name).write_text(text)
    done = run(*shlex.split(line["ask"]), "--from", "cluster.json", folder=tmp_path)
    first, _, _ = (done.stdout or done.stderr).partition("\n")
    text = " ".join((done.stdout + done.stderr).split())
    assert (done.returncode, first) == (line["exit"], line["first"])
    assert [each for each in line.get("says", ()) if each not in text] == []
    assert [each for each in line.get("lacks", ()) if each in text] == []
