"""The launcher of an archive runs the archive's own wheels, out of a folder that nobody else can write to."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

LAUNCH = Path(__file__).parents[1] / ".ci" / "archives" / "launch.py"

pytestmark = pytest.mark.skipif(os.name == "nt", reason="modes and owners are those of POSIX")


@pytest.fixture
def launch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The launcher in an archive's folder with one wheel, and a cache of its own."""
    spec = importlib.util.spec_from_file_location("launch", LAUNCH)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.HERE = tmp_path / "archive"
    (module.HERE / "wheels").mkdir(parents=True)
    with zipfile.ZipFile(module.HERE / "wheels" / "own.whl", "w") as wheel:
        wheel.writestr("own.py", "GENUINE = True")
    monkeypatch.setenv("KUBECTL_SCHED_CACHE", str(tmp_path / "cache"))
    return module


def wheels(launch: Any) -> dict[str, str]:
    return {"own.whl": hashlib.sha256((launch.HERE / "wheels" / "own.whl").read_bytes()).hexdigest()}


def planted(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "own.py").write_text("GENUINE = False")
    (folder / "ready").touch()


def test_it_unpacks_once_into_the_cache(launch: Any, tmp_path: Path) -> None:
    folder = launch.unpacked("id", wheels(launch))
    assert folder == tmp_path / "cache" / "id"
    assert (folder / "own.py").read_text() == "GENUINE = True"
    (launch.HERE / "wheels" / "own.whl").unlink()
    assert launch.unpacked("id", {"own.whl": "not looked at any more"}) == folder


@pytest.mark.parametrize("writable", ["cache", "cache/id"])
def test_a_folder_that_others_may_write_to_is_not_used(launch: Any, tmp_path: Path, writable: str) -> None:
    planted(tmp_path / "cache" / "id")
    (tmp_path / "cache").chmod(0o700)
    (tmp_path / "cache" / "id").chmod(0o755)
    (tmp_path / writable).chmod(0o777)
    folder = launch.unpacked("id", wheels(launch))
    assert folder != tmp_path / "cache" / "id"
    assert (folder / "own.py").read_text() == "GENUINE = True"
    assert folder.parent.stat().st_mode & 0o077 == 0


def test_a_link_in_the_cache_is_not_followed(launch: Any, tmp_path: Path) -> None:
    planted(tmp_path / "elsewhere")
    (tmp_path / "cache").mkdir(mode=0o700)
    (tmp_path / "cache" / "id").symlink_to(tmp_path / "elsewhere")
    assert (launch.unpacked("id", wheels(launch)) / "own.py").read_text() == "GENUINE = True"


def test_a_wheel_with_another_checksum_is_refused(launch: Any, tmp_path: Path) -> None:
    expected = wheels(launch)
    with zipfile.ZipFile(launch.HERE / "wheels" / "own.whl", "a") as wheel:
        wheel.writestr("more.py", "")
    with pytest.raises(SystemExit, match="is not the wheel"):
        launch.unpacked("id", expected)
    assert not (tmp_path / "cache" / "id").exists()
