"""Sentence parts that several plugins share when they describe their evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kubectl_sched.framework.evidence import Evidence
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Rows

_NAMES_TOLD: Final = 3
_ROWS_COMPARED: Final = 32
_SINGULAR: Final = {
    "are": "is",
    "have": "has",
    "lack": "lacks",
    "pass": "passes",
    "fail": "fails",
    "do": "does",
    "break": "breaks",
    "take": "takes",
    "wait": "waits",
    "want": "wants",
    "need": "needs",
}
_PLURAL: Final = {singular: plural for plural, singular in _SINGULAR.items()}


class OfRequests(str):
    """A clause on what is free by the pods' requests, which their usage does not change."""

    __slots__ = ()


def pods(count: int) -> str:
    """`1 pod`, `2 pods`."""
    return f"{count} pod" if count == 1 else f"{count} pods"


def counted(count: int, clause: str) -> str:
    """A clause about several with their number before it: `2 are full`, `1 is full`."""
    return f"{count:,} {agreeing(count, clause)}"


def agreeing(count: int, clause: str) -> str:
    """A clause about several, its first verb made to agree with how many they are."""
    verb, space, rest = clause.partition(" ")
    return f"{_SINGULAR.get(verb, verb)}{space}{rest}" if count == 1 else clause


def about_several(clause: str) -> str | None:
    """A clause about one node (`has no X`) as one about several (`have no X`); None if it begins otherwise."""
    verb, space, rest = clause.partition(" ")
    return f"{_PLURAL[verb]}{space}{rest}" if verb in _PLURAL else None


def about_closest(plugin: str, nodes: Snapshot, rows: Rows, evidence_of: Callable[[int], Sequence[Evidence]]) -> str:
    """A clause about several nodes: the first fact about each if that is the same, else that about the closest node.

    Some of many nodes are asked for evidence.
    """
    some = rows[:: max(1, len(rows) // _ROWS_COMPARED)][:_ROWS_COMPARED].tolist()
    told = [(row, evidence) for row in some if (evidence := evidence_of(row))]
    if not told:
        return f"fail {plugin}"
    if len({evidence[0].text for _, evidence in told}) == 1:
        same = told[0][1][0].text
        return about_several(same) or f"fail {plugin}: {same}"
    row, evidence = min(told, key=lambda each: min(fact.distance for fact in each[1]))
    return f"fail {plugin}; the closest, {nodes.names[row]}, {evidence[0].text}"


def first_few(names: Sequence[str], most: int = _NAMES_TOLD) -> str:
    """The first few of them: `a`, `a and b`, `a, b, c and 5 more`."""
    told = list(names[:most])
    if len(names) > most:
        return f"{', '.join(told)} and {len(names) - most:,} more"
    return " and ".join(filter(None, (", ".join(told[:-1]), told[-1]))) if told else ""


def missing_key_hints(nodes: Snapshot, key: str) -> tuple[str, ...]:
    """Report whether no node at all carries a topology key, and which key may have been meant."""
    whole = nodes.whole
    if whole.table.has_label(key).any():
        return ()

    from kubectl_sched.framework.confusable_texts import nearest, odd_character

    odd = odd_character(key)
    if odd is not None:
        return (f"no node carries the label `{key}`", odd)

    from kubectl_sched.framework.near_labels import RENAMED_LABELS

    if key in RENAMED_LABELS:
        return (f"no node carries the label `{key}`, which is now `{RENAMED_LABELS[key]}`",)
    meant = nearest(key, whole.table.label_keys)
    suggestion = f"; did you mean `{meant}`?" if meant else ""
    return (f"no node carries the label `{key}`{suggestion}",)
