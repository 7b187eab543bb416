"""Fixtures of the tests of readers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from kubectl_sched.sources.dump.reader import read

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kubectl_sched.sources import Dump


@pytest.fixture
def read_text(tmp_path: Path) -> Callable[..., Dump]:
    def read_it(content: str | bytes | dict[str, Any] | list[Any], name: str = "dump") -> Dump:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, dict | list):
            content = json.dumps(content, indent=4)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read([str(path)])

    return read_it
