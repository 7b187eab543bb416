"""Sentences about the pod besides the replay: its stage, its placement, and events about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.apimachinery.timestamps import to_the_second
from kubectl_sched.render.document import Sentence
from kubectl_sched.render.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.diagnostics.pod_lifecycle import Stage
    from kubectl_sched.queries.explanation import Explanation

_GATE_LINES_KEPT = 2

_SAID = {
    "Bound": "It has its node and does not run yet",
    "Finished": "It has ended",
    "Gated": "It is gated",
    "Nominated": "It waits",
    "NoScheduler": "Nobody serves its schedulerName",
    "RefusedByKubelet": "Its kubelet refused it",
}


def stage_words(explanation: Explanation) -> str | None:
    """Return the words for the pod's stage if scheduling is not its problem, else None."""
    stage, result = explanation.stage, explanation.result
    if stage is None or stage.name in {"NotCreated", "Unschedulable"} or (stage.name == "Nominated" and result.fits):
        return None
    return said_of(stage)


def said_of(stage: Stage) -> str | None:
    """A stage in words, None for one that is nothing to remark on."""
    if (stage.name == "Running" and not stage.evidence) or (stage.name == "Gated" and not stage.known_by):
        return None
    since = f" (since {to_the_second(stage.since)})" if stage.since else ""
    said = _SAID.get(stage.name, f"It is {stage.name.lower()}")
    evidence = "; ".join(stage.evidence)
    return safe(f"{said}{since}: {evidence}" if evidence else f"{said}{since}")


def status_sentences(explanation: Explanation) -> Iterator[Sentence]:
    """Yield the lines for new nodes, for the pod's placement and for each event that differs from the replay."""
    if explanation.gates:
        from kubectl_sched.render.sentences.gate_sentences import gate_lines  # most pods have none

        for number, each in enumerate(gate_lines(explanation.gates)):
            yield Sentence(text=each, rank=4 if number < _GATE_LINES_KEPT else 3, keep=1 if not number else 0)
    if explanation.new_nodes is not None:
        from kubectl_sched.render.sentences.new_nodes_sentences import new_nodes_sentences  # most clusters need none

        rungs = {each.text for each in explanation.suggestions}
        told = (each for each in new_nodes_sentences(explanation.new_nodes) if each not in rungs)
        yield from (Sentence(text=each, rank=7, keep=2) for each in told)
    history, observed = explanation.history, explanation.observed
    if history is not None and history.verdict != "NotScheduled":
        yield Sentence(text=f"{history.message[:1].upper()}{history.message[1:]}.", rank=6, keep=1)
    said = explanation.said
    if said is not None and (said.differs or explanation.result.event is None):
        because = f"; now: {said.because}" if said.because else ""
        from kubectl_sched.render.ages import at_moment  # most pods have no message

        when = at_moment(said.at, said.read_at)
        message = said.message.rstrip(". ") if because else said.message
        yield Sentence(text=f"{said.by} said{when}: {message}{because}", rank=6, keep=2)
    for event in observed.autoscalers[:2] if observed is not None else ():
        from kubectl_sched.render.ages import at_moment  # most pods have no such event

        when = at_moment(event.last_seen, explanation.around.dump.at if explanation.around is not None else None)
        yield Sentence(text=f"{event.component} said{when}, {event.reason}: {event.text}", rank=4, keep=1)
