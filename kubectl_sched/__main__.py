"""`kubectl-sched`, `kubectl sched` and `python -m kubectl_sched`."""

from __future__ import annotations

import gc
import os
import sys
import threading
from typing import Any, NoReturn

from kubectl_sched.cli.arguments import command_first
from kubectl_sched.errors import SchedError
from kubectl_sched.output import safe, write_error
from kubectl_sched.own_error import EXIT_CODE, own_error_sentence, shown_traceback, take_noted

_INTERRUPTED = 130
"""As shells have it: 128 and SIGINT."""
_FAILED = 3


def main() -> None:
    """Run the program on the process's arguments, and exit with its code."""
    # One command makes no garbage worth looking for, and looking through a hundred thousand pods takes seconds.
    gc.disable()
    try:
        code = _run()
        sys.stdout.flush()
        _end(_with_noted(code))
    except SchedError as error:
        write_error(f"error: {safe(str(error))}\n")
        _end(error.exit_code)
    except KeyboardInterrupt:
        _end(_INTERRUPTED)
    except BrokenPipeError:
        # The reader (head, less) has gone; there is nobody left to tell.
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        where = error.filename or "the output"
        write_error(f"error: {safe(str(where))} could not be written: {error.strerror}\n")
        # What could not be written stays in the stream, and would fail again on the way out.
        os._exit(_FAILED)
    except Exception as error:  # noqa: BLE001 - whatever is left is a bug of ours, and is told as one
        write_error(f"{shown_traceback(error)}error: {safe(own_error_sentence(error))}\n")
        _end(EXIT_CODE)


def _run() -> Any:
    from kubectl_sched.cli.app import app

    try:
        return app(command_first(sys.argv[1:]), prog_name="kubectl sched")
    except SystemExit as ended:
        return ended.code


def _with_noted(code: int | None) -> int | None:
    """Tell the errors of our own that cost a part of the answer, and return the exit code that they make of it."""
    noted = take_noted()
    for sentence, shown in noted:
        write_error(f"{shown}error: {safe(sentence)}\n")
    return EXIT_CODE if noted and code in {None, 0, 1} else code


def _end(code: int | None) -> NoReturn:
    """Exit, after an error or Ctrl-C without waiting for threads that wait for a server."""
    if threading.active_count() > 1:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code or 0)
    sys.exit(code)


if __name__ == "__main__":
    main()
