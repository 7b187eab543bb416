"""The names that a misspelt one may mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_sched.near_names import near_files

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("typed", "near"), [("demoo", ["demo"]), ("triag", ["triage"]), ("x", [])])
def test_files_are_near_by_their_own_names_whatever_folder_they_are_in(
    typed: str, near: list[str], tmp_path: Path
) -> None:
    folder = tmp_path / "fixtures-of-some-length"
    folder.mkdir()
    for name in ("demo", "cel", "triage", "profiles"):
        (folder / name).touch()
    hint = f"; near it: {', '.join(str(folder / each) for each in near)}" if near else ""
    assert near_files(str(folder / typed)) == hint


def test_a_file_of_the_folder_that_one_is_in_is_named_as_it_was_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dump.json").touch()
    assert near_files("dmp.json") == "; near it: dump.json"
    assert near_files("no-such-folder/dump.json") == ""


def test_a_link_to_nothing_is_near_no_file(tmp_path: Path) -> None:
    (tmp_path / "dump.json").symlink_to("gone.json")
    assert near_files(str(tmp_path / "dump.json")) == ""
    assert near_files(str(tmp_path / "dmp.json")) == ""
