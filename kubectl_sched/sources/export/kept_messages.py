"""The messages that a snapshot keeps: texts of known controllers, whose only variable parts are names and amounts."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kubectl_sched.lazy_pattern import pattern

if TYPE_CHECKING:
    from collections.abc import Iterable

LEFT_OUT: Final = "message left out"
"""Stands for a message that is none of the known texts."""

_REST_LEFT_OUT: Final = "(left out)"
_MOST: Final = 32_768
"""The length, in characters, up to which a message is read, as the API server accepts it in a condition."""

_TABLE: Final = Path(__file__).with_name("kept_messages.txt")
_PLACE: Final = pattern(r"\{([a-z -]+)\}")
_NAME: Final = r"/?[A-Za-z0-9][\w./@-]*"
_AMOUNT: Final = r"-?[0-9][0-9.]*[A-Za-z]{0,2}"
_LIST: Final = rf"{_NAME}(?:,? {_NAME})*"
_MORE: Final = rf"(?:, {_AMOUNT} more needed)?"
_OF_FLAVOR: Final = rf"for {_NAME} in flavor {_NAME}"
_QUOTA: Final = (
    rf"(?:insufficient unused quota (?:in cohort )?{_OF_FLAVOR}{_MORE}"
    rf"|insufficient quota {_OF_FLAVOR}(?: in ClusterQueue)?"
    rf"(?:, (?:previously considered podsets requests \({_AMOUNT}\) \+ current podset request \({_AMOUNT}\)|request)"
    rf" > maximum capacity \({_AMOUNT}(?: > {_AMOUNT})?\))?"
    rf"|borrowing limit {_OF_FLAVOR} exceeded"
    rf"|flavor {_NAME} (?:not found|doesn't match node affinity)"
    rf"|resource {_NAME} unavailable in ClusterQueue)"
)
_TASKS: Final = r"(?:\w+: )?\d+ \w+"
_LIMIT: Final = rf"{_NAME}(?: for: {_NAME}(?:,{_NAME})*)?"
_PLACES: Final = {
    "name": _NAME,
    "names": _LIST,
    "image": r"[A-Za-z0-9][\w./:@-]*",
    "taint": r"[A-Za-z0-9][\w./=:-]*",
    "word": r"[A-Za-z]+",
    "number": r"-?\d+",
    "quantity": _AMOUNT,
    "duration": r"[\d.hmsnuµ]+",
    "amounts": rf"{_NAME}={_AMOUNT}(?:,{_NAME}={_AMOUNT})*",
    "states": r"[A-Za-z]+=[A-Za-z]+(?:, [A-Za-z]+=[A-Za-z]+)*",
    "limits": rf"{_LIMIT}(?:[;,] ?{_LIMIT})*",
    "created": r"(?:Error creating: )?",
    "scale-ups": r"\{[\w./:-]+ \d+->\d+ \(max: \d+\)\}(?: \{[\w./:-]+ \d+->\d+ \(max: \d+\)\})*",
    "task counts": rf"{_TASKS}(?:[,;] {_TASKS})*\.?",
    "quota reasons": rf"{_QUOTA}(?:[,;] {_QUOTA})*",
    "predicate": r"node\(s\) (?:didn't match Pod's node affinity/selector|didn't match the requested node name"
    r"|didn't have free ports for the requested pod ports|had untolerated taint\(s\)|were unschedulable)",
    "preemption reason": r"(?:prioritization in the ClusterQueue|reclamation within the cohort(?: while borrowing)?"
    r"|fair sharing within the cohort)",
}
"""The expression of each placeholder of the table, but for `{rest}`."""


def kept_message(source: str, text: str) -> str:
    """Return a message as far as it is a known text of its source: a kind, or `Event:` and the event's reason."""
    if not text:
        return ""
    known = _expression(source)
    found = known.fullmatch(text) if known is not None and len(text) <= _MOST else None
    if found is None:
        return LEFT_OUT
    return text if found[1] is not None else f"{found[2]}{_REST_LEFT_OUT}"


@cache
def _expression(source: str) -> Any:
    """Compile the templates of a source for RE2, which takes linear time: first whole texts, then beginnings."""
    import re2

    templates = templates_by_source().get(source)
    if templates is None:
        return None
    whole = _any_of(template for template in templates if not template.endswith("{rest}"))
    begun = _any_of(template.removesuffix("{rest}") for template in templates if template.endswith("{rest}"))
    options = re2.Options()
    options.max_mem = 1 << 28
    options.longest_match = False
    return re2.compile(rf"({whole})|({begun})(?s:.*)", options)


def _any_of(templates: Iterable[str]) -> str:
    """Return one expression for all templates; the longer of two that begin alike goes first. Without any: none."""
    return "|".join(map(_as_expression, sorted(templates, key=len, reverse=True))) or r"[^\x00-\x{10FFFF}]"


def _as_expression(template: str) -> str:
    import re2

    parts: list[str] = []
    at = 0
    for place in _PLACE.finditer(template):
        parts += [re2.escape(template[at : place.start()]), f"(?:{_PLACES[place[1]]})"]
        at = place.end()
    return "".join((*parts, re2.escape(template[at:])))


@cache
def templates_by_source() -> dict[str, tuple[str, ...]]:
    """Read the table: the templates by source."""
    found: dict[str, tuple[str, ...]] = {}
    sources: list[str] = []
    for line in _TABLE.read_text("utf-8").splitlines():
        if line.startswith("[") and line.endswith("]"):
            sources = line[1:-1].split()
        elif line and not line.startswith("#"):
            found |= {source: (*found.get(source, ()), line) for source in sources}
    return found
