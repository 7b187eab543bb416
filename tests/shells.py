"""Types into an interactive shell, and says what then stands on its line."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import time
from contextlib import suppress
from select import select
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

PATIENCE_SECONDS = 120.0
_READY = "ready-to-type"
_LINE = re.compile(r"<<(.*?)>>", re.DOTALL)

_ZSH_SETUP = """
autoload -Uz compinit && compinit -u -C -d {dump}
source {script}
unsetopt beep zle_bracketed_paste prompt_cr prompt_sp
show-line() {{ print -rn -- "<<$BUFFER>>" >&2 }}
zle -N show-line && bindkey '^Xz' show-line
PS1={ready}
"""
_BASH_SETUP = """
source {script}
bind 'set enable-bracketed-paste off'
show-line() {{ printf '<<%s>>' "$READLINE_LINE" >&2; }}
bind -x '"\\C-xz": show-line'
PS1={ready}
"""


def typed_into_zsh(zsh: str, script: Path, line: str, environment: Mapping[str, str], folder: Path) -> str:
    """The line after a tab; `script` is the completion script, `folder` an empty one.

    The list of functions that zsh looks through at its first start is kept beside the script.
    """
    dump = script.with_suffix(".zcompdump")
    (folder / ".zshrc").write_text(_ZSH_SETUP.format(script=script, dump=dump, ready=_READY))
    return _typed_into([zsh, "-d", "-i"], line, {**environment, "ZDOTDIR": str(folder)})


def typed_into_bash(bash: str, script: Path, line: str, environment: Mapping[str, str], folder: Path) -> str:
    """The line after a tab; `script` is the completion script, `folder` an empty one."""
    start = folder / "bashrc"
    start.write_text(_BASH_SETUP.format(script=script, ready=_READY))
    return _typed_into([bash, "--noprofile", "--rcfile", str(start), "-i"], line, environment)


def _typed_into(shell: Sequence[str], line: str, environment: Mapping[str, str]) -> str:
    master, slave = pty.openpty()
    with subprocess.Popen(
        [*shell],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**environment, "TERM": "dumb"},
        start_new_session=True,
    ) as process:
        os.close(slave)
        try:
            _read_until(master, lambda text: _READY in text)
            os.write(master, f"{line}\t\x18z".encode())
            shown = _read_until(master, lambda text: _LINE.search(text) is not None)
        finally:
            process.kill()
    with suppress(OSError):
        os.close(master)
    found = _LINE.search(shown)
    assert found is not None
    return found[1]


def _read_until(descriptor: int, is_enough: Callable[[str], bool]) -> str:
    """The output until then; fails if it never comes."""
    written = b""
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        if select([descriptor], [], [], 0.1)[0]:
            written += os.read(descriptor, 1 << 16)
            if is_enough(written.decode(errors="replace")):
                return written.decode(errors="replace")
    raise AssertionError(written.decode(errors="replace"))
