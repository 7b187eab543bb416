"""Checks of paths that a user typed. A path that is invalid for the file system counts as not existing."""

from __future__ import annotations

import stat
from pathlib import Path


def is_file(path: str) -> bool:
    """Report whether a file is there."""
    return stat.S_ISREG(_mode(path))


def is_directory(path: str) -> bool:
    """Report whether a directory is there."""
    return stat.S_ISDIR(_mode(path))


def exists(path: str) -> bool:
    """Report whether anything is there."""
    return _mode(path) != 0


def _mode(path: str) -> int:
    try:
        return Path(path).stat().st_mode
    except (OSError, ValueError):
        return 0
