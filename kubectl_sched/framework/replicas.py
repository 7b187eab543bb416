"""The help of a plugin where many equal pods get nodes one after the other.

The scheduling cycle calls none of it, and neither does kube-scheduler, which judges each pod from scratch. A plugin
without such help is asked again about everything, or its pods have a whole cycle each. In all of it `pod` is one more
of the pods, `nodes` is the Snapshot, `rows` are row numbers in it, and `state` is the CycleState.
"""

from __future__ import annotations

from abc import abstractmethod
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Hashable

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.status import Status
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Integers, Rows
    from kubectl_sched.snapshot.replica_counts import ReplicaRawScores, ReplicaVerdicts


class DependsOn(Enum):
    """The inputs of a verdict and a raw score of one node, besides the pod and its own PreFilter and PreScore state.

    PreFilter and PreScore of a plugin that does not depend on the CLUSTER look at the pod alone, not at other pods.
    """

    NODE = "the Node object"
    CLAIMS = "the Node object and the pod's claims, whichever other pods there are"
    USAGE_OF_NODE = "the Node object, how many pods are on it and the sums of what they request"
    PODS_OF_NODE = "the Node object and the pods on it, with their claims"
    CLUSTER = "anything"


class ReplicaHelp:
    """The help of a plugin that judges each node by itself."""

    def spare(self, pod: Pod, nodes: Snapshot) -> Integers:  # noqa: ARG002 - for others
        """Return int64[n]: the number of further pods after which the verdict on the node is still the same.

        The number may be too small, but not too large. It is asked of plugins that depend on PODS_OF_NODE, about nodes
        that pass.
        """
        return np.zeros(len(nodes), dtype=np.int64)


class CountingHelp(ReplicaHelp):
    """The help of a plugin whose verdict or raw score on a node depends on pods elsewhere."""

    @abstractmethod
    def verdicts(self, state: CycleState, pod: Pod, nodes: Snapshot) -> ReplicaVerdicts | None:
        """Return counts from which the verdicts for one pod after the other follow; None if `add_pod` has to be called.

        Law: after some of the pods, these pass exactly the nodes that Filter passes after as many calls of `add_pod`.
        """

    @abstractmethod
    def raw_scores(self, state: CycleState, pod: Pod, nodes: Snapshot) -> ReplicaRawScores | None:
        """Return counts from which the raw scores for one pod after the other follow; None if there are none.

        Law: after some of the pods, the raw scores are those that Score gives after as many calls of `pre_score_with`.
        NormalizeScore gives equal raw scores the same points whatever lies between the smallest and the largest.
        There are no counts where PreScore skips, and skips after any number of these pods, too.
        """

    @abstractmethod
    def counts_in_score(self, state: CycleState, pod: Pod, other: Pod) -> bool:
        """Report whether `other` can change a raw score on any node that it comes to; True where in doubt."""

    @abstractmethod
    def pre_score_with(
        self, state: CycleState, pod: Pod, changed: Pod, row: int, nodes: Snapshot, rows: Rows, amount: int
    ) -> Status:
        """Write the state that PreScore would write once `changed` has come to the row's node (1) or left it (-1).

        In `nodes` the pod runs there in both cases. `rows` are the feasible nodes. An amount of 0 changes no count, but
        counts now what Score would otherwise count by itself. Returns SKIP where PreScore would.
        """

    def narrow(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> Hashable:
        """Bring the state that PreScore wrote for more nodes to that for these feasible ones alone.

        Returns what raw scores depend on besides the node: while it is equal, so is the raw score of each node. Law:
        raw scores are then as after PreScore for these rows.
        """
        del state, pod, nodes, rows
        return None


NO_HELP = ReplicaHelp()
