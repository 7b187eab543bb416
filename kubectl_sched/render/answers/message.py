"""FailedScheduling texts in plain words: as a table, and as the `Message` that scripts read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubectl_sched.diagnostics.messages.reasons import PAGE, as_spelt
from kubectl_sched.output import API_VERSION
from kubectl_sched.render.safe_text import count
from kubectl_sched.render.table import Column, Table
from kubectl_sched.render.writers.styled_text import Text
from kubectl_sched.render.writers.table_lines import table_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.diagnostics.messages.decoder import Clause, FitErrorText
    from kubectl_sched.diagnostics.messages.reasons import Reason

_FOREIGN = "no text of kube-scheduler's own plugins: of an extender, or of a plugin that was added"
_CUT_OFF = "the text was cut off here"
_NO_REASONS = "the reasons are missing; paste the whole message, which goes on after `nodes are available:`"


def message_data(text: FitErrorText) -> dict[str, Any]:
    """The text as data. The schema is stable: fields are added, never renamed or dropped."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Message",
        "available": text.available,
        "nodes": text.total,
        "clauses": [_clause_data(clause) for clause in text.clauses],
        "cut": text.cut,
    }


def _clause_data(clause: Clause) -> dict[str, Any]:
    known = clause.meaning
    return {
        "text": clause.text,
        "nodes": clause.nodes,
        "about": "preemption" if clause.about_preemption else "pod" if clause.nodes is None else "nodes",
        "plugin": (known.plugin or None) if known else None,
        "meaning": known.says if known else None,
        "help": (known.helps or None) if known else None,
        "anchor": f"{PAGE}#{known.anchor}" if known else None,
        "reason": known.name if known else None,
    }


def message_lines(text: FitErrorText, width: int) -> Iterator[Text]:
    """The text clause by clause; the wide column comes last."""
    if text.total is not None:
        yield Text(f"{text.available} of {count(text.total, 'node')} can take the pod.", style="bold")
    for heading, about_preemption in (("", False), ("Could other pods make room?", True)):
        clauses = [clause for clause in text.clauses if clause.about_preemption is about_preemption]
        if not clauses:
            continue
        if heading:
            yield Text()
            yield Text(heading, style="bold")
        yield from table_lines(_table(clauses), width)
    if all(clause.about_preemption for clause in text.clauses):
        yield Text(f"note: {_NO_REASONS}", style="dim")
    yield from _more(text.clauses)
    if text.cut:
        yield Text(f"note: {_CUT_OFF}; events hold 1024 bytes, the pod's condition has the whole of it", style="dim")


def _more(clauses: Sequence[Clause]) -> Iterator[Text]:
    """Yield the command that says all about each reason."""
    names = list(dict.fromkeys(clause.meaning.name for clause in clauses if clause.meaning))
    if names:
        yield Text()
        yield Text("More about each reason:", style="dim")
        yield from (Text(f"  kubectl sched message --reason {name}", style="dim") for name in names)


def reason_data(reason: Reason) -> dict[str, Any]:
    """Return one reason as data: its texts by the minors that use them (none named: all), and its explanation."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Reason",
        "name": reason.name,
        "title": reason.title,
        "plugin": reason.plugin or None,
        "texts": [{"text": text, "versions": minors or None} for text, minors in reason.spellings.items()],
        "meaning": as_spelt(reason.says),
        "how": reason.how,
        "help": as_spelt(reason.helps) or None,
        "upstream": reason.upstream,
    }


def reason_lines(reason: Reason, _: int) -> Iterator[Text]:
    """Yield the entry of one reason."""
    named = "" if not reason.plugin or reason.plugin.startswith("{") else f" ({reason.plugin})"
    yield Text(f"{reason.title}{named}", style="bold")
    for text, minors in reason.spellings.items():
        yield Text(f"  {text}{f'   (Kubernetes {minors})' if minors else ''}")
    yield Text()
    yield Text(f"It means: {as_spelt(reason.says)}.")
    yield Text(f"It comes about: {reason.how}")
    if reason.helps:
        yield Text(f"It usually helps: {as_spelt(reason.helps)}.")
    yield Text(f"Upstream: {reason.upstream}", style="dim")


def _table(clauses: list[Clause]) -> Table[Clause]:
    nodes: Column[Clause] = Column(
        heading="Nodes", cell=lambda of: "all" if of.nodes is None else f"{of.nodes:,}", kind="number"
    )
    return Table(
        columns=(
            *((nodes,) if any(clause.nodes is not None for clause in clauses) else ()),
            Column(heading="Plugin", cell=lambda each: each.meaning.plugin if each.meaning else ""),
            Column(heading="In plain words", cell=_in_plain_words, kind="words"),
        ),
        rows=clauses,
    )


def _in_plain_words(clause: Clause) -> str:
    if clause.meaning is None:
        return f"{clause.text}... ({_CUT_OFF})" if clause.cut else f"{clause.text}: {_FOREIGN}"
    return "; ".join(filter(None, (clause.meaning.says, clause.meaning.helps)))
