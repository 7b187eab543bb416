"""Starts kubectl-sched out of an archive that holds its packages; needs Python alone, and no network.

The files that this Python uses are unpacked once into a cache folder of their own, named by their contents, so that
the archive itself is never written to. Each process unpacks beside that folder, and the first to be ready puts it
into place. A file must have the checksum that the archive names, and a folder that others may write to is not used.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import stat
import sys
import tarfile
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import NoReturn

HERE = Path(__file__).resolve().parent
_READY = "ready"
_PACKAGES = "packages.tar.xz"


def main() -> None:
    """Unpack what is not unpacked yet, and run the program."""
    site = unpacked(*contents())
    sys.path.insert(0, str(site))
    sys.argv[0] = "kubectl-sched"
    from kubectl_sched.__main__ import run

    run()


def contents() -> tuple[str, dict[str, str]]:
    """Return the name of the folder for this Python, and the checksum of each file that belongs in it by its path."""
    minor = f"{sys.version_info.major}.{sys.version_info.minor}"
    index = json.loads((HERE / "packages.json").read_text("utf-8"))
    if minor not in index:
        sys.exit(f"error: this archive has packages for Python {', '.join(index)}, and this is Python {minor}")
    return f"python{minor}-{index[minor]['id']}", index[minor]["files"]


def unpacked(name: str, files: dict[str, str]) -> Path:
    """Return the folder with the files, unpacked where that has not been done before."""
    for base in _bases():
        folder = base / name
        with contextlib.suppress(OSError):
            base.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _is_ours(base.resolve()) or (folder.exists() and not _is_ours(folder)):
                continue
            return folder if (folder / _READY).exists() else _unpack(files, folder)
    # Nothing can be kept: it is unpacked for this run alone.
    import atexit

    folder = Path(tempfile.mkdtemp(prefix="kubectl-sched-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return _unpack(files, folder / "site")


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


def _unpack(files: dict[str, str], folder: Path) -> Path:
    """Unpack beside the folder and put it into place at once, unless another process was first."""
    beside = Path(tempfile.mkdtemp(prefix=f"{folder.name}-", dir=folder.parent))
    try:
        _extract(files, beside)
        (beside / _READY).touch()
        beside.chmod(0o755)
        beside.rename(folder)
    except tarfile.CompressionError:
        sys.exit(f"error: {sys.executable} was built without lzma, which unpacks this archive: use another Python")
    except tarfile.ReadError:
        _not_as_built()
    except OSError:
        if not (folder / _READY).exists():
            raise
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return folder


def _extract(files: dict[str, str], folder: Path) -> None:
    """Write the files below the folder; the archive holds each content once, under its checksum."""
    missing: defaultdict[str, list[Path]] = defaultdict(list)
    for name, checksum in files.items():
        missing[checksum].append(folder / name)
    with tarfile.open(HERE / _PACKAGES, "r|xz") as archive:
        for member in archive:
            if member.name in missing:
                content = archive.extractfile(member)
                data = content.read() if content else b""
                if hashlib.sha256(data).hexdigest() != member.name:
                    _not_as_built()
                for path in missing.pop(member.name):
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(data)
    if missing:
        _not_as_built()


def _not_as_built() -> NoReturn:
    sys.exit(f"error: {HERE / _PACKAGES} is not the file that this archive was built with: unpack the archive anew")


if __name__ == "__main__":
    main()
