"""The extension points, one abstract class each (k8s.io/kube-scheduler/framework/interface.go).

Where upstream asks a plugin about one node at a time, these ask about all of them at once and get a column back. In all
of them `nodes` is the Snapshot, `rows` are row numbers in it, and `state` is the CycleState.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from kubectl_sched.framework.clauses import about_several
from kubectl_sched.framework.status import SUCCESS, Status
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.evidence import Evidence
    from kubectl_sched.framework.handle import Handle
    from kubectl_sched.framework.podgroup_info import (
        GroupCycle,
        Placement,
        PodGroupInfo,
        PodGroupPostFilterResult,
        ProposedAssignment,
    )
    from kubectl_sched.framework.preemption_choice import Candidate, Choice
    from kubectl_sched.framework.reserved_object import Reservation
    from kubectl_sched.framework.status import NodeToStatus
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Floats, Integers, Rows
    from kubectl_sched.snapshot.column import NodeNumbers
    from kubectl_sched.snapshot.replica_counts import ReplicaRawScores, ReplicaVerdicts

_ROWS_COMPARED = 32
"""Of how many nodes `summarize` asks for evidence to find the closest."""


class DependsOn(Enum):
    """The inputs of a verdict and a raw score of one node, besides the pod and its own PreFilter and PreScore state.

    PreFilter and PreScore of a plugin that does not depend on the CLUSTER look at the pod alone, not at other pods.
    """

    NODE = "the Node object"
    CLAIMS = "the Node object and the pod's claims, whichever other pods there are"
    USAGE_OF_NODE = "the Node object, how many pods are on it and the sums of what they request"
    PODS_OF_NODE = "the Node object and the pods on it, with their claims"
    CLUSTER = "anything"


class Plugin(ABC):
    """Any plugin; `name` is upstream's."""

    name: ClassVar[str]
    depends_on: ClassVar[DependsOn] = DependsOn.CLUSTER

    def __init__(self, *_: object) -> None:  # noqa: B027 - enough for a plugin without settings
        """Take the arguments of the plugin and the Handle, and keep neither."""


class PreEnqueuePlugin(Plugin):
    """Decides whether a pod may enter the active queue at all."""

    @abstractmethod
    def pre_enqueue(self, pod: Pod, nodes: Snapshot) -> Status:
        """Success, or why the pod must wait."""


class QueueSortPlugin(Plugin):
    """Orders the pods that wait."""

    @abstractmethod
    def queue_key(self, pod: Pod) -> tuple[int | float | str, ...]:
        """A pod with a smaller key is scheduled earlier."""


class PreFilterResult(Record, frozen=True, kw_only=True):
    """A verdict on the pod as a whole, and the node names to which the search is narrowed (None: all)."""

    status: Status = SUCCESS
    node_names: frozenset[str] | None = None


class PreFilterPlugin(Plugin):
    """Looks at the pod once, before any node."""

    @abstractmethod
    def pre_filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> PreFilterResult:
        """Write what `filter` needs to the state. SKIP as the status leaves this plugin's filter out."""

    def explain_pre_filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> tuple[Evidence, ...]:
        """The evidence behind a rejection of the whole pod; asked only where pre_filter rejected."""
        return ()


class PreFilterExtensions(Plugin):
    """For plugins whose verdict on one node depends on pods elsewhere.

    Both write a new PreFilter state into `state`, which the runtime has cloned. Law: the state is then the same as a
    pre_filter over the changed cluster would write.
    """

    @abstractmethod
    def add_pod(self, state: CycleState, pod: Pod, added: Pod, row: int, nodes: Snapshot) -> None:
        """`added` is taken to run on the row's node, too; `nodes` is the snapshot that numbers the row."""

    @abstractmethod
    def concerns(self, state: CycleState, pod: Pod, other: Pod) -> bool:
        """Report whether `other` can change the state at all, on whatever node it comes or goes; True where in doubt.

        Its namespace, labels, affinity and volumes alone decide.
        """

    @abstractmethod
    def remove_pod(self, state: CycleState, pod: Pod, removed: Pod, row: int, nodes: Snapshot) -> None:
        """`removed` is taken not to run on the row's node."""

    def verdict_key(self, state: CycleState, pod: Pod, nodes: Snapshot) -> Hashable:
        """The inputs of all verdicts besides the pod and the Node objects; None if they are not known.

        Law: while it is equal, and not None, Filter gives every node the same verdict.
        """
        return None

    def replica_verdicts(self, state: CycleState, pod: Pod, nodes: Snapshot) -> ReplicaVerdicts | None:
        """The verdicts for pods equal to this one, which follow each other; None if `add_pod` has to be called.

        Law: after some of them it passes the nodes that Filter passes after `add_pod` of the same.
        """
        return None


class FilterPlugin(Plugin):
    """Rejects the nodes that cannot take the pod."""

    @abstractmethod
    def filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> NodeToStatus:
        """One Status a row, this plugin alone. Law: filter(all)[i] == filter(take([i]))[0]."""

    @abstractmethod
    def explain_filter(self, state: CycleState, pod: Pod, nodes: Snapshot, row: int) -> tuple[Evidence, ...]:
        """The evidence behind this plugin's rejection of one node. Law: there is some exactly when filter rejects."""

    def spare(self, pod: Pod, nodes: Snapshot) -> Integers:
        """int64[n]: so many more pods with as much as this one leave the verdict on the node as it is, at the least.

        Asked of plugins that depend on PODS_OF_NODE, about nodes that pass.
        """
        return np.zeros(len(nodes), dtype=np.int64)

    def shortfall(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> Floats:
        """float64[len(rows)]: how far each of these rejected nodes is from passing, 0 (almost) to 1; a cheap guess."""
        return np.ones(len(rows), dtype=np.float64)

    def summarize(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> str:
        """A clause about these nodes, all of which this plugin rejects, its subject being how many they are.

        `are outside pool=gpu`; `lack nvidia.com/gpu: it wants 4, the freest, gpu-7, has 2`. The verb stands in the
        plural. Unless a plugin has better words: what the evidence says where it says the same of all, else `fail X;
        the closest, n1, ` and the first evidence of the node that came closest, among some of the nodes.
        """
        some = rows[:: max(1, len(rows) // _ROWS_COMPARED)][:_ROWS_COMPARED]
        told = [(row, self.explain_filter(state, pod, nodes, int(row))) for row in some]
        told = [(row, evidence) for row, evidence in told if evidence]
        if not told:
            return f"fail {self.name}"
        if len({evidence[0].text for _, evidence in told}) == 1:
            same = told[0][1][0].text
            return about_several(same) or f"fail {self.name}: {same}"
        row, evidence = min(told, key=lambda each: min(fact.distance for fact in each[1]))
        return f"fail {self.name}; the closest, {nodes.names[row]}, {evidence[0].text}"

    def summarize_reason(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows, reason: str) -> str:
        """Return the clause about nodes that this plugin rejects for one reason; a plugin of several may tell more."""
        del reason
        return self.summarize(state, pod, nodes, rows)


class PostFilterResult(Record, frozen=True, kw_only=True):
    """The outcome of a PostFilter plugin: a status and, if preemption helps, the node and its victims.

    `dry_run` has the words for every node: why preemption helps there or not. `None` as the nominated node means that
    nothing is said of it, an empty string that an earlier nomination is to be cleared.
    """

    status: Status
    nominated_node: str | None = None
    victims: tuple[Pod, ...] = ()
    dry_run: NodeToStatus | None = None
    candidates: tuple[Candidate, ...] = ()
    choice: Choice | None = None
    notes: tuple[str, ...] = ()


class PluginsRunner(Protocol):
    """The parts of the runtime that a PostFilter plugin calls to dry-run other plugins."""

    handle: Handle

    def run_filters(self, state: CycleState, pod: Pod, nodes: Snapshot) -> NodeToStatus:
        """Return the first rejection of each node."""

    def run_filters_with_nominated_pods(
        self, state: CycleState, pod: Pod, nodes: Snapshot, verdict: NodeToStatus
    ) -> NodeToStatus:
        """Return `verdict`, with the nodes rejected that the pod does not fit on beside the pods nominated there."""

    def add_pod(self, state: CycleState, pod: Pod, added: Pod, row: int, nodes: Snapshot) -> None:
        """Call every PreFilterExtensions.add_pod."""

    def remove_pod(self, state: CycleState, pod: Pod, removed: Pod, row: int, nodes: Snapshot) -> None:
        """Call every PreFilterExtensions.remove_pod."""

    def counts_other_pods(self, state: CycleState) -> bool:
        """Report whether any plugin of this cycle keeps a state that other pods change."""

    def concerns_other_nodes(self, state: CycleState, pod: Pod, other: Pod) -> bool:
        """Report whether `other` can change a verdict on another node than its own."""


class PostFilterPlugin(Plugin):
    """Runs when no node fits."""

    @abstractmethod
    def post_filter(
        self, state: CycleState, pod: Pod, nodes: Snapshot, statuses: NodeToStatus, framework: PluginsRunner
    ) -> PostFilterResult:
        """Try to make the pod schedulable; `statuses` is the verdict on each node."""


class PodGroupPostFilterPlugin(Plugin):
    """Runs when a group does not fit as a whole."""

    @abstractmethod
    def pod_group_post_filter(
        self, info: PodGroupInfo, nodes: Snapshot, framework: PluginsRunner, cycle: GroupCycle
    ) -> PodGroupPostFilterResult:
        """Try to make the group schedulable."""


class PreScorePlugin(Plugin):
    """Prepares scoring, knowing which nodes are feasible."""

    @abstractmethod
    def pre_score(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> Status:
        """Write what `score` needs to the state. SKIP leaves this plugin's score out. `rows` are the feasible nodes."""


class PreScoreExtensions(Plugin):
    """For plugins whose scores depend on pods elsewhere, as PreFilterExtensions for Filter; upstream has no such thing.

    Law: the state is then worth the same as pre_score over the changed cluster would write.
    """

    @abstractmethod
    def pre_score_with(
        self, state: CycleState, pod: Pod, changed: Pod, row: int, nodes: Snapshot, rows: Rows, amount: int
    ) -> Status:
        """As pre_score, `changed` having come to the row's node since the last time (1), or having left it (-1).

        In `nodes` it runs there either way. An amount of 0 changes nothing, and counts what is otherwise left to Score.
        """

    def score_signature(self, state: CycleState, pod: Pod, nodes: Snapshot) -> Sequence[NodeNumbers] | None:
        """The numbers that tell the raw scores of nodes apart; None if these are not known.

        Law: nodes with equal numbers have equal raw scores, and another pod changes the numbers of its own node alone,
        or how many of them there are. Where none of them are of domains, equal numbers have the same raw score after
        further pods, too, as long as `pre_score_fewer` gives the same key.
        """
        return None

    def rescored_rows(self, state: CycleState, pod: Pod, changed: Pod, row: int, nodes: Snapshot) -> Rows | None:
        """The rows whose raw scores may differ since `changed` came to the row's node; None for any.

        That is while `pre_score_fewer` gives the same key.
        """
        return None

    def replica_raw_scores(self, state: CycleState, pod: Pod, nodes: Snapshot) -> ReplicaRawScores | None:
        """The raw scores for pods equal to this one, which follow each other; None if pre_score_with has to be called.

        Law: after some of them they are those that Score gives after pre_score_with of the same. There are no counts
        where PreScore skips and still does after any number of these pods.
        """
        return None


class ScorePlugin(Plugin):
    """Gives each feasible node points."""

    @abstractmethod
    def score(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> Integers:
        """int64[len(rows)]: raw scores. Raises PluginError where upstream returns one."""

    def normalize_score(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows, scores: Integers) -> Integers:
        """int64[len(rows)]: the scores brought to 0..100. Upstream's ScoreExtensions; without them nothing changes."""
        return scores

    def normalizes_by_value(self, state: CycleState, nodes: Snapshot) -> bool:
        """Report whether the smallest, the largest and the own raw score decide what a node's score is brought to.

        Law: normalize_score then gives a value the same points among whichever others lie between these two, however
        many there are, and no pod that comes to a node changes that.
        """
        return False

    def pre_score_fewer(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> Hashable:
        """Bring what pre_score wrote for more feasible nodes to what it would write for these rows alone.

        Gives what raw scores depend on besides the node: where it is equal, so is each node's raw score. Here that is
        nothing, as no raw score depends on which other nodes are feasible. Law: then scores are as after pre_score.
        """
        return None

    @abstractmethod
    def explain_score(self, state: CycleState, pod: Pod, nodes: Snapshot, row: int) -> tuple[Evidence, ...]:
        """Return the evidence behind this plugin's raw score on one feasible node."""


class BindingAction(Record, frozen=True, kw_only=True, rename="camel"):
    """One thing that the end of the cycle would do, in words: `bind claim data to volume pv-7`."""

    extension_point: str
    plugin: str
    action: str


class BindingCyclePlugin(Plugin):
    """Takes part in Reserve, Permit, PreBind, Bind or PostBind."""

    @abstractmethod
    def binding_actions(self, state: CycleState, pod: Pod, nodes: Snapshot, row: int) -> tuple[BindingAction, ...]:
        """Return the actions for the pod on that node, in the order of the extension points."""

    def reserve(
        self, state: CycleState, pod: Pod, nodes: Snapshot, row: int, now: str | None = None
    ) -> tuple[Reservation, ...]:
        """The objects that Reserve sets aside and PreBind writes for the pod on that node, in the order of the writes.

        `now` is the time that goes into what is written (RFC 3339, UTC, whole seconds); None leaves it out.
        """
        return ()


class PermitPlugin(Plugin):
    """Lets a pod that has its node wait for others; asked in the cycle of a group up to 1.36."""

    @abstractmethod
    def permit(self, pod: Pod, nodes: Snapshot, scheduled: int) -> Status:
        """Success or WAIT; `scheduled` is how many members of the pod's group have a node, this one counted."""


class PlacementGeneratePlugin(Plugin):
    """Makes the sets of nodes that a group is tried on."""

    @abstractmethod
    def generate_placements(self, info: PodGroupInfo, nodes: Snapshot, within: Placement) -> tuple[Placement, ...]:
        """Return the candidates inside a placement in name order; raise PluginError where upstream returns an error."""


class PlacementFeasiblePlugin(Plugin):
    """Reports whether a group can still meet its policy, since 1.37."""

    @abstractmethod
    def placement_feasible(self, info: PodGroupInfo, scheduled: int, remaining: int) -> Status:
        """Success, WAIT while it depends on the remaining members, or UNSCHEDULABLE."""


class PlacementScorePlugin(Plugin):
    """Gives each feasible placement of a group points."""

    @abstractmethod
    def score_placement(
        self, info: PodGroupInfo, placement: Placement, assignments: Sequence[ProposedAssignment], nodes: Snapshot
    ) -> int:
        """Return the raw score; `nodes` is the cluster without the members that are being placed."""

    def normalize_placement_scores(self, scores: Integers) -> Integers:
        """int64[len(placements)]: the scores brought to 0..100. Nothing changes by default."""
        return scores
