"""The answer of `explain` as a Document: what keeps the pod out, what helps, and the numbers behind it.

On a terminal it fits 80 columns and 24 lines; in full it has every node, suggestion and note.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from kubectl_sched.diagnostics.warnings import without_topology_key
from kubectl_sched.render.document import (
    STAYS,
    Commands,
    Document,
    Folding,
    Ladder,
    Listing,
    Quote,
    Rung,
    Said,
    Sentence,
    Snippet,
    Waterfall,
    notes_of,
)
from kubectl_sched.render.funnel import funnel
from kubectl_sched.render.node_order import closest, own_first, rejected_rows
from kubectl_sched.render.node_tables import best_tables, funnel_table, rejected_table, wide_scores
from kubectl_sched.render.safe_text import count
from kubectl_sched.render.sentences.node_sentences import verdict_in_words
from kubectl_sched.render.sentences.preemption_sentence import preemption
from kubectl_sched.render.sentences.reason_clauses import clauses
from kubectl_sched.render.sentences.search_start_sentence import sampling_words
from kubectl_sched.render.sentences.status_sentences import stage_words, status_sentences
from kubectl_sched.render.sentences.verdict_line import verdict_of_pod
from kubectl_sched.render.table import Column, Table
from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.scheduler.member_result import MemberResult
from kubectl_sched.scheduler.result import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.diagnostics.findings.finding import Finding
    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.queries.provisioning.new_nodes import NewNodes
    from kubectl_sched.queries.verdict.manifest_mark import ManifestMark
    from kubectl_sched.queries.verdict.rejected_groups import NodeGroup
    from kubectl_sched.render.display import Display
    from kubectl_sched.render.funnel import Step
    from kubectl_sched.render.table import Tone
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.suggestions.suggestion import Suggestion

WHAT_HELPS = "What helps, least harm first"
_BEST_SHOWN = 5
_CLOSEST_SHOWN = 3
_GROUPS_SHOWN = 6
_STEPS_SHOWN = 5
_RUNGS_SHOWN = 5
_BEST_EXAMINED = 2
_HINTS_SHOWN = 2
_FINDINGS_SHOWN = 3


def pod_document(
    explanation: Explanation,
    display: Display,
    premises: Sequence[str] = (),
    changing: Sequence[str] = (),
    *,
    with_nodes: bool = True,
) -> Document:
    """Return the answer about one pod, with tables of nodes or without."""
    told = set(without_topology_key(explanation.shown)) if len(explanation.shown.totals) else ()
    notes = [each for each in (*explanation.warnings, *premises) if each not in told]
    if display.output == "html":
        from kubectl_sched.render.answers.page.cycle_view import cycle_view, facts, room_of  # no other needs it

        view = cycle_view(explanation, room_of(display), node=display.node)
        asked, words = _about_node(explanation, display), _words_of_scheduler(explanation)
        parts: Iterator[Said] = chain(_lead(explanation, display), asked, [Folding(view=view)], words)
        labels = tuple(facts(explanation))
    else:
        parts, labels = _whole(explanation, display, with_nodes=with_nodes), tuple(_facts(explanation))
    return Document(
        verdict=verdict_of_pod(explanation),
        parts=tuple(parts),
        notes=notes_of((*explanation.changing, *changing), notes),
        facts=labels,
        nodes=explanation.shown.nodes.whole.names,
        fits_screen=True,
        heading=explanation.pod.key,
    )


def _facts(explanation: Explanation) -> Iterator[tuple[str, str]]:
    """Yield the version of kube-scheduler, the profile and the number of nodes."""
    result = explanation.result
    if result.kubernetes_version:
        yield "Replayed as", f"kube-scheduler {result.kubernetes_patch or result.kubernetes_version}"
    if isinstance(result, CycleResult):
        yield "Profile", result.framework.profile.scheduler_name
    yield "Nodes", f"{len(result.nodes):,}"


def _lead(explanation: Explanation, display: Display) -> Iterator[Said]:
    """Yield what stands before the numbers: the pod's status, the winner's lead, the groups of nodes, what helps."""
    result, in_full = explanation.shown, display.in_full
    yield from map(snippet, explanation.marks)
    if not _is_plain(explanation):
        from kubectl_sched.render.sentences.below_verdict import below_verdict  # most verdicts say all

        more = below_verdict(explanation)
        if more:
            yield Sentence(text=f"{more}.", rank=7, keep=2)
    yield from finding_parts(explanation.findings, in_full=in_full)
    yield from status_sentences(explanation)
    if explanation.new_nodes is not None and explanation.new_nodes.in_full:
        yield from _new_nodes(explanation.new_nodes)
    contrast = explanation.contrast
    if contrast is not None and contrast.plugins:
        yield Waterfall(contrast=contrast, among=result.nodes.names, in_full=in_full, rank=5, keep=2)
    wins = sampling_words(explanation)
    if wins is not None:
        yield Sentence(text=f"{wins}.", rank=7, keep=2)
    if explanation.groups:
        yield from _groups(explanation.groups, in_full=in_full)
    would = preemption(result)
    if would is not None:
        yield Sentence(text=would, rank=7, keep=2)
    if explanation.suggestions:
        yield ladder(explanation.suggestions, in_full=in_full)


def snippet(mark: ManifestMark) -> Snippet:
    """Return the line of the manifest with its mark."""
    at = mark.position
    return Snippet(
        file=at.file,
        line=at.line,
        text=at.text,
        start=at.start,
        width=at.width,
        label=mark.label,
        help=mark.help,
        rank=STAYS - 1,
    )


def finding_parts(findings: Sequence[Finding], *, in_full: bool) -> Iterator[Said]:
    """Yield the facts that no plugin reads, each with the commands that show more; the first ones on a screen."""
    for number, each in enumerate(findings if in_full else findings[:_FINDINGS_SHOWN]):
        tone: Tone = "bad" if each.spoils_start else ""
        yield Sentence(text=f"{each.sentence}.", tone=tone, rank=7, keep=2 if not number else 1)
        if each.commands:
            yield Commands(commands=tuple(map(str, each.commands)), rank=5)


def _whole(explanation: Explanation, display: Display, *, with_nodes: bool) -> Iterator[Said]:
    """Yield the answer in its order, for a terminal or for Markdown."""
    result, in_full = explanation.shown, display.in_full
    yield from _lead(explanation, display)
    yield from _words_of_scheduler(explanation)
    if with_nodes:
        yield from _nodes(result, in_full=in_full)
    if in_full and result.binding:
        actions = [f"{each.extension_point} {each.plugin}: {each.action}" for each in result.binding]
        yield from (Sentence(text=each, rank=0, gap=not number) for number, each in enumerate(actions))


def _nodes(result: ScheduleResult, *, in_full: bool) -> Iterator[Said]:
    """Yield the nodes: where they drop out, the best with their points, and the evidence against others."""
    if len(result.nodes) > 1 and not result.fits:
        yield from _funnel(result, in_full=in_full)
    if len(result.totals):
        yield from _best(result, in_full=in_full)
    if result.verdict is not None and (in_full or not len(result.totals)) and result.pre_filter.is_success:
        yield from _rejected(result, in_full=in_full)


def _words_of_scheduler(explanation: Explanation) -> Iterator[Said]:
    result = explanation.shown
    if result.event is not None and result.outcome is not Outcome.ERROR:
        yield Quote(heading="kube-scheduler would say", text=result.event, rank=6, keep=1, gap=True)
    said = explanation.said
    if said is not None and not said.differs and result.event is not None:
        from kubectl_sched.render.ages import at_moment  # most pods have no message

        but = ", except for the part about preemption" if said.preemption_differs else ""
        yield Sentence(text=f"{said.by} said so{at_moment(said.at, said.read_at)}{but}.", tone="dim", rank=5)


def _about_node(explanation: Explanation, display: Display) -> Iterator[Said]:
    """Yield the verdict on the node that was asked for."""
    if display.node is not None:
        result = explanation.shown
        yield Sentence(text=f"On {display.node}: {verdict_in_words(result, result.nodes.row_of[display.node])}.")


def ladder(suggestions: Sequence[Suggestion], *, in_full: bool = True) -> Ladder:
    """Return the changes that a replay showed to help, least harm first; the first few unless `in_full`."""
    shown = suggestions if in_full else suggestions[:_RUNGS_SHOWN]
    rungs = tuple(rung_of(each, each.advice) for each in shown)
    return Ladder(heading=WHAT_HELPS, rungs=rungs, more=len(suggestions) - len(shown), rank=2, gap=True)


def rung_of(suggestion: Suggestion, text: str) -> Rung:
    """Return the suggestion, said in these words."""
    return Rung(
        label=getattr(suggestion, "rung", ""),
        text=text,
        commands=tuple(map(str, suggestion.commands)),
        by_hand=tuple((each.instruction, each.document) for each in suggestion.manual),
    )


def _new_nodes(found: NewNodes) -> Iterator[Said]:
    """Yield the verdict of each NodePool and node group, and what was assumed."""
    from kubectl_sched.render.sentences.new_nodes_sentences import (  # rarely asked for
        assumed_sentence,
        new_nodes_tables,
    )

    for table in new_nodes_tables(found):
        yield Listing(tables=(table,), caption=f"New nodes by {table.headings[0]}", rank=8, gap=True)
    yield Sentence(text=assumed_sentence(found), tone="dim", rank=3)


def _is_plain(explanation: Explanation) -> bool:
    """Report whether the verdict says all there is besides the groups of nodes and the numbers."""
    result, history = explanation.result, explanation.history
    is_asked = (history is None or history.verdict != "NotScheduled") and not explanation.gates
    is_created = explanation.stage is None or explanation.stage.name != "NotCreated"
    is_judged = result.pre_filter.is_success and not result.unknown and result.failure is None
    is_decided = result.outcome in {Outcome.SCHEDULABLE, Outcome.UNSCHEDULABLE} and not isinstance(result, MemberResult)
    return is_asked and is_created and is_judged and is_decided and stage_words(explanation) is None


def _groups(groups: Sequence[NodeGroup], *, in_full: bool) -> Iterator[Said]:
    """Yield the nodes by what keeps the pod off them, those that decide first."""
    shown = groups if in_full or len(groups) <= _GROUPS_SHOWN else groups[: _GROUPS_SHOWN - 1]
    has_pools = any(each.pool is not None for each in groups)
    has_zones = any(each.zone is not None for each in groups)
    pool: Column[NodeGroup] = Column(heading="Pool", cell=lambda each: each.pool or "no pool", kind="name")
    zone: Column[NodeGroup] = Column(heading="Zone", cell=lambda each: each.zone or "", kind="name")
    table: Table[NodeGroup] = Table(
        columns=(
            *((pool,) if has_pools else ()),
            *((zone,) if has_zones else ()),
            Column(heading="Nodes", cell=lambda each: count(each.nodes, "node"), kind="number"),
            Column(heading="Why not", cell=lambda each: each.reason, kind="words"),
        ),
        rows=shown,
    )
    rest = groups[len(shown) :]
    more = f"and {count(sum(each.nodes for each in rest), 'more node')} of {count(len(rest), 'other group')} (-o wide)"
    caption = "Nodes by what keeps the pod off them"
    yield Listing(
        tables=(table,), caption=caption, more=more if rest else "", indent=2, is_headed=False, rank=7, keep=1
    )


def _funnel(result: ScheduleResult, *, in_full: bool) -> Iterator[Said]:
    table = funnel_table(result)
    steps = table.rows
    if not steps:
        return
    most = len(steps) if in_full else _STEPS_SHOWN
    largest = sorted(steps, key=lambda step: -step.alone)[:most]
    shown: Table[Any] = replace(table, rows=[step for step in steps if step in largest])
    more = len(steps) - len(largest)
    yield Listing(
        tables=(shown,),
        caption="Where nodes drop out, in the order in which kube-scheduler asks",
        more=f"and {count(more, 'plugin')} more (-o wide)" if more else "",
        lean=(Sentence(text=_in_one_line(len(result.nodes), steps)),),
        rank=4,
        gap=True,
    )


def _in_one_line(total: int, steps: Sequence[Step]) -> str:
    """`Nodes left of 300: 12 after NodeAffinity, 0 after NodeResourcesFit`."""
    narrowing = (step for step in steps if step.after < step.before)
    return f"Nodes left of {total:,}: {', '.join(f'{step.after:,} after {step.name}' for step in narrowing)}"


def _best(result: ScheduleResult, *, in_full: bool) -> Iterator[Said]:
    """The best nodes by total, with the plugins whose points differ between them, and why others are not among them."""
    order = own_first(result)
    shown = order if in_full else order[:_BEST_SHOWN]
    hidden = len(order) - len(shown)
    more = f"and {count(hidden, 'more feasible node')} (-o wide)" if hidden else ""
    yield Listing(tables=tuple(best_tables(result, shown)), caption="The best nodes", more=more, rank=6, gap=True)
    if in_full and result.scores:
        table = wide_scores(result, [row for row in shown if row in result.position_of])
        yield Listing(tables=(table,), caption="Every score", is_split=True, rank=6, gap=True)
    hints = _missed(result, shown[:_BEST_EXAMINED])
    for each in (*(hints if in_full else hints[:_HINTS_SHOWN]), *without_topology_key(result)):
        yield Sentence(text=each, rank=4)
    if len(result.feasible) < len(result.nodes):
        yield from _out(result)


def _missed(result: ScheduleResult, rows: Sequence[int]) -> list[str]:
    """Near misses behind the plugins that give none of these nodes a point."""
    without_points = [each.plugin for each in result.scores if not each.weighted.any()]
    scored = [row for row in rows if row in result.position_of]
    evidence = (each for name in without_points for row in scored for each in result.score_evidence(name, row))
    return list(dict.fromkeys(hint for each in evidence for hint in each.hints))


def _out(result: ScheduleResult) -> Iterator[Said]:
    """Yield the reasons against the rejected nodes, and where they drop out."""
    total = len(result.nodes)
    rejected = total - len(result.feasible)
    told = f"{count(rejected, 'node')} {'is' if rejected == 1 else 'are'} out: {'; '.join(clauses(result))}"
    yield Sentence(text=told, rank=5, keep=1, gap=True)
    yield Sentence(text=_in_one_line(total, funnel(result)), tone="dim", rank=4)


def _rejected(result: ScheduleResult, *, in_full: bool) -> Iterator[Said]:
    """The nodes that came closest with the evidence against them; all rejected ones in full."""
    rows = rejected_rows(result) if in_full else closest(result, _CLOSEST_SHOWN)
    if rows:
        table = rejected_table(result, rows, in_full=in_full)
        lean = Listing(tables=(replace(table, rows=rows[:1]),), rank=3)
        more = len(result.nodes) - len(result.feasible) - len(rows)
        told = f"and {count(more, 'more node')} (-o wide)" if more else ""
        yield Listing(tables=(table,), lean=(lean,), caption="The closest nodes", more=told, rank=3, gap=True)
