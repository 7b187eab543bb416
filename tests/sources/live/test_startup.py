import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
HEAVY = ("kubernetes", "urllib3", "requests", "ssl", "http.client")

SCRIPT = """
import atexit, sys
sys.argv = ["kubectl-sched", *sys.argv[1:]]
atexit.register(lambda: print(*(name for name in {heavy!r} if name in sys.modules), file=sys.stderr))
from kubectl_sched.__main__ import main
main()
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ("explain", "pod", "web-0", "--from", "fixtures/demo", "-o", "json"),
        ("explain", "message", "0/1 nodes are available: 1 Too many pods.", "-o", "json"),
        ("--help",),
    ],
)
def test_what_needs_no_cluster_does_not_import_what_reads_one(arguments: tuple[str, ...]) -> None:
    script = SCRIPT.format(heavy=HEAVY)
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode in {0, 1}, done.stderr.strip()) == (True, "")
