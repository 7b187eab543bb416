"""The tables about nodes: their points, the reasons against them, their pools, and one node against another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from kubectl_sched.framework.plugin_error_boundary import is_unknown
from kubectl_sched.framework.status import SUCCESS
from kubectl_sched.record import Record
from kubectl_sched.render.funnel import Step, funnel
from kubectl_sched.render.safe_text import count
from kubectl_sched.render.sentences.node_sentences import in_words, rejected_by, why_not
from kubectl_sched.render.sentences.reason_clauses import BY_REQUESTS
from kubectl_sched.render.table import Column, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kubectl_sched.framework.plugin_scores import PluginScores
    from kubectl_sched.framework.status import Status
    from kubectl_sched.queries.contrast import Contrast
    from kubectl_sched.render.table import Tone
    from kubectl_sched.scheduler.result import ScheduleResult

_TIMES = "\N{MULTIPLICATION SIGN}"


class ScoreChoice(Record, frozen=True, kw_only=True):
    """The plugins whose points differ between some nodes, what decides first; and those that give all the same."""

    differing: tuple[PluginScores, ...]
    equal: tuple[PluginScores, ...]
    same: int
    """The points that each node has from the equal ones."""


class Verdict(Record, frozen=True, kw_only=True):
    """The verdict on a node: `best`, `tied`, `feasible`, `rejected` by a plugin with its reasons, or `not ...`."""

    word: str
    plugin: str = ""
    reasons: str = ""

    def __str__(self) -> str:
        return f"{self.word}{f' {self.plugin}:' if self.plugin else ''} {self.reasons}".rstrip()

    @property
    def group(self) -> str:
        """The name of the verdict among others."""
        if self.word == "rejected":
            return f"rejected by {self.plugin}"
        return self.word if self.word.startswith("not") else "feasible"

    @property
    def tone(self) -> Tone:
        """The colour: good or bad for the pod."""
        return "good" if self.word in {"best", "tied"} else "" if self.word == "feasible" else "bad"


def verdict_on(result: ScheduleResult, row: int) -> Verdict:
    """Return the verdict on a node in a word, with kube-scheduler's reasons."""
    status = result.verdict[row] if result.verdict is not None else SUCCESS
    if is_unknown(status):
        return Verdict(word="not judged", plugin=", ".join(result.unjudged_by(row)), reasons=status.message)
    if not status.is_success:
        return Verdict(word="rejected", plugin=rejected_by(result, row), reasons=status.message)
    if row not in result.position_of:
        return Verdict(word="not reached", reasons="the search ends before it")
    if result.nodes.names[row] in result.best:
        return Verdict(word="best" if len(result.best) == 1 else "tied")
    return Verdict(word="feasible")


def weighed(scores: PluginScores) -> str:
    """A score plugin with its weight."""
    return f"{scores.plugin} {_TIMES}{scores.weight}"


def chosen_scores(result: ScheduleResult, rows: Sequence[int]) -> ScoreChoice:
    """Choose by spread over the feasible rows, but first the plugin that tells the first two apart the most."""
    places = [result.position_of[row] for row in rows]
    points = {each.plugin: each.weighted[places] for each in result.scores}
    spread = {plugin: int(np.ptp(of)) if places else 0 for plugin, of in points.items()}
    lead = {plugin: abs(int(of[0] - of[1])) if len(places) > 1 else 0 for plugin, of in points.items()}
    decider: str = max(lead, key=lambda plugin: lead[plugin], default="")
    differing = sorted(
        (each for each in result.scores if spread[each.plugin]),
        key=lambda each: (each.plugin != decider or not lead[decider], -spread[each.plugin]),
    )
    equal = tuple(each for each in result.scores if not spread[each.plugin])
    return ScoreChoice(
        differing=tuple(differing),
        equal=equal,
        same=sum(int(points[each.plugin][0]) for each in equal) if places else 0,
    )


def name_column(result: ScheduleResult, heading: str = "Node") -> Column[int]:
    """The nodes' names, whole."""
    return Column(heading=heading, cell=lambda row: result.nodes.names[row], kind="name", among=result.nodes.names)


def points_column(result: ScheduleResult) -> Column[int]:
    """The nodes' points, empty for a node that is not feasible."""
    return Column(heading="Points", cell=lambda row: str(result.total_of.get(row, "")), kind="number")


def score_column(result: ScheduleResult, *plugins: PluginScores, heading: str | None = None) -> Column[int]:
    """The points of one plugin, or of several in sum."""
    points = sum((each.weighted for each in plugins[1:]), plugins[0].weighted).tolist()
    return Column(
        heading=heading or weighed(plugins[0]),
        cell=lambda row: str(points[result.position_of[row]]) if row in result.total_of else "",
        kind="number",
    )


def _same_column(result: ScheduleResult, choice: ScoreChoice) -> Column[int]:
    return Column(
        heading="same for all", cell=lambda row: f"{choice.same:+}" if row in result.total_of else "", kind="number"
    )


def raw_column(result: ScheduleResult, scores: PluginScores) -> Column[int]:
    """The raw, normalized and weighted scores of one plugin."""
    said = list(zip(scores.raw.tolist(), scores.normalized.tolist(), scores.weighted.tolist(), strict=True))
    return Column(
        heading=scores.plugin,
        cell=lambda row: score_in_words(*said[result.position_of[row]], scores.weight),
        kind="number",
    )


def score_in_words(raw: int, normalized: int, points: int, weight: int) -> str:
    """The score from raw to normalized to points."""
    return f"raw {raw} → {normalized} of 100 {_TIMES}{weight} = {points}"


def every_node(result: ScheduleResult, rows: Sequence[int], choice: ScoreChoice) -> Table[int]:
    """All that is known of feasible and rejected rows: verdict, points, each filter that rejects any, each score."""
    columns: list[Column[int]] = [
        name_column(result),
        Column(
            heading="Verdict",
            cell=lambda row: str(verdict_on(result, row)),
            kind="words",
            tone=lambda row: verdict_on(result, row).tone,
        ),
        *((points_column(result),) if result.scores else ()),
        *(_filter_column(result, plugin) for plugin, mask in result.rejection_masks.items() if mask.any()),
        *(_with_shades(result, choice, each) for each in choice.differing),
        *((_same_column(result, choice),) if choice.differing and choice.equal else ()),
    ]
    return Table(columns=tuple(columns), rows=rows, below=same_for_all(choice))


def _filter_column(result: ScheduleResult, plugin: str) -> Column[int]:
    """Report whether the plugin lets each node pass on its own."""

    def is_out(row: int) -> bool:
        return bool(result.rejection_masks[plugin][row]) or plugin in result.unjudged_by(row)

    return Column(
        heading=plugin,
        cell=lambda row: "no" if is_out(row) else "ok",
        kind="text",
        tone=lambda row: "bad" if is_out(row) else "dim",
    )


def _with_shades(result: ScheduleResult, choice: ScoreChoice, scores: PluginScores) -> Column[int]:
    """A score column whose tones say by how much a node is ahead of the winner, or behind, in tenths of the most."""
    points = scores.weighted - scores.weighted[result.position_of[result.nodes.row_of[result.best[0]]]]
    most = max(int(np.ptp(each.weighted)) for each in choice.differing)

    def tone(row: int) -> str:
        if row not in result.total_of:
            return ""
        difference = int(points[result.position_of[row]])
        return f"{'behind' if difference < 0 else 'ahead'}-{-(-abs(difference) * 10 // most)}"

    return replace(score_column(result, scores), tone=tone)


def best_tables(result: ScheduleResult, rows: Sequence[int]) -> Iterator[Table[int]]:
    """Yield the feasible rows with their points and whence these come, from the most columns to the fewest.

    The numbers of a row add up to its points, however many columns there are.
    """
    choice = chosen_scores(result, [row for row in rows if row in result.position_of])
    first = (name_column(result), points_column(result))
    below = same_for_all(choice) if len(rows) > 1 else ""
    if not choice.differing:
        yield Table(columns=first, rows=rows, below=below)
        return
    last = (_same_column(result, choice),) if choice.equal else ()
    for shown in range(len(choice.differing), 0, -1):
        rest = choice.differing[shown:]
        columns = [score_column(result, each) for each in choice.differing[:shown]]
        if rest:
            columns.append(score_column(result, *rest, heading=count(len(rest), "more plugin")))
        yield Table(columns=(*first, *columns, *last), rows=rows, below=below)


def same_for_all(choice: ScoreChoice) -> str:
    """The points that no row lacks, and whence they come; empty if no plugin gives all the same."""
    if not choice.equal:
        return ""
    told = "; ".join(f"{weighed(each)} {each.weighted[0]:+}" for each in choice.equal if each.weighted[0])
    return f"same for all: {choice.same:+}{f' ({told})' if told else ''}"


def wide_scores(result: ScheduleResult, rows: Sequence[int]) -> Table[int]:
    """The feasible rows with every plugin's raw, normalized and weighted score."""
    columns = (raw_column(result, each) for each in result.scores)
    return Table(columns=(name_column(result), points_column(result), *columns), rows=rows)


def rejected_table(result: ScheduleResult, rows: Sequence[int], *, in_full: bool = False) -> Table[int]:
    """The rejected rows with the evidence against each, `in_full` with the plugins and kube-scheduler's reasons."""
    heading = "Node" if len(rows) + len(result.feasible) == len(result.nodes) else "Closest"
    by: Column[int] = Column(heading="Rejected by", cell=lambda row: _rejections(result, row), kind="words")
    return Table(
        columns=(
            name_column(result, heading),
            *((by,) if in_full else ()),
            Column(heading="why not", cell=lambda row: why_not(result, row), kind="words"),
        ),
        rows=rows,
    )


def rejection_table(result: ScheduleResult, row: int) -> Table[Status]:
    """The plugins that reject one node on their own, with the evidence."""

    def evidence(status: Status) -> str:
        facts = in_words(result.filter_evidence(status.plugin or "", row)).replace("\n", "; ")
        return facts or status.message

    return Table(
        columns=(
            Column(heading="Filter", cell=lambda status: status.plugin or ""),
            Column(heading="Code", cell=lambda status: status.code.value),
            Column(heading="why not", cell=evidence, kind="words", tone=lambda _: "bad"),
        ),
        rows=result.rejections(row),
        below=BY_REQUESTS if _counts_requests(result, row) else "",
    )


def _counts_requests(result: ScheduleResult, row: int) -> bool:
    """Report whether the node has too little left of what `kubectl top` shows, too."""
    facts = (fact.facts for fact in result.filter_evidence("NodeResourcesFit", row))
    return any(fact.get("resource") in {"cpu", "memory"} and fact.get("used") for fact in facts)


def _rejections(result: ScheduleResult, row: int) -> str:
    """`NodeResourcesFit: Insufficient cpu; also NodeAffinity`."""
    plugin = rejected_by(result, row)
    reasons = ", ".join(result.verdict[row].reasons) if result.verdict is not None else ""
    also = ", ".join([str(each.plugin) for each in result.rejections(row) if each.plugin != plugin])
    verb = "not judged by " if plugin in result.unjudged_by(row) else ""
    return f"{verb}{plugin}: {reasons}{f'; also {also}' if also else ''}"


def funnel_table(result: ScheduleResult) -> Table[Step]:
    """The filters that keep any node out, in kube-scheduler's order."""
    return Table(
        columns=(
            Column(
                heading=f"Nodes left (of {len(result.nodes):,})", cell=lambda step: f"{step.after:,}", kind="number"
            ),
            Column(heading="After filter", cell=lambda step: step.name),
            Column(heading="This plugin rejects", cell=lambda step: f"{step.alone:,}", kind="number"),
        ),
        rows=funnel(result),
    )


def against_table(
    result: ScheduleResult, row: int, contrast: Contrast | None, *, is_narrow: bool = False
) -> Table[PluginScores | None]:
    """Each plugin's points for the node beside those of the node that it is compared with; None stands for the sum.

    Where it `is_narrow`, the raw scores are among the reasons.
    """
    said = _points_of(result, row, in_full=True)

    def why(each: PluginScores | None) -> str:
        if each is None:
            return ""
        evidence = in_words(result.score_evidence(each.plugin, row)).replace("\n", "; ")
        return evidence if not is_narrow else "; ".join(filter(None, (said(each), evidence)))

    node = result.nodes.names[row]
    columns: list[Column[PluginScores | None]] = [
        Column(heading="Score", cell=lambda each: each.plugin if each else "Total"),
        Column(
            heading=_role(result, node, contrast),
            cell=_points_of(result, row) if is_narrow else said,
            kind="number",
            about=node,
            among=result.nodes.names,
        ),
    ]
    scores = list(result.scores)
    if contrast is not None:
        other = contrast.other if contrast.node == node else contrast.node
        columns += _difference(result, row, other, _role(result, other, contrast))
        apart = {each.plugin: abs(each.difference) for each in contrast.plugins}
        scores.sort(key=lambda each: -apart.get(each.plugin, 0))
    because: Column[PluginScores | None] = Column(heading="because", cell=why, kind="words")
    return Table(columns=(*columns, because), rows=(*scores, None))


def _role(result: ScheduleResult, node: str, contrast: Contrast | None) -> str:
    """The heading of a node's column: its name, of the winner in brackets."""
    return "winner ({})" if contrast is not None and contrast.lead and node in result.best else "{}"


def _points_of(result: ScheduleResult, row: int, *, in_full: bool = False) -> Callable[[PluginScores | None], str]:
    position = result.position_of[row]

    def cell(each: PluginScores | None) -> str:
        if each is None:
            return str(result.total_of[row])
        raw, normalized, points = (int(scores[position]) for scores in (each.raw, each.normalized, each.weighted))
        return score_in_words(raw, normalized, points, each.weight) if in_full else str(points)

    return cell


def _difference(result: ScheduleResult, row: int, other: str, heading: str) -> Iterator[Column[PluginScores | None]]:
    """Yield the other node's points, and by how many more the first has."""
    mine, theirs = result.position_of[row], result.position_of[result.nodes.row_of[other]]

    def difference(each: PluginScores | None) -> int:
        points = result.totals if each is None else each.weighted
        return int(points[mine] - points[theirs])

    def tone(each: PluginScores | None) -> Tone:
        return "good" if difference(each) > 0 else "bad" if difference(each) < 0 else ""

    points = _points_of(result, result.nodes.row_of[other])
    yield Column(heading=heading, cell=points, kind="number", about=other, among=result.nodes.names)
    yield Column(heading="difference", cell=lambda each: f"{difference(each):+}", kind="number", tone=tone)
