"""Changes that were replayed together, and the sentences that say what came of them."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - the JSON Schema is made from the types
from enum import Enum, IntEnum, auto
from typing import TYPE_CHECKING, Any

from kubectl_sched.record import Record
from kubectl_sched.suggestions.change import Kind, Rung

if TYPE_CHECKING:
    from kubectl_sched.shell_commands import ShellCommand
    from kubectl_sched.suggestions.change import Way

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
        return max((change.rung for change in self.changes), key=_RUNG_ORDER.index).value

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
