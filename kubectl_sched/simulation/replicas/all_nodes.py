"""All nodes judged again for each pod, by the plugins that count pods: where they cannot be ranked once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.framework.status import passing

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.simulation.replicas.claim_kinds import ClaimKind
    from kubectl_sched.simulation.replicas.own_node import OwnNode
    from kubectl_sched.simulation.replicas.ranking import RankingInputs


class AllNodes:
    """The feasible nodes for one more of the pods, with their totals."""

    def __init__(self, inputs: RankingInputs, kind: ClaimKind | None) -> None:
        self._inputs = inputs
        self._kind = kind
        self._judge()
        self._weigh()

    def _judge(self) -> None:
        inputs = self._inputs
        mask = inputs.passes if self._kind is None else inputs.passes & self._kind.passes
        for each in inputs.filters:
            mask = mask & passing(each.filter(inputs.state, inputs.pod, inputs.cluster.nodes))
        self._mask = mask
        self._rows = mask.nonzero()[0]

    def __len__(self) -> int:
        return len(self._rows)

    def best(self) -> tuple[list[int], int]:
        """Return the places of the nodes tied at the highest total, in name order, and that total."""
        totals, mask, by_name = self._inputs.scores.totals(), self._mask, self._inputs.order.by_name
        if self._kind is not None and self._kind.points is not None:
            totals = totals + self._kind.points
        if by_name is not None:
            totals, mask = totals.take(by_name), mask.take(by_name)
        places = mask.nonzero()[0]
        totals = totals.take(places)
        highest = int(np.maximum.reduce(totals))
        return places[totals == highest].tolist(), highest

    def turn_to(self, kind: ClaimKind | None) -> bool:
        """Judge for claims of this kind, which any may be."""
        self._kind = kind
        if kind is not None:
            self._judge()
            self._weigh()
        return True

    def place(self, pod: Pod, row: int, after: OwnNode) -> bool:
        """Have the plugins that count pods count this one, and judge all nodes again. This is never spent."""
        inputs = self._inputs
        for each in inputs.filters:
            each.add_pod(inputs.state, inputs.pod, pod, row, inputs.cluster.nodes)
        inputs.passes[row] &= after.passes
        inputs.scores.with_requests(row, after.points)
        self._judge()
        inputs.scores.count(pod, row, self._rows)
        self._weigh()
        return True

    def _weigh(self) -> None:
        if len(self._rows) and self._inputs.scores.look_at_others:
            self._inputs.scores.weigh(self._rows)
