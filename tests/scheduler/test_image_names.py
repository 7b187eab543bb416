"""Forty pods of two images: they part where nodes list the images by the names that the pods use, and only there."""

from __future__ import annotations

from collections import Counter

import pytest

from kubectl_sched.api.pod import Pod
from kubectl_sched.sources.discovery.replay_setup import configuration_for, scheduler_for
from kubectl_sched.sources.dump.reader import read
from tests.test_scenarios import SCENARIOS, replay_of

APART = {("nginx:1.10", ("worker1",)): 20, ("nginx:1.20", ("worker2",)): 20}
TOGETHER = {("nginx:1.10", ("worker1", "worker2")): 20, ("nginx:1.20", ("worker1", "worker2")): 20}


@pytest.mark.parametrize(
    ("scenario", "version", "landed"),
    [
        ("image-names", "1.36", APART),
        ("image-names-v1beta2", "1.27", APART),
        ("image-names-of-containerd", "1.36", TOGETHER),
    ],
)
def test_forty_pods_part_by_image(scenario: str, version: str, landed: dict[object, int]) -> None:
    folder = SCENARIOS / scenario
    dump = read([str(folder / "cluster.yaml")])
    configuration = configuration_for(dump, replay_of(folder))
    scheduler, _ = scheduler_for(dump, configuration)
    pods = [item for item in dump.objects if isinstance(item, Pod)]
    found = Counter((pod.spec.containers[0].image, scheduler.schedule_one(pod).best) for pod in pods)
    assert found == landed
    assert str(configuration.version) == version
