"""Prints results in the format that was asked for, and says with which code to exit."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

import msgspec

from kubectl_sched.errors import SchedError
from kubectl_sched.record import Record
from kubectl_sched.render.data.explanation_data import explanation, explanation_list
from kubectl_sched.render.headline import summary
from kubectl_sched.render.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.simulation.pending_together import Together
    from kubectl_sched.snapshot import Snapshot

_DELETE = b"\x7f"
_NOT_PLAIN = re.compile("[\x7f-\U0010ffff]")

PAGES = frozenset({"html", "markdown"})
"""The formats that are whole pages to hand on."""


class Display(Record, frozen=True):
    """How to show it: the flags of the same names, and whether one pod was asked for by name."""

    output: str = "table"
    color: str = "auto"
    all_nodes: bool = False
    node: str | None = None
    evidence: bool = False
    one: bool = True
    together: Together | None = None
    """What becomes of all pods that are shown one after the other."""


def show(
    results: Sequence[ScheduleResult], display: Display, notes: Sequence[str] = (), warnings: Sequence[str] = ()
) -> int:
    """Print the results on stdout; returns the exit code.

    `notes` say what the answer rests on, and are part of it. `warnings` say what went wrong on the way: data and pages
    have both; else they go to stderr, but for a screen, where they find their place among the notes.
    """
    check_node(results, display)
    if display.output in {"json", "yaml"}:
        _write(results, display, [*notes, *warnings])
        return exit_code(results, display)
    on_screen = display.output not in {"name", *PAGES} and sys.stdout.isatty() and sys.stderr.isatty()
    if not on_screen:
        warn(warnings)
    if display.output == "name":
        sys.stdout.write("".join(f"node/{name}\n" for result in results for name in result.best))
        warn(notes)
    elif display.output in PAGES:
        write_page(_as_page(results, display, [*notes, *warnings]))
    else:
        from kubectl_sched.render.text.terminal import print_results

        print_results(results, display, [*notes, *warnings] if on_screen else notes)
    return exit_code(results, display)


def warn(sentences: Sequence[str]) -> None:
    """Say each of them once on stderr."""
    sys.stderr.write("".join(f"warning: {safe(sentence)}\n" for sentence in dict.fromkeys(sentences)))
    sys.stderr.flush()


def check_node(results: Sequence[ScheduleResult], display: Display) -> None:
    """Raises SchedError for a --node that there is not."""
    if display.node is not None:
        for result in results:
            check_is_node(display.node, result.nodes)


def check_is_node(name: str, nodes: Snapshot) -> None:
    """Raises SchedError for a node that there is not."""
    if name not in nodes.row_of:
        from difflib import get_close_matches

        near = get_close_matches(name, nodes.names, n=3)
        raise SchedError(f"there is no node {name}" + (f"; near it: {', '.join(near)}" if near else ""))


def _write(results: Sequence[ScheduleResult], display: Display, notes: Sequence[str]) -> None:
    """One explanation with the notes among its warnings, or a list of them with the notes as its own warnings."""

    def explained(result: ScheduleResult) -> dict[str, Any]:
        wanted = result.nodes.row_of.get(display.node or "")
        return explanation(result, summary(result), evidence=lambda row: display.evidence or row == wanted)

    if display.one:
        data = explained(results[0])
        write_data({**data, "warnings": [*data["warnings"], *notes]}, display.output)
        return
    beside: dict[str, Any] = {}
    if display.together is not None:
        joint = display.together
        beside["together"] = {"pods": joint.pods, "placed": joint.placed, "higherPriorityAhead": joint.ahead}
    beside["warnings"] = list(notes)
    items = map(explained, results)
    if display.output == "json":
        _write_list({**explanation_list([]), **beside}, items)
    else:
        write_data({**explanation_list(list(items)), **beside}, display.output)


def _write_list(data: Mapping[str, Any], items: Iterable[dict[str, Any]]) -> None:
    """Print JSON as `write_data` does, with these `items`, of which only one at a time is in memory.

    An answer about thousands of nodes is megabytes, and a list may have thousands of those.
    """
    out = sys.stdout.buffer
    for position, (key, value) in enumerate(data.items()):
        out.write(b'%s\n  "%s": ' % (b"," if position else b"{", key.encode()))
        if key != "items":
            out.write(_indented(value, 2))
            continue
        opened = False
        for item in items:
            out.write((b"," if opened else b"[") + b"\n    " + _indented(item, 4))
            opened = True
        out.write(b"\n  ]" if opened else b"[]")
    out.write(b"\n}\n")


def _indented(value: Any, columns: int) -> bytes:
    return _formatted(value).replace(b"\n", b"\n" + b" " * columns)


def _formatted(value: Any) -> bytes:
    """Indented JSON in which what a terminal would not show as it is stands as its escape."""
    formatted = msgspec.json.format(msgspec.json.encode(value), indent=2)
    if formatted.isascii() and _DELETE not in formatted:
        return formatted
    return _NOT_PLAIN.sub(_escaped, formatted.decode()).encode()


def _escaped(character: re.Match[str]) -> str:
    shown = character[0]
    if safe(shown) == shown:
        return shown
    code = shown.encode("utf-16-be").hex()
    return "".join(f"\\u{code[start : start + 4]}" for start in range(0, len(code), 4))


def _as_page(results: Sequence[ScheduleResult], display: Display, notes: Sequence[str]) -> str:
    if display.output == "html":
        from kubectl_sched.render.html.page import explanation_page

        return explanation_page(results, display, notes)
    from kubectl_sched.render.markdown.markdown_answer import explanation_markdown

    return explanation_markdown(results, display, notes)


def write_page(page: str) -> None:
    """Print a page on stdout, in UTF-8 as it says of itself, whatever the locale."""
    sys.stdout.buffer.write(page.encode())


def write_data(data: dict[str, Any], output: str) -> None:
    """Print the data on stdout as `json` or `yaml`."""
    if output == "json":
        sys.stdout.buffer.write(as_json(data))
    else:
        sys.stdout.buffer.write(as_yaml(data).encode())


def as_json(data: dict[str, Any]) -> bytes:
    """The data as indented JSON with a line's end."""
    return _formatted(data) + b"\n"


def as_yaml(data: dict[str, Any]) -> str:
    """The data as YAML, each text on a line of its own however long."""
    import yaml

    encoded = msgspec.json.encode(data).decode()
    text: str = yaml.dump(
        msgspec.to_builtins(data),
        Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper),  # the one in C is several times as fast
        sort_keys=False,
        allow_unicode=safe(encoded) == encoded,
        width=2**16,
    )
    return text


def exit_code(results: Sequence[ScheduleResult], display: Display) -> int:
    """0 where every pod fits (with --node: fits there), 1 where one does not."""
    if display.node is None:
        return 0 if all(result.fits for result in results) else 1
    fitting = (
        result.fits and result.verdict is not None and result.verdict[result.nodes.row_of[display.node]].is_success
        for result in results
    )
    return 0 if all(fitting) else 1
