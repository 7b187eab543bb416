"""The answers of the library: each holds the values that the command line prints, and shows itself in its formats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubectl_sched.library_display import Answer
from kubectl_sched.library_frames import drain_rows, node_rows, rows_of
from kubectl_sched.render.display import Display

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.library_frames import Row
    from kubectl_sched.queries.capacity import CapacityAnswer as _CapacityAnswer
    from kubectl_sched.queries.deciding_plugin import Difference
    from kubectl_sched.queries.diff import DiffAnswer as _DiffAnswer
    from kubectl_sched.queries.drain import DrainAnswer as _DrainAnswer
    from kubectl_sched.queries.explain import ExplainAnswer as _ExplainAnswer
    from kubectl_sched.queries.explanation import Explanation as _Explanation
    from kubectl_sched.queries.make_room import MakeRoomAnswer as _MakeRoomAnswer
    from kubectl_sched.queries.triage import Triage as _TriageAnswer
    from kubectl_sched.queries.whatif import WhatIfAnswer as _WhatIfAnswer
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.simulation.placements import Placement
    from kubectl_sched.suggestions.suggestion import Suggestion


class _Explained(Answer):
    _answer: _ExplainAnswer

    def __init__(self, answer: _ExplainAnswer, node: str | None = None) -> None:
        from kubectl_sched.render.answers.explain_output import shown_explanations

        super().__init__(answer, shown_explanations(answer, Display(node=node)))
        self._node = node

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the state and the configuration that the answer rests on."""
        return (*self._answer.notes, *self._answer.warnings)


class Explanation(_Explained):
    """The answer about one pod."""

    @property
    def _explanation(self) -> _Explanation:
        return self._answer.explanations[0]

    @property
    def _result(self) -> ScheduleResult:
        return self._explanation.result

    @property
    def pod(self) -> str:
        """`namespace/name`."""
        return self._result.pod.key

    @property
    def outcome(self) -> str:
        """Schedulable, Unschedulable, Gated, NoProfile, Deleting, Error or Unknown."""
        return self._result.outcome.value

    @property
    def best(self) -> tuple[str, ...]:
        """The names of all nodes tied at the highest total, sorted; none if the cycle fails."""
        return () if self._result.error is not None else self._result.best

    @property
    def message(self) -> str | None:
        """The FitError text: "0/3 nodes are available: ..."; None if the pod fits."""
        return self._result.message

    @property
    def event(self) -> str | None:
        """The text of the FailedScheduling event, as kube-scheduler writes it."""
        return self._result.event

    @property
    def summary(self) -> str:
        """The whole sentence, of which the verdict is the essence."""
        from kubectl_sched.render.sentences.headline import headline

        return headline(self._explanation)

    @property
    def nodes(self) -> list[dict[str, Any]]:
        """Every node in name order with its verdict, rejections and scores, as `-o json` has them."""
        nodes: list[dict[str, Any]] = self.to_dict()["nodes"]
        return nodes

    @property
    def marks(self) -> list[dict[str, Any]]:
        """The fields of its manifest that keep the pod out, as `-o json` has them; none of a pod of the cluster."""
        marks: list[dict[str, Any]] = self.to_dict()["marks"]
        return marks

    @property
    def suggestions(self) -> tuple[Suggestion, ...]:
        """Changes after which the pod fits, each replayed."""
        return self._explanation.suggestions

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences about what kube-scheduler would not have looked at."""
        return self._explanation.notes

    def _rows(self) -> list[Row]:
        return node_rows(self.nodes)


class Explanations(_Explained):
    """The answers about several pods, in order: a sequence of `Explanation`."""

    _columns = ("pod", "outcome", "verdict", "best", "message")

    def __len__(self) -> int:
        return len(self._answer.explanations)

    def __getitem__(self, index: int) -> Explanation:
        return self._alone(self._answer.explanations[index])

    def __iter__(self) -> Iterator[Explanation]:
        return map(self._alone, self._answer.explanations)

    def _alone(self, explanation: _Explanation) -> Explanation:
        from msgspec.structs import replace

        return Explanation(replace(self._answer, explanations=(explanation,), is_about_one_pod=True, together=None))

    def to_dict(self) -> dict[str, Any]:
        """Return the `ExplanationList` of `-o json`, also of a single pod."""
        from kubectl_sched.render.answers.explanation_data import explanation_list

        if not self._answer.is_about_one_pod:
            return super().to_dict()
        return explanation_list([each.to_dict() for each in self], self.notes)


class Triage(Answer):
    """The answer of `kubectl sched` by itself."""

    _answer: _TriageAnswer

    @property
    def pending(self) -> int:
        """The number of pending pods."""
        return self._answer.pending

    @property
    def groups(self) -> list[dict[str, Any]]:
        """The groups, the largest first, as `-o json` has them."""
        groups: list[dict[str, Any]] = self.to_dict()["groups"]
        return groups

    def __str__(self) -> str:
        """The sentence of each group."""
        from kubectl_sched.render.sentences.group_sentences import summary

        return "\n".join(map(summary, self._answer.groups))

    def _rows(self) -> list[Row]:
        columns = ("summary", "oldest", "cause.outcome", "cause.plugins", "workloads", "waitingFor")
        groups = self.groups
        rows = rows_of(groups, columns)
        return [{"pods": len(group["pods"]), **row} for group, row in zip(groups, rows, strict=True)]


class WhatIf(Answer):
    """The answer of `whatif`."""

    _answer: _WhatIfAnswer

    _entries = "placements"
    _columns = ("pod", "owner", "outcome", "node", "tiedCount", "total", "nominatedNode", "victims", "event")

    @property
    def placements(self) -> tuple[Placement, ...]:
        """The node of each pod, in scheduling order."""
        return tuple(self._answer.result.simulated.placements)

    @property
    def placed(self) -> int:
        """The number of pods with a node."""
        return self._answer.result.simulated.placed

    @property
    def unplaced(self) -> int:
        """The number of pods without a node."""
        return self._answer.result.simulated.unplaced

    @property
    def nodes_needed(self) -> int | None:
        """With `find_nodes`: how many more such nodes until everything fits; None if no number is enough."""
        return self._answer.result.nodes_needed


class MakeRoom(Answer):
    """The answer of `whatif --make-room`; its plan is empty if none was found."""

    _answer: _MakeRoomAnswer

    _entries = "plan"
    _columns = ("step", "action", "node", "pod", "lands", "tied")

    @property
    def plan(self) -> list[dict[str, Any]]:
        """The steps in order, as `-o json` has them."""
        steps: list[dict[str, Any]] = self.to_dict()["plan"]
        return steps

    @property
    def commands(self) -> list[str]:
        """A command for each step."""
        commands: list[str] = self.to_dict()["commands"]
        return commands


class Drain(Answer):
    """The answer of `drain`."""

    _answer: _DrainAnswer

    @property
    def finishes(self) -> bool | None:
        """True if the drain would finish; None if that is not known."""
        return self._answer.finishes

    def _rows(self) -> list[Row]:
        return drain_rows(self.to_dict())


class Capacity(Answer):
    """The answer of `capacity`."""

    _answer: _CapacityAnswer

    _entries = "shapes"
    _columns = ("name", "fits", "atLeast", "running", "pending", "workloads")

    @property
    def fits(self) -> dict[str, int]:
        """The number of further pods of each shape that fit, by the shape's name."""
        return {each.shape.name: each.capacity.total for each in self._answer.shapes}


class Diff(Answer):
    """The answer of `diff`."""

    _answer: _DiffAnswer

    _columns = ("pod", "workload", "change", "before.outcome", "before.best", "after.outcome", "after.best")

    @property
    def differences(self) -> tuple[Difference, ...]:
        """The pods whose outcome or best nodes differ."""
        return self._answer.differences


class Listed(Answer):
    """An answer whose data are a mapping: `answer["items"]` is the same as `answer.to_dict()["items"]`."""

    def __getitem__(self, key: str) -> Any:
        return self.to_dict()[key]


class Nodes(Listed):
    """The answer of `explain node`, about one node or several."""

    _columns = ("node", "verdict", "stays.by", "stays.verdict")

    def _rows(self) -> list[Row]:
        data = self.to_dict()
        return rows_of(data.get("items", [data]), self._columns)


class PodGroups(Listed):
    """The answer of `explain podgroup`, about one group or several."""

    _columns = ("podGroup", "outcome", "summary", "minCount", "best")

    def _rows(self) -> list[Row]:
        data = self.to_dict()
        return rows_of(data.get("items", [data]), self._columns)


class Schedulers(Listed):
    """The answer of `schedulers`."""

    _columns = ("kind", "namespace", "name", "version", "serves", "problems")


class Profiles(Listed):
    """The answer of `profiles`."""

    _columns = ("schedulerName", "percentageOfNodesToScore", "differsFromDefault")


class Message(Listed):
    """The answer of `message`."""

    _entries = "clauses"
    _columns = ("component", "nodes", "plugin", "text", "meaning", "help")
