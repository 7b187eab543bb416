"""The program for Windows, where krew takes nothing but an .exe: distlib's launcher, which pip's own scripts have, too.

It runs the `python` of PATH on itself: behind the launcher stand the line that names the interpreter and a zip archive,
whose `__main__.py` goes on in launch.py beside it.
"""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING

from packing import Entry, write_zip

if TYPE_CHECKING:
    from pathlib import Path

DISTLIB = "distlib==0.4.0"

_MAIN = b"""\
import os, runpy, sys
here = os.path.dirname(os.path.realpath(sys.argv[0]))
runpy.run_path(os.path.join(here, "launch.py"), run_name="__main__")
"""


def programs(distlib: Path) -> list[Entry]:
    """kubectl-sched.exe, and the license of the launcher that it begins with, out of distlib's wheel."""
    with zipfile.ZipFile(distlib) as wheel:
        launcher = wheel.read("distlib/t64.exe")
        license_text = wheel.read(next(name for name in wheel.namelist() if name.endswith("LICENSE.txt")))
    archive = io.BytesIO()
    write_zip(archive, [Entry("__main__.py", _MAIN)])
    program = launcher + b"#!/usr/bin/env python\r\n" + archive.getvalue()
    return [Entry("kubectl-sched.exe", program, is_program=True), Entry("LICENSE.distlib", license_text)]
