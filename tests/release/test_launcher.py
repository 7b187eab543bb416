"""The launcher of an archive runs the archive's own files, out of a folder that nobody else can write to."""

from __future__ import annotations

import hashlib
import importlib.util
import io
import os
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

GENUINE = b"GENUINE = True"
FILES = {"own.py": hashlib.sha256(GENUINE).hexdigest()}
LAUNCH = Path(__file__).parents[2] / ".ci" / "archives" / "launch.py"

pytestmark = pytest.mark.skipif(os.name == "nt", reason="modes and owners are those of POSIX")


@pytest.fixture
def launch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The launcher in an archive's folder with one module, and a cache of its own."""
    spec = importlib.util.spec_from_file_location("launch", LAUNCH)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.HERE = tmp_path / "archive"
    module.HERE.mkdir()
    pack(module.HERE, GENUINE, {checksum(GENUINE)})
    monkeypatch.setenv("KUBECTL_SCHED_CACHE", str(tmp_path / "cache"))
    return module


def pack(folder: Path, content: bytes, names: set[str]) -> None:
    with tarfile.open(folder / "packages.tar.xz", "w:xz") as archive:
        for name in names:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


def checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def planted(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "own.py").write_text("GENUINE = False")
    (folder / "ready").touch()


def test_it_unpacks_once_into_the_cache(launch: Any, tmp_path: Path) -> None:
    folder = launch.unpacked("id", FILES)
    assert folder == tmp_path / "cache" / "id"
    assert (folder / "own.py").read_text() == "GENUINE = True"
    (launch.HERE / "packages.tar.xz").unlink()
    assert launch.unpacked("id", {"own.py": "not looked at any more"}) == folder


@pytest.mark.parametrize("writable", ["cache", "cache/id"])
def test_a_folder_that_others_may_write_to_is_not_used(launch: Any, tmp_path: Path, writable: str) -> None:
    planted(tmp_path / "cache" / "id")
    (tmp_path / "cache").chmod(0o700)
    (tmp_path / "cache" / "id").chmod(0o755)
    (tmp_path / writable).chmod(0o777)
    folder = launch.unpacked("id", FILES)
    assert folder != tmp_path / "cache" / "id"
    assert (folder / "own.py").read_text() == "GENUINE = True"
    assert folder.parent.stat().st_mode & 0o077 == 0


def test_a_link_in_the_cache_is_not_followed(launch: Any, tmp_path: Path) -> None:
    planted(tmp_path / "elsewhere")
    (tmp_path / "cache").mkdir(mode=0o700)
    (tmp_path / "cache" / "id").symlink_to(tmp_path / "elsewhere")
    assert (launch.unpacked("id", FILES) / "own.py").read_text() == "GENUINE = True"


@pytest.mark.parametrize("names", [{checksum(GENUINE)}, set()], ids=["another content", "no content"])
def test_a_file_that_the_archive_was_not_built_with_is_refused(launch: Any, tmp_path: Path, names: set[str]) -> None:
    pack(launch.HERE, b"GENUINE = False", names)
    with pytest.raises(SystemExit, match="is not the file that this archive was built with"):
        launch.unpacked("id", FILES)
    assert not (tmp_path / "cache" / "id").exists()


@pytest.mark.parametrize("cut", [slice(None, 80), slice(None, 40), slice(1, None), slice(0)])
def test_an_archive_that_is_damaged_is_refused(launch: Any, tmp_path: Path, cut: slice) -> None:
    packages = launch.HERE / "packages.tar.xz"
    packages.write_bytes(packages.read_bytes()[cut])
    with pytest.raises(SystemExit, match="is not the file that this archive was built with"):
        launch.unpacked("id", FILES)
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_python_that_cannot_unpack_it_is_named(launch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lzma", None)
    with pytest.raises(SystemExit, match="was built without lzma"):
        launch.unpacked("id", FILES)


def test_one_content_is_written_to_each_path_that_has_it(launch: Any) -> None:
    folder = launch.unpacked("id", {**FILES, "package/copy.py": checksum(GENUINE)})
    assert (folder / "package" / "copy.py").read_bytes() == (folder / "own.py").read_bytes() == GENUINE
