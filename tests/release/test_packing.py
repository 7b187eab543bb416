"""The archives of a release come out the same, byte for byte, of the same files."""

from __future__ import annotations

import tarfile
import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import Version

ROOT = Path(__file__).parents[2]
MIDNIGHT = 1767225600
"""2026-01-01T00:00:00Z"""


@pytest.fixture
def packing(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / ".ci" / "archives"))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(MIDNIGHT))
    return import_module("packing")


def entries(packing: Any) -> list[Any]:
    return [
        packing.Entry("wheels/a.whl", b"\0" * 1000),
        packing.Entry("program", b"#!/bin/sh\n", is_program=True),
        packing.Entry(f"wheels/{'long' * 40}.whl", b"x"),
    ]


@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_the_order_and_the_time_of_writing_do_not_show(kind: str, packing: Any, tmp_path: Path) -> None:
    write = getattr(packing, f"write_{kind}")
    write(tmp_path / "first", entries(packing))
    write(tmp_path / "second", reversed(entries(packing)))
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


def test_a_tar_belongs_to_nobody_and_its_program_can_be_run(packing: Any, tmp_path: Path) -> None:
    packing.write_tar(tmp_path / "archive", entries(packing))
    with tarfile.open(tmp_path / "archive") as archive:
        members = archive.getmembers()
    assert [(member.name, oct(member.mode)) for member in members][:2] == [
        ("program", "0o755"),
        (members[1].name, "0o644"),
    ]
    assert {(member.uid, member.gid, member.uname, member.gname, member.mtime) for member in members} == {
        (0, 0, "", "", MIDNIGHT)
    }


def test_a_zip_bears_the_same_time_and_modes(packing: Any, tmp_path: Path) -> None:
    packing.write_zip(tmp_path / "archive", entries(packing))
    with zipfile.ZipFile(tmp_path / "archive") as archive:
        infos = archive.infolist()
    assert {info.date_time for info in infos} == {(2026, 1, 1, 0, 0, 0)}
    assert {info.filename: oct(info.external_attr >> 16) for info in infos}["program"] == "0o100755"


def test_no_other_wheel_than_the_one_that_was_pinned_is_packed(packing: Any, tmp_path: Path) -> None:
    pins = import_module("pins")
    (tmp_path / "a-1-py3-none-any.whl").write_bytes(b"sound")
    gathered = pins.Pins(None)
    gathered.check(tmp_path.glob("*.whl"))
    assert gathered.met == {"a-1-py3-none-any.whl": packing.sha256(tmp_path / "a-1-py3-none-any.whl")}
    pinned = pins.Pins(gathered.met)
    pinned.check(tmp_path.glob("*.whl"))
    (tmp_path / "a-1-py3-none-any.whl").write_bytes(b"other")
    with pytest.raises(SystemExit, match=r"a-1-py3-none-any\.whl is not the wheel"):
        pinned.check(tmp_path.glob("*.whl"))
    (tmp_path / "b-1-py3-none-any.whl").write_bytes(b"nobody pinned it")
    with pytest.raises(SystemExit, match=r"b-1-py3-none-any\.whl is not the wheel"):
        pinned.check([tmp_path / "b-1-py3-none-any.whl"])


def test_every_pinned_wheel_is_of_a_pinned_version(packing: Any) -> None:
    del packing  # Where the next line finds its module.
    launcher: str = import_module("windows").DISTLIB
    constraints = (ROOT / ".ci" / "constraints.txt").read_text("utf-8").splitlines()
    wheels = (ROOT / ".ci" / "archives" / "wheels.sha256").read_text("utf-8").splitlines()
    of_wheels = {parse_wheel_filename(line.split()[1])[:2] for line in wheels}
    of_constraints = {tuple(line.split("==")) for line in [*constraints, launcher]}
    assert of_wheels <= {(canonicalize_name(name), Version(version)) for name, version in of_constraints}
