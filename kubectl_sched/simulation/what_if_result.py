"""The result of a what-if."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.record import Record

if TYPE_CHECKING:
    from kubectl_sched.api.core import Node
    from kubectl_sched.simulation.placements import Simulated
    from kubectl_sched.simulation.rollout import RolledOut


class MadeNode(Record, frozen=True, kw_only=True):
    """A node that an autoscaler would make."""

    node: Node
    node_pool: str
    instance_type: str


class WhatIfResult(Record, frozen=True, kw_only=True):
    """The placements, the rollouts among them, and how many more nodes it takes.

    `nodes_needed` is None also where no number of such nodes is enough; `interrupted` says that not all was tried.
    """

    simulated: Simulated
    rollouts: tuple[RolledOut, ...] = ()
    nodes_needed: int | None = None
    new_nodes: tuple[MadeNode, ...] = ()
    """The nodes that Karpenter would make for what does not fit, if that was asked."""

    warnings: tuple[str, ...] = ()
    interrupted: bool = False
