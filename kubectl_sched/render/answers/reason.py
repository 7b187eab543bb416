"""The answer of `message --reason`: all about one reason, of kube-scheduler or of another component."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.diagnostics.messages.reason_catalogue import PAGE, SCHEDULER, as_spelt
from kubectl_sched.render.document import Commands, Document, Said, Sentence, Verdict
from kubectl_sched.render.show import Shown
from kubectl_sched.safe_output import API_VERSION
from kubectl_sched.shell_commands import message_reason

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_sched.diagnostics.messages.other_components import ComponentReason
    from kubectl_sched.diagnostics.messages.reason_catalogue import Meaning, Reason
    from kubectl_sched.render.schemas import message as schema


def shown_reason(reason: Reason | ComponentReason) -> Shown:
    """Return the entry of one reason in each form."""
    return Shown(
        document=lambda _: reason_document(reason), data=lambda: reason_data(reason), names=lambda: (reason.name,)
    )


def reason_data(reason: Reason | ComponentReason) -> schema.Reason:
    """Return one reason as data: its texts by the minors that use them (none named: all), and its explanation."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Reason",
        "name": reason.name,
        "title": reason.title,
        "plugin": reason.plugin or None,
        "component": reason.component,
        "events": list(reason.events),
        "texts": [{"text": text, "versions": minors or None} for text, minors in reason.texts],
        "meaning": as_spelt(reason.says),
        "how": reason.how,
        "help": as_spelt(reason.helps) or None,
        "upstream": reason.upstream,
    }


def reason_document(reason: Reason | ComponentReason) -> Document:
    """Return the entry of one reason: its texts, what it means, how it comes about, what helps."""
    by = reason.plugin if reason.component == SCHEDULER else reason.component
    named = "" if not by or by.startswith("{") else f" ({by})"
    texts = (f"{text}{f'   (Kubernetes {minors})' if minors else ''}" for text, minors in reason.texts)
    helps = (Sentence(text=f"It usually helps: {as_spelt(reason.helps)}."),) if reason.helps else ()
    return Document(
        verdict=Verdict(text=f"{reason.title}{named}"),
        parts=(
            *(Sentence(text=each, indent=2) for each in texts),
            Sentence(text=f"It means: {as_spelt(reason.says)}.", gap=True),
            Sentence(text=f"It comes about: {reason.how}"),
            *helps,
            Sentence(text=f"Upstream: {reason.upstream}", tone="dim"),
        ),
        heading=reason.title,
        command="message --reason",
    )


def meaning_data(meaning: Meaning | None) -> schema.Explained:
    """Return the fields of a clause that say what it means; null if that is not known."""
    return {
        "plugin": (meaning.plugin or None) if meaning else None,
        "meaning": meaning.says if meaning else None,
        "help": (meaning.helps or None) if meaning else None,
        "anchor": f"{PAGE}#{meaning.anchor}" if meaning else None,
        "reason": meaning.name if meaning else None,
    }


def more_about(meanings: Iterable[Meaning | None]) -> Iterator[Said]:
    """Yield the commands that say more about each of the reasons."""
    names = dict.fromkeys(each.name for each in meanings if each)
    if names:
        yield Sentence(text="More about each reason:", tone="dim", gap=True)
        yield Commands(commands=tuple(str(command) for command in map(message_reason, names) if command is not None))
