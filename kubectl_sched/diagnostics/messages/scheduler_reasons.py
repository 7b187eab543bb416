"""Keeps only those parts of a scheduler's message that are reasons of kube-scheduler itself."""

from __future__ import annotations

from kubectl_sched.diagnostics.messages.decoder import parse

_LEFT_OUT = "another reason"


def own_reasons(text: str) -> str:
    """Return the message without what is no reason of kube-scheduler; empty if none is.

    A plugin that is not in-tree, an extender or a server may have said anything in its place.
    """
    found = parse(text)
    known = [clause.text for clause in found.clauses if clause.meaning is not None]
    if found.total is None:
        return text if known and len(known) == len(found.clauses) and text.startswith(known[0]) else "; ".join(known)
    start = text.find(f"{found.available}/{found.total} nodes are available")
    kept = text[max(start, 0) :]
    for clause in found.clauses:
        if clause.meaning is None and not clause.cut and clause.text:
            kept = kept.replace(clause.text, _LEFT_OUT)
    unknown_end = next((clause.text for clause in found.clauses if clause.meaning is None and clause.cut), "")
    return kept.replace(unknown_end, "") if unknown_end else kept
