"""Builds an archive a platform that needs nothing but Python, and the krew manifest for them: `python .ci/archives`.

It asks a package registry for the wheels; the archives ask nobody. The same wheels give the same archives.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import tempfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import krew
import pins
import release
import wheels
import windows
import yaml
from packing import Entry, moment, packed_once, sha256, write_tar, write_zip

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CONSTRAINTS = HERE.parent / "constraints.txt"


def main() -> None:
    """Build what is asked for, and say where it is."""
    parser = argparse.ArgumentParser(prog="python .ci/archives", description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="the folder to write to")
    parser.add_argument("--platform", action="append", choices=list(wheels.PLATFORMS), help="repeatable; all of them")
    parser.add_argument("--python", action="append", choices=wheels.MINORS, help="repeatable; all of them")
    parser.add_argument("--pin", action="store_true", help=f"write {pins.FILE.name} anew, for all platforms and minors")
    parser.add_argument("--check-release", metavar="TAG", help="build nothing; end with 1 if TAG cannot be released")
    asked = parser.parse_args()
    if asked.pin and (asked.platform or asked.python):
        parser.error("--pin is about all platforms and minors: leave out --platform and --python")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    if asked.check_release:
        release.check(asked.check_release, project, (ROOT / "CHANGELOG.md").read_text("utf-8"))
        return
    os.environ["SOURCE_DATE_EPOCH"] = str(moment())
    asked.output.mkdir(parents=True, exist_ok=True)
    archives = []
    pinned = pins.Pins(None if asked.pin else pins.read())
    with tempfile.TemporaryDirectory() as folder:
        own = wheels.own_wheel(ROOT, Path(folder))
        for name in asked.platform or wheels.PLATFORMS:
            platform = wheels.PLATFORMS[name]
            entries = _entries(own, platform, asked.python or wheels.MINORS, Path(folder) / name, pinned)
            path = (
                asked.output
                / f"kubectl-sched-v{project['version']}-{name}.{'zip' if platform.os == 'windows' else 'tar.gz'}"
            )
            (write_zip if platform.os == "windows" else write_tar)(path, entries)
            archives.append(krew.Archive(platform.os, platform.arch, path.name, sha256(path)))
            print(f"{path} {path.stat().st_size:,} bytes", flush=True)  # noqa: T201 - what was built
    if asked.pin:
        pins.write(pinned.met)
    words = yaml.safe_load((ROOT / "manifests" / "krew.yaml").read_text("utf-8"))
    (asked.output / "sched.yaml").write_text(krew.as_text(krew.manifest(words, project, archives)), "utf-8")
    print(asked.output / "sched.yaml")  # noqa: T201 - as above


def _entries(
    own: Path, platform: wheels.Platform, minors: Sequence[str], folder: Path, pinned: pins.Pins
) -> list[Entry]:
    """All files of one archive; the folder is for the wheels."""
    used = {minor: wheels.download(own, platform, minor, CONSTRAINTS, folder) for minor in minors}
    pinned.check(folder.glob("*.whl"))
    if platform.os == "windows":
        launcher = wheels.fetched(windows.DISTLIB, folder.with_name("launcher"))
        pinned.check([launcher])
        programs = windows.programs(launcher)
    else:
        programs = _scripts(minors)
    return [
        Entry("LICENSE", (ROOT / "LICENSE").read_bytes()),
        Entry("launch.py", (HERE / "launch.py").read_bytes()),
        *programs,
        *_packages({path.name: path for path in (own, *folder.glob("*.whl"))}, used),
    ]


def _scripts(minors: Sequence[str]) -> list[Entry]:
    """The programs, which look for one of these Pythons, the newest first after `python3` itself."""
    entries = []
    for name in ("kubectl-sched", "kubectl_complete-sched"):
        text = (HERE / f"{name}.sh").read_text("utf-8")
        text = text.replace("@minors@", " ".join(minors))
        text = text.replace("@pythons@", " ".join(f"python{minor}" for minor in reversed(minors)))
        entries.append(Entry(name, text.encode(), is_program=True))
    return entries


def _packages(paths: dict[str, Path], used: dict[str, list[str]]) -> Iterable[Entry]:
    """All files of the wheels, each content once, and which of them each Python uses, under an id of their contents."""
    files = {
        minor: {name: data for wheel in names for name, data in wheels.contents(paths[wheel])}
        for minor, names in used.items()
    }
    checksums = {
        minor: {name: hashlib.sha256(data).hexdigest() for name, data in sorted(held.items())}
        for minor, held in files.items()
    }
    table = {
        minor: {"id": hashlib.sha256(json.dumps(names).encode()).hexdigest()[:16], "files": names}
        for minor, names in checksums.items()
    }
    # The same module of several Pythons stands side by side.
    ordered = sorted((name.partition(".")[0], name, data) for held in files.values() for name, data in held.items())
    yield Entry("packages.tar.xz", packed_once(dict.fromkeys(data for _, _, data in ordered)))
    yield Entry("packages.json", json.dumps(table, indent=0).encode())


if __name__ == "__main__":
    main()
