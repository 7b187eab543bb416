"""Whatever comes in whatever order: decisions fit what is known, no pod is given away twice, and none is forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import settings as budget
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from msgspec import structs

from kubectl_sched.api.component_helpers.pod_requests import scheduler_options
from kubectl_sched.binding.binding_cycle import Bound, Failed, Taken
from kubectl_sched.binding.second_scheduler.cache import Cache
from kubectl_sched.binding.second_scheduler.decision_log import DecisionLog
from kubectl_sched.binding.second_scheduler.followed_kinds import watched_kinds
from kubectl_sched.binding.second_scheduler.loop_messages import Finished, Led, Stop
from kubectl_sched.binding.second_scheduler.metrics import Metrics
from kubectl_sched.binding.second_scheduler.pod_attempts import PodAttempts
from kubectl_sched.binding.second_scheduler.queued_pod import Backoff
from kubectl_sched.binding.second_scheduler.queueing_hints import PluginHints
from kubectl_sched.binding.second_scheduler.scheduling_loop import SchedulingLoop
from kubectl_sched.binding.second_scheduler.scheduling_queue import SchedulingQueue
from kubectl_sched.binding.second_scheduler.settings import WatchOptions, served_profiles
from kubectl_sched.config import load_configuration
from kubectl_sched.framework.status import error
from kubectl_sched.scheduler.schedule_one import cycle
from kubectl_sched.scheduler.scheduler import Scheduler
from kubectl_sched.sources.kinds import BY_NAME
from kubectl_sched.sources.live.reflector import Changed, Disturbed, Replaced, Resumed
from tests.examples import examples
from tests.plugins.clusters import node, pod, requests

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.binding.second_scheduler.binding_workers import Binder
    from kubectl_sched.binding.second_scheduler.queued_pod import QueuedPod
    from kubectl_sched.framework.reserved_object import Reservation
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.scheduler.cycle_result import CycleResult
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot import Snapshot

CONFIGURATION = load_configuration()
OPTIONS = scheduler_options(CONFIGURATION.features.enabled)
MINE = "mine"


def framework() -> Framework:
    (profile,) = served_profiles(CONFIGURATION, WatchOptions(scheduler_name=MINE))
    mine = structs.replace(CONFIGURATION, profiles={MINE: profile})
    made = Scheduler(mine, Cache(OPTIONS).snapshot({})).framework(MINE)
    assert made is not None
    return made


FRAMEWORK = framework()


class Recorder:
    """Stands where binding cycles would begin, and keeps them for the test to end."""

    may_preempt = False

    def __init__(self) -> None:
        self.flying: dict[str, Finished] = {}
        self.decided: list[tuple[Pod, str]] = []
        self.overdrafts: list[tuple[str, str]] = []

    def bind(
        self, queued: QueuedPod, result: CycleResult, node: str, reservations: Sequence[Reservation], began: float
    ) -> None:
        assert not reservations
        uid = result.pod.metadata.uid
        assert uid not in self.flying, "two binding cycles of one pod"
        self.flying[uid] = Finished(queued, result, node, Bound(node=node), began)
        self.decided.append((result.pod, node))

    def tell_of(self, bound: Sequence[Pod]) -> None:
        """Events change nothing here."""

    def report_overdraft(self, pod: Pod, message: str, _: Framework) -> None:
        self.overdrafts.append((pod.name, message))

    def report(self, result: ScheduleResult, failed: Failed | None = None) -> None:
        """Writes about a pod change nothing here."""


class CheckedAttempts(PodAttempts):
    """Holds each decision against a whole cycle, and counts those that took none."""

    equally_decided = 0

    def _judged(self, pod: Pod, nodes: Snapshot, framework: Framework) -> tuple[CycleResult, Sequence[int]]:
        first = self._equal._first  # noqa: SLF001 - whose cycle it is cannot be seen from outside
        result, tied = super()._judged(pod, nodes, framework)
        self.equally_decided += first is not None and result.verdicts is first.verdicts
        whole = cycle(pod, nodes, framework)
        assert (list(tied), result.outcome, result.pod) == (whole.tied.tolist(), whole.outcome, whole.pod)
        return result, tied

    def _fail(self, queued: QueuedPod, why: str, began: float) -> None:
        assert AssertionError.__name__ not in why, why
        super()._fail(queued, why, began)


class AnyCourse(RuleBasedStateMachine):
    """The server's objects, of which the watch has delivered a part, and the binding cycles under way."""

    @initialize(cpus=st.lists(st.sampled_from([1, 2]), min_size=1, max_size=3))
    def begin_with_some(self, cpus: list[int]) -> None:
        """One small node and pods that are known, so that most courses have to do with too little room."""
        self.begin()
        self.node_comes_or_changes("n1", 2)
        self.pods_come(cpus, mine=True)
        while self.late:
            self.deliver(self.late.pop(0))

    def begin(self) -> None:
        self.now = 0.0
        self.version = 0
        self.recorder = Recorder()
        binder: Binder = self.recorder  # type: ignore[assignment] # the part of it that the loop calls
        cache = Cache(OPTIONS)
        queue = SchedulingQueue(
            FRAMEWORK.queue_sort_plugins[0].queue_key,
            lambda _: None,
            PluginHints({MINE: FRAMEWORK}, cache.objects),
            Backoff(initial=1.0, maximum=10.0),
        )
        self.pods = CheckedAttempts(
            {MINE: FRAMEWORK}, cache, queue, binder, Metrics((MINE,)), DecisionLog(quiet=True), lambda: self.now
        )
        self.scheduling_loop = SchedulingLoop(self.pods)
        self.nodes: dict[str, int] = {}
        self.server: dict[str, Pod] = {}
        self.delivered: dict[str, Pod] = {}
        self.ours: dict[str, str] = {}
        """The node of each pod that we have decided about, by uid, until that has come to nothing."""
        self.late: list[tuple[str, Pod | None]] = []
        """Changes of pods (None: deleted) that the watch has not delivered yet, in order."""
        for kind in watched_kinds([FRAMEWORK.profile], CONFIGURATION):
            self.scheduling_loop.take(Replaced(kind, []))
        self.scheduling_loop.take(Led(leads=True))

    def put(self, item: Pod) -> None:
        self.version += 1
        metadata = structs.replace(item.metadata, resource_version=str(self.version))
        self.server[item.name] = structs.replace(item, metadata=metadata)
        self.late.append((item.name, self.server[item.name]))

    @rule(name=st.sampled_from(["n1", "n2"]), cpu=st.sampled_from([2, 4]))
    def node_comes_or_changes(self, name: str, cpu: int) -> None:
        self.version += 1
        self.nodes[name] = cpu
        made = node(name, allocatable={"cpu": str(cpu), "memory": "8Gi", "pods": "110"})
        item = structs.replace(made, metadata=structs.replace(made.metadata, resource_version=str(self.version)))
        self.scheduling_loop.take(Changed(BY_NAME["Node"], item, gone=False))

    @rule(cpus=st.lists(st.sampled_from([1, 2]), min_size=1, max_size=4), mine=st.booleans())
    def pods_come(self, cpus: list[int], mine: bool) -> None:
        for cpu in cpus:
            self.put(pod(f"p{self.version}", schedulerName=MINE if mine else "other", **requests(cpu=str(cpu))))

    @precondition(lambda self: self.nodes)
    @rule(data=st.data())
    def another_binds_its_own(self, data: st.DataObject) -> None:
        waiting = [each for each in self.server.values() if each.spec.scheduler_name == "other" and not on(each)]
        if waiting:
            chosen = data.draw(st.sampled_from(waiting))
            self.put(bound(chosen, data.draw(st.sampled_from(sorted(self.nodes)))))

    @precondition(lambda self: self.server)
    @rule(data=st.data())
    def pod_goes(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.server)))
        del self.server[name]
        self.late.append((name, None))

    @precondition(lambda self: self.server)
    @rule(data=st.data())
    def something_is_said_of_a_pod(self, data: st.DataObject) -> None:
        told = self.server[data.draw(st.sampled_from(sorted(self.server)))]
        self.put(structs.replace(told, status=structs.replace(told.status, message=f"seen at {self.version}")))

    @precondition(lambda self: self.late)
    @rule(data=st.data())
    def watch_speaks(self, data: st.DataObject) -> None:
        """In the order in which it happened, as far as it likes."""
        for _ in range(data.draw(st.integers(1, len(self.late)))):
            self.deliver(self.late.pop(0))

    def deliver(self, event: tuple[str, Pod | None]) -> None:
        name, item = event
        if item is not None:
            self.delivered[name] = item
            self.scheduling_loop.take(Changed(BY_NAME["Pod"], item, gone=False))
        else:
            self.scheduling_loop.take(Changed(BY_NAME["Pod"], self.delivered.pop(name), gone=True))

    @rule(seconds=st.sampled_from([0.1, 2.0, 400.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @rule(times=st.integers(1, 4))
    def decides(self, times: int = 1) -> None:
        for _ in range(times):
            self.scheduling_loop.decide()
        for chosen, name in self.newly_decided():
            self.check(chosen, name)

    def newly_decided(self) -> list[tuple[Pod, str]]:
        decided, self.recorder.decided = self.recorder.decided, []
        return decided

    def check(self, chosen: Pod, name: str) -> None:
        assert chosen.spec.scheduler_name == MINE
        assert chosen.metadata.uid not in self.ours, "given away twice"
        self.ours[chosen.metadata.uid] = name
        assert self.used(name) <= self.nodes[name], "does not fit what had been delivered and decided"

    def used(self, name: str) -> int:
        """CPUs on a node, by what was delivered and what we have decided since."""
        on_node = {each.metadata.uid: each for each in self.delivered.values() if on(each) == name}
        assumed = {
            each.metadata.uid: each
            for each in self.delivered.values()
            if not on(each) and self.ours.get(each.metadata.uid) == name
        }
        return sum(int(each.spec.containers[0].resources.requests["cpu"]) for each in {**on_node, **assumed}.values())

    @precondition(lambda self: self.recorder.flying)
    @rule(data=st.data(), fails=st.booleans())
    def binding_ends(self, data: st.DataObject, fails: bool) -> None:
        uid = data.draw(st.sampled_from(sorted(self.recorder.flying)))
        finished = self.recorder.flying.pop(uid)
        item = finished.result.pod
        node_name = finished.outcome.node if isinstance(finished.outcome, Bound) else ""
        if fails or item.name not in self.server:
            self.scheduling_loop.take(finished._replace(outcome=Failed(status=error("no"))))
            del self.ours[uid]
        else:
            self.put(bound(self.server[item.name], node_name))
            self.scheduling_loop.take(finished)

    def teardown(self) -> None:
        """In the end, once everything has been said, bound and waited for, whoever fits is bound."""
        if "scheduling_loop" not in self.__dict__:
            return
        for finished in list(self.recorder.flying.values()):
            self.end_well(finished)
        for _ in range(50):
            while self.late:
                self.deliver(self.late.pop(0))
            self.now += 400.0
            if not self.scheduling_loop.decide():
                break
            self.ours.update((chosen.metadata.uid, name) for chosen, name in self.newly_decided())
            for finished in list(self.recorder.flying.values()):
                self.end_well(finished)
        waiting = [each for each in self.server.values() if each.spec.scheduler_name == MINE and not on(each)]
        waiting = [each for each in waiting if each.metadata.uid not in self.recorder.flying]
        room = {name: cpu - self.used(name) for name, cpu in self.nodes.items()}
        for each in waiting:
            wanted = int(each.spec.containers[0].resources.requests["cpu"])
            assert all(left < wanted for left in room.values()), (each.name, room)

    def end_well(self, finished: Finished) -> None:
        item = finished.result.pod
        del self.recorder.flying[item.metadata.uid]
        if item.name in self.server:
            assert isinstance(finished.outcome, Bound)
            self.put(bound(self.server[item.name], finished.outcome.node))
            self.scheduling_loop.take(finished)
        else:
            self.scheduling_loop.take(finished._replace(outcome=Failed(status=error("gone"))))
            del self.ours[item.metadata.uid]


def on(item: Pod) -> str:
    return item.spec.node_name


def bound(item: Pod, name: str) -> Pod:
    return structs.replace(item, spec=structs.replace(item.spec, node_name=name))


TestAnyCourse = AnyCourse.TestCase
TestAnyCourse.settings = budget(max_examples=examples(100), stateful_step_count=25, deadline=None)


def test_a_pod_that_another_has_bound_is_left_to_it() -> None:
    course = AnyCourse()
    course.begin()
    course.node_comes_or_changes("n1", 4)
    course.pods_come([1], mine=True)
    course.deliver(course.late.pop(0))
    course.decides()
    ((uid, finished),) = course.recorder.flying.items()
    course.scheduling_loop.take(finished._replace(outcome=Taken(node="n2")))
    assert not course.scheduling_loop.decide(), uid


def test_who_stands_by_decides_nothing() -> None:
    course = AnyCourse()
    course.begin()
    course.scheduling_loop.take(Led(leads=False))
    course.node_comes_or_changes("n1", 4)
    course.pods_come([1], mine=True)
    course.deliver(course.late.pop(0))
    assert not course.scheduling_loop.decide()
    course.scheduling_loop.take(Led(leads=True))
    assert course.scheduling_loop.decide()


def test_what_is_said_late_of_a_pod_that_we_have_bound_is_no_reason_to_decide_again() -> None:
    course = AnyCourse()
    course.begin()
    course.node_comes_or_changes("n1", 4)
    course.pods_come([1], mine=True)
    course.deliver(course.late.pop(0))
    ((name, waiting),) = course.server.items()
    course.put(structs.replace(waiting, status=structs.replace(waiting.status, message="seen")))
    course.decides()
    course.end_well(course.recorder.flying[waiting.metadata.uid])
    course.deliver(course.late.pop(0))
    assert not on(course.delivered[name])
    assert not course.scheduling_loop.decide()


def test_a_kind_that_cannot_be_followed_is_named_until_it_is_followed_again() -> None:
    course = AnyCourse()
    course.begin()
    nodes = BY_NAME["Node"]
    course.scheduling_loop.take(Disturbed(nodes, "Node odd was skipped"))
    seen = [course.scheduling_loop.down]
    for message in (Disturbed(nodes, "connection refused", is_down=True), Resumed(nodes)):
        course.scheduling_loop.take(message)
        seen.append(course.scheduling_loop.down)
    assert seen == [(), ("nodes",), ()]


def test_equal_pods_are_decided_by_one_cycle_until_something_else_changes() -> None:
    course = AnyCourse()
    course.begin()
    course.node_comes_or_changes("n1", 4)
    course.node_comes_or_changes("n2", 4)
    course.pods_come([1] * 5, mine=True)
    while course.late:
        course.deliver(course.late.pop(0))
    waiting = list(course.server.values())
    loop = course.scheduling_loop
    for _ in range(3):
        assert loop.decide()
    assert course.pods.equally_decided == 2
    bound, on = course.recorder.decided[0]
    labels = {**bound.metadata.labels, "topology.kubernetes.io/zone": "a"}
    relabelled = structs.replace(
        bound,
        metadata=structs.replace(bound.metadata, labels=labels, resource_version="90"),
        spec=structs.replace(bound.spec, node_name=on),
    )
    loop.take(Changed(BY_NAME["Pod"], relabelled, gone=False))
    assert loop.decide()
    assert course.pods.equally_decided == 3
    loop.take(Changed(BY_NAME["Node"], node("n1", allocatable={"cpu": "9", "pods": "99"}), gone=False))
    assert loop.decide()
    assert (course.pods.equally_decided, len(course.recorder.decided)) == (3, len(waiting))


def test_a_pod_that_no_cycle_can_judge_is_told_and_the_others_are_bound(capsys: pytest.CaptureFixture[str]) -> None:
    course = AnyCourse()
    course.begin()
    course.node_comes_or_changes("n1", 4)
    course.pods_come([1, 1], mine=True)
    broken, sound = course.server.values()
    unlike_any = structs.replace(broken, spec=structs.replace(broken.spec, affinity=7))
    course.scheduling_loop.take(Changed(BY_NAME["Pod"], unlike_any, gone=False))
    course.scheduling_loop.take(Changed(BY_NAME["Pod"], sound, gone=False))
    while course.scheduling_loop.decide():
        pass
    assert [item.name for item, _ in course.recorder.decided] == [sound.name]
    assert "a bug in kubectl-sched" in capsys.readouterr().err


def test_news_that_cannot_be_taken_in_are_told_and_do_not_end_the_loop(capsys: pytest.CaptureFixture[str]) -> None:
    course = AnyCourse()
    course.begin()
    course.pods_come([1], mine=True)
    (item,) = course.server.values()
    course.scheduling_loop.inbox.put(Changed(BY_NAME["Pod"], structs.replace(item, spec=None), gone=False))
    course.scheduling_loop.inbox.put(Stop("SIGTERM"))
    assert course.scheduling_loop.run() == Stop("SIGTERM")
    assert "a change of Pod default/" in capsys.readouterr().err
