"""Keeps only those parts of a scheduler's message that are reasons of kube-scheduler itself.

A reason is kept as far as its places hold names and amounts. A plugin that is not in-tree, an extender or a server may
have said anything else.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from kubectl_sched.diagnostics.messages.decoder import Clause, parse
from kubectl_sched.diagnostics.messages.reason_catalogue import PREEMPTION, open_places
from kubectl_sched.diagnostics.messages.scale_up_text import is_autoscalers_own, scale_up_reasons
from kubectl_sched.lazy_pattern import pattern

if TYPE_CHECKING:
    from collections.abc import Iterable

_ANOTHER: Final = "another reason"
_UNKNOWN_PLACE: Final = "(left out)"
_MOST: Final = 8192
"""The length, in characters, up to which a message is read; kube-scheduler's events have 1,024."""

_LONGEST_REASON: Final = 1024
_DEEPEST: Final = 4
_NAMES: Final = pattern(r"[\w./:-]{0,253}(?:, ?[\w./:-]{1,253})*", re.ASCII)
_NAMES_IN_BRACKETS: Final = pattern(r"[\w./:-]{0,253}(?:,? [\w./:-]{1,253})*", re.ASCII)
_BETWEEN: Final = pattern(r"(?:\d+/\d+ nodes are available|(?:pod group )?preemption|[\d\s,.:;])*", re.ASCII)


def own_reasons(text: str) -> str:
    """Return the message without what is no reason of kube-scheduler or cluster-autoscaler; empty if none is."""
    text = text[:_MOST]
    scale_up = scale_up_reasons(text)
    if scale_up:
        said = ((each.groups, _scale_up_reason(each.reason)) for each in scale_up)
        return f"pod didn't trigger scale-up: {_joined(said)}"
    found = parse(text)
    if found.total is None:
        known = [kept for clause in found.clauses if (kept := _kept(clause))]
        return "; ".join(dict.fromkeys(known))
    flat = " ".join(text.split())
    start = max(flat.find(f"{found.available}/{found.total} nodes are available"), 0)
    return _with_kept_clauses(flat[start:], found.clauses)


def _with_kept_clauses(text: str, clauses: tuple[Clause, ...]) -> str:
    """Return the text with each clause as it is kept, and between them only what stands between reasons."""
    parts: list[str] = []
    at = 0
    for clause in clauses:
        place = text.find(clause.text, at)
        if place < 0:
            continue
        parts += [_between(text[at:place]), _kept(clause) or ("" if clause.cut else _ANOTHER)]
        at = place + len(clause.text)
    return "".join((*parts, _between(text[at:])))


def _between(text: str) -> str:
    return text if _BETWEEN.fullmatch(text) else ""


def _kept(clause: Clause) -> str:
    return "" if clause.meaning is None else _harmless(clause.text)


def _harmless(reason: str, depth: int = 0) -> str:
    """Return the reason as far as its places hold names, amounts or such reasons; empty if it is none."""
    places = open_places(reason) if len(reason) <= _LONGEST_REASON and depth < _DEEPEST else None
    if places is None:
        return _in_preemption(reason)
    parts: list[str] = []
    at = 0
    for start, end in places:
        inside = reason[start:end]
        names = _NAMES_IN_BRACKETS if reason[:start].endswith("[") else _NAMES
        kept = inside if names.fullmatch(inside) else _harmless(inside, depth + 1) or _UNKNOWN_PLACE
        parts += [reason[at:start], kept]
        at = end
    return "".join((*parts, reason[at:]))


def _in_preemption(reason: str) -> str:
    """Return the reason of DefaultPreemption with its prefix; empty if it has none."""
    said = reason.removeprefix(PREEMPTION)
    kept = _harmless(said) if said != reason else ""
    return f"{PREEMPTION}{kept}" if kept else ""


def _scale_up_reason(reason: str) -> str:
    return reason if is_autoscalers_own(reason) else _harmless(reason) or _ANOTHER


def _joined(counted: Iterable[tuple[int | None, str]]) -> str:
    return ", ".join(reason if groups is None else f"{groups} {reason}" for groups, reason in counted)
