"""Plans of `drain` hold on a real control plane: what is blocked, lost and pending, and where each pod lands."""

import os

import pytest

from tests.e2e.control_plane import ControlPlane
from tests.e2e.drains import carried_out
from tests.oracle.build import GoMissingError

pytestmark = pytest.mark.e2e

PLANS = int(os.environ.get("E2E_DRAINS", "5"))


def test_a_drain_goes_as_planned() -> None:
    try:
        with ControlPlane(controller_manager=True) as plane:
            done = list(carried_out(plane, PLANS))
    except GoMissingError as missing:
        pytest.skip(str(missing))
    assert len(done) == PLANS
    assert sum(each.evicted for each in done) >= PLANS
    assert any(each.blocked for each in done)
