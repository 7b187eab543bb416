"""Writes docs/reasons.md out of the table.

Run `python -m kubectl_sched.diagnostics.messages.reasons_page > docs/reasons.md`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kubectl_sched.config.versions import SUPPORTED
from kubectl_sched.diagnostics.messages.other_components import component_families
from kubectl_sched.diagnostics.messages.reason_catalogue import SCHEDULER, as_spelt, families

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.diagnostics.messages.other_components import ComponentReason
    from kubectl_sched.diagnostics.messages.reason_catalogue import Reason

_HEAD: Final = Path(__file__).with_name("reasons_head.md")

_OTHERS: Final = Path(__file__).with_name("other_components_head.md")

_FINDINGS: Final = Path(__file__).with_name("findings_head.md")

_COMMAND: Final = "kubectl "

_NOTHING: Final = "Nothing by itself: look at the other reasons of the message."


def page() -> str:
    """The page as Markdown."""
    head = _HEAD.read_text("utf-8").rstrip("\n").format(oldest=SUPPORTED[0], newest=SUPPORTED[-1])
    others = _OTHERS.read_text("utf-8").rstrip("\n")
    found = _FINDINGS.read_text("utf-8").rstrip("\n")
    own = (_family(name, reasons) for name, reasons in families().items())
    of_others = (_family(name, reasons) for name, reasons in component_families().items())
    return "\n\n".join([head, _contents(), *own, others, *of_others, found]) + "\n"


def _contents() -> str:
    own = (_content(name, reasons) for name, reasons in families().items())
    others = (_content(name, reasons) for name, reasons in component_families().items())
    return "## All of them\n\n" + "\n".join((*own, *others))


def _content(name: str, reasons: Sequence[Reason | ComponentReason]) -> str:
    return f"- {name}: {', '.join(f'[{reason.title}](#{reason.anchor})' for reason in reasons)}"


def _family(name: str, reasons: Sequence[Reason | ComponentReason]) -> str:
    return "\n\n".join([f"## {name}", *("\n".join(_entry(reason)) for reason in reasons)])


def _entry(reason: Reason | ComponentReason) -> Iterator[str]:
    is_own = reason.component == SCHEDULER
    plugin = "" if not reason.plugin or reason.plugin.startswith("{") else f" ({reason.plugin})"
    yield f"### {reason.title}\n"
    for text, minors in reason.texts:
        yield f"- `{text}`{f' ({minors})' if minors else ''}"
    yield f"\n{_sentence(_plain(reason.says))}\n"
    if not is_own:
        events = f", events of the reason {', '.join(f'`{each}`' for each in reason.events)}" if reason.events else ""
        yield f"- Who says it: {reason.component}{events}."
    yield f"- How one gets there{plugin}: {reason.how}"
    nothing = _NOTHING if is_own else "Nothing is needed."
    yield f"- What usually helps: {_sentence(_plain(reason.helps)) if reason.helps else nothing}"
    yield f"- Upstream: `{reason.upstream}`"


def _plain(text: str) -> str:
    """The words with each place named as the spellings above them name it."""
    return as_spelt(text).replace("<", "`<").replace(">", ">`")


def _sentence(text: str) -> str:
    return f"{text if text.startswith(_COMMAND) else text[:1].upper() + text[1:]}."


if __name__ == "__main__":
    sys.stdout.write(page())
