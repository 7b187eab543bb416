"""The answer of `explain node`: why it stays, which pending pods fit there, and who requests it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from kubectl_sched.api.component_helpers.taints import DO_NOT_SCHEDULE
from kubectl_sched.framework.amounts import amount_texts
from kubectl_sched.framework.clauses import agreeing
from kubectl_sched.queries.provisioning.removal_verdict import (
    AUTOSCALER,
    BUDGET,
    HELD,
    KARPENTER,
    NODE,
    POD,
    REMOVABLE,
    ROOM,
    UNKNOWN,
)
from kubectl_sched.queries.verdict.rejections import OF_CONTROLLERS
from kubectl_sched.render.document import Commands, Document, Listing, Quote, Said, Sentence, Verdict, notes_of
from kubectl_sched.render.kubectl_names import pod_name
from kubectl_sched.render.safe_text import count, listed, safe
from kubectl_sched.render.show import Shown
from kubectl_sched.render.table import Column, Table
from kubectl_sched.safe_output import API_VERSION
from kubectl_sched.scheduler.result import UNKNOWN_EXIT_CODE
from kubectl_sched.shell_commands import plan_drain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_sched.queries.node import NodeAnswer, NodeExplanation, PodThere
    from kubectl_sched.queries.provisioning.removal_verdict import Reason
    from kubectl_sched.render.schemas import node as schema
    from kubectl_sched.simulation.placements import Placement

_NAMES = {KARPENTER: "Karpenter", "ClusterAutoscaler": "cluster-autoscaler"}
_FIRST = ("cpu", "memory")
_GROUPS = {
    REMOVABLE: "Could go",
    POD: "Held by a pod that is not moved",
    BUDGET: "Held by a PodDisruptionBudget",
    ROOM: "Held because its pods have no other place",
    AUTOSCALER: "Held by the rules of the autoscaler",
    NODE: "Held by the node itself",
    UNKNOWN: "Not known",
}
"""The captions of nodes in a list, by their verdict or by what holds them first."""


def shown_nodes(answer: NodeAnswer) -> Shown:
    """Return the nodes in each form."""
    return Shown(
        document=lambda _: nodes_document(answer),
        data=lambda: nodes_data(answer),
        names=lambda: (f"node/{each.node.name}" for each in answer.nodes),
        remarks=lambda: (*(f"{each.node.name}: {node_verdict(each)}" for each in answer.nodes), *answer.notes),
    )


def nodes_exit_code(answer: NodeAnswer) -> int:
    """Return 0, or 3 where a kind that the answer rests on is known not to have been read."""
    return UNKNOWN_EXIT_CODE if any(each.is_known for each in answer.unreadable) else 0


def nodes_document(answer: NodeAnswer) -> Document:
    """Return one node in full, or a line for each of several."""
    changing = (*answer.limits, *(each.sentence for each in answer.unreadable))
    facts = (("Replayed as", f"kube-scheduler {answer.kubernetes_patch or answer.kubernetes_version}"),)
    notes = notes_of(changing, answer.notes)
    if answer.is_list:
        parts: tuple[Said, ...] = tuple(_grouped(answer))
        verdict = Verdict(text=_list_verdict(answer))
    else:
        (one,) = answer.nodes
        parts, verdict = tuple(_parts(one)), Verdict(subject=safe(one.node.name), text=f"{node_verdict(one)}.")
    return Document(
        verdict=verdict,
        parts=parts,
        notes=notes,
        facts=facts,
        nodes=answer.names,
        heading="Node",
        command="explain node",
    )


def _list_verdict(answer: NodeAnswer) -> str:
    verdicts = Counter(each.removal.verdict for each in answer.nodes)
    removable, held = verdicts[REMOVABLE], verdicts[HELD]
    unknown = len(answer.nodes) - removable - held
    numbers = f"{removable:,} could go, {held:,} held, {unknown:,} unknown"
    others = len(answer.names) - len(answer.nodes)
    of_all = (
        f"{len(answer.nodes):,} of {count(len(answer.names), 'node')}" if others else count(len(answer.nodes), "node")
    )
    return f"{of_all}: {numbers}; most free first."


def node_verdict(found: NodeExplanation) -> str:
    """Return what keeps all pods away, whether it could go and by what it is held, in a clause."""
    keys = (taint.key for taint in found.node.spec.taints if taint.effect in DO_NOT_SCHEDULE)
    states = [agreeing(1, OF_CONTROLLERS[key]) for key in keys if key in OF_CONTROLLERS]
    if found.node.spec.unschedulable and not states:
        states = ["is cordoned"]
    return "; ".join((*states[:1], _of_removal(found)))


def _of_removal(found: NodeExplanation) -> str:
    removal = found.removal
    if removal.verdict == HELD:
        first, more = removal.reasons[0], len(removal.reasons) - 1
        rest = f"; {count(more, 'more reason')}" if more else ""
        return f"it stays: {_reason(first)}{rest}"
    if removal.verdict != REMOVABLE:
        return f"nobody can say whether it may go: {safe(removal.unknown[0])}"
    may_go = f"{_NAMES[removal.by]} may remove it" if removal.by is not None else "nothing holds it"
    return f"{may_go}: {_moving(found)}"


def _moving(found: NodeExplanation) -> str:
    """Return how many pods would move, and how the autoscaler would go about it."""
    moves = len(found.plan.leaving)
    how = f"{safe(found.removal.how)}; " if found.removal.how and moves else ""
    return f"{how}{count(moves, 'pod') if moves else 'no pod'} would move"


def _reason_in_list(found: NodeExplanation) -> str:
    """Return the verdict without what the caption of its part of the list says."""
    is_free = found.removal.verdict == REMOVABLE and found.removal.by is None
    return _moving(found) if is_free else node_verdict(found)


def _reason(reason: Reason) -> str:
    return f"{safe(reason.pod.key)}: {safe(reason.text)}" if reason.pod is not None else safe(reason.text)


def _parts(found: NodeExplanation) -> Iterator[Said]:
    removal = found.removal
    if removal.by is not None:
        settings = "; ".join(f"{name}: {value}" for name, value in removal.facts)
        yield Sentence(text=f"{_NAMES[removal.by]} owns it ({safe(settings)}).", gap=True)
    else:
        yield Sentence(text="No autoscaler is seen that would remove it.", gap=True)
    if removal.reasons:
        yield Listing(tables=(_reasons_table(found),), caption="What keeps the node", gap=True)
    who = _NAMES.get(removal.by or "", "An autoscaler")
    for reason, message, at in removal.said:
        yield Quote(heading=f"{who} said {safe(reason)} at {safe(at)}", text=message)
    yield from (Sentence(text=f"Not known: {safe(each)}.") for each in removal.unknown)
    if found.plan.placements:
        yield Listing(tables=(_moves_table(found),), caption="Where its pods would land", gap=True)
    yield Listing(tables=(_room_table(found),), caption="What is requested and free", gap=True)
    yield from _about_room(found)
    if len(found.by_namespace) > 1:
        yield Listing(tables=(_namespaces_table(found),), caption="Who requests it", gap=True)
    if found.pending:
        yield Listing(
            tables=(_pods_table(found.pending, "Pending pod"),), caption="Pending pods on this node", gap=True
        )
    if found.elsewhere:
        caption = "Why pods of other nodes are not here"
        yield Listing(tables=(_pods_table(found.elsewhere, "Running pod"),), caption=caption, gap=True)
    command = plan_drain(found.node.name)
    if command is not None:
        yield Sentence(text="What a drain would do:", gap=True)
        yield Commands(commands=(str(command),))


def _about_room(found: NodeExplanation) -> Iterator[Said]:
    if found.deferred:
        yield Sentence(text=f"A resize waits for room here: {listed([pod.key for pod in found.deferred])}.")
    for name, has, offered in found.not_offered:
        why = "reserve them before the kubelet starts" if name.startswith("hugepages-") else "look at its device plugin"
        yield Sentence(text=f"It has {safe(has)} {safe(name)}, of which {safe(offered)} can be requested: {why}.")
    spec = found.node.spec
    taints = [f"{each.key}:{each.effect}" for each in spec.taints]
    if spec.unschedulable or taints:
        named = listed([*(["cordoned"] if spec.unschedulable else []), *taints])
        yield Sentence(text=f"Keeps pods away: {named}.")


def _group(found: NodeExplanation) -> str:
    """Return the verdict that puts a node into its part of the list, or the kind of what holds it first."""
    return found.removal.held_by if found.removal.verdict == HELD else found.removal.verdict


def _grouped(answer: NodeAnswer) -> Iterator[Said]:
    """Yield a table of each kind of verdict: nodes that could go, then those that are held, by what holds them."""
    by_waste = sorted(answer.nodes, key=lambda each: -each.waste)
    for group, caption in _GROUPS.items():
        rows = [each for each in by_waste if _group(each) == group]
        if rows:
            yield Sentence(text=f"{caption} ({len(rows):,}):", gap=True)
            yield Listing(tables=(_nodes_table(rows, answer.names),), caption=caption)


def _nodes_table(rows: Sequence[NodeExplanation], names: Sequence[str]) -> Table[NodeExplanation]:
    return Table(
        columns=(
            Column(heading="Node", cell=lambda each: each.node.name, kind="name", among=names),
            Column(heading="Free (%)", cell=lambda each: f"{each.waste:.0%}".rstrip("%"), kind="number"),
            Column(heading="Why", cell=_reason_in_list),
        ),
        rows=rows,
    )


def _reasons_table(found: NodeExplanation) -> Table[Reason]:
    return Table(
        columns=(
            Column(
                heading="Kept by", cell=lambda each: each.pod.key if each.pod is not None else "the node", kind="name"
            ),
            Column(heading="Why", cell=lambda each: safe(each.text)),
            Column(heading="Workload", cell=lambda each: each.owner or ""),
        ),
        rows=found.removal.reasons,
    )


def _moves_table(found: NodeExplanation) -> Table[Placement]:
    unread = {each.pod.key for each in found.plan.unread}
    return Table(
        columns=(
            Column(heading="Its pod", cell=lambda each: each.pod.key, kind="name"),
            Column(
                heading="Would land on",
                cell=lambda each: each.node or ("not known" if each.pod.key in unread else "no node"),
            ),
            Column(heading="Workload", cell=lambda each: each.owner or "none"),
        ),
        rows=sorted(found.plan.placements, key=lambda each: not each.is_placed),
    )


def _room_table(found: NodeExplanation) -> Table[str]:
    names = [*_FIRST, *sorted(set(found.free) - set(_FIRST))]

    def amount(of: Mapping[str, int], name: str) -> str:
        return amount_texts(name, of.get(name, 0))[0]

    return Table(
        columns=(
            Column(heading="Resource", cell=lambda name: name, kind="name"),
            Column(heading="Allocatable", cell=lambda name: amount(found.allocatable, name), kind="number"),
            Column(heading="Requested", cell=lambda name: amount(found.requested, name), kind="number"),
            Column(heading="Of DaemonSets", cell=lambda name: amount(found.of_daemons, name), kind="number"),
            Column(heading="Free", cell=lambda name: amount(found.free, name), kind="number"),
        ),
        rows=[name for name in names if found.allocatable.get(name)],
    )


def _namespaces_table(found: NodeExplanation) -> Table[str]:
    def amount(namespace: str, resource: str) -> str:
        return amount_texts(resource, found.by_namespace[namespace].get(resource, 0))[0]

    return Table(
        columns=(
            Column(heading="Namespace", cell=lambda name: name, kind="name"),
            Column(heading="Pods", cell=lambda name: str(found.by_namespace[name].get("pods", 0)), kind="number"),
            Column(heading="cpu", cell=lambda name: amount(name, "cpu"), kind="number"),
            Column(heading="memory", cell=lambda name: amount(name, "memory"), kind="number"),
        ),
        rows=sorted(found.by_namespace, key=lambda name: -found.by_namespace[name].get("cpu", 0)),
    )


def _pods_table(pods: Sequence[PodThere], heading: str) -> Table[PodThere]:
    return Table(
        columns=(
            Column(heading=heading, cell=lambda each: each.pod.key, kind="name"),
            Column(heading="Here", cell=lambda each: {True: "fits", False: "no", None: "not known"}[each.fits]),
            Column(heading="Why not", cell=_why_not),
        ),
        rows=sorted(pods, key=lambda each: each.status is not None),
    )


def _why_not(each: PodThere) -> str:
    if each.status is not None:
        return safe(", ".join(each.status.reasons))
    if each.points is None or each.best_points is None or each.points == each.best_points:
        return ""
    return f"{each.points:,} points; {safe(each.best)} has {each.best_points:,}"


def nodes_data(answer: NodeAnswer) -> dict[str, Any]:
    """Return the NodeExplanation of the contract, or a NodeExplanationList."""
    items = [_data(each) for each in answer.nodes]
    version, notes = answer.kubernetes_version, list(answer.notes)
    data: schema.NodeExplanation | schema.NodeExplanationList
    if answer.is_list:
        data = {
            "apiVersion": API_VERSION,
            "kind": "NodeExplanationList",
            "kubernetesVersion": version,
            "kubernetesPatch": answer.kubernetes_patch,
            "items": items,
            "warnings": notes,
        }
        return dict(data)
    data = {
        "apiVersion": API_VERSION,
        "kind": "NodeExplanation",
        **items[0],
        "kubernetesVersion": version,
        "kubernetesPatch": answer.kubernetes_patch,
        "warnings": notes,
    }
    return dict(data)


def _data(found: NodeExplanation) -> schema.NodeAnswer:
    removal = found.removal
    return {
        "node": found.node.name,
        "verdict": node_verdict(found),
        "stays": {
            "by": removal.by,
            "verdict": removal.verdict,
            "heldBy": removal.held_by if removal.verdict == HELD else None,
            "how": removal.how or None,
            "said": [{"reason": reason, "message": message, "at": at} for reason, message, at in removal.said],
            "reasons": [
                {
                    "pod": None if each.pod is None else pod_name(each.pod),
                    "reason": each.text,
                    "owner": each.owner,
                    "kind": each.kind,
                    "said": each.said or None,
                }
                for each in removal.reasons
            ],
            "autoscaler": {
                "settings": [{"name": name, "value": value} for name, value in removal.facts],
                "unknown": list(removal.unknown),
            },
        },
        "holes": {name: _quantity(name, amount) for name, amount in found.free.items()},
        "requested": {name: _quantity(name, amount) for name, amount in found.requested.items()},
        "ofDaemonSets": {name: _quantity(name, amount) for name, amount in found.of_daemons.items()},
        "deferredResizes": [pod_name(pod) for pod in found.deferred],
        "moves": [{"pod": pod_name(each.pod), "node": each.node, "tied": list(each.tied)} for each in found.plan.moves],
        "byNamespace": {
            namespace: {name: _quantity(name, amount) for name, amount in amounts.items()}
            for namespace, amounts in found.by_namespace.items()
        },
        "pending": [_pod_data(each) for each in found.pending],
        "elsewhere": [_pod_data(each) for each in found.elsewhere],
    }


def _pod_data(each: PodThere) -> schema.PodThere:
    return {
        "pod": pod_name(each.pod),
        "fits": each.fits,
        "plugin": None if each.status is None else each.status.plugin,
        "reasons": [] if each.status is None else list(each.status.reasons),
        "points": each.points,
        "best": None if each.best_points is None else {"node": each.best, "points": each.best_points},
    }


def _quantity(resource: str, amount: int) -> str:
    return f"{amount}m" if resource == "cpu" else str(amount)
