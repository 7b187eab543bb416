"""The answers of the library: each holds the values that the command line prints.

Those of `explain` show themselves in a notebook and on a terminal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.text import Text

    from kubectl_sched.queries.capacity import Answer as _CapacityAnswer
    from kubectl_sched.queries.deciding_plugin import Difference
    from kubectl_sched.queries.diff import Answer as _DiffAnswer
    from kubectl_sched.queries.explain import Answer as _ExplainAnswer
    from kubectl_sched.queries.explanation import Explanation as _Explanation
    from kubectl_sched.queries.triage import Triage as _TriageAnswer
    from kubectl_sched.queries.whatif import Answer as _WhatIfAnswer
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.simulation.placements import Placement
    from kubectl_sched.suggestions.change import Suggestion

_WIDTH = 100


class _Shown:
    """An answer of `explain` that shows itself as the command line would print it."""

    _node: str | None = None

    def __init__(self, answer: _ExplainAnswer) -> None:
        self._answer = answer

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the state and the configuration that the answer rests on."""
        return (*self._answer.notes, *self._answer.warnings)

    def __str__(self) -> str:
        """The table, without colour."""
        return self.__rich__().plain

    def __rich__(self) -> Text:
        """The table, in colour."""
        from io import StringIO

        from rich.console import Console
        from rich.text import Text

        from kubectl_sched.render.answers.explain_output import explain_document
        from kubectl_sched.render.display import Display
        from kubectl_sched.render.writers.terminal import rendered

        console = Console(file=StringIO(), width=_WIDTH, force_terminal=True, markup=False, highlight=False)
        display = Display(node=self._node)
        lines = rendered(explain_document(self._answer, display), display, console, None)
        text = Text()
        for line in lines:
            for piece in line:
                text.append(piece.text, piece.style)
            text.append("\n")
        return text

    def to_html(self) -> str:
        """Return the page of `-o html`: one file that needs no network."""
        return self._page("html")

    def _repr_html_(self) -> str:
        """Show the page in a notebook, in a frame that keeps its styles and scripts apart."""
        from html import escape

        page = escape(self.to_html(), quote=True)
        return f'<iframe srcdoc="{page}" sandbox="allow-scripts" style="width:100%;height:40em;border:0"></iframe>'

    def to_markdown(self) -> str:
        """Return the answer as `-o markdown` prints it."""
        return self._page("markdown")

    def _page(self, output: str) -> str:
        from kubectl_sched.render.answers.explain_output import explain_document
        from kubectl_sched.render.display import Display
        from kubectl_sched.render.show import as_page

        display = Display(output=output, node=self._node)
        return as_page(explain_document(self._answer, display), display)


class Explanation(_Shown):
    """The answer about one pod."""

    def __init__(self, answer: _ExplainAnswer, node: str | None = None) -> None:
        super().__init__(answer)
        self._node = node

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
        """Schedulable, Unschedulable, Gated, NoProfile, Deleting or Error."""
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
        """The first sentence of the table."""
        from kubectl_sched.render.sentences.headline import headline

        return headline(self._explanation)

    @property
    def nodes(self) -> list[dict[str, Any]]:
        """Every node in name order with its verdict, rejections and scores, as `-o json` has them."""
        nodes: list[dict[str, Any]] = self.to_dict()["nodes"]
        return nodes

    @property
    def suggestions(self) -> tuple[Suggestion, ...]:
        """Changes after which the pod fits, each replayed."""
        return self._explanation.suggestions

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences about what kube-scheduler would not have looked at."""
        return self._explanation.notes

    def to_dict(self) -> dict[str, Any]:
        """Return the `Explanation` of `-o json`."""
        from kubectl_sched.render.answers.explanation_data import explanation_data

        data = explanation_data(self._explanation, self.summary)
        return {**data, "warnings": [*data["warnings"], *self.notes]}


class Explanations(_Shown):
    """The answers about several pods, in order: a sequence of `Explanation`."""

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
        """Return the `ExplanationList` of `-o json`."""
        from kubectl_sched.render.answers.explanation_data import explanation_list

        return explanation_list([each.to_dict() for each in self], self.notes)


class Triage(Record, frozen=True, kw_only=True):
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

    def to_dict(self) -> dict[str, Any]:
        """Return the `Triage` of `-o json`."""
        from kubectl_sched.render.answers.triage import triage_data

        return dict(triage_data(self._answer))


class WhatIf(Record, frozen=True, kw_only=True):
    """The answer of `whatif`."""

    _answer: _WhatIfAnswer

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

    def to_dict(self) -> dict[str, Any]:
        """Return the `WhatIf` of `-o json`."""
        from kubectl_sched.render.answers.whatif import answer_data

        return dict(answer_data(self._answer))


class Capacity(Record, frozen=True, kw_only=True):
    """The answer of `capacity`."""

    _answer: _CapacityAnswer

    @property
    def fits(self) -> dict[str, int]:
        """The number of further pods of each shape that fit, by the shape's name."""
        return {each.shape.name: each.capacity.total for each in self._answer.shapes}

    def to_dict(self) -> dict[str, Any]:
        """Return the `Capacity` of `-o json`."""
        from kubectl_sched.render.answers.capacity import capacity_data

        return dict(capacity_data(self._answer))


class Diff(Record, frozen=True, kw_only=True):
    """The answer of `diff`."""

    _answer: _DiffAnswer

    @property
    def differences(self) -> tuple[Difference, ...]:
        """The pods whose outcome or best nodes differ."""
        return self._answer.differences

    def to_dict(self) -> dict[str, Any]:
        """Return the `Diff` of `-o json`."""
        from kubectl_sched.render.answers.diff import diff_data

        return dict(diff_data(self._answer))
