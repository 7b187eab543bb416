"""`explain --watch`: the answer again whenever something of it has changed, until interrupted."""

from __future__ import annotations

import gc
import io
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn, TextIO

from kubectl_sched.safe_output import safe, write_again, write_error, write_text
from kubectl_sched.sources.live.live_errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubectl_sched.sources.dump.dump import Dump
    from kubectl_sched.sources.live.connection_flags import Connection
    from kubectl_sched.sources.pod_selection import Selection

_AGAIN_SECONDS = 5.0
"""After which a server that failed is asked again."""


def follow(
    connection: Connection, selection: Selection, answer: Callable[[Dump, Selection], int], output: str
) -> NoReturn:
    """Print what `answer` prints each time that it differs from before, until interrupted.

    Raises what the first reading raises, and SchedError once what was asked for is gone.
    """
    from kubectl_sched.cli.options.interruptible_cluster import endpoint_of
    from kubectl_sched.cli.options.state_source import within
    from kubectl_sched.render.writers.progress_bar import progress
    from kubectl_sched.sources.live.cluster_follower import Following

    endpoint = endpoint_of(connection)
    selection = within(selection, endpoint.namespace)
    following = Following(endpoint)
    with progress() as report:
        dump: Dump | None = following.read(selection, report)
    before = None
    while True:
        if dump is not None:
            with _held() as said:
                answer(dump, selection)
            before = _say(said.read(), before, output)
            versions = dict(dump.resource_versions)
            dump = None
            _forget()
            following.wait(versions)
        dump = _read_again(following.read, selection)


def _read_again(read: Callable[[Selection], Dump], selection: Selection) -> Dump | None:
    """None if the cluster cannot be read just now, which is said."""
    try:
        return read(selection)
    except ClusterError as error:
        write_error(f"warning: {safe(str(error))}; trying again\n")
        time.sleep(_AGAIN_SECONDS)
        return None


def _forget() -> None:
    """Let go of what was read: reading exempts it from the search for garbage, which a program that goes on needs."""
    gc.unfreeze()
    gc.collect()


def _say(said: tuple[bytes, bytes], before: tuple[bytes, bytes] | None, output: str) -> tuple[bytes, bytes]:
    """Print an answer that differs from the one before, apart from it."""
    if said != before:
        answer, notes = said
        if before is not None:
            write_text(_between(output))
            sys.stdout.flush()
        write_again(answer, notes)
    return said


def _between(output: str) -> str:
    if output in {"json", "name"}:
        return ""
    return "---\n" if output == "yaml" else f"\n{time.strftime('%H:%M:%S')}\n"


class _Held(io.TextIOWrapper):
    """Keeps what is written; to whoever asks it is the terminal or the pipe that it stands for."""

    def __init__(self, like: TextIO) -> None:
        super().__init__(io.BytesIO(), encoding=like.encoding, errors="backslashreplace", write_through=True)
        self._like = like

    def isatty(self) -> bool:
        return self._like.isatty()

    def taken(self) -> bytes:
        self.flush()
        written: io.BytesIO = self.buffer  # type: ignore[assignment] # it was made above
        return written.getvalue()


class _Said:
    """The bytes that were written to standard output and standard error."""

    def __init__(self, out: _Held, err: _Held) -> None:
        self._out, self._err = out, err

    def read(self) -> tuple[bytes, bytes]:
        return self._out.taken(), self._err.taken()


@contextmanager
def _held() -> Iterator[_Said]:
    out, err = sys.stdout, sys.stderr
    held = _Held(out), _Held(err)
    sys.stdout, sys.stderr = held
    try:
        yield _Said(*held)
    finally:
        sys.stdout, sys.stderr = out, err
