"""A change of one thing, to the pod, a node or the profile."""

from __future__ import annotations

from enum import Enum, IntEnum, auto
from typing import TYPE_CHECKING, TypeAlias

from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from kubectl_sched.api.core import Node
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.simulation.relocation import Step


class Kind(IntEnum):
    """The kinds of changes, in the order in which they are tried: what touches little, and gives little up, first."""

    WAIT = auto()
    """Nothing to do: it comes by itself."""

    MOVE = auto()
    """Evictions after which every evicted pod lands again."""

    CORRECT = auto()
    """A name or value in the pod that is nearly right."""

    UNGATE = auto()
    UNNAME = auto()
    """Leaving out the name of a node that is not there, so that the scheduler is asked."""

    USE_SCHEDULER = auto()
    """Another schedulerName, where nobody serves the pod's own."""

    REPAIR = auto()
    """A node made fit for pods again, so that a controller takes its taint off."""

    FINISH = auto()
    """Pods that should have ended, brought to their end by whoever holds them."""

    PROVIDE = auto()
    """Something that the pod names and that is not there: a scheduler, a claim."""

    UNCORDON = auto()
    REQUEST_LESS = auto()
    RAISE_MAX_PODS = auto()
    """A kubelet that takes more pods."""

    RESIZE_BACK = auto()
    """A resize of a pod on the node taken back, which waits for room there."""

    PREFER_NODE = auto()
    """A preference of the pod for one node, or more weight for one that it has."""

    ADD_NODE = auto()
    """One more node like one that there is. No command makes a machine."""

    CHANGE_POOL = auto()
    """A NodePool or node group changed so that its autoscaler makes a node."""

    LABEL = auto()
    TOLERATE = auto()
    ALLOW_MORE = auto()
    """One more value for a required label."""

    HONOR_TAINTS = auto()
    """Leaving nodes that the pod cannot use out of a spread constraint."""

    MATCH_REVISION = auto()
    """Counting only pods of the pod's own revision in a spread constraint (matchLabelKeys)."""

    MIN_DOMAINS = auto()
    """Fewer domains that a spread constraint wants at least."""

    RAISE_SKEW = auto()
    SPREAD_SOFTLY = auto()
    MOVE_PORT = auto()
    DROP_PORT = auto()
    SELECT_LESS = auto()
    REQUIRE_SOFTLY = auto()
    """A required affinity or anti-affinity made a preference."""

    PREFER_LESS = auto()
    """One preference or soft constraint of the pod left out."""

    TOLERATE_LESS = auto()
    """A toleration left out, so that nodes with the taint are none for the pod any more."""

    PIN = auto()
    """A nodeSelector for the one node."""

    WEIGH = auto()
    """Another weight for a score plugin, which concerns every pod of the profile."""

    EVICT = auto()
    FREE = auto()
    """Room on a node for what is missing there, where there is nobody to be asked to go."""

    TOLERATE_RESERVED = auto()
    """A toleration for a taint that keeps nodes for pods that ask for a device, which this one does not."""

    UNTAINT = auto()
    PRIORITIZE = auto()


class Rung(Enum):
    """The rungs of the ladder, in their order. The labels are fixed."""

    WAIT = "wait"
    """Something does it by itself."""

    YOURS = "yours"
    """A change of the pod or its workload."""

    MOVE = "move"
    """Evictions after which every pod lands again."""

    PAY = "pay"
    """One more node."""

    ASK = "ask"
    """A change that a cluster administrator makes: of a node, a PriorityClass, a quota or a profile."""

    ENDS = "ends"
    """Pods lose their place."""


_RUNGS: Mapping[Kind, Rung] = {
    Kind.WAIT: Rung.WAIT,
    Kind.MOVE: Rung.MOVE,
    Kind.ADD_NODE: Rung.PAY,
    Kind.CHANGE_POOL: Rung.PAY,
    Kind.REPAIR: Rung.ASK,
    Kind.FINISH: Rung.WAIT,
    Kind.PROVIDE: Rung.ASK,
    Kind.UNCORDON: Rung.ASK,
    Kind.RAISE_MAX_PODS: Rung.ASK,
    Kind.RESIZE_BACK: Rung.ASK,
    Kind.LABEL: Rung.ASK,
    Kind.UNTAINT: Rung.ASK,
    Kind.WEIGH: Rung.ASK,
    Kind.PRIORITIZE: Rung.ASK,
    Kind.EVICT: Rung.ENDS,
    Kind.FREE: Rung.ENDS,
}
"""The kinds of changes that are not made in the pod."""


_ENDING_ANYWAY = frozenset({Kind.WAIT, Kind.FINISH})
"""The kinds of changes whose pods are being deleted already."""


class Change(Record, frozen=True, kw_only=True):
    """One thing to change, in words that follow `it would fit on w1`.

    At most one of `pod`, `node`, `adds`, `frees`, `evicts`, `resizes`, `moves` and `weight` is set. Commands are
    derived from what is replayed.
    """

    kind: Kind
    text: str
    step: str = ""
    """The change as something to do, `ask for 4 cpu instead of 8`; "" for what comes by itself and what is stated."""

    pod: Callable[[Pod], Pod] | None = None
    """Makes the changed pod of the pod."""

    node_name: str | None = None
    node: Callable[[Node], Node] | None = None
    """Makes the changed node of the node called `node_name`."""

    adds: tuple[tuple[Node, tuple[Pod, ...]], ...] = ()
    """Nodes that are added, each with the pods of its DaemonSets."""

    frees: tuple[tuple[str, int], ...] = ()
    """Resources that are freed on the node and their amounts, in the scheduler's whole units. No pods are named."""

    evicts: tuple[Pod, ...] = ()
    resizes: tuple[tuple[Pod, Pod], ...] = ()
    """Other pods before and after a resize."""

    moves: tuple[Step, ...] = ()
    """The steps of a plan after which every evicted pod lands again."""

    weight: tuple[str, int] | None = None
    """A score plugin and its weight."""

    caution: str | None = None
    """The loss, if the change weakens something."""

    cost: tuple[float, ...] = ()
    """The amount that it touches, to be compared with others of its kind."""

    @property
    def ends(self) -> tuple[Pod, ...]:
        """Pods that go by the change, not those that are ending anyway."""
        return () if self.kind in _ENDING_ANYWAY else self.evicts

    @property
    def rung(self) -> Rung:
        """The rung of the ladder that the change stands on."""
        return _RUNGS.get(self.kind, Rung.YOURS)

    @property
    def touches(self) -> tuple[Kind, tuple[float, ...], str]:
        """Sorts changes: the one that touches less first."""
        return self.kind, self.cost, self.text


Way: TypeAlias = tuple[Change, ...]
"""Changes that are made together."""


def distinct(changes: Iterable[Change]) -> Way:
    """Each change once, in their order; two of the same words are the same change."""
    return tuple({change.text: change for change in changes}.values())
