"""Options that all tests share."""

from __future__ import annotations

import gc
import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from kubectl_sched.own_error import take_noted

# How fast a machine makes examples says nothing about the program. A commit is judged by the same examples wherever its
# tests run: few of them in the ordinary tests, more under `pytest --hypothesis-profile=at-length`, which CI runs too.
# `--hypothesis-profile=exploring` looks for others each time.
settings.register_profile("exploring", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("at-length", settings.get_profile("exploring"), derandomize=True)
settings.register_profile("ordinary", settings.get_profile("at-length"), max_examples=15)
settings.load_profile("ordinary")

# CEL raises the limit when it first compiles an expression, which Hypothesis takes for a fault of that test.
sys.setrecursionlimit(10_000)

# A shell starts what it runs in the background with Ctrl-C ignored, and programs started from there would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Nobody sits at the terminals of the tests to leave a pager.
os.environ["PAGER"] = "cat"

# Workers and the programs that tests start would compile everything anew where nothing may be written beside the
# sources, libraries too, and so would the next run. Pytest's cache goes with the checkout.
if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
    os.environ["PYTHONPYCACHEPREFIX"] = str(Path(__file__).parents[1] / ".pytest_cache" / "bytecode")

gc.disable()


def pytest_collection_finish() -> None:
    """Keep garbage collection from the modules and tests that were collected, which stay until the end."""
    gc.freeze()
    gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import nothing of tests/oracle and tests/e2e, called as their markers are, where no test of theirs is wanted."""
    return True if f"not {collection_path.name}" in config.getoption("markexpr") else None


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="Write tests/golden/* anew from what is shown now.")


def pytest_runtest_setup() -> None:
    """Forget the errors of our own that an earlier test of this process provoked."""
    take_noted()


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Report whether expected outputs are to be written instead of compared."""
    return bool(request.config.getoption("--update-golden"))


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes are named by their parameter: an archive's hold the time, and no two workers would agree on the name."""
    return argname if isinstance(val, bytes) else None
