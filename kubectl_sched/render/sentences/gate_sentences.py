"""Sentences about gates and queues: the controller that holds a pod back, and its own words about that."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from kubectl_sched.record import Record
from kubectl_sched.render.safe_text import listed, safe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.diagnostics.gates.gate import Gate, Owner, Queue, Quota, Statement
    from kubectl_sched.queries.explanation import Explanation

_TELLING = (
    ("BlockedOnPreemptionGates", "True"),
    ("QuotaReserved", "False"),
    ("Evicted", "True"),
    ("Admitted", "False"),
    ("Unschedulable", "True"),
    ("UnschedulableOnNodePool", "True"),
    ("clusterName", ""),
)
"""The conditions and fields that say why pods wait, the one that says most first."""

_CHECK = "AdmissionCheck "


class Holder(Record, frozen=True, kw_only=True):
    """One controller that holds a pod back, and the gates that it has to lift."""

    gate: Gate
    names: tuple[str, ...]


def holders(gates: Sequence[Gate]) -> tuple[Holder, ...]:
    """Return each controller once, with all its gates; a gate of nobody known stands for itself."""
    found: dict[str, tuple[Gate, list[str]]] = {}
    for gate in gates:
        key = f"{gate.owner.controller} {gate.owner.about}" if gate.owner is not None else f"gate {gate.gate}"
        found.setdefault(key, (gate, []))[1].extend([gate.gate] if gate.gate is not None else [])
    return tuple(Holder(gate=gate, names=tuple(names)) for gate, names in found.values())


def held_by(holder: Holder) -> str:
    """`Kueue holds it back (gate kueue.x-k8s.io/admission) as Workload ml/train in LocalQueue q of ClusterQueue c`."""
    gate = holder.gate
    gates = f"gate{'s' if len(holder.names) > 1 else ''} {listed(holder.names)}" if holder.names else ""
    if gate.owner is None:
        since = f" since {safe(gate.since)}" if gate.since else ""
        return f"{gates} holds it back{since}{_set_by(gate)}"
    if not holder.names and gate.queue is None:
        return f"it belongs to {_of_whom(gate.owner)}"
    named = f" as {safe(gate.owner.about)}" if gate.owner.name else ""
    said = f"{gate.owner.controller} holds it back{f' ({gates})' if gates else ''}{named}"
    return f"{said}{_in_queue(gate.queue)}" if gate.queue is not None else said


def _of_whom(owner: Owner) -> str:
    """`PodGroup ml/g of Volcano`, `JobSet ml/g`."""
    if owner.kind == owner.controller:
        return safe(owner.about)
    return f"{safe(owner.about)} of {owner.controller}" if owner.name else owner.controller


def _set_by(gate: Gate) -> str:
    if gate.set_by is None:
        return ""
    at = f" (last write {safe(gate.set_by.time)})" if gate.set_by.time else ""
    return f"; {safe(gate.set_by.manager)} set it{at}"


def _in_queue(queue: Queue) -> str:
    parts = (
        ("LocalQueue", queue.local_queue),
        ("ClusterQueue", queue.cluster_queue),
        *(("cohort", name) for name in queue.cohorts),
    )
    said = " of ".join(f"{kind} {safe(name)}" for kind, name in parts if name)
    return f" in {said}" if said else ""


def first_reason(gate: Gate) -> str:
    """Return what is stopped or missing, and the statements that say most; empty if there is none."""
    return "; ".join((*map(safe, gate.facts), *map(statement_words, main_statements(gate))))


def main_statements(gate: Gate) -> tuple[Statement, ...]:
    """Return the statement that says most of why the pod waits, and that of its eviction."""
    checks = [each for each in gate.says if each.type.startswith(_CHECK) and each.status != "Ready"]
    told = [each for known in _TELLING for each in gate.says if (each.type, each.status) == known]
    found = (*checks, *told) if _has_quota(gate) else (*told, *checks)
    return tuple(dict.fromkeys((*found[:1], *(each for each in told if each.type == "Evicted"))))


def _has_quota(gate: Gate) -> bool:
    return any((each.type, each.status) == ("QuotaReserved", "True") for each in gate.says)


def statement_words(statement: Statement) -> str:
    """`QuotaReserved is False (Pending) since 2026-06-01T00:00:00Z: "insufficient quota ..."`."""
    is_what = f" is {statement.status}" if statement.status else ""
    meaning = f": {statement.says}" if statement.says else ""
    reason = f" ({statement.reason}{meaning})" if statement.reason else ""
    since = f" since {statement.since}" if statement.since else ""
    message = f': "{statement.message}"' if statement.message else ""
    return safe(f"{statement.type}{is_what}{reason}{since}{message}")


def gate_lines(gates: Sequence[Gate]) -> Iterator[str]:
    """Yield the lines below the sentence: statements, the place in the queue, and quotas, first if none is reserved."""
    for holder in holders(gates):
        gate = holder.gate
        is_in_headline = bool(holder.names or gate.queue is not None)
        if not is_in_headline:
            words = held_by(holder)
            yield f"{words[:1].upper()}{words[1:]}{''.join(f'; {safe(fact)}' for fact in gate.facts)}."
        said = main_statements(gate) if is_in_headline else ()
        others = (f"{safe(each.about)}: {statement_words(each)}" for each in gate.says if each not in said)
        queue = _queue_lines(gate.queue) if gate.queue is not None else ()
        yield from chain(others, queue) if _has_quota(gate) else chain(queue, others)


def lines_of_jobs(explanations: Sequence[Explanation]) -> Iterator[str]:
    """Yield the same for each suspended Job of a list, whose first column has the sentence."""
    for each in explanations:
        if each.stage is not None and each.stage.name == "NotCreated":
            yield from gate_lines(each.gates)


def _queue_lines(queue: Queue) -> Iterator[str]:
    if queue.place is not None:
        yield f"Its place: {queue.place.local_queue} in the LocalQueue, {queue.place.cluster_queue} in the ClusterQueue"
    elif queue.created is not None:
        pending = f", workloads waiting in the ClusterQueue: {queue.pending}" if queue.pending is not None else ""
        others = f", others in the LocalQueue: {listed(queue.waiting)}" if queue.waiting else ""
        yield f"Its priority: {queue.priority or 0}, made {safe(queue.created)}{pending}{others}"
    yield from (f"Quota of {safe(queue.cluster_queue or '')}: {_quota(each)}" for each in queue.quotas)
    yield from (f"Quota of cohort {safe(queue.cohorts[-1])}: {_quota(each)}" for each in queue.cohort_quotas)


def _quota(quota: Quota) -> str:
    amounts = (
        ("nominal", quota.nominal),
        ("reserved", quota.reserved),
        ("used", quota.used),
        ("borrowed", quota.borrowed),
        ("borrowing limit", quota.borrowing_limit),
        ("lending limit", quota.lending_limit),
        ("wanted", quota.wanted),
    )
    said = ", ".join(f"{name} {amount}" for name, amount in amounts if amount is not None)
    return safe(f"flavor {quota.flavor}, {quota.resource}: {said}")
