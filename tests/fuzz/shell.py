"""Runs printed commands in a real bash, whose programs only write down what they were called with."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.fuzz.laws import Argvs

_STUB = '#!/bin/bash\nprintf \'%s\\0\' "${0##*/}" "$@" $\'\\1\' >> "$CALLS"\n'
_EACH = """
enable -n kill
exec 9>&1
for script in "$SCRIPTS"/*; do
  CALLS="$RECORDS/${script##*/}"
  export CALLS
  (. "$script"; wait) < /dev/null > /dev/null 2> /dev/null
done
"""
"""The shell's own kill would look for a job. What runs in the background holds descriptor 9 open until it has ended."""


def wrongly_run(commands: Mapping[str, Argvs]) -> Iterator[tuple[str, str]]:
    """Each command that does anything but call the programs that were built into it, and what it does."""
    with tempfile.TemporaryDirectory(prefix="fuzz-shell-") as name:
        folder = Path(name)
        for below in ("stubs", "scripts", "records", "place"):
            (folder / below).mkdir()
        for program in ("kubectl", "sleep", "kill"):
            (folder / "stubs" / program).write_text(_STUB)
            (folder / "stubs" / program).chmod(0o755)
        for number, text in enumerate(commands):
            (folder / "scripts" / f"{number:06}").write_bytes(text.encode("utf-8", "surrogateescape") + b"\n")
        paths = {"SCRIPTS": folder / "scripts", "RECORDS": folder / "records", "HOME": folder / "place"}
        subprocess.run(
            ["/bin/bash", "--norc", "-c", _EACH],
            cwd=folder / "place",
            env={"PATH": str(folder / "stubs"), **{key: str(path) for key, path in paths.items()}},
            check=False,
            stdout=subprocess.PIPE,
            timeout=600,
        )
        for number, (text, argvs) in enumerate(commands.items()):
            called = _calls(folder / "records" / f"{number:06}")
            if sorted(called) != sorted(map(list, argvs)):
                yield text, f"shell: bash runs {called!r}, and {argvs!r} was built"
        if left := {each.name for each in (folder / "place").iterdir()} - {"scheduler.yaml", "dump.json"}:
            yield next(iter(commands)), f"shell: one of the commands makes {sorted(left)}"


def _calls(record: Path) -> list[list[str]]:
    text = record.read_bytes().decode("utf-8", "surrogateescape") if record.exists() else ""
    return [call.split("\0")[:-1] for call in text.split("\1\0") if call]
