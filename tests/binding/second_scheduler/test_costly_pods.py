"""Pods whose cycles cost too much wait by themselves, and everybody else goes on."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import structs

from kubectl_sched.binding.second_scheduler.cluster_events import Action, ClusterEvent, Happened
from kubectl_sched.binding.second_scheduler.decision_log import DecisionLog
from kubectl_sched.binding.second_scheduler.loop_messages import Stop, Warned
from kubectl_sched.binding.second_scheduler.queue.fair_shares import EventBacklog, NamespaceUse
from kubectl_sched.binding.second_scheduler.queued_pod import Place, overdraft_seconds
from kubectl_sched.binding.second_scheduler.queueing_hints import requeue_decision
from kubectl_sched.framework.cycle_budget import CycleLimits
from kubectl_sched.scheduler.schedule_one import cycle
from kubectl_sched.sources.kinds import BY_NAME
from kubectl_sched.sources.live.reflector import Changed
from tests.binding.second_scheduler.test_scheduling_loop import FRAMEWORK, MINE, AnyCourse
from tests.plugins.clusters import node, pod, requests

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.binding.second_scheduler.queueing_hints.hint_question import HintQuestion
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Rows


class Course(AnyCourse):
    """One roomy node, and cycles whose price a test sets."""

    def __init__(self) -> None:
        super().__init__()
        self.begin()
        self.node_comes_or_changes("n1", 100)

    def come(self, name: str, namespace: str = "default") -> None:
        item = pod(name, metadata={"namespace": namespace}, schedulerName=MINE, **requests(cpu="1"))
        self.scheduling_loop.take(Changed(BY_NAME["Pod"], item, gone=False))

    def bound(self) -> list[str]:
        return [chosen.name for chosen, _ in self.newly_decided()]


def priced(course: Course, monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Let each cycle of a pod called hog-... take so long."""

    def judged(pod: Pod, nodes: Snapshot, framework: Framework) -> tuple[ScheduleResult, Rows]:
        course.now += seconds if pod.name.startswith("hog") else 0.001
        result = cycle(pod, nodes, framework)
        return result, result.tied

    monkeypatch.setattr(course.pods, "_judged", judged)


def test_a_pod_that_exceeds_its_budget_waits_longer_each_time_and_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    course = Course()
    tight = copy(FRAMEWORK)
    tight.handle = structs.replace(FRAMEWORK.handle, limits=CycleLimits(steps=1, memory=1))

    def judged(pod: Pod, nodes: Snapshot, framework: Framework) -> tuple[ScheduleResult, Rows]:
        result = cycle(pod, nodes, tight if pod.name == "hog" else framework)
        return result, result.tied

    monkeypatch.setattr(course.pods, "_judged", judged)
    course.come("hog")
    course.come("web")
    assert [course.scheduling_loop.decide() for _ in range(3)] == [True, True, False]
    assert course.bound() == ["web"]
    for doubled in (1.0, 2.0, 4.0):
        course.now += doubled - 0.5
        assert not course.scheduling_loop.decide()
        course.now += 1.5  # its window is a whole second
        assert course.scheduling_loop.decide()
    ((name, message), *_) = course.recorder.overdrafts
    assert name == "hog"
    assert "its cycle needs more than 1 steps of work" in message
    assert len(course.recorder.overdrafts) == 4
    monkeypatch.undo()
    course.now += 10.0
    assert course.scheduling_loop.decide()
    assert course.bound() == ["hog"]


def test_a_namespace_that_uses_over_half_of_a_minute_lets_others_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    course = Course()
    priced(course, monkeypatch, 10.0)
    for number in range(6):
        course.come(f"hog-{number}", "hostile")
    for _ in range(4):
        course.scheduling_loop.decide()
    assert course.bound() == [f"hog-{number}" for number in range(4)], "nobody else waits"
    course.come("web", "team")
    for _ in range(3):
        course.scheduling_loop.decide()
    assert course.bound() == ["web"]
    assert [name for name, _ in course.recorder.overdrafts] == ["hog-4", "hog-5"]
    course.now += 60.0
    assert [course.scheduling_loop.decide() for _ in range(2)] == [True, True]
    assert course.bound() == ["hog-4", "hog-5"]


def test_slow_pods_of_a_namespace_that_had_its_share_leave_time_for_others_that_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    course = Course()
    priced(course, monkeypatch, 10.0)
    course.now = 1.0
    course.come("web", "team")
    for number in range(6):
        course.come(f"hog-{number}", "hostile")
    for _ in range(6):
        course.scheduling_loop.decide()
    assert course.bound() == ["web", *(f"hog-{number}" for number in range(4))]
    assert [name for name, _ in course.recorder.overdrafts] == ["hog-4"], "nobody else is active, but was lately"


def test_use_is_forgotten_after_a_minute() -> None:
    use = NamespaceUse()
    for second in range(20):
        use.add("a", 2.0, float(second))
    assert use.is_over_half("a", 20.0)
    assert not use.is_over_half("b", 20.0)
    assert not use.is_over_half("a", 66.0)


def test_the_backoff_after_overdrafts_doubles_from_one_second_to_five_minutes() -> None:
    assert [overdraft_seconds(count) for count in (1, 2, 3, 9, 10, 99)] == [1, 2, 4, 256, 300, 300]


def test_the_loop_decides_while_messages_never_cease(monkeypatch: pytest.MonkeyPatch) -> None:
    course = Course()
    course.come("web")
    told: list[str] = []
    scheduling_loop = course.scheduling_loop

    def tell_again(_: DecisionLog, sentence: str) -> None:
        told.append(sentence)
        scheduling_loop.inbox.put(Warned("there is always one more"))
        if len(told) > 1000:
            scheduling_loop.ask_to_stop(Stop("nothing was decided", exit_code=3))

    def bind(*_: object) -> None:
        scheduling_loop.ask_to_stop(Stop("bound"))

    monkeypatch.setattr(DecisionLog, "problem", tell_again)
    monkeypatch.setattr(course.recorder, "bind", bind)
    scheduling_loop.inbox.put(Warned("the first"))
    assert scheduling_loop.run() == Stop("bound")


def test_asked_to_stop_the_loop_takes_no_other_pod_whatever_came_before() -> None:
    course = Course()
    for _ in range(100):
        course.scheduling_loop.inbox.put(Warned("came before"))
    course.scheduling_loop.ask_to_stop(Stop("SIGTERM"))
    course.come("web")
    assert course.scheduling_loop.run() == Stop("SIGTERM")
    assert course.bound() == []


@pytest.mark.parametrize("terms", [1, 5_000])
def test_hints_look_at_no_pod_that_is_larger_than_any_real_one(terms: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def ask(question: HintQuestion) -> bool:
        asked.append(question.pod.name)
        return False

    monkeypatch.setitem(requeue_decision.HINTS, ("InterPodAffinity", "Pod"), ask)
    waiting = pod(schedulerName=MINE, **required_of(terms))
    hints = requeue_decision.PluginHints({MINE: FRAMEWORK}, Course().pods.cache.objects)
    happened = Happened(ClusterEvent("Pod", Action.ADD), None, pod("other", on="n1"))
    assert hints.helps("InterPodAffinity", waiting, happened) is (terms == 5_000)
    assert asked == ["web-0"] * (terms == 1)
    large_one_gone = Happened(ClusterEvent("Pod", Action.DELETE), pod("large", on="n1", **required_of(terms)), None)
    assert hints.helps("InterPodAffinity", pod(schedulerName=MINE), large_one_gone) is (terms == 5_000)


def required_of(terms: int) -> dict[str, Any]:
    term = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "web"}}}
    return {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term] * terms}}}


def test_too_many_events_become_one_that_brings_back_whatever_waits() -> None:
    course = Course()
    course.come("large")
    large = pod("larger", schedulerName=MINE, **requests(cpu="500"))
    course.scheduling_loop.take(Changed(BY_NAME["Pod"], large, gone=False))
    while course.scheduling_loop.decide():
        pass
    queue = course.pods.queue
    assert queue.keys(Place.UNSCHEDULABLE) == {large.key}
    backlog = EventBacklog(queue)
    small = node("n1", allocatable={"cpu": "1", "memory": "8Gi", "pods": "110"})
    for _ in range(999):
        backlog.add(Happened(ClusterEvent("Node", Action.ADD), None, small))
    backlog.work_off(1.0, lambda: course.now)
    assert queue.keys(Place.UNSCHEDULABLE) == {large.key}
    for _ in range(1001):
        backlog.add(Happened(ClusterEvent("Node", Action.ADD), None, small))
    backlog.work_off(1.0, lambda: course.now)
    assert queue.keys(Place.UNSCHEDULABLE) == set()


def test_a_backlog_is_worked_off_a_part_at_a_time() -> None:
    course = Course()
    backlog, now = EventBacklog(course.pods.queue), iter(range(100))
    for _ in range(10):
        backlog.add(Happened(ClusterEvent("Node", Action.ADD)))
    backlog.work_off(1.0, lambda: float(next(now)))
    assert backlog
    backlog.work_off(100.0, lambda: float(next(now)))
    assert not backlog
