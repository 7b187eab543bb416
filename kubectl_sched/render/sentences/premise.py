"""The premise of an answer about a cluster that is not there: the edits that it supposes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.render.safe_text import listed, safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kubectl_sched.simulation.node_edits import Edit

_DONE: Final[Mapping[str, str]] = {
    "--drain": "drained",
    "--remove-node": "removed",
    "--cordon": "cordoned",
    "--uncordon": "uncordoned",
}


def nodes_in_words(names: Sequence[str]) -> str:
    """Return `n1`, or `these 3 nodes (n1, n2 and n3)`."""
    return safe(names[0]) if len(names) == 1 else f"these {len(names):,} nodes ({listed(names)})"


def premise(edits: Iterable[Edit]) -> str:
    """Return `if n1 and n2 were drained and 3 of n4 added`, empty without edits."""
    done: dict[str, list[str]] = {}
    for edit in edits:
        what, how = _in_words(edit.flag, edit.value)
        done.setdefault(how, []).append(what)
    clauses = [
        f"{listed(what)}{'' if position else ' were'} {how}" for position, (how, what) in enumerate(done.items())
    ]
    return f"if {listed(clauses, len(clauses))}" if clauses else ""


def _in_words(flag: str, value: str) -> tuple[str, str]:
    """Return what is edited, and how."""
    if flag in _DONE:
        return value, _DONE[flag]
    first, _, rest = value.partition("=")
    if flag == "--add-nodes":
        return f"{first} of {rest}", "added"
    return _node_and_mark(value, *(("tainted", "the taint") if flag == "--taint" else ("labelled", "the label")))


def _node_and_mark(value: str, done: str, noun: str) -> tuple[str, str]:
    """Return `n1`, `tainted a=b:NoSchedule`, or what is taken off; NODE may be a selector in parentheses."""
    node, parenthesis, rest = value.rpartition(")=") if value.startswith("(") else value.partition("=")
    node = f"{node})" if parenthesis == ")=" else node
    return node, f"without {noun} {rest.removesuffix('-')}" if rest.endswith("-") else f"{done} {rest}"
