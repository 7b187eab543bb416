"""Printed commands, pasted into a real bash in which every program is a stub that writes down how it was called."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_sched.shell_commands import Argv

_STUBBED = ("kubectl", "sleep", "kill")
_STUB = 'printf \'%s\\0\' "${FUNCNAME[0]}" "$@" $\'\\1\' >> "$CALLS"'
_WRITTEN = {"scheduler.yaml", "dump.json"}


def wrongly_run(commands: Mapping[str, tuple[Argv, ...]]) -> list[str]:
    """The commands of which bash makes anything else than the argument lists that they were built from."""
    with tempfile.TemporaryDirectory() as folder:
        found = _run(list(commands), Path(folder))
    return [
        command
        for (command, argvs), calls in zip(commands.items(), found, strict=True)
        if calls is None or sorted(calls) != sorted(map(list, argvs))
    ]


def _run(commands: list[str], folder: Path) -> list[list[list[str]] | None]:
    """What was called by each command, None where it left a file that none of them writes.

    Functions stand for the programs, and PATH is empty: a command that names another one finds nothing, and says so.
    """
    place, calls = folder / "place", folder / "calls"
    place.mkdir()
    stubs = "\n".join(f"{name}() {{ {_STUB}; }}" for name in _STUBBED)
    marker = "printf '\\2' >> \"$CALLS\""
    script = f"enable -n kill\n{stubs}\ncommand_not_found_handle() {{ {_STUB}; }}\n"
    script += "".join(f"{command}\nwait\n{marker}\n" for command in commands)
    subprocess.run(
        ["/bin/bash", "--norc"],
        input=script.encode(),
        cwd=place,
        env={"PATH": str(folder / "nowhere"), "CALLS": str(calls), "HOME": str(place)},
        capture_output=True,
        check=False,
        timeout=600,
    )
    left = {each.name for each in place.iterdir()} - _WRITTEN
    parts = calls.read_text().split("\2")[:-1]
    if left or len(parts) != len(commands):
        return [None] if len(commands) == 1 else _each_alone(commands, folder)
    return [[call.split("\0")[:-1] for call in part.split("\1\0") if call] for part in parts]


def _each_alone(commands: list[str], folder: Path) -> list[list[list[str]] | None]:
    found: list[list[list[str]] | None] = []
    for number, command in enumerate(commands):
        alone = folder / str(number)
        alone.mkdir()
        found += _run([command], alone)
    return found
