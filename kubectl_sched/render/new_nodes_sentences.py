"""Sentences and a table about the node that the autoscaler would make for a pod, for every output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.queries.karpenter_replay import CREATED, EXISTING, IMPOSSIBLE, IN_FLIGHT, UNKNOWN
from kubectl_sched.render.table import Column, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.queries.karpenter_replay import KarpenterAnswer, PoolVerdict
    from kubectl_sched.queries.new_nodes import NewNodes

_ANSWERS = {CREATED: "yes", UNKNOWN: "unknown"}
_ZONE = "topology.kubernetes.io/zone"


def new_nodes_sentences(found: NewNodes) -> Iterator[str]:
    """Yield the verdict in one sentence, and the disagreement with kube-scheduler."""
    yield f"{_verdict(found.karpenter)}."
    then = found.karpenter.then_scheduler
    if then is not None and then.outcome != "Schedulable":
        yield (
            f"! kube-scheduler would then refuse that node: {', '.join(then.reasons)}. "
            "Karpenter would go on creating nodes."
        )


def new_nodes_table(found: NewNodes) -> Table[PoolVerdict]:
    """Each NodePool, and whether it would create a node."""
    return Table(
        columns=(
            Column(heading="NodePool", cell=lambda each: each.name, kind="name"),
            Column(
                heading="would it create a node?",
                cell=lambda each: f"{_ANSWERS.get(each.verdict, 'no')}: {each.reason}",
                kind="words",
            ),
        ),
        rows=found.karpenter.node_pools,
    )


def assumed_sentence(found: NewNodes) -> str:
    """The release that is replayed, and what is assumed about it."""
    return f"Replayed as Karpenter {found.karpenter.version}. Assumed: {'; '.join(found.assumed)}."


def _verdict(found: KarpenterAnswer) -> str:
    if found.verdict == CREATED:
        first, *others = found.instance_types
        more = f" or {len(others)} other{'s' if len(others) != 1 else ''}" if others else ""
        return f"Karpenter would create a node for it from NodePool {found.node_pool}: {first}{more}{_zones(found)}"
    if found.verdict in {EXISTING, IN_FLIGHT}:
        state = "is there" if found.verdict == EXISTING else "is starting"
        return f"Karpenter would create no node: it expects the pod on {found.node}, which {state}"
    if found.verdict == IMPOSSIBLE:
        return f"Karpenter would create no node for it: {found.error}"
    return f"Karpenter would create no node of the instance types seen here; others are not known: {found.error}"


def _zones(found: KarpenterAnswer) -> str:
    zones = next(
        (each["values"] for each in found.requirements if each["key"] == _ZONE and each["operator"] == "In"), ()
    )
    return f", in {' or '.join(zones)}" if zones else ""
