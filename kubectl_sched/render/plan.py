"""What `bind` is about to do, before it asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.record import Record
from kubectl_sched.render.text import listed, safe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_GAP = "  "


class PlannedWrite(Record, frozen=True):
    """A request, and in words what it does."""

    method: str
    path: str
    what: str


class BindingPlan(Record, frozen=True):
    """Names and texts are the cluster's own, not yet made safe, but for the summary.

    `summary` is the explanation in brief, `serving` who serves the pod otherwise and how that is known, `leftovers`
    what an earlier attempt left, `victims` the pods that are evicted first.
    """

    pod: str
    node: str | None
    summary: str
    serving: tuple[str, str]
    writes: tuple[PlannedWrite, ...] = ()
    leftovers: tuple[str, ...] = ()
    victims: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    """Why the filters speak against the node, where they are ignored."""

    clears: bool = False
    """Whether what an earlier attempt left is removed first, as no node fits beside it."""


def plan_lines(plan: BindingPlan) -> Iterator[str]:
    """The plan as plain lines; the summary is safe already."""
    yield plan.summary
    yield ""
    for heading, texts in _parts(plan):
        for index, text in enumerate(texts):
            yield f"{heading if index == 0 else '':<11}{_GAP}{text}"


def _parts(plan: BindingPlan) -> Iterator[tuple[str, Sequence[str]]]:
    state, evidence = plan.serving
    yield "scheduler", [f"{state}: {safe(evidence)}"]
    if plan.leftovers:
        yield "left before", [safe(text) for text in plan.leftovers]
    if plan.ignored:
        yield "ignored", [safe(text) for text in plan.ignored]
    if plan.victims:
        yield "evicts", [safe(victim) for victim in plan.victims]
    lines = [(f"{write.method} {write.path}", write.what) for write in plan.writes]
    width = max((len(request) for request, _ in lines), default=0)
    yield "writes", [f"{safe(request):<{width}}{_GAP}{safe(what)}" for request, what in lines] or ["nothing"]


def question(plan: BindingPlan) -> str:
    """What the user is asked; not knowing who else may bind the pod is a warning in it."""
    state, evidence = plan.serving
    warning = f"Whether a scheduler serves it is not known ({safe(evidence)}).\n" if state == "unknown" else ""
    if plan.victims:
        return f"{warning}Evict {listed(plan.victims)} to make room for {safe(plan.pod)}? [y/N] "
    if plan.clears:
        return f"{warning}Remove what an earlier attempt left of {safe(plan.pod)}? [y/N] "
    if plan.node is None:
        return f"{warning}Write that {safe(plan.pod)} does not fit? [y/N] "
    return f"{warning}Bind {safe(plan.pod)} to {safe(plan.node)}? [y/N] "
