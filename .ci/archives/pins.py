"""The SHA-256 checksum that each wheel must have, whatever the registry gives: as `sha256sum` writes them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from packing import sha256

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FILE = Path(__file__).with_name("wheels.sha256")


def read() -> dict[str, str]:
    """The checksums by the wheels' names."""
    lines = (line.split() for line in FILE.read_text("utf-8").splitlines())
    return {name: checksum for checksum, name in lines}


def write(checksums: Mapping[str, str]) -> None:
    """Replace the file."""
    FILE.write_text("".join(f"{checksums[name]}  {name}\n" for name in sorted(checksums)), "utf-8")


class Pins:
    """Checks wheels against the checksums; without any, `met` gathers them."""

    def __init__(self, pinned: Mapping[str, str] | None) -> None:
        self._pinned = pinned
        self.met: dict[str, str] = {}

    def check(self, paths: Iterable[Path]) -> None:
        """End the program where a wheel is not the one that was pinned."""
        for path in paths:
            self.met[path.name] = checksum = sha256(path)
            if self._pinned is not None and self._pinned.get(path.name) != checksum:
                sys.exit(f"{path.name} is not the wheel that {FILE.name} names: look at it, then pin with --pin")
