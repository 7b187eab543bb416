"""A fact that no plugin reads stands in the verdict: an obstacle where the pod lands, or why it fits nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_sched.scheduler.result import Outcome
from tests.situations import asked, situations

if TYPE_CHECKING:
    from pathlib import Path

_SITUATIONS = {each["situation"]: each for folder in ("answers", "findings", "public") for each in situations(folder)}


@pytest.mark.parametrize(
    ("name", "outcome", "verdict"),
    [
        (
            "two local disks on different nodes",
            Outcome.UNSCHEDULABLE,
            "its volumes are in different places: pv-1 on node n1, pv-2 on node n2; no node reaches both",
        ),
        (
            "the provisioner has said why",
            Outcome.UNSCHEDULABLE,
            "no volume can be made for claim data: quota exceeded in pool gold",
        ),
        (
            "nobody runs the provisioner",
            Outcome.UNSCHEDULABLE,
            "claim data waits for provisioner nfs.example.com, which does not run",
        ),
        (
            "the driver has published no capacity of the class",
            Outcome.UNSCHEDULABLE,
            "n1 has no capacity of class lvm reported by driver lvm.example.com: claim data wants 1Gi",
        ),
        (
            "the provisioner has no room",
            Outcome.SCHEDULABLE,
            "fits on n1, but no volume can be made for claim data: pool is full",
        ),
        (
            "the volume is attached to another node, where its pod still runs",
            Outcome.SCHEDULABLE,
            "fits on n2, but volume pv-1 is in use on n1 by web-old",
        ),
        (
            "the node refused pods for lack of cpu that the scheduler does not see",
            Outcome.SCHEDULABLE,
            "fits on n1, but the kubelet of n1 refused 2 pods (OutOfcpu)",
        ),
        (
            "a config map that is not there",
            Outcome.SCHEDULABLE,
            'configmap "app-config" not found (CreateContainerConfigError in container main); scheduling is fine',
        ),
    ],
)
def test_the_verdict_names_it(name: str, outcome: Outcome, verdict: str, tmp_path: Path) -> None:
    (explanation,) = asked(_SITUATIONS[name], tmp_path).explanations
    assert (explanation.result.outcome, explanation.verdict) == (outcome, verdict)
