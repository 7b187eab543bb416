"""The queue loses nobody, keeps everybody in one place, and hands pods out in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, precondition, rule
from msgspec import structs

from kubectl_sched.binding.second_scheduler.cluster_events import REGISTERED, Action, ClusterEvent, is_registered
from kubectl_sched.binding.second_scheduler.queue.queue_places import QueuePlaces
from kubectl_sched.binding.second_scheduler.queued_pod import Backoff, Place, QueuedPod, QueuedPodGroup
from kubectl_sched.binding.second_scheduler.scheduling_queue import LONGEST_UNSCHEDULABLE_SECONDS, SchedulingQueue
from kubectl_sched.config import RELEASES, KubeVersion
from kubectl_sched.plugins.priority_sort import PrioritySort
from tests.plugins.clusters import handle, pod

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.binding.second_scheduler.cluster_events import Happened

BACKOFF = Backoff(initial=1.0, maximum=10.0, is_popped_early=False)
POPPED_EARLY = Backoff(initial=1.0, maximum=10.0)
NODE_ADDED = ClusterEvent("Node", Action.ADD)
POD_GONE = ClusterEvent("Pod", Action.DELETE)


class RegisteredEvents:
    """Every event that a plugin has registered is worth another attempt."""

    def is_of_interest(self, event: ClusterEvent) -> bool:
        """Tell whether any plugin has registered the event."""
        return any(is_registered(plugin, event) for plugin in REGISTERED)

    def is_registered(self, plugin: str, event: ClusterEvent) -> bool:
        """Tell whether this plugin has."""
        return is_registered(plugin, event)

    def helps(self, plugin: str, waiting: Pod, happened: Happened) -> bool:
        """Tell whether the event helps the pod; changes of a waiting pod help only itself."""
        is_own = happened.new is None or happened.new.metadata.uid == waiting.metadata.uid
        return is_registered(plugin, happened.event) and is_own


def gated_by(waiting: Pod) -> str | None:
    return "SchedulingGates" if waiting.spec.scheduling_gates else None


def new_queue(backoff: Backoff = BACKOFF) -> SchedulingQueue:
    return SchedulingQueue(PrioritySort(None, handle()).queue_key, gated_by, RegisteredEvents(), backoff)


def taken(queue: SchedulingQueue, now: float) -> QueuedPod | None:
    """Take the next pod, as the scheduling loop does."""
    queue.flush(now)
    queued = queue.pop()
    assert not isinstance(queued, QueuedPodGroup)
    return queued


def waiting(name: str, priority: int = 0, *, gated: bool = False, uid: str = "") -> Pod:
    metadata = {"uid": uid or f"uid-{name}", "creationTimestamp": "2026-01-01T00:00:00Z"}
    gates = [{"name": "wait"}] if gated else []
    return pod(name, metadata=metadata, priority=priority, schedulingGates=gates)


def test_higher_priority_first_and_then_first_in_first_out() -> None:
    queue = new_queue()
    for second, (name, priority) in enumerate([("b", 0), ("a", 0), ("c", 7)]):
        queue.add(waiting(name, priority), second)
    assert [queued.pod.name for _ in range(3) if (queued := taken(queue, 10))] == ["c", "b", "a"]
    assert taken(queue, 10) is None


def test_a_pod_that_comes_back_stands_behind_those_that_came_meanwhile() -> None:
    queue = new_queue()
    queue.add(waiting("a"), 0)
    first = taken(queue, 0)
    assert first is not None
    queue.add(waiting("b"), 1)
    queue.rejected(first, {"NodeResourcesFit"}, 1)
    queue.move(NODE_ADDED, 5)
    assert [queued.pod.name for _ in range(2) if (queued := taken(queue, 5))] == ["b", "a"]


@pytest.mark.parametrize(("attempts", "seconds"), [(0, 0), (1, 1), (2, 2), (3, 4), (4, 8), (5, 10), (2000, 10)])
def test_backoff_doubles_up_to_its_maximum(attempts: int, seconds: float) -> None:
    assert BACKOFF.seconds(attempts) == seconds


def test_what_helps_a_rejected_pod_wakes_it_after_its_backoff_and_nothing_else_does() -> None:
    queue = new_queue()
    queue.add(waiting("a"), 0)
    queued = taken(queue, 0)
    assert queued is not None
    queue.rejected(queued, {"NodeAffinity"}, 0)
    queue.move(POD_GONE, 0.1)
    assert queue.counts()[Place.UNSCHEDULABLE] == 1
    queue.move(NODE_ADDED, 0.2)
    assert queue.counts()[Place.BACKOFF] == 1
    assert queue.wakes_at() == 1.001
    assert taken(queue, 1.0) is None
    assert taken(queue, 1.001) is queued


def test_with_nothing_active_a_rejected_pod_is_taken_before_its_backoff_ends() -> None:
    queue = new_queue(POPPED_EARLY)
    for name in ("a", "b"):
        queue.add(waiting(name), 0)
    first, second = taken(queue, 0), taken(queue, 0)
    assert first is not None
    assert second is not None
    queue.rejected(first, {"NodeAffinity"}, 0)
    queue.failed(second, 0)
    queue.move(NODE_ADDED, 0.1)
    assert queue.counts()[Place.BACKOFF] == 2
    assert taken(queue, 0.2) is first
    assert taken(queue, 0.2) is None, "an attempt that failed waits for the end of its backoff"
    assert taken(queue, 1.9) is None
    assert taken(queue, 2.0) is second, "and leaves with its whole window"


def test_what_a_pending_plugin_waited_for_skips_the_backoff() -> None:
    queue = new_queue()
    queue.add(waiting("a"), 0)
    queued = taken(queue, 0)
    assert queued is not None
    queue.rejected(queued, {"NodeResourcesFit"}, 0, pending={"NodeAffinity"})
    queue.move(NODE_ADDED, 0.1)
    assert taken(queue, 0.1) is queued


def test_backoff_grows_with_rejections_and_errors_apart() -> None:
    queue = new_queue()
    queue.add(waiting("a"), 0)
    queued = taken(queue, 0)
    assert queued is not None
    for _ in range(3):
        queue.rejected(queued, {"NodeAffinity"}, 0)
        queue.activate(queued.pod)
        assert taken(queue, 0) is queued
    queue.failed(queued, 0)
    assert BACKOFF.until(queued) == 1.0
    assert (
        Backoff(initial=1.0, maximum=10.0, is_popped_early=False, counts_every_attempt=True).seconds(queued.attempts)
        == 8.0
    )


def test_an_event_during_the_attempt_is_not_missed() -> None:
    queue = new_queue()
    queue.add(waiting("a"), 0)
    queued = taken(queue, 0)
    assert queued is not None
    queue.move(NODE_ADDED, 0.1)
    queue.rejected(queued, {"NodeAffinity"}, 0.2)
    assert queue.counts()[Place.BACKOFF] == 1


def test_a_pod_that_nothing_helps_is_tried_again_all_the_same() -> None:
    queue = new_queue()
    queue.add(waiting("a"), 0)
    queued = taken(queue, 0)
    assert queued is not None
    queue.rejected(queued, {"NodeAffinity"}, 0)
    assert taken(queue, LONGEST_UNSCHEDULABLE_SECONDS - 1) is None
    assert taken(queue, LONGEST_UNSCHEDULABLE_SECONDS + 60) is queued


def test_a_pod_whose_preemption_is_under_way_waits_until_its_last_victim_goes() -> None:
    queue = new_queue()
    queue.add(waiting("a"), 0)
    queued = taken(queue, 0)
    assert queued is not None
    queue.preemption_began(queued.pod.metadata.uid)
    queue.rejected(queued, {"NodeResourcesFit"}, 0)
    queue.move(POD_GONE, 20)
    assert queue.counts()[Place.GATED] == 1
    queue.last_victim(queued.pod.metadata.uid)
    queue.move(POD_GONE, 21)
    assert taken(queue, 21) is queued


@pytest.mark.parametrize("is_heard_of", [False, True])
def test_a_pod_whose_preemption_has_ended_is_not_held_back_for_good(*, is_heard_of: bool) -> None:
    queue = new_queue()
    queue.add(waiting("a"), 0)
    queued = taken(queue, 0)
    assert queued is not None
    queue.preemption_began(queued.pod.metadata.uid)
    queue.rejected(queued, {"NodeResourcesFit"}, 0)
    queue.move(POD_GONE, 20)
    queue.preemption_ended(queued.pod.metadata.uid, () if is_heard_of else (queued.pod,))
    assert taken(queue, 20) is (None if is_heard_of else queued)
    queue.move(POD_GONE, 21)
    assert taken(queue, 21) is (queued if is_heard_of else None)


def test_a_preemption_that_failed_brings_its_pod_back_at_once() -> None:
    queue = new_queue()
    queue.add(waiting("a"), 0)
    queued = taken(queue, 0)
    assert queued is not None
    queue.preemption_began(queued.pod.metadata.uid)
    queue.rejected(queued, {"NodeResourcesFit"}, 0)
    queue.preemption_ended(queued.pod.metadata.uid, (queued.pod,))
    assert taken(queue, 0) is queued


def test_a_gated_pod_waits_until_its_last_gate_is_gone() -> None:
    queue = new_queue()
    held = waiting("a", gated=True)
    queue.add(held, 0)
    assert taken(queue, 0) is None
    assert queue.counts()[Place.GATED] == 1
    queue.update(structs.replace(held, spec=structs.replace(held.spec, scheduling_gates=())), 1)
    queued = taken(queue, 1)
    assert queued is not None
    assert queued.pod.name == "a"


def test_a_verdict_on_a_pod_of_the_same_name_that_is_gone_says_nothing_of_the_new_one() -> None:
    queue = new_queue()
    queue.add(waiting("a", uid="1"), 0)
    old = taken(queue, 0)
    assert old is not None
    queue.update(waiting("a", uid="2"), 1)
    queue.rejected(old, {"NodeAffinity"}, 2)
    new = taken(queue, 3)
    assert new is not None
    assert new.pod.metadata.uid == "2"


def test_what_is_written_about_a_pod_is_no_reason_to_try_it_again() -> None:
    queue = new_queue()
    queue.add(waiting("a"), 0)
    queued = taken(queue, 0)
    assert queued is not None
    queue.rejected(queued, {"NodeAffinity"}, 0)
    told = structs.replace(queued.pod, status=structs.replace(queued.pod.status, message="0/1 nodes are available"))
    queue.update(told, 5)
    assert taken(queue, 5) is None


def test_room_is_kept_for_who_was_nominated_until_it_is_gone() -> None:
    queue = new_queue()
    queue.add(waiting("a"), 0)
    queued = taken(queue, 0)
    assert queued is not None
    queue.nominate(queued, "w1")
    assert queue.nominated() == {"w1": (queued.pod,)}
    queue.delete(queued.key)
    assert queue.nominated() == {}


def test_pods_that_another_replica_binds_leave_nothing_behind() -> None:
    places = QueuePlaces(PrioritySort(None, handle()).queue_key, gated_by, BACKOFF, lambda _: None)
    for number in range(5_000):
        queued = QueuedPod(waiting(f"p{number}"), entered=0)
        places.add(queued)
        places.enter(queued, 0, "PodAdd")
        places.remove(queued)
    assert len(places.heaps) < 2_000


def test_a_pod_whose_room_is_assumed_is_not_nominated_besides() -> None:
    queue = new_queue()
    queue.add(waiting("a"), 0)
    queued = taken(queue, 0)
    assert queued is not None
    told = structs.replace(queued.pod, status=structs.replace(queued.pod.status, nominated_node_name="w1"))
    queue.update(told, 1)
    assert queue.nominated() == {}


class AnyQueue(RuleBasedStateMachine):
    """Whatever happens: everybody who was added and not deleted is in one place, and comes out in the end."""

    taken = Bundle("taken")

    @initialize()
    def empty(self) -> None:
        self.queue = new_queue()
        self.now = 0.0
        self.there: dict[str, str] = {}
        self.uids = 0
        self.out: set[str] = set()

    @rule(name=st.sampled_from("abcdef"), priority=st.sampled_from([0, 5]), gated=st.booleans())
    def comes_or_changes(self, name: str, priority: int, gated: bool) -> None:
        """Gates can only be taken off a pod that is there."""
        key = f"default/{name}"
        known = self.queue.get(key)
        gated = gated and (known is None or bool(known.pod.spec.scheduling_gates))
        if key not in self.there:
            self.uids += 1
            self.there[key] = str(self.uids)
            self.out.discard(key)
        self.queue.update(waiting(name, priority, gated=gated, uid=self.there[key]), self.now)

    @rule(name=st.sampled_from("abcdef"))
    def goes(self, name: str) -> None:
        self.queue.delete(f"default/{name}")
        self.there.pop(f"default/{name}", None)
        self.out.discard(f"default/{name}")

    @rule(seconds=st.sampled_from([0.0, 0.5, 3.0, 20.0, 400.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @rule(event=st.sampled_from([NODE_ADDED, POD_GONE]))
    def something_happens(self, event: ClusterEvent) -> None:
        self.queue.move(event, self.now)

    @rule(target=taken)
    def is_taken(self) -> object:
        queued = taken(self.queue, self.now)
        if queued is not None:
            assert queued.key in self.there
            assert queued.key not in self.out
            assert not queued.pod.spec.scheduling_gates
            assert not BACKOFF.is_backing_off(queued, self.now)
            self.out.add(queued.key)
        return queued

    @rule(queued=consumes(taken), how=st.sampled_from(["rejected", "failed", "again", "bound"]))
    def is_decided(self, queued: object, how: str) -> None:
        if queued is None:
            return
        ours = self.there.get(queued.key) == queued.pod.metadata.uid  # type: ignore[attr-defined]
        match how:
            case "rejected":
                self.queue.rejected(queued, {"NodeAffinity"}, self.now)  # type: ignore[arg-type]
            case "failed":
                self.queue.failed(queued, self.now)  # type: ignore[arg-type]
            case "again":
                self.queue.again(queued)  # type: ignore[arg-type]
            case _:
                self.queue.drop(queued)  # type: ignore[arg-type]
        if ours:
            self.out.discard(queued.key)  # type: ignore[attr-defined]
            if how == "bound":
                del self.there[queued.key]  # type: ignore[attr-defined]

    @invariant()
    def everybody_is_in_one_place(self) -> None:
        counts = self.queue.counts()
        assert sum(counts.values()) == len(self.queue) == len(self.there)
        assert counts[Place.IN_FLIGHT] == len(self.out)
        assert all(count >= 0 for count in counts.values())

    @precondition(lambda self: self.there)
    @rule()
    def everybody_comes_out_in_the_end(self) -> None:
        gated = {key for key in self.there if (queued := self.queue.get(key)) and queued.pod.spec.scheduling_gates}
        self.now += LONGEST_UNSCHEDULABLE_SECONDS + 60
        popped = []
        while (queued := taken(self.queue, self.now)) is not None:
            popped.append(queued)
        assert {queued.key for queued in popped} == set(self.there) - self.out - gated
        assert [queued.pod.priority for queued in popped] == sorted(
            (each.pod.priority for each in popped), reverse=True
        )
        for queued in popped:
            self.queue.again(queued)


TestAnyQueue = AnyQueue.TestCase


@pytest.mark.parametrize(
    ("patch", "is_flushed"),
    [
        ("1.35.7", False),
        ("1.35.8", True),
        ("1.36.3", False),
        ("1.36.4", True),
        ("1.37.0", True),
        ("1.38.0", True),
    ],
)
def test_a_pod_that_is_held_back_is_asked_about_again_after_five_minutes(patch: str, is_flushed: bool) -> None:
    closed = {"gated"}
    backoff = Backoff(flushes_gated=RELEASES[KubeVersion.parse(patch)].gated_pods_are_flushed)
    order = PrioritySort(None, handle()).queue_key
    queue = SchedulingQueue(
        order, lambda each: "DynamicResources" if each.name in closed else None, RegisteredEvents(), backoff
    )
    queue.add(waiting("gated"), 0.0)
    closed.clear()
    assert taken(queue, LONGEST_UNSCHEDULABLE_SECONDS - 1) is None
    found = taken(queue, LONGEST_UNSCHEDULABLE_SECONDS + 60)
    assert (found is not None) is is_flushed
