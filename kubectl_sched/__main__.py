"""`kubectl-sched`, `kubectl sched` and `python -m kubectl_sched`."""

from __future__ import annotations

import gc
import os
import sys

_INTERRUPTED = 130
"""The exit code of shells after Ctrl-C: 128 and SIGINT."""

try:
    from contextlib import suppress
    from typing import TYPE_CHECKING, Any, NoReturn

    from kubectl_sched.cli.command_line import command_first
    from kubectl_sched.errors import SchedError
    from kubectl_sched.own_error import EXIT_CODE, own_error_sentence, shown_traceback, take_noted
    from kubectl_sched.safe_output import safe, write_error
except KeyboardInterrupt:
    os._exit(_INTERRUPTED)

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

_FAILED = 3
_UNTIL_AGAIN = 0.05
"""Seconds after which what the first Ctrl-C came into is over."""


def interrupt_again(unraisable: UnraisableHookArgs) -> None:
    """Repeat a Ctrl-C that Python dropped because it came while an object was taken apart or an import's lock freed."""
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)
        return
    import signal
    from threading import Timer

    Timer(_UNTIL_AGAIN, os.kill, (os.getpid(), signal.SIGINT)).start()


def open_closed_streams() -> None:
    """Put the null device where a standard stream was closed, so that no file that is opened takes its place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 - until the end


def run() -> NoReturn:
    """Run the program and end at once.

    Nothing is left to do then: to take apart all that was imported and read would take longer than many an answer, and
    threads that wait for a server are not waited for.
    """
    # For linear algebra, which nothing here does, numpy would start a thread a core, each spinning for a while.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.unraisablehook = interrupt_again
    open_closed_streams()
    try:
        main()
    except SystemExit as ended:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):  # whoever read it has gone
                stream.flush()
        os._exit(int(ended.code or 0))


def main() -> NoReturn:
    """Run the program on the process's arguments, and exit with its code."""
    # One command makes no garbage worth looking for, and looking through a hundred thousand pods takes seconds.
    gc.disable()
    try:
        code = _run()
        sys.stdout.flush()
        sys.exit(_with_noted(code))
    except SchedError as error:
        write_error("".join(f"{safe(line)}\n" for line in (f"error: {error}", *error.details)))
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
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
        if isinstance(error.__context__, KeyboardInterrupt):
            # It came between two steps of Python's own locks, which then cannot be released.
            sys.exit(_INTERRUPTED)
        write_error(f"{shown_traceback(error)}error: {safe(own_error_sentence(error))}\n")
        sys.exit(EXIT_CODE)


def _run() -> Any:
    from kubectl_sched.cli.app import app

    try:
        return app(command_first(sys.argv[1:]), prog_name="kubectl sched")
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):  # click makes it an exit code that means something else here
            raise ended.__context__ from None
        return ended.code


def _with_noted(code: int | None) -> int | None:
    """Print the errors of our own that cost a part of the answer, and return the exit code that follows."""
    noted = take_noted()
    for sentence, shown in noted:
        write_error(f"{shown}error: {safe(sentence)}\n")
    return EXIT_CODE if noted and code in {None, 0, 1} else code


if __name__ == "__main__":
    run()
