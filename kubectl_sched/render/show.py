"""Shows an answer in the format that was asked for: the one chain of formats."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from kubectl_sched.errors import SchedError
from kubectl_sched.record import Record
from kubectl_sched.render.display import DATA, REPORTS
from kubectl_sched.render.document import notes_of
from kubectl_sched.render.writers.data import printed_size, warn, write_data, write_names
from kubectl_sched.safe_output import write_page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from kubectl_sched.render.display import Display
    from kubectl_sched.render.document import Document
    from kubectl_sched.render.writers.check_report import Case


def _nothing() -> Iterable[str]:
    return ()


class Shown(Record, frozen=True, kw_only=True):
    """An answer in each form, of which one is made: the Document, the data of the contract, the lines of `-o name`.

    `remarks` are what `-o name` has no place for; `warnings` say what went wrong while reading, as data do, too. On a
    screen and on a page they are part of the Document, and else they go to stderr.
    """

    document: Callable[[Display], Document]
    data: Callable[[], Mapping[str, Any]]
    names: Callable[[], Iterable[str]]
    remarks: Callable[[], Iterable[str]] = _nothing
    cases: Callable[[], Sequence[Case]] | None = None
    warnings: tuple[str, ...] = ()


def show(shown: Shown, display: Display) -> None:
    """Print the answer on stdout."""
    if display.output in DATA:
        data = shown.data()
        if display.brief:
            from kubectl_sched.render.writers.brief import brief

            data = brief(data, printed_size(display.output))
        write_data(data, display.output)
        return
    if display.output in REPORTS:
        if shown.cases is None:
            raise SchedError(f"there is no -o {display.output} of this answer: give another format")
        from kubectl_sched.render.writers.check_report import write_report

        warn(shown.warnings)
        document = shown.document(display)
        write_report(shown.cases(), document.command, display.output, lambda: as_page(document, display))
        return
    is_text = display.output in {"table", "wide"}
    on_screen = is_text and sys.stdout.isatty() and sys.stderr.isatty()
    if not on_screen:
        warn(shown.warnings)
    if display.output == "name":
        write_names(shown.names())
        warn(tuple(shown.remarks()))
        return
    document = whole_document(shown, display) if on_screen or not is_text else shown.document(display)
    if is_text:
        from kubectl_sched.render.writers.terminal import print_document

        print_document(document, display)
    else:
        write_page(as_page(document, display))


def whole_document(shown: Shown, display: Display) -> Document:
    """Return the Document with the warnings, for where stderr is not read beside it."""
    document = shown.document(display)
    return replace(document, notes=notes_of((*shown.warnings, *document.notes.changing), document.notes.premises))


def as_page(document: Document, display: Display, supposed: str = "") -> str:
    """Return the answer as HTML or Markdown. `supposed` names the edits that it is shown with."""
    if display.output == "html":
        from kubectl_sched.render.writers.html import html

        return html(document, supposed)
    from kubectl_sched.render.writers.markdown import markdown
    from kubectl_sched.render.writers.markdown_text import text

    page = markdown(document)
    return f"{text(supposed)}\n\n{page}" if supposed else page
