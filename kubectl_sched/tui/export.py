"""The view in any output format, written to a file that the user names."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kubectl_sched.errors import SchedError
from kubectl_sched.queries.explain import ExplainAnswer
from kubectl_sched.record import Record
from kubectl_sched.render.answers.explain_output import explain_document
from kubectl_sched.render.answers.explanation_data import explanation_data
from kubectl_sched.render.display import PAGES, Display
from kubectl_sched.render.safe_text import count, safe
from kubectl_sched.render.sentences.headline import headline
from kubectl_sched.render.sentences.verdict_line import verdict_line
from kubectl_sched.render.show import as_page
from kubectl_sched.render.writers.data import as_json, as_yaml
from kubectl_sched.tui.edits import texts
from kubectl_sched.tui.lines.line import plain
from kubectl_sched.tui.lines.node_columns import NodeLines, columns, heading
from kubectl_sched.tui.lines.what_if_changes import changes, in_words
from kubectl_sched.tui.pipeline import bar_lines, stages

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.snapshot.array_types import Rows
    from kubectl_sched.tui.explorer_input import Exploration
    from kubectl_sched.tui.explorer_state import View
    from kubectl_sched.tui.listing import Listing

_WIDTH = 160
_SUFFIXES = {
    ".json": "json",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".html": "html",
    ".htm": "html",
    ".md": "markdown",
    ".names": "name",
    ".txt": "table",
}
_ENDING = {"json": ".json", "yaml": ".yaml", "html": ".html", "markdown": ".md", "name": ".names"}


class Shown(Record, frozen=True, kw_only=True):
    """The parts of an export: the view, its listing, the listed rows, and what is known of the state as a whole."""

    view: View
    listing: Listing
    rows: Rows
    about: Exploration

    @property
    def is_whole(self) -> bool:
        """Report whether the list shows every node."""
        return len(self.rows) == len(self.view.result.nodes)


def format_of(path: str, formats: Sequence[str], default: str) -> str:
    """The format that a file's name asks for by its ending."""
    meant = _SUFFIXES.get(Path(path).suffix.lower(), default)
    return meant if meant in formats else default


def file_for(shown: Shown, output: str) -> str:
    """The name that is proposed; of a pod's name only what any file system takes."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", shown.view.result.pod.metadata.name)
    return f"{name}{_ENDING.get(output, '.txt')}"


def export(shown: Shown, output: str, path: str, *, overwrite: bool = False) -> str:
    """Write the file; gives the sentence that says so. Raises SchedError where it cannot be written, or is there."""
    if not path.strip():
        raise SchedError("name the file to write")
    target = Path(path.strip()).expanduser()
    text = exported(shown, output)
    try:
        with target.open("w" if overwrite else "x", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except FileExistsError:
        raise SchedError(f"{path} exists; enter again writes over it") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise SchedError(f"{path} cannot be written: {reason}") from None
    return f"wrote {path} ({output}, {count(len(text.encode()), 'byte')})"


def exported(shown: Shown, output: str) -> str:
    """The text. Table, name, json and yaml hold the nodes that are listed; the others are about all of them."""
    match output:
        case "table":
            return "".join(f"{text}\n" for text in _table(shown))
        case "name":
            return "".join(f"node/{name}\n" for name in _names(shown))
        case "json":
            return as_json(_data(shown)).decode()
        case "yaml":
            return as_yaml(_data(shown))
        case _:
            return _whole(shown, output)


def _names(shown: Shown) -> list[str]:
    """The best nodes, as explain prints them; of a narrowed list all of its nodes."""
    result = shown.view.result
    return list(result.best) if shown.is_whole else [result.nodes.names[row] for row in shown.rows.tolist()]


def _data(shown: Shown) -> dict[str, Any]:
    """The explanation with the edits beside it, and those nodes alone that are listed."""
    result = shown.view.result
    data = explanation_data(shown.view.explanation, headline(shown.view.explanation))
    listed = {result.nodes.names[row] for row in shown.rows.tolist()}
    data["nodes"] = [node for node in data["nodes"] if node["name"] in listed]
    data["whatIf"] = texts(shown.view.edits)
    data["warnings"] = [*data["warnings"], *shown.about.changing, *_notes(shown)]
    return data


def _notes(shown: Shown) -> list[str]:
    notes = list(shown.about.notes)
    if shown.view.edits:
        notes.append(f"replayed with changes: {'; '.join(texts(shown.view.edits))}")
    if not shown.is_whole:
        notes.append(f"only {count(len(shown.rows), 'node')} of {len(shown.view.result.nodes):,} were listed")
    return notes


def _table(shown: Shown) -> Iterator[str]:
    """Yield the content of the screen, with all the lines that the list has."""
    view = shown.view
    yield verdict_line(view.explanation)
    if view.edits:
        yield f"what if: {'; '.join(safe(text) for text in texts(view.edits))}"
        yield f"then: {in_words(changes(view.base.result, view.result))}"
    yield ""
    yield from (plain(line) for line in bar_lines(stages(view.explanation), view.stage, _WIDTH))
    yield ""
    columns_shown = columns(view, shown.listing, _WIDTH)
    lines = NodeLines(view, shown.listing, columns_shown)
    yield plain(heading(columns_shown, view.sort))
    yield from (plain(lines(row)) for row in shown.rows.tolist())
    notes = [*shown.about.changing, *view.explanation.notes, *_notes(shown)]
    if notes:
        yield ""
    yield from (f"note: {safe(note)}" for note in dict.fromkeys(notes))


def _whole(shown: Shown, output: str) -> str:
    """The whole decision as `explain -o` has it, below the edits and with them among its notes."""
    answer = ExplainAnswer(
        explanations=(shown.view.explanation,), notes=tuple(_notes(shown)), changing=shown.about.changing
    )
    display, edits = Display(output=output, color="never"), "; ".join(texts(shown.view.edits))
    supposed = f"What if: {edits}" if edits else ""
    document = explain_document(answer, display)
    if output in PAGES:
        return as_page(document, display, supposed)
    from rich.console import Console

    from kubectl_sched.render.writers.terminal import rendered

    console = Console(file=io.StringIO(), width=_WIDTH, color_system=None, markup=False, emoji=False, highlight=False)
    lines = rendered(document, display, console, None)
    whole = "".join("".join(segment.text for segment in line) + "\n" for line in lines)
    return f"{safe(supposed)}\n{whole}" if supposed else whole
