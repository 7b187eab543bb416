"""The extension points, one abstract class each (k8s.io/kube-scheduler/framework/interface.go).

Where upstream asks a plugin about one node at a time, these ask about all of them at once and get a column back. In all
of them `nodes` is the Snapshot, `rows` are row numbers in it, and `state` is the CycleState.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from kubectl_sched.framework.clauses import about_closest
from kubectl_sched.framework.replicas import NO_HELP, DependsOn, ReplicaHelp
from kubectl_sched.framework.status import SUCCESS, NodeToStatus, Status
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.evidence import Evidence
    from kubectl_sched.framework.handle import Handle
    from kubectl_sched.framework.podgroup_info import (
        GroupCycle,
        Placement,
        PlacementProgress,
        PodGroupInfo,
        PodGroupPostFilterResult,
        ProposedAssignment,
    )
    from kubectl_sched.framework.preemption_choice import Candidate, Choice
    from kubectl_sched.framework.reserved_object import Reservation
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Floats, Integers, Rows


class Plugin(ABC):
    """Any plugin; `name` is upstream's."""

    name: ClassVar[str]
    depends_on: ClassVar[DependsOn] = DependsOn.CLUSTER

    def __init__(self, *_: object) -> None:  # noqa: B027 - enough for a plugin without settings
        """Take the arguments of the plugin and the Handle, and keep neither."""

    @property
    def replica_help(self) -> ReplicaHelp:
        """Help with many equal pods, which the scheduling cycle never asks for."""
        return NO_HELP


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

    Law: both write the PreFilter state, into a clone, that a pre_filter over the changed cluster would write.
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


class FilterPlugin(Plugin):
    """Rejects the nodes that cannot take the pod."""

    @abstractmethod
    def filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> NodeToStatus:
        """One Status a row, this plugin alone. Law: filter(all)[i] == filter(take([i]))[0]."""

    @abstractmethod
    def explain_filter(self, state: CycleState, pod: Pod, nodes: Snapshot, row: int) -> tuple[Evidence, ...]:
        """The evidence behind this plugin's rejection of one node. Law: there is some exactly when filter rejects."""

    def shortfall(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> Floats:
        """float64[len(rows)]: how far each of these rejected nodes is from passing, 0 (almost) to 1; a cheap guess."""
        return np.ones(len(rows), dtype=np.float64)

    def summarize(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> str:
        """Return the clause that follows the number of these rejected nodes: `are not in pool=gpu`."""
        return about_closest(self.name, nodes, rows, lambda row: self.explain_filter(state, pod, nodes, row))

    def summarize_reason(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows, reason: str) -> str:
        """Return the clause about nodes that this plugin rejects for one reason; a plugin of several may tell more."""
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

    def is_enabled(self, plugin: str, extension_point: str) -> bool:
        """Report whether the profile has the plugin at this point."""

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


class ScorePlugin(Plugin):
    """Gives each feasible node points."""

    @abstractmethod
    def score(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> Integers:
        """int64[len(rows)]: raw scores. Raises PluginError where upstream returns one."""

    def normalize_score(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows, scores: Integers) -> Integers:
        """int64[len(rows)]: the scores brought to 0..100. Upstream's ScoreExtensions; by default nothing changes.

        Law: equal scores get the same points whatever lies between the smallest and the largest (but see CountingHelp).
        """
        return scores

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
    def placement_feasible(self, info: PodGroupInfo, progress: PlacementProgress) -> Status:
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
