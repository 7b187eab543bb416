"""A scheduling loop that hangs or fails does not keep the program from ending."""

import math
import threading

import pytest

from kubectl_sched.binding.second_scheduler.loop_messages import Stop
from kubectl_sched.binding.second_scheduler.loop_thread import run_in_thread


def test_the_loop_ends_when_it_is_told_to() -> None:
    assert run_in_thread(lambda: Stop("SIGTERM"), lambda: math.inf) == Stop("SIGTERM")


def test_a_loop_that_hangs_is_given_up() -> None:
    release = threading.Event()

    def hang() -> Stop:
        release.wait()
        return Stop("too late")

    stop = run_in_thread(hang, lambda: 0.0)
    release.set()
    assert (stop.exit_code, "hangs" in stop.reason) == (3, True)


def test_an_error_of_the_loop_is_raised() -> None:
    def fail() -> Stop:
        raise KeyError("a bug")

    with pytest.raises(KeyError, match="a bug"):
        run_in_thread(fail, lambda: math.inf)
