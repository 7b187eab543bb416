"""The bar of progress on a terminal: a few lines, whatever is read."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import Progress

from kubectl_sched.render.writers import progress_bar as rendering

if TYPE_CHECKING:
    import pytest


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True


def test_a_bundle_of_hundreds_of_files_takes_a_few_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each drawing draws every line, so that as many lines as files would take longer than the reading."""
    bars: list[Progress] = []

    def bar(*, of_bytes: bool) -> Progress:
        assert of_bytes
        bars.append(Progress(console=Console(file=io.StringIO()), auto_refresh=False))
        return bars[0]

    monkeypatch.setattr(sys, "stderr", Screen())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(rendering, "_PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(rendering, "_bar", bar)
    lines = []
    with rendering.progress() as tell:
        assert tell is not None
        for number in range(600):
            size = 100 if number % 2 else None  # of a stream nobody knows
            for done in (0, 50, 100):
                tell(f"file-{number}", done, size)
            lines.append(len(bars[0].tasks))
    assert max(lines) < 25
