"""The answer of `whatif`: where pods go by workload, by node and by zone, and why the first did not fit."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kubectl_sched.queries.explanation import Explanation
from kubectl_sched.queries.verdict.verdict import cycle_verdict
from kubectl_sched.render.answers.drain import (
    drain_changing,
    drain_exit_code,
    drain_headline,
    drain_parts,
    drain_verdict,
)
from kubectl_sched.render.answers.what_if_data import answer_data
from kubectl_sched.render.document import Document, Folding, Listing, Quote, Said, Sentence, Verdict, notes_of
from kubectl_sched.render.placement_tables import (
    filled_nodes,
    filled_table,
    owner_named,
    workload_table,
    workloads,
    zones_in_words,
)
from kubectl_sched.render.safe_text import count, safe
from kubectl_sched.render.sentences.headline import decision
from kubectl_sched.render.sentences.premise import premise
from kubectl_sched.render.show import Shown
from kubectl_sched.render.table import Column, Table
from kubectl_sched.scheduler.result import UNKNOWN_EXIT_CODE, Outcome
from kubectl_sched.simulation.node_edits import DRAIN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kubectl_sched.queries.whatif import WhatIfAnswer
    from kubectl_sched.render.display import Display
    from kubectl_sched.render.writers.check_report import Case
    from kubectl_sched.simulation.placements import Placement, Simulated
    from kubectl_sched.simulation.rollout import RolledOut
    from kubectl_sched.simulation.what_if_result import WhatIfResult

_NODES_SHOWN = 20
_PLACEMENTS_SHOWN = 10_000


def shown_what_if(answer: WhatIfAnswer, lines: Callable[[], Mapping[str, tuple[str, int]]] = dict) -> Shown:
    """Return the answer in each form. `lines` returns the file and line of each object of the manifests."""
    result, notes = answer.result, answer.notes
    return Shown(
        document=lambda display: what_if_document(answer, display),
        data=lambda: answer_data(answer),
        names=lambda: (
            f"pod/{each.pod.name} node/{each.node}" for each in result.simulated.placements if each.is_placed
        ),
        cases=lambda: _cases(answer, lines()),
        remarks=lambda: (
            *filter(None, (_premised(answer),)),
            *result.warnings,
            *notes,
            *_without_node(result.simulated.placements),
        ),
    )


def answer_exit_code(answer: WhatIfAnswer) -> int:
    """Return the exit code of the placements, or that of a drain among the edits where it is higher."""
    code = what_if_exit_code(answer.result)
    return code if answer.drain is None else max(code, drain_exit_code(answer.drain))


def _cases(answer: WhatIfAnswer, lines: Mapping[str, tuple[str, int]]) -> list[Case]:
    """Return a case for each workload; a failure is known where each of its pods without a node has none at present."""
    from kubectl_sched.render.writers.check_report import Case

    placements, pending = answer.result.simulated.placements, answer.pending
    new = {owner_named(each) for each in placements if each.node is None and each.pod.key not in pending}
    cases = []
    for name, placed, unplaced, why in workloads(placements):
        failure = f"{unplaced:,} of {count(placed + unplaced, 'pod')} fit nowhere: {why}" if unplaced else ""
        file, line = lines.get(name, (None, 1))
        cases.append(Case(name=name, failure=failure, is_known=name not in new, file=file, line=line))
    return cases


def what_if_exit_code(answer: WhatIfResult) -> int:
    """Return 0 if all are placed, or with `--replicas max`, 1 if not, 3 if it is unknown."""
    if answer.interrupted:
        return 1
    if any(each.outcome is Outcome.UNKNOWN for each in answer.simulated.placements):
        return UNKNOWN_EXIT_CODE
    if answer.simulated.stopped is not None:
        return UNKNOWN_EXIT_CODE if answer.simulated.stopped.outcome is Outcome.UNKNOWN else 0
    stuck = any(rollout.stuck_at is not None for rollout in answer.rollouts)
    return 1 if answer.simulated.unplaced or stuck else 0


def what_if_document(answer: WhatIfAnswer, display: Display) -> Document:
    """Return where pods go by workload, by node and by zone, and why the first did not fit."""
    result, drained = answer.result, answer.drain
    changing = (*(drain_changing(drained) if drained is not None else ()), *answer.changing)
    premises = (*about_chance(result.simulated.placements), *result.warnings, *answer.notes)
    return Document(
        verdict=_headline(answer),
        parts=(*(drain_parts(drained, display) if drained is not None else ()), *_parts(result, display)),
        notes=notes_of(tuple(dict.fromkeys(changing)), premises),
        facts=(("Replayed as", f"kube-scheduler {answer.kubernetes_patch or answer.kubernetes_version}"),),
        nodes=result.simulated.after.names,
        heading="What if",
        command="whatif",
    )


def _headline(answer: WhatIfAnswer) -> Verdict:
    """Return the premise and how many pods are placed; of drains alone, the verdict of their plan."""
    drained, result = answer.drain, answer.result
    if drained is not None and all(edit.flag == DRAIN for edit in answer.edits):
        own = drain_headline(drained)
        if {each.pod.key for each in result.simulated.placements} <= {pod.key for pod in drained.plan.concerned}:
            return own
    fits = not result.simulated.unplaced
    text = _premised(answer) or what_if_sentence(result)
    if drained is not None and drain_exit_code(drained):
        text, fits = f"{text} {drain_verdict(drained)}", False
    return Verdict(text=text, tone="good" if fits else "bad", badge="all fits" if fits else "not all fits")


def _premised(answer: WhatIfAnswer) -> str:
    """Return the sentence after its premise; empty without edits."""
    supposed, sentence = premise(answer.edits), what_if_sentence(answer.result)
    waiting = 0 if answer.result.simulated.placements else len(answer.pending)
    if answer.is_idle:
        sentence = "Nothing would change, as that is so already."
    elif waiting:
        tried = f"{'is' if waiting == 1 else 'are'} not tried (--with-pending)"
        sentence = f"{sentence.rstrip('.')}; {count(waiting, 'pending pod')} {tried}."
    return f"{supposed[0].upper()}{supposed[1:]}: {sentence[0].lower()}{sentence[1:]}" if supposed else ""


def _parts(answer: WhatIfResult, display: Display) -> Iterator[Said]:
    simulated = answer.simulated
    yield from (Sentence(text=about_rollout(rollout)) for rollout in answer.rollouts)
    if len(simulated.placements) > 0:
        caption = "How many pods of each workload are placed"
        yield Listing(tables=(workload_table(simulated.placements),), caption=caption, gap=True)
        yield from _by_node(simulated, in_full=display.in_full)
    zones = zones_in_words(simulated)
    if zones is not None:
        yield Sentence(text=zones)
    if len(simulated.placements) > 0 and display.is_page:
        yield _placements(simulated.placements)
    first = simulated.first_unplaced
    if first is not None:
        yield Sentence(text=f"{decision(first)}.", gap=True)
        if display.is_page:
            from kubectl_sched.render.answers.page.cycle_view import cycle_view, room_of  # no other needs it

            yield Folding(view=cycle_view(Explanation(result=first), room_of(display)))
        if first.event and safe(first.event) not in {why for *_, why in workloads(simulated.placements)}:
            yield Quote(heading="kube-scheduler would say", text=first.event)


def _by_node(simulated: Simulated, *, in_full: bool) -> Iterator[Said]:
    changed = filled_nodes(simulated)
    shown = changed[: _PLACEMENTS_SHOWN if in_full else _NODES_SHOWN]
    more = len(changed) - len(shown)
    if shown:
        yield Listing(
            tables=(filled_table(simulated, shown),),
            caption="How many pods each node gets, and what is requested there before and after",
            more=f"and {count(more, 'more node')} (-o wide has all)" if more else "",
            gap=True,
        )


def _placements(placements: Sequence[Placement]) -> Listing:
    """Return every pod with its node, in the order in which they are scheduled."""
    more = len(placements) - _PLACEMENTS_SHOWN
    table: Table[Placement] = Table(
        columns=(
            Column(heading="Pod", cell=lambda each: each.pod.key, kind="name"),
            Column(heading="Workload", cell=lambda each: each.owner or ""),
            Column(heading="Node", cell=lambda each: each.node or each.outcome.value),
            Column(heading="Points", cell=lambda each: "" if each.total is None else str(each.total), kind="number"),
            Column(
                heading="Tied nodes",
                cell=lambda each: f"{each.tied_count:,}" if each.tied_count > 1 else "",
                kind="number",
            ),
            Column(heading="Remarks", cell=_remark, kind="words"),
        ),
        rows=placements[:_PLACEMENTS_SHOWN],
    )
    return Listing(
        tables=(table,),
        caption="Every pod in the order in which they are scheduled",
        more=f"{count(more, 'more pod')} in -o json" if more > 0 else "",
    )


def _remark(placement: Placement) -> str:
    nominated = f"nominated to {placement.nominated_node}" if placement.nominated_node else ""
    victims = f"evicting {', '.join(each.key for each in placement.victims)}" if placement.victims else ""
    return ", ".join(filter(None, (nominated, victims)))


def what_if_sentence(answer: WhatIfResult) -> str:
    """Return the sentence with the numbers of placed pods and of their nodes."""
    simulated = answer.simulated
    placed, unplaced = simulated.placed, simulated.unplaced
    where = count(len({each.node for each in simulated.placements if each.node}), "node")
    if simulated.stopped is not None:
        fit = f"{count(placed, 'pod')} would fit, on {where}"
        return f"{fit}; one more does not: {_why_no_more(simulated, simulated.stopped)}."
    if not simulated.placements:
        return "No pod would have to move."
    told = f"All {placed:,} pods" if placed > 1 and not unplaced else f"{placed:,} of {count(placed + unplaced, 'pod')}"
    sentence = f"{told} would be placed{f', on {where}' if placed else ''}"
    if answer.nodes_needed:
        sentence += f", with {count(answer.nodes_needed, 'more node')}"
    if answer.new_nodes:
        made = Counter((each.instance_type, each.node_pool) for each in answer.new_nodes)
        kinds = " and ".join(
            f"{number:,} {safe(kind)} of NodePool {safe(pool)}" for (kind, pool), number in made.items()
        )
        sentence += f", {len(answer.new_nodes):,} of these made by Karpenter: {kinds}"
    return f"{sentence}." if not unplaced else f"{sentence}; {_unplaced(simulated)}."


def _why_no_more(simulated: Simulated, stopped: Placement) -> str:
    """Return the constraint that keeps one more pod out: of the nodes, or of a ResourceQuota."""
    first = simulated.first_unplaced
    if first is not None and first.pod.key == stopped.pod.key:
        return cycle_verdict(first)
    return safe(stopped.event or stopped.reason or stopped.outcome.value)


def _unplaced(simulated: Simulated) -> str:
    """Return how many pods have no node, and how many of them a ResourceQuota does not admit."""
    refused = [each for each in simulated.placements if each.is_over_quota]
    unread = [each for each in simulated.placements if each.outcome is Outcome.UNKNOWN and each.reason is not None]
    if unread:
        rest = simulated.unplaced - len(unread)
        told = f"of {len(unread):,} it is not known: {safe(unread[0].reason or '')}"
        return f"{rest:,} would not; {told}" if rest else told
    if not refused:
        return f"{simulated.unplaced:,} would not{_for_one_reason(simulated)}"
    some = f"{simulated.unplaced:,} would not, {len(refused):,} of them" if len(refused) < simulated.unplaced else ""
    return f"{some or f'{len(refused):,} would'} never be created: {safe(refused[0].reason or '')}"


def _for_one_reason(simulated: Simulated) -> str:
    """Return the verdict on the first of the pods where kube-scheduler would say the same of all of them."""
    first = simulated.first_unplaced
    events = {each.event for each in simulated.placements if not each.is_placed}
    return f". {safe(first.pod.key)}: {cycle_verdict(first)}" if first is not None and len(events) == 1 else ""


def about_rollout(rollout: RolledOut) -> str:
    """Return the number of steps that a rollout takes, or the step at which it gets stuck."""
    done = f"The rollout of {safe(rollout.owner)} ({rollout.strategy})"
    skew = "".join(
        f" Skew over {safe(each.topology_key)}: {each.before} before, {each.after} after." for each in rollout.skew
    )
    if rollout.stuck_at is None:
        return f"{done} takes {count(rollout.steps, 'step')}.{skew}"
    left = f"; {count(len(rollout.remaining), 'old pod')} would still be there" if rollout.remaining else ""
    return f"{done} gets stuck at step {rollout.stuck_at}{left}.{skew}"


def about_chance(placements: Sequence[Placement]) -> Iterator[str]:
    """Yield a note on the placements that are left to chance."""
    tied = len([None for each in placements if each.ties.number > 1])
    beyond = len([None for each in placements if each.beyond_sampling])
    if tied:
        were = "was a tie" if tied == 1 else "were ties"
        yield f"{tied:,} of {count(len(placements), 'placement')} {were}, where kube-scheduler may choose another node"
    if beyond:
        found = f"{count(beyond, 'placement')} had more feasible nodes than kube-scheduler looks at"
        yield f"{found}, so it may choose another"


def _without_node(placements: Sequence[Placement]) -> Iterator[str]:
    """Yield a sentence for each reason why pods have no node."""
    waiting: dict[str, list[str]] = {}
    for each in placements:
        if not each.is_placed:
            waiting.setdefault(each.event or each.reason or each.outcome.value, []).append(each.pod.key)
    for reason, (first, *others) in waiting.items():
        they = f"{first} and {count(len(others), 'more pod')} have" if others else f"{first} has"
        yield f"{they} no node: {reason}"
