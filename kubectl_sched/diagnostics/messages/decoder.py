"""Takes the text of a FailedScheduling event apart, as any kube-scheduler writes it.

The inverse of `framework/fit_error.py`; texts that were copied together with their surroundings (a line of `kubectl
describe`, a log line) and texts that were cut are read as far as they go.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from kubectl_sched.diagnostics.messages.early_texts import early_text, is_early
from kubectl_sched.diagnostics.messages.event_lines import event_lines
from kubectl_sched.diagnostics.messages.reason_catalogue import LONGEST_REASON, Meaning, begins_a_reason, meaning
from kubectl_sched.lazy_pattern import pattern

_HEAD = pattern(r"\b(\d{1,9})/(\d{1,9}) nodes are available(?:: |:|\.|$)")
_COUNTED = pattern(r"(\d{1,9}) (.+)", re.DOTALL)
_BETWEEN = pattern(r",\s+(?=\d{1,9} \S)")
_FAILED_PLUGIN = pattern(
    r'(?:error while )?running "?(?P<plugin>\w+)"? (?:pre)?filter plugin for pod "[^"]*": (?P<reason>.*)',
    re.IGNORECASE | re.DOTALL,
)
_CUT = pattern(r"\s*\.\.\.$")
_PREEMPTION = pattern(r"(?:pod group )?preemption: ")
_QUOTE_ENDS = {'"': pattern(r'\."(?![A-Za-z])'), "'": pattern(r"\.'(?!['A-Za-z])")}
_APOSTROPHE_OF_YAML = pattern(r"(?<=\w)''(?=\w)")
_STOP = pattern(r"(?<!e\.g)\.\s+")
_POST_FILTER = pattern(
    r"(?:[\w ]+, )*(?:pod group )?preemption: |no new claims to deallocate|still not schedulable|plugin disabled|"
    r"de(?:alloca|le)tion (?:and deletion )?of|"
    r"(?:No p|P)reemption |not found|ResourceClaim unreserved"
)

_MOST_STOPS: Final = 16
"""The full stops that one reason may hold. Each is a beginning of the text that is compared as a whole."""


class Clause(NamedTuple):
    """One reason: on how many nodes (None: for the pod as a whole), and whether it is about preempting other pods."""

    text: str
    nodes: int | None
    about_preemption: bool
    meaning: Meaning | None
    cut: bool = False


class FitErrorText(NamedTuple):
    """A decoded message. `total` is the number of nodes, None if the text does not state it, as before 1.9."""

    available: int | None
    total: int | None
    clauses: tuple[Clause, ...]
    cut: bool = False

    @property
    def of_nodes(self) -> tuple[int | None, int | None, frozenset[tuple[str, int | None]]]:
        """The counts of nodes, and the reasons against the nodes or the pod without those about preemption."""
        told = frozenset((each.text, each.nodes) for each in self.clauses if not each.about_preemption)
        return self.available, self.total, told

    @property
    def understood(self) -> bool:
        """Report whether this is a text of a scheduler at all."""
        return self.available is not None or any(clause.meaning for clause in self.clauses)


def parse(text: str) -> FitErrorText:
    """The clauses of a text, those about the pod or its nodes first, then those about preemption."""
    flat = _APOSTROPHE_OF_YAML.sub("'", _last_event(text).rstrip("'\"` "))
    cut = bool(_CUT.search(flat))
    flat = _CUT.sub("", flat)
    head = _HEAD.search(flat)
    early = early_text(flat) if head is None else None
    if early is not None:
        said = tuple(Clause(each.text, each.nodes, False, meaning(each.today)) for each in early.reasons)
        return FitErrorText(0, early.nodes, said, cut)
    if head is None:
        return FitErrorText(None, None, _without_nodes(flat.lstrip("'\"` "), cut=cut), cut)
    reasons, after = _split(_unquoted(flat, head))
    clauses = [
        *_clauses(reasons, about_preemption=False, cut=cut and not after),
        *_post_filter(after, cut=cut),
    ]
    return _as_far_as_it_goes(FitErrorText(int(head[1]), int(head[2]), tuple(clauses), cut), flat)


def _last_event(text: str) -> str:
    """Return the text on one line: of a table of events, as kubectl prints them, the last that tells of nodes.

    Karpenter's events have the reason FailedScheduling, too.
    """
    failed = (event.text for event in reversed(event_lines(text)) if event.reason == "FailedScheduling")
    texts = (*failed, text)
    found = [" ".join(each.split()) for each in texts]
    return next((each for each in found if _HEAD.search(each) or is_early(each)), found[0])


def _as_far_as_it_goes(text: FitErrorText, flat: str) -> FitErrorText:
    """The text, known as cut where it ends in the middle of a reason, as one that was not copied to its end does."""
    last = text.clauses[-1] if text.clauses else None
    if text.cut or last is None or last.meaning is not None or flat.endswith(".") or not begins_a_reason(last.text):
        return text
    return text._replace(clauses=(*text.clauses[:-1], last._replace(cut=True)), cut=True)


def _unquoted(flat: str, head: re.Match[str]) -> str:
    """Return the text after the head, up to the closing quote if a log, JSON or YAML quotes it."""
    body = flat[head.end() :]
    ends = _QUOTE_ENDS.get(flat[head.start() - 1 : head.start()])
    end = ends.search(body) if ends is not None else None
    return body if end is None else body[: end.start() + 1].replace('\\"', '"')


def _split(body: str) -> tuple[str, str]:
    """The reasons, which end with a full stop, and what PostFilter said after them.

    A reason may itself hold a full stop and a blank ("e.g. 'MyValue'"), so what follows must be words of a PostFilter,
    as far as they go.
    """
    for number, stop in enumerate(_STOP.finditer(body)):
        if (
            _POST_FILTER.match(body, stop.end())
            or begins_a_reason(body[stop.end() : stop.end() + LONGEST_REASON])
            or (number < _MOST_STOPS and _is_one_reason(body, stop.start()))
        ):
            return body[: stop.start()], body[stop.end() :]
    return body, ""


def _is_one_reason(body: str, end: int) -> bool:
    """Report whether all of the text up to there is a single reason, with its number of nodes or without."""
    return end <= LONGEST_REASON and meaning(_COUNTED.sub(r"\2", body[:end])) is not None


def _post_filter(text: str, *, cut: bool) -> list[Clause]:
    """`no new claims to deallocate, preemption: 0/3 nodes are available: ...`: what each PostFilter plugin said."""
    if not text:
        return []
    found = _PREEMPTION.search(text)
    before, after = (text[: found.start()], text[found.end() :]) if found else (text, "")
    parts = [part for part in before.split(", ") if part.strip(" .,")]
    clauses = [
        _clause(part, about_preemption=True, cut=cut and not found and number == len(parts))
        for number, part in enumerate(parts, 1)
    ]
    if found:
        head = _HEAD.match(after)
        clauses += _clauses(after[head.end() :] if head else after, about_preemption=True, cut=cut)
    return clauses


def _clauses(text: str, *, about_preemption: bool, cut: bool) -> list[Clause]:
    parts = [part for part in _BETWEEN.split(text.strip()) if part.strip(" .,")]
    return [
        _clause(part, about_preemption=about_preemption, cut=cut and number == len(parts))
        for number, part in enumerate(parts, 1)
    ]


def _clause(text: str, *, about_preemption: bool, cut: bool = False) -> Clause:
    reason = text.strip(" ,")
    counted = _COUNTED.fullmatch(reason)
    count = int(counted[1]) if counted else None
    reason = (counted[2] if counted else reason).strip(" ,")
    reason = reason.rstrip(".")
    known = meaning(reason)
    return Clause(reason, count, about_preemption, known, cut=cut and known is None)


def _without_nodes(text: str, *, cut: bool) -> tuple[Clause, ...]:
    """A whole attempt that failed: `running "VolumeBinding" filter plugin for pod "web": pod has unbound ...`."""
    failed = _FAILED_PLUGIN.search(text)
    if failed is not None:
        known = meaning(failed["reason"].removesuffix("."))
        if known is not None:
            return (Clause(failed["reason"].removesuffix("."), None, False, known),)
    reasons, after = _split(text)
    return (_clause(reasons, about_preemption=False, cut=cut and not after), *_post_filter(after, cut=cut))
