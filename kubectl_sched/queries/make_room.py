"""`whatif --make-room`: what to move so that pods fit, and every pod that moves lands again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.apiserver.applied_objects import with_made
from kubectl_sched.config.types import DEFAULT_SCHEDULER_NAME
from kubectl_sched.queries.podgroup_room import group_cycle
from kubectl_sched.queries.pods_needing_room import is_group, targets
from kubectl_sched.record import CachingRecord, Record
from kubectl_sched.scheduler.result import Outcome as PodOutcome
from kubectl_sched.scheduler.scheduler import SeveralSchedulers
from kubectl_sched.simulation.evictable_pods import EvictionRules
from kubectl_sched.simulation.placements import QueuedPod
from kubectl_sched.simulation.queue_simulation import Choices, Simulation, owner_of
from kubectl_sched.simulation.relocation import CORDON, UNCORDON, Relocation, Step, carried_out
from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
from kubectl_sched.sources.discovery.replay_setup import Replay, snapshot_of
from kubectl_sched.sources.dump.completeness import completeness
from kubectl_sched.suggestions.plan_ties import TiePins, pinned_nodes
from kubectl_sched.suggestions.room_candidates import Bounds
from kubectl_sched.suggestions.room_search import RoomSearch

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.config import Configuration, Release
    from kubectl_sched.queries.podgroup_room import GroupCycle
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.scheduler.scheduler import Scheduler
    from kubectl_sched.simulation.relocation import Landing, Outcome
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.sources.dump.dump import Dump

_RIVALS_TRIED = 20
_UNLIMITED = 1 << 30


class MakeRoomQuestion(Record, frozen=True, kw_only=True):
    """The flags of the same names. `target` is `pod/NAME`, a workload as `deployment/web`, or `podgroup/NAME`."""

    target: str
    namespace: str = "default"
    replicas: int | None = None
    profile: str | None = None
    bounds: Bounds = Bounds()
    replay: Replay = Replay()


class Preemption(Record, frozen=True, kw_only=True):
    """The alternative that the scheduler itself has: its victims, and those of them that would not land again."""

    pod: Pod
    node: str
    victims: tuple[Pod, ...]
    homeless: tuple[Pod, ...]


class Placed(Record, frozen=True, kw_only=True):
    """A pod of the target, and the nodes that are tied for it after the plan."""

    pod: Pod
    tied: tuple[str, ...]


class MakeRoomAnswer(CachingRecord, frozen=True, kw_only=True):
    """The plan: without steps if everything fits already, or if none was found within the bounds (`unplaced`)."""

    target: str
    namespace: str
    steps: tuple[Step, ...]
    placed: tuple[Placed, ...]
    unplaced: ScheduleResult | None
    nodes: int
    bounds: Bounds
    complete: bool
    refused: Mapping[str, int]
    preemption: Preemption | None
    kubernetes_version: str
    notes: tuple[str, ...]
    kubernetes_patch: str | None = None
    changing: tuple[str, ...] = ()
    """The notes that change the answer."""

    names: Sequence[str] = ()
    """The names of all nodes."""

    @property
    def found(self) -> bool:
        """Report whether every pod of the target fits, with the plan or without any."""
        return self.unplaced is None

    @property
    def evictions(self) -> int:
        """Return the number of pods that move."""
        return sum(step.pod is not None for step in self.steps)


def make_room(question: MakeRoomQuestion, dump: Dump) -> MakeRoomAnswer:
    """Search for the shortest plan. Raises SchedError for a target that there is not."""
    schedulers = ClusterSchedulers(dump, question.replay, question.profile)
    schedulers.check_profile()

    def configuration_of(name: str) -> Configuration:
        return schedulers.assumed(name).configuration

    default = configuration_of(question.profile or DEFAULT_SCHEDULER_NAME)
    pods, made, about = targets(question.target, question.namespace, question.replicas, dump, default)
    nodes, left_out = snapshot_of(with_made(dump.objects, made), configuration_of(DEFAULT_SCHEDULER_NAME))
    scheduler = SeveralSchedulers(configuration_of, nodes)
    cycle = group_cycle(pods, nodes, configuration_of) if is_group(question.target) else None
    choices = cycle.in_each_domain(pods, nodes) if cycle is not None else [pods]
    shared = replace(question.bounds, evictions=question.bounds.evictions // len(choices))
    question = replace(question, bounds=shared)
    answer = _Room(question, scheduler, choices[0], cycle).answer(dump.objects, default.release)
    for each in choices[1:]:
        most = answer.evictions - 1 if answer.found else _UNLIMITED
        other = _Room(question, scheduler, each, cycle, most).answer(dump.objects, default.release)
        answer = other if other.found else answer
    if cycle is None and is_group(question.target):
        about.append("the pods of the group are placed one after the other; no cycle of the whole group is replayed")
    lacking = completeness(dump, [answer.unplaced] if answer.unplaced is not None else [])
    notes = (*about, *answer.notes, *schedulers.notes, *lacking.notes, *dump.warnings, *schedulers.warnings, *left_out)
    return replace(answer, notes=notes, changing=(*dump.limits, *lacking.changing))


class _Plan(CachingRecord, frozen=True, kw_only=True):
    """The plan as far as it has come; `nodes` is the cluster after its steps."""

    nodes: Snapshot
    placed: tuple[Placed, ...]
    steps: tuple[Step, ...] = ()
    unplaced: ScheduleResult | None = None
    looked: int = 0
    complete: bool = True
    refused: Mapping[str, int] = {}
    preemption: Preemption | None = None
    notes: tuple[str, ...] = ()


class _Room:
    """The pods of one target in the order of the queue, each placed, if need be by a plan."""

    def __init__(
        self,
        question: MakeRoomQuestion,
        scheduler: Scheduler,
        pods: Sequence[Pod],
        cycle: GroupCycle | None,
        most: int = _UNLIMITED,
    ) -> None:
        """Plan with no more evictions than `most`; the question's bounds are those of the search for one pod."""
        self._question = question
        self._cycle = cycle
        self._most = most
        self._scheduler = scheduler
        self._relocation = Relocation(scheduler, question.profile)
        self._running = [pod for pod in pods if pod.spec.node_name]
        self._pods = sorted((pod for pod in pods if not pod.spec.node_name), key=self._queue_key)

    def answer(self, objects: Sequence[KubernetesObject], release: Release) -> MakeRoomAnswer:
        """Place each pod, and stop at the first for which there is no plan."""
        running = tuple(Placed(pod=pod, tied=(pod.spec.node_name,)) for pod in self._running)
        plan = _Plan(nodes=self._scheduler.nodes, placed=running)
        whole = self._in_group_cycle(())
        if whole is None:
            plan = self._one_after_the_other(plan, objects)
        if plan.unplaced is None and plan.steps and len(self._pods) > 1:
            plan = self._all_at_once(plan)
        if plan.unplaced is None and self._cycle is not None and self._pods:
            plan = self._as_its_group(plan, whole or self._in_group_cycle(plan.steps))
        if plan.unplaced is not None:
            plan = replace(plan, steps=(), placed=())
        return MakeRoomAnswer(
            target=self._question.target,
            namespace=self._question.namespace,
            steps=plan.steps,
            placed=plan.placed,
            unplaced=plan.unplaced,
            nodes=plan.looked,
            names=plan.nodes.names,
            bounds=self._question.bounds,
            complete=plan.complete,
            refused=plan.refused,
            preemption=plan.preemption,
            kubernetes_version=str(release.version),
            kubernetes_patch=release.patch_name,
            notes=(*plan.notes, *_about_chance(plan.steps, plan.placed)),
        )

    def _one_after_the_other(self, plan: _Plan, objects: Sequence[KubernetesObject]) -> _Plan:
        for pod in self._pods:
            landing = self._relocation.landing(pod, plan.nodes)
            if landing is None:
                plan = self._with_room_for(pod, plan, objects)
                if plan.unplaced is not None:
                    break
            else:
                nodes = self._relocation.placed(plan.nodes, landing, landing.tied[0])
                plan = replace(plan, nodes=nodes, placed=(*plan.placed, Placed(pod=pod, tied=landing.tied)))
        return plan

    def _with_room_for(self, pod: Pod, plan: _Plan, objects: Sequence[KubernetesObject]) -> _Plan:
        """Add what makes room for a pod that fits nowhere."""
        result = self._relocation.cycle(pod, plan.nodes)
        preemption = plan.preemption or self._preemption(pod)
        found = self._search(pod, plan, objects).find(result)
        plan = replace(
            plan,
            looked=max(plan.looked, found.nodes),
            complete=plan.complete and found.complete,
            refused=found.refused,
            preemption=preemption,
        )
        if found.plan is None:
            unplaced = self._scheduler.cycle(pod, plan.nodes, self._question.profile)
            return replace(plan, unplaced=unplaced, notes=(*plan.notes, *_why_not(result)))
        landing = found.plan.landings[0]
        return replace(
            plan,
            nodes=found.plan.nodes,
            steps=(*plan.steps, *found.plan.steps),
            placed=(*plan.placed, Placed(pod=pod, tied=landing.tied)),
            notes=(*plan.notes, *self._about_rivals(pod, landing, plan.placed)),
        )

    def _all_at_once(self, plan: _Plan) -> _Plan:
        running = len(self._running)
        together = self._together(plan.steps, plan.placed[running:])
        if together is not None:
            landed = (Placed(pod=each.pod, tied=each.tied) for each in together.landings)
            return replace(plan, steps=tuple(together.steps), placed=(*plan.placed[:running], *landed))
        if is_group(self._question.target):
            return self._refused(plan, "there is room for one after the other, but not for all of the group at once")
        note = "after each uncordon wait until the target's own pod has its node, too"
        return replace(plan, notes=(*plan.notes, note))

    def _as_its_group(self, plan: _Plan, placed: Sequence[Placed] | None) -> _Plan:
        if placed:
            return replace(plan, placed=tuple(placed))
        return self._refused(plan, "there is room for one after the other, but not in the group's own cycle")

    def _refused(self, plan: _Plan, note: str) -> _Plan:
        unplaced = self._scheduler.cycle(self._pods[-1], self._scheduler.nodes, self._question.profile)
        return replace(plan, unplaced=unplaced, notes=(*plan.notes, note))

    def _in_group_cycle(self, steps: Sequence[Step]) -> list[Placed] | None:
        """Return where the group's own cycle places its pods after the steps; None if it leaves one out."""
        if self._cycle is None or not self._pods:
            return None
        outcome = carried_out(
            self._relocation, (), steps, self._scheduler.nodes, self._ahead_of(self._pods[0]) if steps else ()
        )
        tied = self._cycle.nodes_of(outcome.nodes) if outcome is not None else None
        if tied is None or any(pod.key not in tied for pod in self._pods):
            return None
        return [Placed(pod=pod, tied=tied[pod.key]) for pod in self._pods]

    def _together(self, steps: Sequence[Step], placed: Sequence[Placed]) -> Outcome | None:
        """Return the plan with all nodes of the target cordoned to its end: none of it lands before all of it fits."""
        own = dict.fromkeys(each.tied[0] for each in placed)
        plan = [Step(action=CORDON, node=name) for name in own]
        plan += (replace(step, lands=None) for step in steps if step.pod is not None or step.node not in own)
        plan += (Step(action=UNCORDON, node=name) for name in own)
        ahead = self._ahead_of(self._pods[0])
        outcome = carried_out(self._relocation, self._pods, plan, self._scheduler.nodes, ahead)
        return outcome and TiePins(self._relocation, self._pods, ahead).pinned(outcome)

    def _ahead_of(self, pod: Pod) -> list[Pod]:
        return [other for other in self._rivals if self._queue_key(other) < self._queue_key(pod)]

    def _search(self, pod: Pod, plan: _Plan, objects: Sequence[KubernetesObject]) -> RoomSearch:
        moved = [step.pod for step in plan.steps if step.pod is not None]
        fixed = {each.key for each in (*moved, *(each.pod for each in plan.placed))}
        rules = EvictionRules(plan.nodes.objects, objects, pod.priority)
        bounds = self._question.bounds
        bounds = replace(bounds, moves=min(bounds.moves, self._most - len(moved)))
        return RoomSearch(self._relocation, rules, bounds, self._ahead_of(pod), moved, fixed)

    def _queue_key(self, pod: Pod) -> tuple[int | float | str, ...]:
        for name in self._scheduler.configuration.profiles:
            framework = self._scheduler.framework(name)
            if framework is not None and framework.queue_sort_plugins:
                return framework.queue_sort_plugins[0].queue_key(pod)
        return ()

    @property
    def _rivals(self) -> list[Pod]:
        """The cluster's other pending pods that wait for a node."""
        own = {pod.key for pod in self._pods}
        return [pod for pod in self._scheduler.waiting if pod.key not in own]

    def _about_rivals(self, pod: Pod, landing: Landing, placed: Sequence[Placed]) -> Iterator[str]:
        """Yield a note on pending pods that would fit where the pod is to land."""
        nodes = landing.result.nodes
        row = nodes.row_of[landing.tied[0]]
        free = {
            name: int(amounts[row] - nodes.requested(name)[row]) for name, amounts in nodes.table.allocatable.items()
        }
        done = {each.pod.key for each in placed}
        small = [
            other
            for other in self._rivals
            if other.key not in done
            and all(amount <= free.get(name, 0) for name, amount in nodes.resource_of(other).requested.items())
        ]
        rivals = [other.key for other in small[:_RIVALS_TRIED] if row in self._relocation.cycle(other, nodes).feasible]
        if rivals:
            named = ", ".join(sorted(rivals)[:3]) + (f" and {len(rivals) - 3} more" if len(rivals) > 3 else "")
            wait, they = ("waits, too, and fits", "it") if len(rivals) == 1 else ("wait, too, and fit", "they")
            yield f"{named} {wait} on {landing.tied[0]}: {they} may take the room first while {pod.key} backs off"

    def _preemption(self, pod: Pod) -> Preemption | None:
        """Return what preemption would do for the pod, None if nothing or if no pod is less important."""
        nodes = self._scheduler.nodes
        if not any(other.priority < pod.priority for other in nodes.existing_pods.pods):
            return None
        simulation = Simulation(self._scheduler, Choices(profile=self._question.profile, requeue_victims=True))
        simulation.enqueue([QueuedPod(pod=pod, owner=owner_of(pod))])
        simulation.run()
        first, *others = simulation.placements
        if not first.victims or first.nominated_node is None:
            return None
        landed = {each.pod.key for each in others if each.is_placed}
        homeless = tuple(
            victim for victim in first.victims if victim.key not in landed or not victim.metadata.controller
        )
        return Preemption(pod=pod, node=first.nominated_node, victims=first.victims, homeless=homeless)


def _why_not(result: ScheduleResult) -> Iterator[str]:
    if result.outcome is PodOutcome.GATED:
        yield f"{result.pod.key} is gated, and more room does not change that: {result.pre_enqueue.message}"
    elif result.outcome is PodOutcome.NO_PROFILE:
        yield f"no profile serves {result.pod.key}, and more room does not change that"
    elif result.error is not None:
        yield f"the cycle of {result.pod.key} fails: {result.error}"


def _about_chance(steps: Sequence[Step], placed: Sequence[Placed]) -> Iterator[str]:
    pins = dict.fromkeys(pinned_nodes(steps, {each.tied[0] for each in placed}))
    if pins:
        yield f"the plan cordons {', '.join(pins)} for a while, so that no tie sends a pod there"
    tied = [step for step in steps if len(step.tied) > 1]
    if tied or any(len(each.tied) > 1 for each in placed):
        yield "between tied nodes chance decides: the plan goes through from each that was tried, or cordons the others"
    if any(step.beyond_sampling for step in steps):
        yield "kube-scheduler looks at some of the feasible nodes only: a pod may land on another than the plan says"
