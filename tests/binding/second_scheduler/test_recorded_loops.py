"""`bind --watch` places equal pods where kube-scheduler's own loop put them, recorded in fixtures/loops."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from kubectl_sched.api.component_helpers.pod_requests import scheduler_options
from kubectl_sched.binding.second_scheduler import pod_attempts
from kubectl_sched.binding.second_scheduler.cache import Cache
from kubectl_sched.binding.second_scheduler.decision_log import DecisionLog
from kubectl_sched.binding.second_scheduler.followed_kinds import watched_kinds
from kubectl_sched.binding.second_scheduler.loop_messages import Led
from kubectl_sched.binding.second_scheduler.metrics import Metrics
from kubectl_sched.binding.second_scheduler.pod_attempts import PodAttempts
from kubectl_sched.binding.second_scheduler.queued_pod import Backoff
from kubectl_sched.binding.second_scheduler.queueing_hints import PluginHints
from kubectl_sched.binding.second_scheduler.scheduling_loop import SchedulingLoop
from kubectl_sched.binding.second_scheduler.scheduling_queue import SchedulingQueue
from kubectl_sched.scheduler.scheduler import Scheduler
from kubectl_sched.sources.discovery.replay_setup import Replay, configuration_for
from kubectl_sched.sources.dump.reader import read
from kubectl_sched.sources.kinds import BY_NAME
from kubectl_sched.sources.live.reflector import Changed, Replaced
from tests.binding.second_scheduler.test_scheduling_loop import Recorder
from tests.recorded.test_recorded_loops import CASES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from kubectl_sched.binding.second_scheduler.binding_workers import Binder
    from kubectl_sched.config import Configuration
    from kubectl_sched.scheduler.cycle_result import CycleResult
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources.dump.dump import Dump


class Chance:
    """Falls as it fell in the recorded loop, wherever that is possible."""

    def __init__(self, wanted: dict[str, str]) -> None:
        self.wanted = wanted
        self.result: ScheduleResult | None = None

    def choice(self, options: Sequence[Any]) -> Any:
        assert self.result is not None
        names = self.result.nodes.names
        of_name = {each if isinstance(each, str) else names[each]: each for each in options}
        return of_name.get(self.wanted[self.result.pod.key], options[0])


class FollowingAttempts(PodAttempts):
    """Tells chance whose turn it is."""

    chance: Chance

    def _chosen(self, result: CycleResult, tied: Sequence[int]) -> str | None:
        self.chance.result = result
        return super()._chosen(result, tied)


def placements(dump: Dump, configuration: Configuration, chance: Chance) -> dict[str, str]:
    """Return the node of each pod that gets one, in the order of the loop."""
    cache = Cache(scheduler_options(configuration.features.enabled))
    scheduler = Scheduler(configuration, cache.snapshot({}))
    frameworks = {name: scheduler.framework(name) for name in configuration.profiles}
    known = {name: framework for name, framework in frameworks.items() if framework is not None}
    first = next(iter(known.values()))
    queue = SchedulingQueue(
        first.queue_sort_plugins[0].queue_key, lambda _: None, PluginHints(known, cache.objects), Backoff()
    )
    recorder = Recorder()
    binder: Binder = recorder  # type: ignore[assignment] # the part of it that the loop calls
    attempts = FollowingAttempts(
        known, cache, queue, binder, Metrics(tuple(known)), DecisionLog(quiet=True), lambda: 0.0
    )
    attempts.chance = chance
    loop = SchedulingLoop(attempts)
    kinds = watched_kinds([each.profile for each in known.values()], configuration)
    for kind in kinds:
        loop.take(Replaced(kind, []))
    names = {kind.name for kind in kinds}
    for number, item in enumerate(dump.objects):
        if type(item).__name__ in names:
            metadata = msgspec.structs.replace(item.metadata, resource_version=str(number + 1))
            told = msgspec.structs.replace(item, metadata=metadata)
            loop.take(Changed(BY_NAME[type(item).__name__], told, gone=False))
    loop.take(Led(leads=True))
    while loop.decide():
        pass
    return {pod.key: node for pod, node in recorder.decided}


def followed(case: dict[str, Any], minor: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    request = case["request"]
    (folder / "dump.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": request["objects"]}))
    (folder / "config.yaml").write_text(request.get("config") or "")
    gates = ",".join(f"{name}={str(value).lower()}" for name, value in (request.get("featureGates") or {}).items())
    config = str(folder / "config.yaml") if request.get("config") else None
    dump = read([str(folder / "dump.json")])
    configuration = configuration_for(dump, Replay(config=config, kube_version=minor, feature_gates=gates or None))
    chance = Chance({step["pod"]: step.get("node", "") for step in case["loop"]})
    monkeypatch.setattr(pod_attempts, "random", chance)
    return placements(dump, configuration, chance)


@pytest.mark.parametrize(("minor", "case"), CASES, ids=[f"{minor}-{case['request']['id']}" for minor, case in CASES])
def test_each_pod_goes_where_the_recorded_loop_put_it(
    minor: str, case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    placed = [(step["pod"], step["node"]) for step in case["loop"] if step.get("node")]
    assert list(followed(case, minor, tmp_path, monkeypatch).items()) == placed
