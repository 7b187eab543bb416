"""The answer of `drain`: what happens to each pod of the nodes, why, and the commands that carry it out."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kubectl_sched.queries.drain import BLOCKED, FINISHES, NOTHING, PENDING, UNKNOWN
from kubectl_sched.queries.verdict.wording import without_domain
from kubectl_sched.record import Record
from kubectl_sched.render.document import Commands, Document, Listing, Quote, Said, Sentence, Verdict, notes_of
from kubectl_sched.render.kubectl_names import pod_name
from kubectl_sched.render.safe_text import count, listed, safe
from kubectl_sched.render.sentences.premise import nodes_in_words
from kubectl_sched.render.show import Shown
from kubectl_sched.render.table import Column, Table
from kubectl_sched.safe_output import API_VERSION
from kubectl_sched.scheduler.result import UNKNOWN_EXIT_CODE
from kubectl_sched.shell_commands import cordon_node, drain_nodes
from kubectl_sched.simulation.queue_simulation import owner_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.queries.drain import DrainAnswer
    from kubectl_sched.queries.unreadable_kinds import UnreadableKind
    from kubectl_sched.render.display import Display
    from kubectl_sched.render.schemas import common
    from kubectl_sched.render.schemas import drain as schema
    from kubectl_sched.simulation.drain_plan import Affected, Blocked, DrainPlan
    from kubectl_sched.simulation.placements import Placement

_MOVES_SHOWN = 20
_BADGES = {
    BLOCKED: "would not finish",
    PENDING: "pods would be pending",
    UNKNOWN: "unknown",
    FINISHES: "would finish",
    NOTHING: "no pod has to go",
}


def shown_drain(answer: DrainAnswer) -> Shown:
    """Return the plan in each form."""
    return Shown(
        document=lambda display: drain_document(answer, display),
        data=lambda: {"apiVersion": API_VERSION, "kind": "Drain", **drain_data(answer), "warnings": list(answer.notes)},
        names=lambda: (f"pod/{each.pod.name}" for each in answer.plan.moves),
        remarks=lambda: (drain_verdict(answer), *drain_changing(answer), *answer.notes),
    )


def drain_exit_code(answer: DrainAnswer) -> int:
    """Return 0 if it finishes and all that moves has a node, 1 if not, 3 if that is known not to be known.

    A list of mixed kinds does not tell whether a kind is missing: kube-scheduler's outcome without it counts.
    """
    if answer.outcome == UNKNOWN and any(each.is_known for each in answer.unreadable):
        return UNKNOWN_EXIT_CODE
    return 1 if answer.outcome in {BLOCKED, PENDING, UNKNOWN} else 0


def drain_document(answer: DrainAnswer, display: Display) -> Document:
    """Return the plan: its premise and verdict, a line for each pod that goes, and the commands."""
    return Document(
        verdict=drain_headline(answer),
        parts=(*drain_parts(answer, display), *_commands(answer)),
        notes=notes_of(drain_changing(answer), answer.notes),
        facts=(("Replayed as", f"kube-scheduler {answer.kubernetes_patch or answer.kubernetes_version}"),),
        nodes=answer.plan.after.names,
        heading="Drain",
        command="drain",
    )


def drain_headline(answer: DrainAnswer) -> Verdict:
    """Return the first line, with its tone."""
    tones = {FINISHES: "" if answer.plan.lost else "good", NOTHING: "good", UNKNOWN: ""}
    return Verdict(text=drain_verdict(answer), tone=tones.get(answer.outcome, "bad"), badge=_BADGES[answer.outcome])


def drain_changing(answer: DrainAnswer) -> tuple[str, ...]:
    """Return what was not read and may change the plan."""
    return (*answer.limits, *(each.sentence for each in answer.unreadable))


def drain_verdict(answer: DrainAnswer) -> str:
    """Return the premise and the verdict, with how many pods move, are blocked, are lost."""
    plan = answer.plan
    premise = f"If {without_domain(nodes_in_words(plan.nodes), plan.after.names)} were drained"
    are_several = len(plan.nodes) > 1
    if answer.outcome == NOTHING and plan.are_cordoned:
        return f"{premise}: nothing to do: {'they are' if are_several else 'it is'} cordoned, and no pod has to go."
    if answer.outcome == NOTHING:
        return f"{premise}, {'they' if are_several else 'it'} would only be cordoned: no pod has to go."
    numbers = ", ".join(_numbers(plan))
    if answer.outcome == BLOCKED:
        return f"{premise}, the drain would not finish: {numbers}."
    if answer.outcome == UNKNOWN:
        return f"{premise}, nobody can say whether {_what_is_open(answer)}: {numbers}."
    if answer.outcome == PENDING:
        return (
            f"{premise}, the drain would finish, but {count(len(plan.pending), 'pod')} would have no node: {numbers}."
        )
    return f"{premise}, the drain would finish: {numbers}."


def _what_is_open(answer: DrainAnswer) -> str:
    if answer.are_budgets_unread:
        return "the drain would finish, as no budget was read"
    return f"all its pods would have a node, as {safe(answer.plan.unread[0].reason or '')}"


def _numbers(plan: DrainPlan) -> Iterator[str]:
    """Yield how many pods move, are blocked, have no node, are not known, are lost, lose data."""
    moves = len(plan.moves)
    yield f"{count(moves, 'pod')} {'moves' if moves == 1 else 'move'}"
    yield f"{len(plan.blocked):,} blocked"
    if plan.pending:
        yield f"{len(plan.pending):,} pending"
    if plan.unread:
        yield f"{len(plan.unread):,} not known"
    again = {each.pod.key for each in plan.placements}
    gone = [each for each in plan.lost if each.pod.key not in again]
    yield f"{len(gone):,} lost"
    if len(plan.lost) > len(gone):
        yield f"{len(plan.lost) - len(gone):,} without data of its node"


class _Row(Record, frozen=True, kw_only=True):
    pod: Pod
    then: str
    tone: str
    why: str


def drain_parts(answer: DrainAnswer, display: Display) -> Iterator[Said]:
    """Yield a row for each pod that goes or is blocked, then what stays, waits, and what autoscalers would add."""
    plan = answer.plan
    rows = list(_rows(plan))
    most = len(rows) if display.in_full else max(_MOVES_SHOWN, len(plan.blocked) + len(plan.lost))
    if rows:
        more = len(rows) - most
        yield Listing(
            tables=(_table(rows[:most], with_workload=True), _table(rows[:most], with_workload=False)),
            caption="What happens to each pod",
            more=f"and {count(more, 'more pod')} (-o wide has all)" if more > 0 else "",
            gap=True,
        )
    yield from (Sentence(text=text) for text in _about_stays(plan))
    yield from (Sentence(text=text, gap=True) for text in _about_order(plan))
    yield from (Sentence(text=text, gap=True) for text in _about_autoscalers(answer))
    if plan.pending and plan.pending[0].event:
        text = plan.pending[0].event
        yield Quote(heading=f"kube-scheduler would say of {safe(plan.pending[0].pod.key)}", text=text, gap=True)


def _rows(plan: DrainPlan) -> Iterator[_Row]:
    """Yield blocked pods, lost ones, those without a node, and those that move."""
    for held in plan.blocked:
        yield _Row(pod=held.pod, then="blocked", tone="bad", why=_blocker(held))
    losses = {each.pod.key: each.why for each in plan.lost}
    again = {each.pod.key for each in plan.placements}
    for each in plan.lost:
        if each.pod.key not in again:
            yield _Row(pod=each.pod, then="lost", tone="bad", why=each.why)
    leaving, unread = {pod.key for pod in plan.leaving}, {each.pod.key for each in plan.unread}
    for placed in sorted(plan.placements, key=lambda one: one.is_placed):
        cause = () if placed.pod.key in leaving else ("a moved pod preempts it",)
        loss = (losses[placed.pod.key],) if placed.pod.key in losses else ()
        where = (_lands(placed),) if placed.is_placed else (_waits(placed),)
        then, tone = ("moves", "") if placed.is_placed else ("pending", "bad")
        if placed.pod.key in unread:
            then, tone = "unknown", ""
        yield _Row(pod=placed.pod, then=then, tone=tone, why="; ".join((*where, *cause, *loss)))


def _blocker(held: Blocked) -> str:
    kind, _, name = held.by.partition("/")
    if kind != "PodDisruptionBudget":
        return f"{kind} {name}: {held.why}" if kind == "Finalizer" else held.why
    budget, whose = name.rpartition("/")[2], owner_of(held.pod) or "a bare pod"
    return f"budget {budget} allows {count(held.allowed or 0, 'disruption')} of {whose} ({held.why})"


def _lands(placed: Placement) -> str:
    others = [name for name in placed.tied if name != placed.node]
    tied = f" (tied with {listed(others, 2)})" if others else ""
    return f"to {placed.node}{tied}"


def _waits(placed: Placement) -> str:
    return placed.reason or "it fits on no node" if placed.event else placed.reason or placed.outcome.value


def _table(rows: Sequence[_Row], *, with_workload: bool) -> Table[_Row]:
    workload: Column[_Row] = Column(heading="Workload", cell=lambda row: owner_of(row.pod) or "none")
    return Table(
        columns=(
            Column(heading="Pod", cell=lambda row: row.pod.key, kind="name"),
            Column(heading="Then", cell=lambda row: row.then, tone=lambda row: row.tone),
            Column(heading="Where to, or why", cell=lambda row: safe(row.why)),
            *((workload,) if with_workload else ()),
        ),
        rows=rows,
    )


def _about_stays(plan: DrainPlan) -> Iterator[str]:
    if plan.stays:
        stay = "stays" if len(plan.stays) == 1 else "stay"
        why = listed(list(dict.fromkeys(each.why for each in plan.stays)), 6)
        yield f"{count(len(plan.stays), 'pod')} {stay} ({why})."


def _about_order(plan: DrainPlan) -> Iterator[str]:
    """Yield the rounds, where budgets do not let all pods go at once."""
    if len(plan.rounds) > 1:
        first = listed([pod.key for pod in plan.rounds[0]], 4)
        yield (
            f"Budgets let them go in {len(plan.rounds):,} rounds, the next once the moved pods are ready: "
            f"first {first}; last {listed([pod.key for pod in plan.rounds[-1]], 4)}."
        )


def _about_autoscalers(answer: DrainAnswer) -> Iterator[str]:
    if answer.new_nodes:
        kinds = Counter((each.instance_type, each.node_pool) for each in answer.new_nodes)
        made = [f"{number:,} {kind} of NodePool {pool}" for (kind, pool), number in kinds.items()]
        yield f"For the pending pods Karpenter would make {listed(made)}."
    if answer.node_groups is not None:
        from kubectl_sched.render.sentences.new_nodes_sentences import groups_verdict  # few clusters have it

        yield f"{groups_verdict(answer.node_groups.groups)}."


def drain_commands(answer: DrainAnswer) -> list[str]:
    """Return the commands that carry the drain out; none if it is not known, or a name is none of Kubernetes."""
    plan = answer.plan
    if answer.outcome == UNKNOWN:
        return []
    cordons = [cordon_node(name) for name in plan.nodes]
    if answer.outcome == NOTHING:
        return [] if plan.are_cordoned else [str(each) for each in cordons if each is not None]
    again = {each.pod.key for each in plan.placements}
    command = drain_nodes(
        plan.nodes,
        has_daemons=any(each.pod.is_daemon for each in plan.stays),
        loses_data=any("emptyDir" in each.why for each in plan.lost),
        has_bare=any(each.pod.key not in again for each in plan.lost),
    )
    if command is None or None in cordons:
        return []
    return [*map(str, cordons if answer.outcome == BLOCKED else ()), str(command)]


def _commands(answer: DrainAnswer) -> Iterator[Said]:
    commands = drain_commands(answer)
    if not commands:
        return
    if answer.outcome == BLOCKED:
        yield Sentence(
            text="Unblock what is blocked first; until then kubectl drain waits (--timeout=5m ends that):", gap=True
        )
    else:
        yield Sentence(text="To carry it out:", gap=True)
    yield Commands(commands=tuple(commands))


def drain_data(answer: DrainAnswer) -> schema.DrainPlan:
    """Return the fields of a Drain of the contract."""
    plan = answer.plan
    return {
        "kubernetesVersion": answer.kubernetes_version,
        "kubernetesPatch": answer.kubernetes_patch,
        "nodes": list(plan.nodes),
        "outcome": answer.outcome,
        "verdict": drain_verdict(answer),
        "finishes": answer.finishes,
        "blocked": [{**_affected(each), "by": each.by, "allowed": each.allowed} for each in plan.blocked],
        "lost": [_affected(each) for each in plan.lost],
        "moves": [
            {"pod": pod_name(each.pod), "owner": each.owner, "node": each.node, "tied": list(each.tied)}
            for each in plan.moves
        ],
        "pending": [
            {"pod": pod_name(each.pod), "owner": each.owner, "outcome": each.outcome.value, "event": each.event}
            for each in (*plan.pending, *plan.unread)
        ],
        "stays": [_affected(each) for each in plan.stays],
        "order": [[pod.key for pod in each] for each in plan.rounds],
        "newNodes": [
            {"name": each.node.name, "nodePool": each.node_pool, "instanceType": each.instance_type}
            for each in answer.new_nodes
        ],
        "unreadable": [unreadable_data(each) for each in answer.unreadable],
        "commands": drain_commands(answer),
    }


def _affected(each: Affected | Blocked) -> schema.AffectedPod:
    return {"pod": pod_name(each.pod), "owner": owner_of(each.pod), "why": each.why}


def unreadable_data(kind: UnreadableKind) -> common.UnreadableKind:
    """Return the kind as data."""
    return {"kind": kind.kind, "why": kind.why, "rule": kind.rule, "plugins": list(kind.plugins)}
