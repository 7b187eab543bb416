"""Every start of the search is replayed: who wins how often, and from one start who wins at all."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest
import yaml

from kubectl_sched.api.pod import Pod
from kubectl_sched.config import KubeVersion, load_configuration
from kubectl_sched.errors import SchedError
from kubectl_sched.queries.explain import ExplainAnswer
from kubectl_sched.queries.explanation import Explanation
from kubectl_sched.render.display import Display
from kubectl_sched.render.sentences.headline import decision
from kubectl_sched.render.sentences.node_sentences import verdict_in_words
from kubectl_sched.render.sentences.search_start_sentence import sampling_words
from kubectl_sched.scheduler.node_search import heap_ranks, search_order, zone_key
from kubectl_sched.scheduler.scheduler import Scheduler
from kubectl_sched.scheduler.search_starts import from_every_start, from_start
from kubectl_sched.sources.discovery.replay_setup import scheduler_for
from kubectl_sched.sources.dump.reader import read
from tests.examples import at_length, cases
from tests.plugins.clusters import node, pod, requests, snapshot
from tests.render.worlds import page_of
from tests.simulation.crowds import CONFIG, crowd

if TYPE_CHECKING:
    from pathlib import Path

    from kubectl_sched.scheduler.result import ScheduleResult
    from tests.simulation.crowds import Json


def replay(objects: list[Json], folder: Path, more: str = "") -> tuple[Scheduler, ScheduleResult]:
    return replay_as("1.36", objects, folder, more)


def replay_as(version: str, objects: list[Json], folder: Path, more: str) -> tuple[Scheduler, ScheduleResult]:
    """The explanation of the pod `web` by a configuration with these lines."""
    path = folder / "dump.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    dump = read([str(path)])
    configuration = load_configuration(yaml.safe_load(CONFIG + more), KubeVersion.parse(version))
    scheduler, _ = scheduler_for(dump, configuration)
    web = next(item for item in dump.objects if isinstance(item, Pod) and item.metadata.name == "web")
    return scheduler, scheduler.schedule_one(web)


@at_length
@pytest.mark.parametrize("parallelism", [1, 16])
@pytest.mark.parametrize("seed", cases(range(4), 4))
def test_all_starts_together_are_each_start_alone(seed: int, parallelism: int, tmp_path: Path) -> None:
    _, result = replay(crowd(seed), tmp_path, f"parallelism: {parallelism}\n")
    assert result.is_sampled
    alone: defaultdict[str, float] = defaultdict(float)
    for start in range(len(result.nodes)):
        chosen, one = from_start(result, start)
        assert one is not None
        assert {name for name, _ in one.wins} <= set(chosen.best)
        for name, share in one.wins:
            alone[name] += share / len(result.nodes)
    sampling = from_every_start(result)
    assert sampling is not None
    assert dict(sampling.wins) == pytest.approx(alone)
    assert sampling.starts == 130
    assert sampling.stops_after == 100


def test_the_first_sentence_claims_no_more_than_is_known(tmp_path: Path) -> None:
    cluster = crowd(1)
    images = [{"names": ["app:1"], "sizeBytes": 20_000_000_000}]
    cluster[5] |= {
        "spec": {},
        "status": {"allocatable": {"cpu": "64", "memory": "1Ti", "pods": "99"}, "images": images},
    }
    _, result = replay(cluster, tmp_path)
    assert "scores highest on" in decision(result)
    from_one, _ = from_start(result, 0)
    assert "would land on n005" in decision(from_one)
    assert "scores highest on" not in decision(from_one)
    words = sampling_words(Explanation(result=result, sampling=from_every_start(result))) or ""
    assert " % of starts" in words
    assert words.endswith("order approximated by age")


def test_a_node_that_the_search_does_not_reach_is_told_as_such_in_every_format(tmp_path: Path) -> None:
    _, result = replay(crowd(0), tmp_path)
    from_one, _ = from_start(result, 0)
    row = next(row for row in result.feasible.tolist() if row not in from_one.position_of)
    assert verdict_in_words(from_one, row) == "not reached, as the search ends before it"
    answer, name = ExplainAnswer(explanations=(Explanation(result=from_one),)), result.nodes.names[row]
    for display in (Display(), Display(node=name)):
        assert "not reached" in page_of(answer, display)
    assert "not reached" in page_of(answer, Display(output="markdown", node=name))


def test_where_all_nodes_are_looked_at_every_start_is_the_same(tmp_path: Path) -> None:
    _, result = replay(crowd(2, count=60), tmp_path)
    sampling = from_every_start(result)
    assert sampling is not None
    assert [name for name, _ in sampling.wins] == sorted(result.best)
    assert sum(share for _, share in sampling.wins) == pytest.approx(1)


def test_without_scoring_the_first_feasible_node_wins(tmp_path: Path) -> None:
    more = "profiles: [{plugins: {score: {disabled: [{name: '*'}]}, preScore: {disabled: [{name: '*'}]}}}]\n"
    _, result = replay(crowd(3), tmp_path, more)
    order = search_order(result.nodes)
    start = int(next(index for index, row in enumerate(order) if row in result.feasible))
    assert from_start(result, start)[0].best == (result.nodes.names[order[start]],)


def test_a_start_that_is_not_there_is_refused(tmp_path: Path) -> None:
    _, result = replay(crowd(0), tmp_path)
    with pytest.raises(SchedError, match="there are 130 nodes, so it goes from 0 to 129"):
        from_start(result, 130)


def test_zones_take_turns_and_the_oldest_node_comes_first() -> None:
    zones = {"a": "z1", "b": "z1", "c": "z2", "d": "z3", "e": "z1"}
    nodes = snapshot(*(node(name, labels={"topology.kubernetes.io/zone": zone}) for name, zone in zones.items()))
    assert [nodes.names[row] for row in search_order(nodes)] == ["a", "c", "d", "b", "e"]


@pytest.mark.parametrize(
    ("labels", "key"),
    [
        ({}, ""),
        ({"topology.kubernetes.io/zone": "z"}, ":\0:z"),
        ({"topology.kubernetes.io/region": "r"}, "r:\0:"),
        ({"topology.kubernetes.io/zone": "z", "failure-domain.beta.kubernetes.io/zone": "old"}, ":\0:old"),
        ({"topology.kubernetes.io/zone": "z", "failure-domain.beta.kubernetes.io/zone": ""}, ""),
    ],
)
def test_beta_labels_count_before_the_others(labels: dict[str, str], key: str) -> None:
    assert zone_key(labels) == key


def test_a_pod_that_fits_nowhere_has_no_winner() -> None:
    configuration = load_configuration(None, KubeVersion.parse("1.36"))
    scheduler = Scheduler(configuration, snapshot(node("a")))
    result = scheduler.schedule_one(pod("web", **requests(cpu="100")))
    assert from_every_start(result) is None
    assert sampling_words(Explanation(result=result)) is None


def test_the_top_of_a_heap_of_equals_is_its_first_element() -> None:
    assert heap_ranks(7).tolist() == [0, 1, 4, 2, 3, 5, 6]
