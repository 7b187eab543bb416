"""Sentences and tables about the node that the autoscaler would make for a pod, for every output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubectl_sched.api.core import ZONE
from kubectl_sched.node_provisioning.karpenter.provisioner import NO_NODE_POOLS
from kubectl_sched.queries.provisioning.node_pool_verdicts import CREATED, EXISTING, IMPOSSIBLE, IN_FLIGHT, UNKNOWN
from kubectl_sched.render.ages import age
from kubectl_sched.render.table import Column, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.diagnostics.messages.scale_up_text import ScaleUpReason
    from kubectl_sched.queries.provisioning.changing_nodes import StartingNode
    from kubectl_sched.queries.provisioning.karpenter_replay import KarpenterAnswer
    from kubectl_sched.queries.provisioning.new_nodes import NewNodes
    from kubectl_sched.queries.provisioning.node_group_replay import GroupVerdict
    from kubectl_sched.queries.provisioning.node_pool_verdicts import PoolVerdict

_ANSWERS = {CREATED: "yes", EXISTING: "not needed", IN_FLIGHT: "not needed", UNKNOWN: "unknown"}
_NAMES_SHOWN = 3
_REASONS_SHOWN = 2
_ADVICE_SHOWN = 3


def new_nodes_sentences(found: NewNodes) -> Iterator[str]:
    """Yield the verdicts, and if the user asked for it, events, suggestions and the nodes that come and go."""
    yield from verdict_sentences(found)
    if not found.in_full:
        return
    if found.cluster_autoscaler is not None and found.cluster_autoscaler.event:
        yield f"It last said: {'; '.join(map(_event_reason, found.cluster_autoscaler.event))}."
    if found.cluster_autoscaler is not None:
        yield from (f"{each}." for each in found.cluster_autoscaler.balance)
    if found.karpenter is not None and found.karpenter.verdict in {IMPOSSIBLE, UNKNOWN}:
        yield from (f"{each.suggestion}." for each in found.karpenter.node_pools if each.suggestion)
    yield from _about_changing_nodes(found)


def verdict_sentences(found: NewNodes) -> Iterator[str]:
    """Yield the verdict of each autoscaler in one sentence, and a disagreement with kube-scheduler."""
    if found.karpenter is not None:
        yield f"{_verdict(found)}{_how_often(found.karpenter)}."
        yield from (f"{each.sentence}." for each in found.karpenter.advice[:_ADVICE_SHOWN])
        then = found.karpenter.then_scheduler
        if then is not None and then.outcome != "Schedulable":
            yield (
                f"! kube-scheduler would then refuse that node: {', '.join(then.reasons)}. "
                "Karpenter would go on creating nodes."
            )
    if found.cluster_autoscaler is not None:
        yield f"{groups_verdict(found.cluster_autoscaler.groups)}."
        yield from (f"{each.sentence}." for each in found.cluster_autoscaler.advice[:_ADVICE_SHOWN])


def _about_changing_nodes(found: NewNodes) -> Iterator[str]:
    if found.starting:
        yield f"Starting: {'; '.join(_starting(each, found.now) for each in found.starting)}."
    if found.leaving:
        yield f"About to be removed: {', '.join(found.leaving)}."


def _starting(node: StartingNode, now: str | None) -> str:
    since = age(node.since, now)
    return f"{node.name}, {node.state}" + (f", since {since}" if since is not None else "")


def new_nodes_tables(found: NewNodes) -> Iterator[Table[Any]]:
    """Yield a table of NodePools and one of node groups, each with whether it would give the pod a node."""
    if found.karpenter is not None:
        pools: Table[PoolVerdict] = Table(
            columns=(
                Column(heading="NodePool", cell=lambda each: each.name, kind="name"),
                Column(heading="would it create a node?", cell=_answer, kind="words"),
            ),
            rows=found.karpenter.node_pools,
        )
        yield pools
    if found.cluster_autoscaler is not None:
        groups: Table[GroupVerdict] = Table(
            columns=(
                Column(heading="node group", cell=lambda each: each.name, kind="name"),
                Column(heading="nodes", cell=lambda each: _number(each.size), kind="number"),
                Column(heading="of at most", cell=lambda each: _number(each.max), kind="number"),
                Column(heading="would it add a node?", cell=_answer, kind="words"),
            ),
            rows=found.cluster_autoscaler.groups,
        )
        yield groups


def assumed_sentence(found: NewNodes) -> str:
    """The releases that are replayed, and what is assumed about them."""
    replayed = []
    if found.karpenter is not None:
        replayed.append(f"Karpenter {found.karpenter.version}")
    if found.cluster_autoscaler is not None:
        replayed.append(f"cluster-autoscaler with the filters of kube-scheduler {found.cluster_autoscaler.version}")
    return f"Replayed as {' and '.join(replayed)}. Assumed: {'; '.join(found.assumed)}."


def _answer(each: PoolVerdict | GroupVerdict) -> str:
    return f"{_ANSWERS.get(each.verdict, 'no')}: {each.reason}"


def _number(number: int | None) -> str:
    return "?" if number is None else str(number)


def groups_verdict(groups: Sequence[GroupVerdict]) -> str:
    """One sentence over all groups, with the first reasons of those that refuse."""
    by_verdict: dict[str, list[GroupVerdict]] = {}
    for each in groups:
        by_verdict.setdefault(each.verdict, []).append(each)
    if starting := by_verdict.get(IN_FLIGHT):
        return f"cluster-autoscaler would add no node for it: {_names(starting)} has nodes starting on which it fits"
    if growing := by_verdict.get(CREATED):
        choice = "; which of them is not predicted" if len(growing) > 1 else ""
        return f"cluster-autoscaler would add a node for it to node group {_names(growing)}{choice}"
    by_reason: dict[str, list[GroupVerdict]] = {}
    for each in by_verdict.get(IMPOSSIBLE, ()):
        by_reason.setdefault(each.reason, []).append(each)
    shown = list(by_reason.items())[:_REASONS_SHOWN]
    reasons = "; ".join(f"{_names(refusing, 'and')}: {reason}" for reason, refusing in shown)
    if unknown := by_verdict.get(UNKNOWN):
        told = f" ({reasons})" if reasons else ""
        return f"cluster-autoscaler would add no node to the groups with nodes{told}; {_names(unknown)} is not known"
    more = len(groups) - sum(len(refusing) for _, refusing in shown)
    rest = f"; and {more:,} more {'group' if more == 1 else 'groups'}" if more > 0 else ""
    return f"cluster-autoscaler would add no node for it: {reasons}{rest}"


def _names(groups: Sequence[GroupVerdict], joined: str = "or") -> str:
    names = [each.name for each in groups[:_NAMES_SHOWN]]
    more = len(groups) - len(names)
    if more:
        names.append(f"{more:,} {'other' if more == 1 else 'others'}")
    return f" {joined} ".join(names)


def _event_reason(each: ScaleUpReason) -> str:
    count = "" if each.groups is None else f"{each.groups} {'group' if each.groups == 1 else 'groups'}: "
    return f"{count}{each.reason}"


def _verdict(new_nodes: NewNodes) -> str:
    found = new_nodes.karpenter
    assert found is not None  # noqa: S101 - new_nodes_sentences asks
    if found.verdict == CREATED:
        first, *others = found.instance_types
        more = f" or {len(others)} other{'s' if len(others) != 1 else ''}" if others else ""
        return f"Karpenter would create a node for it from NodePool {found.node_pool}: {first}{more}{_zones(found)}"
    if found.verdict == EXISTING:
        return f"Karpenter would create no node: it expects the pod on {found.node}, which is there"
    if found.verdict == IN_FLIGHT:
        return _in_flight(new_nodes, found)
    if found.verdict == IMPOSSIBLE:
        return f"Karpenter would create no node for it: {_with_unusable(found)}"
    if not found.types_seen:
        return f"It is not known whether Karpenter would create a node for it: {found.error}"
    return f"Karpenter would create no node of the instance types seen here; others are not known: {found.error}"


def _in_flight(new_nodes: NewNodes, found: KarpenterAnswer) -> str:
    if found.error:
        return f"Karpenter would create no node now: {found.error}"
    node = next((each for each in new_nodes.starting if each.name == found.node), None)
    since = age(node.since, new_nodes.now) if node is not None else None
    state = f", {node.state}" if node is not None else ""
    how_long = f" since {since}" if since is not None else ""
    return f"Karpenter would create no node: a node for it is starting{how_long}: {found.node}{state}"


def _how_often(found: KarpenterAnswer) -> str:
    """Say how often this is the outcome, where Karpenter leaves it to chance."""
    if found.agreeing == found.replays:
        return ""
    return f" (in {found.agreeing} of {found.replays} replays: Karpenter leaves it to chance)"


def _with_unusable(found: KarpenterAnswer) -> str:
    """Karpenter's error, with what the NodePools lack if it can use none."""
    if found.error != NO_NODE_POOLS:
        return found.error
    pools = [f"NodePool {each.name}: {each.reason}" for each in found.node_pools[:_NAMES_SHOWN]]
    return "; ".join((found.error, *pools))


def _zones(found: KarpenterAnswer) -> str:
    zones = next(
        (each["values"] for each in found.requirements if each["key"] == ZONE and each["operator"] == "In"), ()
    )
    return f", in {' or '.join(zones)}" if zones else ""
