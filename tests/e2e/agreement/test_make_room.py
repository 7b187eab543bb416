"""Plans of `whatif --make-room` hold on a real control plane: every pod that is evicted lands again, and the target."""

import os

import pytest

from tests.e2e.control_plane import ControlPlane
from tests.e2e.rooms import carried_out, room_of_group
from tests.oracle.build import GoMissingError

pytestmark = pytest.mark.e2e

GATES = "GenericWorkload=true,GangScheduling=true,TopologyAwareWorkloadScheduling=true"
PLANS = int(os.environ.get("E2E_ROOMS", "10"))


def test_every_pod_lands_where_promised_or_on_a_tied_node() -> None:
    try:
        with ControlPlane(controller_manager=True) as plane:
            done = list(carried_out(plane, PLANS))
    except GoMissingError as missing:
        pytest.skip(str(missing))
    assert len(done) == PLANS
    assert max(each.evictions for each in done) > 1


def test_a_gang_lands_in_the_zone_where_room_was_made() -> None:
    flags = ("--runtime-config=scheduling.k8s.io/v1alpha2=true",)
    try:
        with ControlPlane(controller_manager=True, feature_gates=GATES, extra_apiserver_flags=flags) as plane:
            done = list(carried_out(plane, PLANS // 2, room_of_group, GATES))
    except GoMissingError as missing:
        pytest.skip(str(missing))
    assert [each.pods for each in done] == [2] * (PLANS // 2)
