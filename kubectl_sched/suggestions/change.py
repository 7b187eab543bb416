"""A change of one thing, to the pod, a node or the profile, and what a replay says it would do."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - the JSON Schema is made from the types
from enum import Enum, IntEnum, auto
from typing import TYPE_CHECKING, Any, TypeAlias

from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kubectl_sched.api.core import Node
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.shell_commands import ShellCommand
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

    At most one of `pod`, `node`, `adds`, `frees`, `evicts`, `resizes`, `moves` and `weight` is set: what the pod
    becomes, what the node of that name becomes, copies of it that are added with their DaemonSets' pods, how much is
    freed on it, the pods that go, other pods before and after a resize, the steps of a plan after which they land
    again, or a score plugin and its weight. Commands are derived from what is replayed.
    """

    kind: Kind
    text: str
    step: str = ""
    """The change as something to do, `ask for 4 cpu instead of 8`; "" for what comes by itself and what is stated."""

    pod: Callable[[Pod], Pod] | None = None
    node_name: str | None = None
    node: Callable[[Node], Node] | None = None
    adds: tuple[tuple[Node, tuple[Pod, ...]], ...] = ()
    frees: tuple[tuple[str, int], ...] = ()
    """Resources and amounts, in the scheduler's whole units; by whose going, is left open."""

    evicts: tuple[Pod, ...] = ()
    resizes: tuple[tuple[Pod, Pod], ...] = ()
    moves: tuple[Step, ...] = ()
    weight: tuple[str, int] | None = None
    caution: str | None = None
    """The loss, if the change weakens something."""

    cost: tuple[float, ...] = ()
    """The amount that it touches, to be compared with others of its kind."""

    @property
    def ends(self) -> tuple[Pod, ...]:
        """Pods that go by the change, not those that are ending anyway."""
        return () if self.kind in _ENDING_ANYWAY else self.evicts

    @property
    def touches(self) -> tuple[Kind, tuple[float, ...], str]:
        """Sorts changes: the one that touches less first."""
        return self.kind, self.cost, self.text


Way: TypeAlias = tuple[Change, ...]
"""Changes that are made together."""


def distinct(changes: Iterable[Change]) -> Way:
    """Each change once, in their order; two of the same words are the same change."""
    return tuple({change.text: change for change in changes}.values())


_NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five"}


class Patch(Record, frozen=True, kw_only=True):
    """A change of one stored object: a strategic merge patch, as `kubectl patch` takes it."""

    kind: str
    namespace: str
    name: str
    patch: Mapping[str, Any]


class Manual(Record, frozen=True, kw_only=True):
    """A change that no command makes: a sentence without its full stop, and the text that goes into a file."""

    instruction: str
    document: str = ""


class Loss(Record, frozen=True, kw_only=True):
    """Something that no controller brings back, and whose: `namespace/name`."""

    pod: str
    why: str


class Scope(IntEnum):
    """The reach of a suggestion, from the narrowest to the widest."""

    POD = auto()
    WORKLOAD = auto()
    """All pods of the workload that made this one."""

    NODE = auto()
    CLUSTER = auto()


class Promise(Enum):
    """The result that the replay with the changes showed for the node."""

    FITS = "Fits"
    """The pod fits there; another node may be better."""

    WINS = "Wins"
    TIES = "Ties"
    """It has the highest total, and so have others."""

    PREEMPTS = "Preempts"
    """The pod would be nominated to it, and the victims evicted."""

    STATED = "Stated"
    """Nothing was replayed: the sentence names the fact that it rests on, or the autoscaler was."""


_RUNG_ORDER = list(Rung)


class Suggestion(Record, frozen=True, kw_only=True):
    """Changes that were replayed together, and what came of it."""

    changes: Way
    commands: tuple[ShellCommand, ...]
    manual: tuple[Manual, ...]
    patches: tuple[Patch, ...]
    """The changes that commands make, without evictions, weights and what is freed."""

    promise: Promise
    node: str
    """The node that was asked about, else the one where the pod would land (the first by name of the tied)."""

    nodes: tuple[str, ...]
    """The nodes on which the pod would land: all that are tied at the highest total, sorted."""

    feasible_count: int
    """On how many nodes it would fit."""

    scope: Scope
    recreates_pods: bool
    """Pods are deleted and re-created."""

    victims: tuple[str, ...] = ()
    """The pods that preemption would evict, as `namespace/name`."""

    ends: tuple[str, ...] = ()
    """All pods that lose their place, as `namespace/name`, whether or not they find another."""

    lost: tuple[Loss, ...] = ()
    aftermath: tuple[str, ...] = ()
    """Clauses about the pods that lose their place: who re-creates them and where, who forbids it, whom to ask."""

    asked: bool = False
    """The question was about this node, not about any."""

    stays_on: str | None = None
    """The node that the pod runs on, where the changes do not have it re-created."""

    is_outdone: bool = False
    """A change of one thing is suggested besides."""

    @property
    def rung(self) -> str:
        """Return the label of the lowest rung among the changes: the one that risks the most."""
        rungs = (_RUNGS.get(change.kind, Rung.YOURS) for change in self.changes)
        return max(rungs, key=_RUNG_ORDER.index).value

    @property
    def caution(self) -> str | None:
        """The things that the changes give up, if any."""
        cautions = dict.fromkeys(change.caution for change in self.changes if change.caution)
        if self.stays_on is not None:
            cautions[f"it stays on {self.stays_on} until it is re-created"] = None
        cautions.update(dict.fromkeys(self.aftermath))
        return "; ".join(cautions) or None

    @property
    def to_paste(self) -> str:
        """All commands, a line each."""
        return "\n".join(map(str, self.commands))

    @property
    def text(self) -> str:
        """The sentence, with the pods that it reaches and what it gives up in brackets."""
        how = ", ".join(change.text for change in self.changes[:-1])
        how = f"{how} and {self.changes[-1].text}" if how else self.changes[-1].text
        told = "; ".join(filter(None, (self._reach, self.caution)))
        caution = f" ({told})" if told else ""
        though = f", though {_few(self.nodes)} would still win" if self.asked and self.promise is Promise.FITS else ""
        alone = ""
        if self.promise is Promise.STATED:
            return f"{'Nothing to do: ' if self.comes_by_itself else ''}{how}{caution}."
        if self.promise is Promise.PREEMPTS and not self.comes_by_itself:
            who = _few(self.victims)
            return f"{how[:1].upper()}{how[1:]} it would preempt {who} on {self.node}{caution}."
        if len(self.changes) > 1:
            number = _NUMBERS.get(len(self.changes), str(len(self.changes)))
            alone = (
                f"These {number} together help: "
                if self.is_outdone
                else (f"No change of one thing helps; these {number} together do: ")
            )
        if self.comes_by_itself:
            alone = "Nothing to do: "
        where = self._where if not alone else self._where.replace("It ", "it ", 1)
        return f"{alone}{where} {how}{though}{caution}.".replace("  ", " ")

    @property
    def advice(self) -> str:
        """The rung of a ladder: what to do, what that gives, and in brackets what it reaches and gives up."""
        if self.comes_by_itself or self.promise is Promise.STATED or not all(change.step for change in self.changes):
            return self.text.removeprefix("Nothing to do: ").rstrip(".")
        steps = " and ".join(change.step for change in self.changes)
        told = "; ".join(filter(None, (self._made_anew, self.caution)))
        gain = ": fits there" if self._gain == f": fits on {self.node}" and self.node in steps.split() else self._gain
        return f"{steps}{gain}{f' ({told})' if told else ''}"

    @property
    def _gain(self) -> str:
        if self.promise is Promise.PREEMPTS:
            return f": preempts {_few(self.victims)} on {self.node}"
        if self.adds_nodes:
            return ""
        if self.asked and self.promise is Promise.TIES:
            return f": may land on {self.node}, tied with {_few([name for name in self.nodes if name != self.node])}"
        if self.asked and self.promise is Promise.WINS:
            return f": lands on {self.node}"
        if self.asked:
            return f": fits on {self.node}, though {_few(self.nodes)} would still win"
        return f": fits on {self.node if self.feasible_count == 1 else f'{self.feasible_count:,} nodes'}"

    @property
    def _made_anew(self) -> str | None:
        """The pods that are re-created, or the replicas that change; None if the step names all that changes."""
        again = self.recreates_pods and self.stays_on is None and not any(change.ends for change in self.changes)
        if self.scope is Scope.WORKLOAD:
            return "re-creates all pods of its workload" if again else "for all pods of its workload"
        return ("re-creates the pod" if self.scope is Scope.POD else "re-creates pods") if again else None

    @property
    def adds_nodes(self) -> bool:
        """Report whether nodes are added."""
        return any(change.adds for change in self.changes)

    @property
    def comes_by_itself(self) -> bool:
        """Report whether there is nothing to do but wait."""
        return all(change.kind is Kind.WAIT for change in self.changes)

    @property
    def _reach(self) -> str | None:
        """The replicas that change, and whether pods are re-created; None if the sentence names all that changes."""
        if self.comes_by_itself:
            return None
        again = self.recreates_pods and self.stays_on is None and not any(change.ends for change in self.changes)
        if self.scope is Scope.WORKLOAD:
            return f"for all its replicas{', which are re-created' if again else ''}"
        return f"{'the pod is' if self.scope is Scope.POD else 'pods are'} re-created" if again else None

    @property
    def _where(self) -> str:
        if self.promise is Promise.PREEMPTS:
            return ""
        if self.adds_nodes:
            return "It would fit"
        if not self.asked:
            return f"It would fit on {self.node if self.feasible_count == 1 else f'{self.feasible_count:,} nodes'}"
        if self.promise is Promise.WINS:
            return f"It would land on {self.node}"
        if self.promise is Promise.TIES:
            others = [name for name in self.nodes if name != self.node]
            return f"It might land on {self.node}, tied with {_few(others)},"
        return f"It would fit on {self.node}"


def _few(names: tuple[str, ...] | list[str]) -> str:
    """`a`, `a and 4 others`."""
    more = len(names) - 1
    return f"{names[0]} and {more:,} {'other' if more == 1 else 'others'}" if more else names[0]
