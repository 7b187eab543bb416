"""Which wheels a platform needs, one set for each minor of Python, as pip downloads them."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from email.parser import BytesParser
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MINORS = ("3.11", "3.12", "3.13", "3.14")
_UNUSED = {"tests", "_tests"}
"""Folders of packages that no program imports."""

_NEWEST_GLIBC = 28
_OLDEST_GLIBC = 17


class Platform(NamedTuple):
    """One that krew knows, what pip calls it, and what it says of itself in the markers of requirements."""

    os: str
    arch: str
    tags: tuple[str, ...]
    markers: dict[str, str]

    @property
    def name(self) -> str:
        """`linux-amd64`."""
        return f"{self.os}-{self.arch}"


def _manylinux(machine: str) -> tuple[str, ...]:
    numbered = (f"manylinux_2_{minor}_{machine}" for minor in range(_NEWEST_GLIBC, _OLDEST_GLIBC - 1, -1))
    return (*numbered, f"manylinux2014_{machine}")


def _markers(system: str, platform: str, name: str, machine: str) -> dict[str, str]:
    return {"platform_system": system, "sys_platform": platform, "os_name": name, "platform_machine": machine}


PLATFORMS = {
    platform.name: platform
    for platform in (
        Platform("linux", "amd64", _manylinux("x86_64"), _markers("Linux", "linux", "posix", "x86_64")),
        Platform("linux", "arm64", _manylinux("aarch64"), _markers("Linux", "linux", "posix", "aarch64")),
        Platform("darwin", "amd64", ("macosx_13_0_x86_64",), _markers("Darwin", "darwin", "posix", "x86_64")),
        Platform("darwin", "arm64", ("macosx_13_0_arm64",), _markers("Darwin", "darwin", "posix", "arm64")),
        Platform("windows", "amd64", ("win_amd64",), _markers("Windows", "win32", "nt", "AMD64")),
    )
}


def own_wheel(root: Path, folder: Path) -> Path:
    """Build the program's own wheel into the folder."""
    _pip("wheel", "--no-deps", "--wheel-dir", str(folder), str(root))
    return next(folder.glob("kubectl_sched-*.whl"))


def fetched(requirement: str, folder: Path) -> Path:
    """The wheel of a requirement that is pinned and pure, without what it requires."""
    _pip("download", "--no-deps", "--only-binary=:all:", "-d", str(folder), requirement)
    return next(folder.glob(f"{requirement.replace('==', '-')}-*.whl"))


def download(own: Path, platform: Platform, minor: str, constraints: Path, folder: Path) -> list[str]:
    """Add to the folder whatever this Python needs there beside the own wheel; the names of all of it, sorted.

    pip would judge the markers of requirements by the Python that it runs in, so the requirements are followed here,
    and each wave of them is downloaded without what it requires in turn.
    """
    found: dict[str, Path] = {}
    followed: set[tuple[str, str]] = set()
    wave: set[tuple[str, str]] = {("kubectl-sched", "")}
    while wave:
        missing = sorted({name for name, _ in wave} - found.keys() - {"kubectl-sched"})
        if missing:
            _pip("download", *_target(platform, minor), "-c", str(constraints), "-d", str(folder), *missing)
        there: dict[str, Path] = {
            canonicalize_name(path.name.split("-")[0]): path for path in (own, *_fitting(folder, minor))
        }
        found |= {name: there[name] for name, _ in wave}
        followed |= wave
        wave = {each for name, extra in wave for each in _required(found[name], extra, platform, minor)} - followed
    return sorted(path.name for path in found.values())


def contents(wheel: Path) -> Iterator[tuple[str, bytes]]:
    """The files that an installer would put into site-packages, with their paths, without the tests of packages."""
    with zipfile.ZipFile(wheel) as archive:
        for info in archive.infolist():
            path = PurePosixPath(info.filename)
            if path.parts[0].endswith(".data"):
                if path.parts[1] not in {"purelib", "platlib"}:
                    continue
                path = PurePosixPath(*path.parts[2:])
            if not info.is_dir() and not _UNUSED.intersection(path.parts[:-1]):
                yield str(path), archive.read(info)


def _target(platform: Platform, minor: str) -> Iterator[str]:
    yield from ("--no-deps", "--only-binary=:all:", "--python-version", minor, "--implementation", "cp")
    for abi in (_abi(minor), "abi3", "none"):
        yield from ("--abi", abi)
    for tag in (*platform.tags, "any"):
        yield from ("--platform", tag)


def _abi(minor: str) -> str:
    return f"cp{minor.replace('.', '')}"


def _fitting(folder: Path, minor: str) -> Iterator[Path]:
    """The wheels that this Python can use; the folder holds those of one platform."""
    for path in folder.glob("*.whl"):
        _, abi, _ = path.stem.rsplit("-", 2)
        if abi in {"none", "abi3", _abi(minor)}:
            yield path


def _required(wheel: Path, extra: str, platform: Platform, minor: str) -> Iterator[tuple[str, str]]:
    """What a wheel requires there, for itself or for one of its extras: names, each with an extra or none."""
    environment = {**platform.markers, "python_version": minor, "python_full_version": f"{minor}.0", "extra": extra}
    with zipfile.ZipFile(wheel) as archive:
        name = next(each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        metadata = BytesParser().parsebytes(archive.read(name))
    for text in metadata.get_all("Requires-Dist", ()):
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate(environment):
            for each in ("", *sorted(requirement.extras)):
                yield canonicalize_name(requirement.name), each


def _pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - pip, with our arguments
    if done.returncode:
        sys.exit(f"pip cannot get the wheels: {done.stderr.strip()}")
