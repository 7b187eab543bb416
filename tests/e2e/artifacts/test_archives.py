"""The archive of Linux, built from the registry's wheels, run from an empty folder with nothing but a Python."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[3]
MINOR = f"{sys.version_info.major}.{sys.version_info.minor}"

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(
        (sys.platform, platform.machine()) != ("linux", "x86_64"), reason="the archive is of Linux on amd64"
    ),
]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the archive for this Python alone and the krew manifest; skips where no registry can be asked."""
    output = tmp_path_factory.mktemp("dist")
    command = [sys.executable, ".ci/archives", "--platform", "linux-amd64", "--python", MINOR, "--output", str(output)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if "pip cannot get the wheels" in done.stderr and "No matching distribution found" in done.stderr:
        pytest.skip("no package registry can be asked for the wheels")
    assert (done.returncode, done.stderr) == (0, "")
    return output


@pytest.fixture(scope="module")
def installed(built: Path) -> Path:
    """What the archive holds, as krew unpacks it."""
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(built / "sched", filter="data")
    return built / "sched"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where it keeps what it unpacks."""
    return tmp_path_factory.mktemp("home")


def started(program: Path, home: Path, *arguments: str) -> subprocess.Popen[str]:
    """The program in an empty folder, knowing only where home is and which Python there is."""
    empty = home / "empty"
    empty.mkdir(parents=True, exist_ok=True)
    command = ["env", "-i", f"HOME={home}", f"KUBECTL_SCHED_PYTHON={sys.executable}", str(program), *arguments]
    return subprocess.Popen(command, cwd=empty, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


EXPLAIN = ("explain", "pod", "web-0", "--from", str(ROOT / "fixtures" / "demo"))


def listing(folder: Path) -> list[tuple[str, int]]:
    return sorted((str(path.relative_to(folder)), path.stat().st_mtime_ns) for path in folder.rglob("*"))


def test_it_explains_with_nothing_installed_even_when_started_twice_at_once(
    installed: Path, home: Path, tmp_path: Path
) -> None:
    before = listing(installed)
    link = tmp_path / "bin" / "kubectl-sched"
    link.parent.mkdir()
    link.symlink_to(installed / "kubectl-sched")
    running = [started(link, home, *EXPLAIN) for _ in range(2)]
    for process in running:
        shown, complaints = process.communicate()
        assert shown.startswith("default/web-0: no node with pool=gpu has 4 GPUs free")
        assert (process.returncode, complaints) == (1, "")
    assert listing(installed) == before
    (cache,) = (home / ".cache" / "kubectl-sched" / "archives").iterdir()
    assert cache.name.startswith(f"python{MINOR}-")


def test_without_a_folder_to_keep_it_in_it_runs_all_the_same(installed: Path, tmp_path: Path) -> None:
    (tmp_path / ".cache").write_text("a file, where a folder would be")
    process = started(installed / "kubectl-sched", tmp_path, "message", "0/1 nodes are available: 1 Too many pods.")
    shown, complaints = process.communicate()
    assert (process.returncode, complaints) == (0, "")
    assert "status.allocatable.pods" in shown


def test_without_a_python_it_says_which_one_it_wants(installed: Path, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "dirname", "readlink", "env"):
        (tools / name).symlink_to(shutil.which(name) or name)
    done = subprocess.run(
        [tools / "env", "-i", f"PATH={tools}", "sh", installed / "kubectl-sched", *EXPLAIN],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith(f"error: kubectl sched needs one of Python {MINOR} in PATH")


def test_completion_comes_along(installed: Path, home: Path) -> None:
    path = os.pathsep.join([str(installed), str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        [installed / "kubectl_complete-sched", "wh"],
        env={"PATH": path, "HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines()[-1] == ":4"
    assert done.stdout.startswith("whatif\t")


def test_the_manifest_names_the_archive_and_its_checksum(built: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    (found,) = yaml.safe_load((built / "sched.yaml").read_text())["spec"]["platforms"]
    assert found["uri"].endswith(f"/{archive.name}")
    assert found["sha256"] == hashlib.sha256(archive.read_bytes()).hexdigest()
    with tarfile.open(archive) as packed:
        members = packed.getmembers()
    assert found["bin"] in {member.name for member in members}
    assert "LICENSE" in {member.name for member in members}
    assert {(member.uid, member.gid, member.uname, member.mtime) for member in members} == {(0, 0, "", 315532800)}
    assert [member.name for member in members] == sorted(member.name for member in members)
