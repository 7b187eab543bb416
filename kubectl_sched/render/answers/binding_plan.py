"""The plan that `bind` shows before it asks."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from kubectl_sched.record import Record
from kubectl_sched.render.safe_text import listed, safe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_GAP = "  "
_HEADING = len("left before")


class PlannedWrite(Record, frozen=True, kw_only=True):
    """A request, and in words what it does."""

    method: str
    path: str
    what: str


class BindingPlan(Record, frozen=True, kw_only=True):
    """Names and texts are the cluster's own, not yet made safe, but for the summary.

    `summary` is the explanation in brief, `serving` who serves the pod otherwise and how that is known, `leftovers`
    what an earlier attempt left, `victims` the pods that are preempted first.
    """

    pod: str
    node: str | None
    summary: str
    serving: tuple[str, str]
    writes: tuple[PlannedWrite, ...] = ()
    leftovers: tuple[str, ...] = ()
    victims: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    """The reasons of the filters against the node, if they are ignored."""

    notes: tuple[str, ...] = ()
    """Sentences about the state that the explanation rests on."""

    clears: bool = False
    """Report whether what an earlier attempt left is removed first, as no node fits beside it."""


def plan_lines(plan: BindingPlan, width: int | None = None) -> Iterator[str]:
    """The plan as plain lines, of at most `width` columns where words allow it; the summary is safe already."""
    yield from _wrapped(plan.summary, width, "")
    yield ""
    for heading, texts in _parts(plan, width):
        for index, text in enumerate(texts):
            yield from _wrapped(text, width, f"{heading if index == 0 else '':<{_HEADING}}{_GAP}")


def _wrapped(text: str, width: int | None, before: str) -> list[str]:
    if width is None or len(before) + len(text) <= width:
        return [f"{before}{text}"]
    return wrap(
        text,
        width,
        initial_indent=before,
        subsequent_indent=" " * (_HEADING + len(_GAP)) if before else "",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _parts(plan: BindingPlan, width: int | None) -> Iterator[tuple[str, Sequence[str]]]:
    state, evidence = plan.serving
    yield "scheduler", [f"{state}: {safe(evidence)}"]
    if plan.leftovers:
        yield "left before", [safe(text) for text in plan.leftovers]
    if plan.ignored:
        yield "ignored", [safe(text) for text in plan.ignored]
    if plan.victims:
        yield "preempts", [safe(victim) for victim in plan.victims]
    if plan.notes:
        yield "notes", [safe(note) for note in plan.notes]
    yield "writes", list(_writes(plan.writes, width)) or ["nothing"]


def _writes(writes: Sequence[PlannedWrite], width: int | None) -> Iterator[str]:
    """Yield each write's purpose and its request: beside each other, or below if that is too wide."""
    lines = [(safe(write.what), safe(f"{write.method} {write.path}")) for write in writes]
    what_width = max((len(what) for what, _ in lines), default=0)
    request_width = max((len(request) for _, request in lines), default=0)
    beside = width is None or _HEADING + 2 * len(_GAP) + what_width + request_width <= width
    for what, request in lines:
        if beside:
            yield f"{what:<{what_width}}{_GAP}{request}"
        else:
            yield what
            yield f"{_GAP}{request}"


def question(plan: BindingPlan) -> str:
    """Return the question to the user. It warns if another scheduler may bind the pod."""
    state, evidence = plan.serving
    warning = f"Whether a scheduler serves it is not known ({safe(evidence)}).\n" if state == "unknown" else ""
    if plan.victims:
        return f"{warning}Delete {listed(plan.victims)} to make room for {safe(plan.pod)}? [y/N] "
    if plan.clears:
        return f"{warning}Remove what an earlier attempt left of {safe(plan.pod)}? [y/N] "
    if plan.node is None:
        return f"{warning}Write that {safe(plan.pod)} does not fit? [y/N] "
    return f"{warning}Bind {safe(plan.pod)} to {safe(plan.node)}? [y/N] "
