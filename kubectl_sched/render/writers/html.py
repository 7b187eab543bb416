"""Writes the page: one file that needs no network and runs no script but its own."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec
from markupsafe import Markup

from kubectl_sched.diagnostics.podgroup_warnings import podgroup_warnings
from kubectl_sched.record import Record
from kubectl_sched.render.answers.page.answer_view import AnswerView, answer_view
from kubectl_sched.render.answers.page.capacity_view import capacity_view
from kubectl_sched.render.answers.page.make_room_view import plan_view
from kubectl_sched.render.answers.page.node_details import EXAMINED_ALL
from kubectl_sched.render.answers.page.node_section import Room
from kubectl_sched.render.answers.page.what_if_view import what_if_view
from kubectl_sched.render.answers.podgroups import lines, suggested, tables
from kubectl_sched.render.answers.pods import group_name, grouped, in_sum, why
from kubectl_sched.render.safe_text import safe
from kubectl_sched.render.sentences.podgroup_headline import podgroup_headline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jinja2 import Environment

    from kubectl_sched.queries.capacity import Answer as CapacityAnswer
    from kubectl_sched.queries.explain import Answer
    from kubectl_sched.queries.make_room import Answer as PlanAnswer
    from kubectl_sched.queries.podgroups import PodGroupAnswer
    from kubectl_sched.render.display import Display
    from kubectl_sched.render.table import Table
    from kubectl_sched.scheduler.podgroup_result import PodGroupResult
    from kubectl_sched.simulation.what_if_result import WhatIfResult

_ROWS = 10_000
"""The number of rows that all tables of a page have together, so that a browser opens it at once."""

_LEAST_ROWS = 20

_WORDS_OF_A_NAME = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Group(Record, frozen=True, kw_only=True):
    """Pods of one owner with the same answer: a line of the index, and the first one's part of the page."""

    name: str
    outcome: str
    why: str
    pods: tuple[str, ...]
    answer: AnswerView


def explanation_page(answer: Answer, display: Display, supposed: str = "") -> str:
    """Return one pod in full, or several after an index. `supposed` names the edits that the one pod is shown with."""
    notes = tuple(dict.fromkeys((*answer.notes, *answer.warnings)))
    if answer.is_about_one_pod:
        view = answer_view(answer.explanations[0], _room(1, display), node=display.node)
        return _rendered("one.html.jinja", answer=view, notes=notes, supposed=supposed)
    groups = grouped(answer.explanations)
    room = _room(len(groups), display)
    index = [
        Group(
            name=group_name(group),
            outcome=group[0].result.outcome.value,
            why=why(group[0]),
            pods=tuple(each.pod.key for each in group),
            answer=answer_view(group[0], room, node=display.node),
        )
        for group in groups
    ]
    return _rendered(
        "several.html.jinja",
        groups=index,
        nothing=answer.nothing,
        sentence=in_sum(answer.explanations, answer.together),
        notes=notes,
    )


def what_if_html(answer: WhatIfResult, version: str, warnings: Sequence[str]) -> str:
    """Return the page of a what-if: where the pods go, and why the first that does not fit does not."""
    view = what_if_view(answer, version, warnings, Room(rows=_ROWS, details=EXAMINED_ALL))
    return _rendered("what_if.html.jinja", view=view)


def capacity_html(answer: CapacityAnswer) -> str:
    """Return the page about capacity, with a heat map of each pool's nodes."""
    return _rendered("capacity.html.jinja", view=capacity_view(answer, _ROWS))


def plan_html(answer: PlanAnswer) -> str:
    """Return the page of a plan that makes room."""
    return _rendered("make_room.html.jinja", view=plan_view(answer))


def podgroup_html(answer: PodGroupAnswer) -> str:
    """Return the page about groups: members, topology domains and the condition of each."""
    warnings = (each for result in answer.results for each in podgroup_warnings(result))
    notes = tuple(dict.fromkeys((*warnings, *answer.notes, *answer.warnings)))
    groups = tuple(map(podgroup_view, answer.results))
    return _rendered("podgroup.html.jinja", groups=groups, suggested=tuple(suggested(answer)), notes=notes)


def _room(parts: int, display: Display) -> Room:
    """Of what there is room for, each part of the page has its share."""
    share = Room(rows=max(_LEAST_ROWS, _ROWS // max(parts, 1)), details=max(_LEAST_ROWS, EXAMINED_ALL // max(parts, 1)))
    return Room(rows=share.rows, details=share.rows) if display.evidence else share


def _rendered(template: str, **content: Any) -> str:
    return _environment().get_template(template).render(content)


@cache
def _environment() -> Environment:
    """Everything is escaped, and what a terminal would not show as it is, is shown as its code."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader(__package__)
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_visible,
    )
    environment.filters.update(json=as_json, words=_breakable, lines=_in_lines)
    for name in ("page.css", "page.js"):
        text = _as_markup(loader.get_source(environment, name)[0])
        kind = name.removeprefix("page.")
        environment.globals |= {kind: text, f"{kind}_hash": source_hash(str(text))}
    return environment


def _visible(value: Any) -> Any:
    """Text with its control and format characters shown; markup is our own."""
    return safe(value) if type(value) is str else value


def _as_markup(text: str) -> Markup:
    from markupsafe import Markup

    return Markup(text)  # noqa: S704 - our own file


def _in_lines(text: str) -> Markup:
    """Text that keeps its lines, as a command may have several."""
    from markupsafe import Markup, escape

    return Markup("\n").join(escape(safe(line)) for line in text.split("\n"))


def _breakable(name: str) -> Markup:
    """The name of a plugin, which may break between its words."""
    from markupsafe import Markup, escape

    return Markup("<wbr>").join(escape(safe(part)) for part in _WORDS_OF_A_NAME.split(name))


_ESCAPES = str.maketrans({character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"})
"""Characters that could end a script element or a line of JavaScript. Inside JSON they stand only in strings."""


def as_json(data: Any) -> Markup:
    """The data as JSON that may stand in a `<script type="application/json">`."""
    return Markup(msgspec.json.encode(data).decode().translate(_ESCAPES))  # noqa: S704 - nothing in it ends the element


def source_hash(text: str) -> str:
    """Return the hash by which a Content-Security-Policy allows an inline script or style sheet of this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


class PodGroupView(Record, frozen=True, kw_only=True):
    """One group's part of the page."""

    name: str
    sentence: str
    version: str
    tables: tuple[tuple[str, Table[Any]], ...]
    lines: tuple[str, ...]


def podgroup_view(result: PodGroupResult) -> PodGroupView:
    """Return the view of one group."""
    return PodGroupView(
        name=result.info.group.key,
        sentence=f"{podgroup_headline(result)}.",
        version=result.kubernetes_version,
        tables=tuple(tables(result, in_full=True)),
        lines=tuple(lines(result)),
    )
