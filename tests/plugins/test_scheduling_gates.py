from __future__ import annotations

import pytest

from kubectl_sched.framework.status import SUCCESS, unresolvable
from kubectl_sched.plugins.scheduling_gates import SchedulingGates
from tests.plugins.clusters import EXACT_MINORS, make, pod, snapshot


@pytest.mark.parametrize("version", EXACT_MINORS)
@pytest.mark.parametrize(
    ("gates", "status"),
    [
        ((), SUCCESS),
        (("quota",), unresolvable("waiting for scheduling gates: [quota]")),
        (("b", "a"), unresolvable("waiting for scheduling gates: [b a]")),
    ],
)
def test_a_pod_waits_for_all_its_gates(version: str, gates: tuple[str, ...], status: object) -> None:
    gated = pod(schedulingGates=[{"name": gate} for gate in gates])
    assert make(SchedulingGates, version=version).pre_enqueue(gated, snapshot()) == status
