"""The state of the explorer: one immutable value, and the change that each key makes. It knows no terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.record import Record

if TYPE_CHECKING:
    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.tui.edits import Edit

RANK = "rank"
"""The order in which nodes are worth reading: by total, then those that came closest."""

MOST_MARKED = 2


class Sort(Record, frozen=True, kw_only=True):
    """The column that orders the nodes, and in which direction."""

    key: str = RANK
    reverse: bool = False


class Moment(Record, frozen=True, kw_only=True):
    """Edits, and what the replay with them came to."""

    edits: tuple[Edit, ...]
    explanation: Explanation


class View(Record, frozen=True, kw_only=True):
    """One pod's decision, as it is looked at."""

    base: Explanation
    """Without any edit."""

    present: Moment
    past: tuple[Moment, ...] = ()
    future: tuple[Moment, ...] = ()
    filter_text: str = ""
    sort: Sort = Sort()
    stage: str | None = None
    """The step of the pipeline to whose nodes the list is narrowed."""

    marked: tuple[str, ...] = ()
    """The nodes marked for a comparison, the older first."""

    @property
    def explanation(self) -> Explanation:
        """With the edits."""
        return self.present.explanation

    @property
    def result(self) -> ScheduleResult:
        """The cycle with the edits."""
        return self.explanation.result

    @property
    def edits(self) -> tuple[Edit, ...]:
        """Edits that are in force, the oldest first."""
        return self.present.edits


def opened(explanation: Explanation) -> View:
    """The view with which a pod is first seen."""
    return View(base=explanation, present=Moment(edits=(), explanation=explanation))


def filtered(view: View, text: str) -> View:
    """Only nodes that the text matches."""
    return replace(view, filter_text=text)


def sorted_by(view: View, key: str) -> View:
    """By that column; a second time in the other direction."""
    return replace(view, sort=Sort(key=key, reverse=view.sort.key == key and not view.sort.reverse))


def reversed_sort(view: View) -> View:
    """By the same column in the other direction."""
    return replace(view, sort=Sort(key=view.sort.key, reverse=not view.sort.reverse))


def narrowed(view: View, stage: str | None) -> View:
    """Only the nodes of that step; None for all."""
    return replace(view, stage=stage)


def marked(view: View, node: str) -> View:
    """The node marked, or no longer; a third mark takes the oldest away."""
    if node in view.marked:
        return replace(view, marked=tuple(name for name in view.marked if name != node))
    return replace(view, marked=(*view.marked, node)[-MOST_MARKED:])


def edited(view: View, edits: tuple[Edit, ...], explanation: Explanation) -> View:
    """With other edits in force, and the result of the replay with them."""
    return replace(
        view, past=(*view.past, view.present), present=Moment(edits=edits, explanation=explanation), future=()
    )


def undone(view: View) -> View:
    """Return the view before the last edit; the present one if there was none."""
    if not view.past:
        return view
    *past, present = view.past
    return replace(view, past=tuple(past), present=present, future=(view.present, *view.future))


def redone(view: View) -> View:
    """Return the view before the last undo; the present one if there was none."""
    if not view.future:
        return view
    present, *future = view.future
    return replace(view, past=(*view.past, view.present), present=present, future=tuple(future))
