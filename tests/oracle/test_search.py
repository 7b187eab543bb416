"""With one worker, a start of ours is a start of the real kube-scheduler: as many feasible nodes, the same winner."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_sched.config import RELEASES, KubeVersion
from kubectl_sched.scheduler.search_starts import from_start
from tests.scheduler.test_sampling import replay_as
from tests.simulation.crowds import CONFIG, crowd

if TYPE_CHECKING:
    from pathlib import Path

    from tests.oracle.build import Oracle

pytestmark = pytest.mark.oracle

CONFIGURATIONS = (
    "",
    "percentageOfNodesToScore: 90\n",
    "profiles: [{plugins: {score: {disabled: [{name: '*'}], enabled: [{name: TaintToleration}]}}}]\n",
    "profiles: [{percentageOfNodesToScore: 80, plugins: {score: {disabled: [{name: '*'}]}}}]\n",
)


@pytest.mark.parametrize("more", CONFIGURATIONS)
@pytest.mark.parametrize("seed", range(10))
def test_each_start_finds_what_kube_scheduler_finds(oracle: Oracle, seed: int, more: str, tmp_path: Path) -> None:
    objects = crowd(seed, count=140)
    text = f"parallelism: 1\n{more}"
    _, result = replay_as(oracle.patch, objects, tmp_path, text)
    starts = list(range(0, 140, 3))
    request = {
        "id": "search",
        "objects": objects,
        "config": CONFIG + text,
        "pods": ["default/web"],
        "startIndexes": starts,
    }
    (answer,) = oracle.ask(request)
    assert not answer.get("error")
    determined = RELEASES[KubeVersion.parse(oracle.patch)].ties_fall_by_place
    for start, real in zip(starts, answer["searches"], strict=True):
        chosen, sampling = from_start(result, start)
        assert sampling is not None
        winners = [name for name, _ in sampling.wins]
        assert len(chosen.feasible) == real["feasibleNodes"]
        assert real["host"] in winners
        assert len(winners) == 1 or not determined
