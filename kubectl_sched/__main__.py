"""`kubectl-sched`, `kubectl sched` and `python -m kubectl_sched`."""

from __future__ import annotations

import gc
import sys

from kubectl_sched.cli.arguments import command_first
from kubectl_sched.errors import SchedError


def main() -> None:
    """Run the program on the process's arguments, and exit with its code."""
    from kubectl_sched.cli.app import app

    # One command makes no garbage worth looking for, and looking through a hundred thousand pods takes seconds.
    gc.disable()
    try:
        sys.exit(app(command_first(sys.argv[1:]), prog_name="kubectl sched"))
    except SchedError as error:
        from kubectl_sched.render.text import safe

        print(f"error: {safe(str(error))}", file=sys.stderr)  # noqa: T201 - the one place where errors become text
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # The reader (head, less) has gone; there is nobody left to tell.
        sys.stderr.close()
        sys.exit(0)


if __name__ == "__main__":
    main()
