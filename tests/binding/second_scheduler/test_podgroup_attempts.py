"""Groups in `bind --watch`: who waits for whom in the queue, what one cycle binds, and what goes back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from kubectl_sched.api.component_helpers.pod_requests import scheduler_options
from kubectl_sched.api.scheduling import CompositePodGroup, PodGroup
from kubectl_sched.binding.binding_cycle import Bound, Failed
from kubectl_sched.binding.second_scheduler.cache import Cache
from kubectl_sched.binding.second_scheduler.decision_log import DecisionLog
from kubectl_sched.binding.second_scheduler.followed_kinds import watched_kinds
from kubectl_sched.binding.second_scheduler.loop_messages import Finished, LastVictim, Led, PreemptionEnded
from kubectl_sched.binding.second_scheduler.metrics import Metrics
from kubectl_sched.binding.second_scheduler.pod_attempts import PodAttempts
from kubectl_sched.binding.second_scheduler.podgroups.membership import Membership
from kubectl_sched.binding.second_scheduler.podgroups.podgroup_attempts import PodGroupAttempts
from kubectl_sched.binding.second_scheduler.podgroups.waiting_gangs import WaitingGangs
from kubectl_sched.binding.second_scheduler.queued_pod import Backoff, Place
from kubectl_sched.binding.second_scheduler.queueing_hints import PluginHints
from kubectl_sched.binding.second_scheduler.scheduling_loop import SchedulingLoop
from kubectl_sched.binding.second_scheduler.scheduling_queue import SchedulingQueue
from kubectl_sched.config import KubeVersion, load_configuration
from kubectl_sched.framework.cycle_budget import SERVICE, CycleLimits
from kubectl_sched.framework.status import error
from kubectl_sched.scheduler.scheduler import Scheduler
from kubectl_sched.sources.kinds import BY_NAME
from kubectl_sched.sources.live.reflector import Changed, Replaced
from tests.examples import examples
from tests.plugins.clusters import node, pod, requests

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.binding.preemption_executor import Preemption
    from kubectl_sched.binding.second_scheduler.binding_workers import Binder
    from kubectl_sched.binding.second_scheduler.queued_pod import QueuedPod
    from kubectl_sched.binding.writer import Request
    from kubectl_sched.framework.reserved_object import Reservation
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.scheduler.cycle_result import CycleResult
    from kubectl_sched.scheduler.podgroup_result import Member
    from kubectl_sched.scheduler.result import ScheduleResult

BOTH = pytest.mark.parametrize("minor", ["1.36", "1.37"])
NAME = "default-scheduler"


class Recorder:
    """Keeps what would be bound and written."""

    def __init__(self, *, may_preempt: bool) -> None:
        self.may_preempt = may_preempt
        self.preemptions: list[Preemption] = []
        self.flying: dict[str, Finished] = {}
        self.told: list[tuple[str, str | None]] = []
        self.conditions: list[tuple[str, str]] = []
        self.overdrafts: list[tuple[str, str]] = []
        self.held: dict[str, str] = {}
        self.preempted: set[str] = set()
        """UIDs of pods that wait in Permit and have just been preempted."""

    def hold(self, pod: Pod, nominated: str) -> None:
        self.held[pod.metadata.uid] = nominated

    def let_go(self, uid: str) -> bool:
        self.held.pop(uid, None)
        return uid not in self.preempted

    def bind(
        self, queued: QueuedPod, result: CycleResult, node: str, reservations: Sequence[Reservation], began: float
    ) -> None:
        assert not reservations
        self.flying[result.pod.name] = Finished(queued, result, node, Bound(node=node), began)

    def report_overdraft(self, pod: Pod, message: str, _: Framework) -> None:
        self.overdrafts.append((pod.name, message))

    def report(self, result: ScheduleResult, failed: Failed | None = None) -> None:
        """Nobody asks what is said of single pods."""

    def tell_of(self, bound: Sequence[Pod]) -> None:
        """Nor what a killed replica has not said of them."""

    def report_group(
        self, members: Iterable[tuple[Member, Framework]], conditions: Iterable[tuple[PodGroup, Request]]
    ) -> None:
        self.told += [(member.pod.name, member.message) for member, _ in members]
        for _, request in conditions:
            (said,) = request.body["status"]["conditions"]
            self.conditions.append((request.path, said["status"]))

    def preempt(self, preemption: Preemption) -> None:
        self.preemptions.append(preemption)

    def taken(self) -> dict[str, str]:
        """The nodes of the pods that are being bound."""
        return {name: finished.node for name, finished in self.flying.items()}


class Cluster:
    """A scheduling loop over what a test tells it."""

    limits = SERVICE

    def __init__(self, minor: str, *, preempts: bool = False, **gates: bool) -> None:
        on = {"GenericWorkload": True, **({"GangScheduling": True} if minor in {"1.35", "1.36"} else {}), **gates}
        configuration = load_configuration(None, KubeVersion.parse(minor), on)
        cache = Cache(scheduler_options(configuration.features.enabled))
        scheduler = Scheduler(configuration, cache.snapshot({}), limits=self.limits)
        framework = scheduler.framework(NAME)
        assert framework is not None
        membership = Membership(configuration, cache)

        def gated_by(each: Pod) -> str | None:
            status = framework.run_pre_enqueue(each, membership.seen_by_pre_enqueue(each))
            return None if status.is_success else status.plugin

        def order(each: Pod) -> tuple[int | float | str, ...]:
            return framework.queue_sort_plugins[0].queue_key(membership.as_queued(each))

        self.now, self._version = 0.0, 0
        self.recorder = Recorder(may_preempt=preempts)
        binder: Binder = self.recorder  # type: ignore[assignment] # the part of it that the loop calls
        hints = PluginHints({NAME: framework}, cache.objects)
        backoff = Backoff(flushes_gated=configuration.release.gated_pods_are_flushed)
        self.queue = SchedulingQueue(order, gated_by, hints, backoff, membership.queued_with, membership.preemptor)
        self.pods = PodAttempts(
            {NAME: framework}, cache, self.queue, binder, Metrics((NAME,)), DecisionLog(quiet=True), lambda: self.now
        )
        if minor == "1.35":
            self.pods.gangs = WaitingGangs(cache, self.queue, binder)
        groups = PodGroupAttempts(scheduler, membership, cache, self.queue, may_preempt=preempts)
        self.loop = SchedulingLoop(self.pods, groups if minor != "1.35" else None)
        for kind in watched_kinds([framework.profile], configuration):
            path = "/apis/scheduling.k8s.io/v1alpha2/podgroups" if kind.name == "PodGroup" else ""
            self.loop.take(Replaced(kind, [], path))
        self.loop.take(Led(leads=True))

    def tell(self, *objects: KubernetesObject, gone: bool = False) -> None:
        for item in objects:
            self._version += 1
            metadata = structs.replace(item.metadata, resource_version=str(self._version))
            told = structs.replace(item, metadata=metadata)
            self.loop.take(Changed(BY_NAME[type(item).__name__], told, gone=gone))
            self.loop.ask_waiting_pods()

    def decide(self) -> dict[str, str]:
        """Decide until nothing is due; give what is being bound."""
        for _ in range(20):
            if not self.loop.decide():
                break
        return self.recorder.taken()

    def later(self, seconds: int) -> dict[str, str]:
        """Decide after each second; give what is being bound."""
        for _ in range(seconds):
            self.now += 1.0
            self.decide()
        return self.recorder.taken()

    def bound(self, name: str, *, failed: bool = False) -> None:
        """A binding cycle ends, and the watch shows it."""
        finished = self.recorder.flying.pop(name)
        if failed:
            finished = finished._replace(outcome=Failed(status=error("refused")))
        self.loop.take(finished)
        if not failed:
            spec = structs.replace(finished.queued.pod.spec, node_name=finished.node)
            self.tell(structs.replace(finished.queued.pod, spec=spec))


class FrugalCluster(Cluster):
    """A loop whose cycles may do little."""

    limits = CycleLimits(steps=1_000, memory=1 << 30)


def small(name: str, cpu: str = "4") -> KubernetesObject:
    return node(name, allocatable={"cpu": cpu, "memory": "8Gi", "pods": "110"})


def group(name: str = "train", minimum: int | None = None, **spec: Any) -> PodGroup:
    policy = {"basic": {}} if minimum is None else {"gang": {"minCount": minimum}}
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}"}
    return msgspec.convert({"metadata": metadata, "spec": {"schedulingPolicy": policy, **spec}}, PodGroup)


def composite(name: str, minimum: int) -> CompositePodGroup:
    spec = {"schedulingPolicy": {"gang": {"minGroupCount": minimum}}}
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}"}
    return msgspec.convert({"metadata": metadata, "spec": spec}, CompositePodGroup)


def members(count: int, cpu: str = "3", of: str = "train", **spec: Any) -> list[Pod]:
    return [
        pod(f"{of}-{index}", schedulingGroup={"podGroupName": of}, **requests(cpu=cpu), **spec)
        for index in range(count)
    ]


@BOTH
def test_a_gang_waits_for_its_pods_and_its_group_and_then_all_are_bound_at_once(minor: str) -> None:
    cluster = Cluster(minor)
    cluster.tell(small("n1"), small("n2"), small("n3"))
    first, second, third = members(3)
    cluster.tell(first, second)
    assert cluster.decide() == {}
    cluster.tell(group(minimum=3))
    assert cluster.decide() == {}
    assert cluster.queue.keys(Place.GATED) == {first.key, second.key}
    cluster.tell(third)
    assert set(cluster.decide().values()) == {"n1", "n2", "n3"}
    assert cluster.queue.keys(Place.IN_FLIGHT) == {first.key, second.key, third.key}
    path = "/apis/scheduling.k8s.io/v1alpha2/namespaces/default/podgroups/train/status"
    assert cluster.recorder.conditions == [(path, "True")]


@BOTH
def test_what_happens_to_other_groups_wakes_no_gang_that_waits_for_its_pods(minor: str) -> None:
    cluster = Cluster(minor)
    cluster.tell(group(minimum=3), *members(2))
    cluster.decide()
    cluster.queue.take_incoming()
    cluster.tell(
        group("other", 2), *members(1, of="other"), pod("alone", on="n1"), *members(1, of="other", nodeName="n1")
    )
    cluster.tell(group("other", 1))
    cluster.tell(group(minimum=3, priority=1), small("n1"))
    assert cluster.queue.keys(Place.GATED) >= {"default/train-0", "default/train-1"}
    assert sum(cluster.queue.take_incoming().values()) <= 2, "only the pod of the other group came to a place"


@BOTH
def test_a_gang_that_does_not_fit_is_bound_nowhere_and_tried_again_after_its_backoff(minor: str) -> None:
    cluster = Cluster(minor)
    cluster.tell(small("n1"), group(minimum=2), *members(2))
    assert cluster.decide() == {}
    assert sorted(name for name, _ in cluster.recorder.told) == ["train-0", "train-1"]
    assert [status for _, status in cluster.recorder.conditions] == ["False"]
    assert cluster.queue.counts()[Place.BACKOFF] == 2
    assert cluster.decide() == {}
    assert len(cluster.recorder.told) == 2, "where nothing changes it is not tried again and again"
    cluster.tell(small("n2"))
    if minor == "1.37":
        assert cluster.decide() == {}, "nothing cuts its backoff short"
        cluster.later(3)
    assert set(cluster.decide().values()) == {"n1", "n2"}
    assert [status for _, status in cluster.recorder.conditions] == ["False", "True"]


@BOTH
def test_a_group_whose_members_cost_too_much_together_waits_by_itself_and_others_go_on(minor: str) -> None:
    cluster = FrugalCluster(minor)
    cluster.tell(*(small(f"n{number}", "32") for number in range(2)), group(minimum=16), *members(16, cpu="1"))
    cluster.tell(pod("alone", **requests(cpu="1")))
    assert cluster.decide().keys() == {"alone"}
    assert sorted(name for name, _ in cluster.recorder.overdrafts) == sorted(each.name for each in members(16))
    (said,) = {message for _, message in cluster.recorder.overdrafts}
    assert said.startswith("the cycle of the whole group needs more than 10,000 steps of work")
    assert "tried again after a back-off" in said
    assert not cluster.recorder.told, "nothing is said in kube-scheduler's name"
    assert not cluster.recorder.conditions
    before = len(cluster.recorder.overdrafts)
    cluster.later(1)
    cluster.later(8)
    assert before < len(cluster.recorder.overdrafts) <= 4 * before, "each wait is twice as long"


@BOTH
def test_a_group_of_as_many_members_is_bound_at_once_where_it_may(minor: str) -> None:
    cluster = Cluster(minor)
    cluster.tell(*(small(f"n{number}", "32") for number in range(2)), group(minimum=16), *members(16, cpu="1"))
    assert len(cluster.decide()) == 16


@BOTH
def test_members_without_a_node_come_back_while_the_others_are_bound(minor: str) -> None:
    cluster = Cluster(minor)
    cluster.tell(small("n1"), small("n2"), group(minimum=2), *members(3))
    found = cluster.decide()
    assert set(found.values()) == {"n1", "n2"}
    (left,) = {"train-0", "train-1", "train-2"} - found.keys()
    assert cluster.queue.keys(Place.IN_FLIGHT) == {f"default/{name}" for name in found}
    for name in found:
        cluster.bound(name)
    cluster.tell(small("n3"))
    assert cluster.later(12) == {left: "n3"}
    assert {status for _, status in cluster.recorder.conditions} == {"True"}, "it is never taken back"


@BOTH
def test_a_member_whose_binding_fails_is_placed_beside_those_that_are_bound(minor: str) -> None:
    cluster = Cluster(minor)
    cluster.tell(small("n1"), small("n2"), group(minimum=2), *members(2))
    first, second = cluster.decide()
    cluster.bound(first)
    cluster.bound(second, failed=True)
    assert list(cluster.later(3)) == [second]


@BOTH
def test_what_a_killed_replica_has_bound_counts(minor: str) -> None:
    cluster = Cluster(minor)
    first, *others = members(3)
    on_node = structs.replace(first, spec=structs.replace(first.spec, node_name="n1"))
    cluster.tell(small("n1"), small("n2"), small("n3"), group(minimum=3), on_node, *others)
    assert set(cluster.decide().values()) == {"n2", "n3"}


@BOTH
def test_the_condition_that_a_killed_replica_has_left_out_is_written(
    minor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = "kubectl_sched.binding.second_scheduler.scheduling_loop.lately_bound"
    monkeypatch.setattr(target, lambda pods: [each for each in pods if each.spec.node_name])
    cluster = Cluster(minor)
    whole = [structs.replace(each, spec=structs.replace(each.spec, node_name="n1")) for each in members(2, "1")]
    part = [structs.replace(each, spec=structs.replace(each.spec, node_name="n1")) for each in members(1, "1", "part")]
    cluster.tell(small("n1"), group(minimum=2), group("part", 2), *whole, *part)
    cluster.decide()
    assert [(path.split("/")[-2], status) for path, status in cluster.recorder.conditions] == [("train", "True")]


@BOTH
def test_other_pods_are_scheduled_as_ever_between_groups(minor: str) -> None:
    cluster = Cluster(minor)
    cluster.tell(small("n1"), group(minimum=2), *members(2), pod("alone", **requests(cpu="1")))
    assert cluster.decide() == {"alone": "n1"}


@BOTH
def test_a_basic_group_places_the_pods_that_fit(minor: str) -> None:
    cluster = Cluster(minor)
    cluster.tell(small("n1"), group(), *members(2))
    assert list(cluster.decide().values()) == ["n1"]


@BOTH
def test_a_member_that_is_being_deleted_is_left_out(minor: str) -> None:
    cluster = Cluster(minor)
    going, *others = members(2)
    going = structs.replace(going, metadata=structs.replace(going.metadata, deletion_timestamp="2026-01-01T00:00:00Z"))
    cluster.tell(small("n1"), group(minimum=1), going, *others)
    assert cluster.decide() == {"train-1": "n1"}
    assert cluster.queue.get(going.key) is None


def test_a_gated_member_holds_back_its_whole_group_since_1_37() -> None:
    for minor, free_ones in {"1.36": ["train-0"], "1.37": []}.items():
        cluster = Cluster(minor)
        (free, _), (_, gated) = members(2), members(2, schedulingGates=[{"name": "wait"}])
        cluster.tell(small("n1"), small("n2"), group(minimum=1), free, gated)
        assert list(cluster.decide()) == free_ones
        cluster.tell(structs.replace(gated, spec=structs.replace(gated.spec, scheduling_gates=())))
        assert set(cluster.later(2)) == {"train-0", "train-1"}


def test_a_group_goes_on_when_the_member_that_held_it_back_is_deleted() -> None:
    cluster = Cluster("1.37")
    (free, _), (_, gated) = members(2), members(2, schedulingGates=[{"name": "wait"}])
    cluster.tell(small("n1"), group(minimum=1), free, gated)
    assert cluster.decide() == {}
    cluster.tell(gated, gone=True)
    assert cluster.decide() == {"train-0": "n1"}


def test_in_1_36_the_first_member_that_has_its_turn_brings_the_others_in_the_order_of_first_attempts() -> None:
    cluster = Cluster("1.36")
    cluster.tell(small("n1"), group(minimum=1))
    first, second = members(2)
    cluster.tell(second, first)
    assert list(cluster.decide()) == ["train-1"]


def test_since_1_37_a_group_has_its_own_priority_and_a_longer_backoff() -> None:
    cluster = Cluster("1.37")
    cluster.tell(small("n1"), pod("alone", priority=5, **requests(cpu="3")))
    cluster.tell(group(minimum=1, priority=7), *members(1, priority=7))
    assert list(cluster.decide()) == ["train-0"]
    backoff = Backoff(initial=1.0, maximum=10.0)
    assert [backoff.seconds(9, size) for size in (1, 4, 9)] == [10.0, 20.0, 30.0]


def test_the_pods_of_a_group_that_is_deleted_wait_until_it_is_there_again() -> None:
    cluster = Cluster("1.37")
    cluster.tell(group(minimum=2), *members(2))
    assert cluster.queue.counts()[Place.ACTIVE] == 2
    cluster.tell(group(minimum=2), gone=True)
    assert cluster.queue.counts()[Place.GATED] == 2
    cluster.tell(small("n1"), small("n2"), group(minimum=2))
    assert len(cluster.decide()) == 2


def test_a_gang_that_needs_fewer_pods_now_is_tried_again() -> None:
    cluster = Cluster("1.37")
    cluster.tell(small("n1"), group(minimum=3), *members(1))
    assert cluster.decide() == {}
    cluster.tell(group(minimum=1))
    assert cluster.decide() == {"train-0": "n1"}


def test_a_tree_of_groups_is_placed_at_once_when_all_of_it_is_there() -> None:
    cluster = Cluster("1.37", CompositePodGroup=True, TopologyAwareWorkloadScheduling=True)
    above = {"parentCompositePodGroupName": "all"}
    cluster.tell(small("n1"), small("n2"), group("a", 1, **above), group("b", 1, **above))
    cluster.tell(*members(1, of="a"), *members(1, of="b"))
    assert cluster.decide() == {}
    cluster.tell(composite("all", 2))
    assert set(cluster.decide()) == {"a-0", "b-0"}
    assert sorted(path.split("/")[-2] for path, _ in cluster.recorder.conditions) == ["a", "b"]


TREES = {"CompositePodGroup": True, "TopologyAwareWorkloadScheduling": True}


def test_every_group_of_a_tree_has_a_condition_since_1_38() -> None:
    cluster = Cluster("1.38", **TREES)
    cluster.tell(small("n1"), group("a", 1, parentCompositePodGroupName="all"), composite("all", 1))
    cluster.tell(*members(1, of="a"))
    assert cluster.decide() == {"a-0": "n1"}
    parts = [path.split("/")[-3:-1] for path, _ in cluster.recorder.conditions]
    assert sorted(parts) == [["compositepodgroups", "all"], ["podgroups", "a"]]


@pytest.mark.parametrize(("minor", "is_new"), [("1.37", False), ("1.38", True)])
def test_a_tree_that_needs_fewer_groups_now_is_tried_again(minor: str, is_new: bool) -> None:
    cluster = Cluster(minor, **TREES)
    cluster.tell(small("n1"), group("a", 1, parentCompositePodGroupName="all"), composite("all", 2))
    cluster.tell(*members(1, of="a"))
    assert cluster.decide() == {}
    cluster.tell(composite("all", 1))
    assert (cluster.decide() == {"a-0": "n1"}) == is_new


def test_a_group_that_no_cycle_can_judge_is_told_and_the_others_are_bound(capsys: pytest.CaptureFixture[str]) -> None:
    for minor in ("1.36", "1.37"):
        cluster = Cluster(minor)
        (broken,) = members(1, of="broken")
        unlike_any = structs.replace(broken, spec=structs.replace(broken.spec, affinity=7))
        cluster.tell(small("n1"), group("broken"), group(minimum=1), unlike_any, *members(1))
        assert list(cluster.decide()) == ["train-0"]
        assert "a bug in kubectl-sched" in capsys.readouterr().err
        assert cluster.queue.counts()[Place.BACKOFF] == 1


def test_nobody_is_preempted_for_a_group_which_takes_what_fits_without() -> None:
    for minor in ("1.36", "1.37"):
        cluster = Cluster(minor)
        low = pod("low", on="n2", priority=-5, **requests(cpu="4"))
        cluster.tell(small("n1"), small("n2"), low, group(minimum=1), *members(2))
        assert cluster.decide() == {"train-0": "n1"}
        assert [name for name, _ in cluster.recorder.told] == ["train-1"] * len(cluster.recorder.told)
        assert cluster.queue.nominated() == {}


WHOLE: dict[str, dict[str, bool]] = {"1.36": {"WorkloadAwarePreemption": True}, "1.37": {}}
"""The gates with which victims go for a group as a whole."""


def low(name: str, on: str, cpu: str = "3", **spec: Any) -> Pod:
    return pod(name, on=on, priority=-5, **requests(cpu=cpu), **spec)


@BOTH
def test_victims_go_for_a_group_which_waits_for_the_last_of_them_and_is_bound_then(minor: str) -> None:
    cluster = Cluster(minor, preempts=True, **WHOLE[minor])
    victims = [low("a", "n1"), low("b", "n2")]
    train = members(2)
    cluster.tell(small("n1"), small("n2"), *victims, group(minimum=2), *train)
    assert cluster.later(3) == {}
    (preemption,) = cluster.recorder.preemptions
    assert (preemption.uid, preemption.place, preemption.kind) == ("uid-train", "cluster", "podgroup")
    assert {each.name for each in preemption.victims} == {"a", "b"}
    assert {each.name for each in preemption.pods} == {"train-0", "train-1"}
    assert len(cluster.recorder.told) == 2, "it is tried once while its victims are there"
    assert cluster.queue.keys(Place.GATED) == {each.key for each in train}
    cluster.tell(victims[0], gone=True)
    assert cluster.later(3) == {}
    assert cluster.queue.keys(Place.GATED) == {each.key for each in train}
    cluster.loop.take(LastVictim("uid-train"))
    assert cluster.later(3) == {}
    cluster.loop.take(PreemptionEnded("uid-train", ()))
    cluster.tell(victims[1], gone=True)
    assert set(cluster.later(3)) == {"train-0", "train-1"}
    assert len(cluster.recorder.preemptions) == 1
    assert [status for _, status in cluster.recorder.conditions] == ["False", "True"]


def test_members_of_a_group_that_waits_for_victims_are_nominated_since_1_37() -> None:
    cluster = Cluster("1.37", preempts=True)
    cluster.tell(small("n1"), small("n2"), low("a", "n1"), group(minimum=2), *members(2))
    cluster.decide()
    assert {node: len(pods) for node, pods in cluster.queue.nominated().items()} == {"n1": 1, "n2": 1}
    assert cluster.recorder.conditions[-1][1] == "False"


def test_in_1_36_members_preempt_by_themselves_unless_workload_aware_preemption_is_on() -> None:
    cluster = Cluster("1.36", preempts=True)
    victims = [low("a", "n1"), low("b", "n2")]
    train = members(2, priority=1)
    cluster.tell(small("n1"), small("n2"), *victims, group(minimum=2), *train)
    assert cluster.decide() == {}
    preemptions = cluster.recorder.preemptions
    assert {(each.kind, each.uid) for each in preemptions} == {("pod", each.metadata.uid) for each in train}
    assert {each.place for each in preemptions} == {"n1", "n2"}
    assert cluster.queue.nominated().keys() == {"n1", "n2"}
    assert cluster.later(3) == {}, "each waits for its own last victim"
    for each in train:
        cluster.loop.take(LastVictim(each.metadata.uid))
    for each in victims:
        cluster.tell(each, gone=True)
    assert set(cluster.later(3)) == {"train-0", "train-1"}


@BOTH
def test_a_group_whose_preemption_fails_is_tried_again_at_once(minor: str) -> None:
    cluster = Cluster(minor, preempts=True, **WHOLE[minor])
    train = members(2)
    cluster.tell(small("n1"), small("n2"), low("a", "n1"), group(minimum=2), *train)
    cluster.decide()
    cluster.loop.take(PreemptionEnded("uid-train", tuple(train)))
    cluster.decide()
    assert len(cluster.recorder.preemptions) == 2


@BOTH
def test_victims_that_are_going_already_hold_no_group_back(minor: str) -> None:
    cluster = Cluster(minor, preempts=True, **WHOLE[minor])
    going = low("a", "n1")
    going = structs.replace(going, metadata=structs.replace(going.metadata, deletion_timestamp="2026-01-01T00:00:00Z"))
    cluster.tell(small("n1"), small("n2"), going, group(minimum=2), *members(2))
    cluster.decide()
    assert cluster.queue.counts()[Place.BACKOFF] == 2
    cluster.tell(going, gone=True)
    assert set(cluster.later(3)) == {"train-0", "train-1"}


@BOTH
def test_a_group_of_victims_goes_as_a_whole(minor: str) -> None:
    cluster = Cluster(minor, preempts=True, **WHOLE[minor])
    mode = {"1.36": "PodGroup", "1.37": {"all": {}}}[minor]
    named: dict[str, Any] = {"schedulingGroup": {"podGroupName": "old"}}
    cluster.tell(group("old", 2, disruptionMode=mode, priority=-5))
    cluster.tell(small("n1"), small("n2"), low("a", "n1", **named), low("b", "n2", **named))
    cluster.tell(group(minimum=1), *members(1))
    cluster.decide()
    (preemption,) = cluster.recorder.preemptions
    assert {each.name for each in preemption.victims} == {"a", "b"}


def test_victims_go_for_a_tree_of_groups() -> None:
    cluster = Cluster("1.37", preempts=True, CompositePodGroup=True, TopologyAwareWorkloadScheduling=True)
    above = {"parentCompositePodGroupName": "all"}
    cluster.tell(small("n1"), small("n2"), low("a", "n1"), composite("all", 2))
    cluster.tell(group("a", 1, **above), group("b", 1, **above), *members(1, of="a"), *members(1, of="b"))
    assert cluster.decide() == {}
    (preemption,) = cluster.recorder.preemptions
    assert (preemption.uid, preemption.kind) == ("uid-all", "compositepodgroup")
    assert cluster.queue.counts()[Place.GATED] == 2


@BOTH
@given(data=st.data())
@settings(max_examples=examples(25), deadline=None)
def test_whatever_comes_no_pod_is_lost_and_no_gang_is_bound_below_its_minimum(minor: str, data: st.DataObject) -> None:
    cluster = Cluster(minor)
    minimums = {"a": 1, "b": 2, "c": 3, "d": None}
    groups = {name: group(name, minimum) for name, minimum in minimums.items()}
    pods = {each.name: each for name in minimums for each in members(3, "2", name)}
    cluster.tell(small("n1"))
    there: set[str] = set()
    for step in data.draw(
        st.lists(st.sampled_from(["pod", "pod", "gone", "group", "ungroup", "end", "fail", "later"]))
    ):
        if step == "pod":
            chosen = data.draw(st.sampled_from(sorted(pods)))
            if chosen not in there:
                there.add(chosen)
                cluster.tell(pods[chosen])
        elif step == "gone" and there - cluster.recorder.flying.keys():
            chosen = data.draw(st.sampled_from(sorted(there - cluster.recorder.flying.keys())))
            there.discard(chosen)
            cluster.tell(pods[chosen], gone=True)
        elif step in {"group", "ungroup"}:
            cluster.tell(groups[data.draw(st.sampled_from(sorted(groups)))], gone=step == "ungroup")
        elif step in {"end", "fail"} and cluster.recorder.flying:
            cluster.bound(data.draw(st.sampled_from(sorted(cluster.recorder.flying))), failed=step == "fail")
        else:
            cluster.later(1)
        counts = cluster.queue.counts()
        assert sum(counts.values()) == len(cluster.queue)
        assert all(counts[place] == len(cluster.queue.keys(place)) for place in Place)
    cluster.tell(*groups.values(), *(small(f"m{number}") for number in range(12)))
    for _ in range(60):
        for name in list(cluster.later(1)):
            cluster.bound(name)
    for name, minimum in minimums.items():
        left = [each for each in there if each.startswith(f"{name}-") and f"default/{each}" in cluster.queue]
        came = [each for each in there if each.startswith(f"{name}-")]
        assert not left or len(came) < (minimum or 1), f"{left} of {name} were forgotten"
