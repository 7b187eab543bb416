"""Starts kubectl-sched out of an archive that holds its wheels; needs Python alone, and no network.

The wheels that this Python uses are unpacked once into a cache folder of their own, named by what they are, so that
the archive itself is never written to. Whoever unpacks does so beside, and the first to be ready puts it into place.
A wheel must have the checksum that the archive names, and a folder that anybody else may write to is not used.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import stat
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
_READY = "ready"


def main() -> None:
    """Unpack what is not unpacked yet, and run the program."""
    site = unpacked(*contents())
    sys.path.insert(0, str(site))
    sys.argv[0] = "kubectl-sched"
    from kubectl_sched.__main__ import run

    run()


def contents() -> tuple[str, dict[str, str]]:
    """The name of the folder for what this Python uses, and the wheels for it with their checksums."""
    minor = f"{sys.version_info.major}.{sys.version_info.minor}"
    index = json.loads((HERE / "wheels" / "index.json").read_text("utf-8"))
    if minor not in index:
        sys.exit(f"error: this archive has wheels for Python {', '.join(index)}, and this is Python {minor}")
    return f"python{minor}-{index[minor]['id']}", index[minor]["wheels"]


def unpacked(name: str, wheels: dict[str, str]) -> Path:
    """The folder with the contents of the wheels."""
    for base in _bases():
        folder = base / name
        with contextlib.suppress(OSError):
            base.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _is_ours(base.resolve()) or (folder.exists() and not _is_ours(folder)):
                continue
            return folder if (folder / _READY).exists() else _unpack(wheels, folder)
    # Nothing can be kept: it is unpacked for this run alone.
    import atexit

    folder = Path(tempfile.mkdtemp(prefix="kubectl-sched-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return _unpack(wheels, folder / "site")


def _is_ours(folder: Path) -> bool:
    """Whether nobody but the user and root may change the folder, or put another into its place."""
    if os.name == "nt":
        return True  # a user's own folders are nobody else's there
    own = folder.lstat()
    if not stat.S_ISDIR(own.st_mode) or own.st_uid != os.getuid() or own.st_mode & 0o022:
        return False
    return all(_keeps_names(parent.stat()) for parent in folder.parents)


def _keeps_names(parent: os.stat_result) -> bool:
    """Whether others cannot rename what is in the folder."""
    return parent.st_uid in {0, os.getuid()} and (not parent.st_mode & 0o022 or bool(parent.st_mode & stat.S_ISVTX))


def _bases() -> list[Path]:
    """Where programs keep what they can make again; $KUBECTL_SCHED_CACHE names another place."""
    named = os.environ.get("KUBECTL_SCHED_CACHE")
    if named:
        return [Path(named)]
    if os.name == "nt":
        local = os.environ.get("LOCALAPPDATA")
        return [Path(local) / "kubectl-sched" / "archives"] if local else []
    with contextlib.suppress(RuntimeError):
        cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        return [Path(cache) / "kubectl-sched" / "archives"]
    return []


def _unpack(wheels: dict[str, str], folder: Path) -> Path:
    """Unpack beside the folder and put it into place at once, unless another process was first."""
    beside = Path(tempfile.mkdtemp(prefix=f"{folder.name}-", dir=folder.parent))
    try:
        for name, checksum in wheels.items():
            wheel = HERE / "wheels" / name
            if hashlib.sha256(wheel.read_bytes()).hexdigest() != checksum:
                sys.exit(f"error: {wheel} is not the wheel that this archive was built with: unpack the archive anew")
            _extract(wheel, beside)
        (beside / _READY).touch()
        beside.chmod(0o755)
        beside.rename(folder)
    except OSError:
        if not (folder / _READY).exists():
            raise
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return folder


def _extract(wheel: Path, folder: Path) -> None:
    """As an installer would, without scripts: what is below NAME.data/purelib and platlib belongs at the top."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    for data in folder.glob("*.data"):
        for library in ("purelib", "platlib"):
            if (data / library).is_dir():
                shutil.copytree(data / library, folder, dirs_exist_ok=True)
        shutil.rmtree(data)


if __name__ == "__main__":
    main()
