"""The replay of a gated pod as its controller would let it go: without gates, with the fields that it would set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from kubectl_sched.diagnostics.gates.gate import Injection, quoted
from kubectl_sched.record import CachingRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.diagnostics.gates.gate import Gate
    from kubectl_sched.scheduler.result import ScheduleResult


class Ungated(CachingRecord, frozen=True, kw_only=True):
    """The cycle of the pod with what one choice of flavors sets on it."""

    injection: Injection
    result: ScheduleResult | None = None
    """None if the controller could not set its fields, or they are not known."""

    problem: str | None = None

    @property
    def fits(self) -> bool:
        """Report whether the pod would fit."""
        return self.result is not None and self.result.fits


def ungated(pod: Pod, gates: Sequence[Gate], schedule_one: Callable[[Pod], ScheduleResult]) -> tuple[Ungated, ...]:
    """Replay the pod without its gates, once for each choice of what its controller would set on it."""
    choices = next((gate.injections for gate in gates if gate.injections), (Injection(),))
    return tuple(_replayed(pod, choices, schedule_one))


def _replayed(
    pod: Pod, choices: Sequence[Injection], schedule_one: Callable[[Pod], ScheduleResult]
) -> Iterator[Ungated]:
    for choice in choices:
        problem = "; ".join(choice.unknown) or _conflict(pod, choice)
        if problem:
            yield Ungated(injection=choice, problem=problem)
        else:
            yield Ungated(injection=choice, result=schedule_one(lifted(pod, choice)))


def lifted(pod: Pod, choice: Injection) -> Pod:
    """Return the pod without gates and with the choice's fields, as its controller would leave it."""
    spec = pod.spec
    more = tuple(each for each in dict.fromkeys(choice.tolerations) if each not in spec.tolerations)
    return structs.replace(
        pod,
        metadata=structs.replace(pod.metadata, labels={**pod.metadata.labels, **choice.labels}),
        spec=structs.replace(
            spec,
            scheduling_gates=(),
            node_selector={**(spec.node_selector or {}), **choice.node_selector},
            tolerations=(*spec.tolerations, *more),
        ),
    )


def _conflict(pod: Pod, choice: Injection) -> str | None:
    """Return the node selector or the label on which the pod and the choice differ, which Kueue refuses to merge."""
    fields = (
        ("nodeSelector", pod.spec.node_selector or {}, choice.node_selector),
        ("label", pod.metadata.labels, choice.labels),
    )
    for field, own, new in fields:
        for key, value in new.items():
            if own.get(key, value) != value:
                return quoted(f"its own {field} {key}={own[key]} conflicts with {key}={value}")
    return None
