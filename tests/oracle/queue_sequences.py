"""Random courses of the scheduling queue: kube-scheduler's PriorityQueue and ours must hold and hand out the same.

python -m tests.oracle.queue_sequences --sequences 10000 --kube-version 1.36
"""

from __future__ import annotations

import argparse
import random
from typing import TYPE_CHECKING, Any, Final

from kubectl_sched.api.core import Node
from kubectl_sched.binding.second_scheduler.cluster_events import Action, ClusterEvent
from kubectl_sched.binding.second_scheduler.queued_pod import Backoff, Place, QueuedPod
from kubectl_sched.binding.second_scheduler.scheduling_queue import SchedulingQueue
from kubectl_sched.config.versions import RELEASES, KubeVersion
from kubectl_sched.plugins.priority_sort import PrioritySort
from tests.oracle.build import VERSIONS, Oracle
from tests.oracle.conformance import QUEUE, record
from tests.plugins.clusters import handle, node, pod

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.binding.second_scheduler.cluster_events import Happened

Step = dict[str, Any]
State = dict[str, Any]

NAMES: Final = "abcdef"
EVENTS: Final = {
    "nodeAdded": ClusterEvent("Node", Action.ADD),
    "nodeTainted": ClusterEvent("Node", Action.NODE_TAINT),
    "nodeLabelled": ClusterEvent("Node", Action.NODE_LABEL),
}
REGISTERED: Final[Mapping[str, tuple[ClusterEvent, ...]]] = {
    "A": (EVENTS["nodeAdded"],),
    "B": (EVENTS["nodeAdded"], EVENTS["nodeTainted"]),
    "Gate": (EVENTS["nodeLabelled"], ClusterEvent("PendingPod", Action.POD_GATES)),
    "Own": (ClusterEvent("PendingPod", Action.POD_LABEL),),
}
"""The plugins of tests/oracle/program/queue.go."""

GRAIN_SECONDS: Final = 1 / 512
"""Times are multiples of it, which floats hold exactly. Some time passes before each step, so that no two are equal."""

PAUSES: Final = (1, 1, 1, 100, 256, 512, 700, 1024, 5120, 20_000, 160_000)


class NamedPods:
    """Hints as the oracle's plugins give them: an event's node names the pods that it helps, by plugin."""

    def is_of_interest(self, event: ClusterEvent) -> bool:
        """Tell whether the table above has it."""
        return any(event in events for events in REGISTERED.values())

    def is_registered(self, plugin: str, event: ClusterEvent) -> bool:
        """Tell whether the plugin's row has it."""
        return event in REGISTERED[plugin]

    def helps(self, plugin: str, waiting: Pod, happened: Happened) -> bool:
        """Report what hintOf in queue.go does."""
        if not self.is_registered(plugin, happened.event):
            return False
        if isinstance(happened.new, Node):
            return waiting.name in happened.new.metadata.labels.get(plugin, "")
        return happened.new is not None and happened.new.metadata.uid == waiting.metadata.uid


class Course:
    """One random course of our queue: its steps, and what it held after each."""

    def __init__(self, seed: int, backoff: Backoff) -> None:
        self._random = random.Random(seed)  # noqa: S311 - no secret
        self._held: set[str] = set()
        order = PrioritySort(None, handle()).queue_key
        self._queue = SchedulingQueue(order, self._gated_by, NamedPods(), backoff)
        self._grains = 0
        self._pods: dict[str, Pod] = {}
        self._in_flight: dict[str, QueuedPod] = {}
        self._made = 0
        self.steps: list[Step] = []
        self.states: list[State] = []

    def run(self, length: int) -> None:
        """Take so many steps."""
        for _ in range(length):
            grains = self._random.choice(PAUSES)
            self._grains += grains
            step, popped = self._step()
            self.steps.append({**step, "nanos": grains * 1_953_125})
            unschedulable = self._names(Place.UNSCHEDULABLE) + self._names(Place.GATED)
            state = {"popped": popped, "active": self._names(Place.ACTIVE), "backoff": self._names(Place.BACKOFF)}
            self.states.append({**state, "unschedulable": sorted(unschedulable)})

    @property
    def _now(self) -> float:
        return self._grains * GRAIN_SECONDS

    def _names(self, place: Place) -> list[str]:
        return sorted(key.partition("/")[2] for key in self._queue.keys(place))

    def _gated_by(self, waiting: Pod) -> str | None:
        return "Gate" if waiting.spec.scheduling_gates or waiting.name in self._held else None

    def _step(self) -> tuple[Step, str]:
        """Choose a step that makes sense now, and take it; with the name of the pod that it takes out."""
        choices = ["event", "event", "flush", "flush", "hold", "release", "pop", "pop", "pop"]
        choices += ["add"] * 3 if len(self._pods) + len(self._in_flight) < len(NAMES) else []
        choices += ["update", "delete", "activate"] if self._waiting() else []
        choices += ["rejected"] * 3 + ["done", "update_in_flight"] if self._in_flight else []
        op = self._random.choice(choices)
        if op == "pop":
            queued = self._queue.pop()
            if isinstance(queued, QueuedPod):
                self._in_flight[queued.pod.name] = queued
            return {"op": "pop"}, queued.pod.name if queued is not None else ""
        return getattr(self, f"_{op}")(), ""

    def _waiting(self) -> list[str]:
        return [name for name in self._pods if name not in self._in_flight]

    def _add(self) -> Step:
        name = self._random.choice([name for name in NAMES if name not in self._pods])
        step = {"op": "add", "pod": name, "priority": self._random.choice([0, 0, 5]), "gated": self._one_of(4)}
        self._pods[name] = self._pod_of(step, f"{name}-{self._made}")
        self._made += 1
        self._queue.add(self._pods[name], self._now)
        return step

    def _one_of(self, many: int) -> bool:
        return self._random.randrange(many) == 0

    def _pod_of(self, step: Step, uid: str) -> Pod:
        gates = [{"name": "wait"}] if step["gated"] else []
        metadata = {"uid": uid, "labels": {"label": step.get("label", "")}}
        return pod(step["pod"], metadata=metadata, priority=step["priority"], schedulingGates=gates)

    def _update(self, name: str | None = None) -> Step:
        name = name or self._random.choice(self._waiting())
        before = self._pods[name]
        gated = bool(before.spec.scheduling_gates) and not self._one_of(3)
        label = self._random.choice(["", "x", "y"])
        step = {"op": "update", "pod": name, "priority": before.priority, "gated": gated, "label": label}
        self._pods[name] = self._pod_of(step, before.metadata.uid)
        self._queue.update(self._pods[name], self._now)
        return step

    def _update_in_flight(self) -> Step:
        return self._update(self._random.choice(list(self._in_flight)))

    def _delete(self) -> Step:
        name = self._random.choice(self._waiting())
        self._queue.delete(f"default/{name}")
        del self._pods[name]
        return {"op": "delete", "pod": name}

    def _activate(self) -> Step:
        name = self._random.choice(list(self._pods))
        self._queue.activate(self._pods[name])
        return {"op": "activate", "pod": name}

    def _rejected(self) -> Step:
        name = self._random.choice(list(self._in_flight))
        rejecting = [plugin for plugin in ("A", "B", "Own") if self._one_of(2)]
        pending = [plugin for plugin in ("A", "B") if plugin not in rejecting and self._one_of(4)]
        self._queue.rejected(self._in_flight.pop(name), rejecting, self._now, pending)
        return {"op": "rejected", "pod": name, "rejecting": rejecting, "pending": pending}

    def _done(self) -> Step:
        """The pod is bound."""
        name = self._random.choice(list(self._in_flight))
        self._queue.drop(self._in_flight.pop(name))
        del self._pods[name]
        return {"op": "done", "pod": name}

    def _hold(self) -> Step:
        name = self._random.choice(NAMES)
        self._held.add(name)
        return {"op": "hold", "pod": name}

    def _release(self) -> Step:
        name = self._random.choice(NAMES)
        self._held.discard(name)
        return {"op": "release", "pod": name}

    def _event(self) -> Step:
        event = self._random.choice(list(EVENTS))
        helps = {plugin: [name for name in NAMES if self._one_of(2)] for plugin in REGISTERED}
        named = node("n", labels={plugin: "".join(names) for plugin, names in helps.items()})
        self._queue.move(EVENTS[event], self._now, None, named)
        return {"op": "event", "event": event, "helps": helps}

    def _flush(self) -> Step:
        self._queue.flush_backoff(self._now)
        self._queue.flush_unschedulable(self._now)
        return {"op": "flush"}


def difference(oracle: Oracle, seed: int, length: int = 80) -> str:
    """The first step after which the queues differ, empty if none does."""
    release = RELEASES[KubeVersion.parse(oracle.patch)]
    popped_early = seed % 4 != 0
    every_attempt = not release.backoff_counts_rejections
    course = Course(
        seed,
        Backoff(
            initial=1.0,
            maximum=10.0,
            is_popped_early=popped_early,
            counts_every_attempt=every_attempt,
            flushes_gated=release.gated_pods_are_flushed,
        ),
    )
    course.run(length)
    gates = {"SchedulerPopFromBackoffQ": popped_early}
    request = {"id": str(seed), "objects": [], "config": "", "featureGates": gates, "queue": course.steps}
    (answer,) = oracle.ask(request)
    if answer.get("error"):
        return f"seed {seed}: {answer['error']}"
    for index, (ours, theirs) in enumerate(zip(course.states, answer["queue"], strict=True)):
        if ours != theirs:
            return f"seed {seed}, step {index} {course.steps[index]}: ours {ours}, kube-scheduler's {theirs}"
    return ""


def main() -> None:
    """Compare many sequences and say how many agree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sequences", type=int, default=10_000)
    parser.add_argument("--kube-version", default="1.36", choices=VERSIONS)
    options = parser.parse_args()
    with Oracle(options.kube_version) as oracle:
        found = [said for seed in range(options.sequences) if (said := difference(oracle, seed))]
    print("\n".join(found[:10]))
    print(f"kube-scheduler {VERSIONS[options.kube_version]}: {options.sequences} sequences, {len(found)} differ")
    record(options.kube_version, {QUEUE: [options.sequences, len(found)]})
    raise SystemExit(bool(found))


if __name__ == "__main__":
    main()
