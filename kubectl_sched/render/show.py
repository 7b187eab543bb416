"""Prints results in the format that was asked for, and says with which code to exit."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from kubectl_sched.errors import SchedError
from kubectl_sched.output import safe, safe_json, write_error, write_json, write_page, write_text
from kubectl_sched.record import Record
from kubectl_sched.render.data.explanation_data import explanation_data, explanation_list
from kubectl_sched.render.headline import headline
from kubectl_sched.render.sampling_sentence import sampling_notes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kubectl_sched.queries.explain import Answer
    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.snapshot import Snapshot

PAGES = frozenset({"html", "markdown"})
"""The formats that are whole pages to hand on."""


class Display(Record, frozen=True):
    """The form of the output: the flags of the same names."""

    output: str = "table"
    color: str = "auto"
    all_nodes: bool = False
    node: str | None = None
    evidence: bool = False


def show(answer: Answer, display: Display) -> int:
    """Print the answer on stdout and return the exit code.

    The notes are part of every output. Data and pages also hold the warnings; on a screen these stand among the notes,
    and else they go to stderr.
    """
    explanations, notes, warnings = answer.explanations, answer.notes, answer.warnings
    check_node(explanations, display)
    if not answer.is_about_one_pod:
        notes = (*sampling_notes(explanations), *notes)
        answer = replace(answer, notes=notes)
    if display.output in {"json", "yaml"}:
        _write(answer, display)
        return exit_code(explanations, display)
    on_screen = display.output not in {"name", *PAGES} and sys.stdout.isatty() and sys.stderr.isatty()
    if not on_screen:
        warn(warnings)
    if display.output == "name":
        write_names(f"node/{name}" for each in explanations for name in each.result.best)
        warn(notes)
    elif display.output in PAGES:
        write_page(_as_page(answer, display))
    else:
        from kubectl_sched.render.text.terminal import print_answer

        print_answer(answer, display, (*notes, *warnings) if on_screen else notes)
    return exit_code(explanations, display)


def warn(sentences: Sequence[str]) -> None:
    """Say each of them once on stderr."""
    write_error("".join(f"warning: {safe(sentence)}\n" for sentence in dict.fromkeys(sentences)))


def write_names(names: Iterable[str]) -> None:
    """Print `-o name`: a line each."""
    write_text("".join(f"{safe(name)}\n" for name in names))


def check_node(explanations: Sequence[Explanation], display: Display) -> None:
    """Raises SchedError for a --node that there is not."""
    if display.node is not None:
        for each in explanations:
            check_is_node(display.node, each.result.nodes)


def check_is_node(name: str, nodes: Snapshot) -> None:
    """Raises SchedError for a node that there is not."""
    if name not in nodes.row_of:
        from difflib import get_close_matches

        near = get_close_matches(name, nodes.names, n=3)
        raise SchedError(f"there is no node {name}" + (f"; near it: {', '.join(near)}" if near else ""))


def _write(answer: Answer, display: Display) -> None:
    """Write one explanation with the notes among its warnings, or a list of them with the notes as its own warnings."""
    notes = (*answer.notes, *answer.warnings)

    def data_of(explanation: Explanation) -> dict[str, Any]:
        wanted = explanation.result.nodes.row_of.get(display.node or "")
        return explanation_data(
            explanation, headline(explanation), evidence=lambda row: display.evidence or row == wanted
        )

    if answer.is_about_one_pod:
        data = data_of(answer.explanations[0])
        write_data({**data, "warnings": [*data["warnings"], *notes]}, display.output)
        return
    beside: dict[str, Any] = {}
    joint = answer.together
    if joint is not None:
        beside["together"] = {"pods": joint.pods, "placed": joint.placed, "higherPriorityAhead": joint.ahead}
    beside["warnings"] = list(notes)
    items = map(data_of, answer.explanations)
    if display.output == "json":
        _write_list({**explanation_list([]), **beside}, items)
    else:
        write_data({**explanation_list(list(items)), **beside}, display.output)


def _write_list(data: Mapping[str, Any], items: Iterable[dict[str, Any]]) -> None:
    """Print JSON as `write_data` does, with these `items`, of which only one at a time is in memory.

    An answer about thousands of nodes is megabytes, and a list may have thousands of those.
    """
    for position, (key, value) in enumerate(data.items()):
        write_json(b'%s\n  "%s": ' % (b"," if position else b"{", key.encode()))
        if key != "items":
            write_json(_indented(value, 2))
            continue
        opened = False
        for item in items:
            write_json((b"," if opened else b"[") + b"\n    " + _indented(item, 4))
            opened = True
        write_json(b"\n  ]" if opened else b"[]")
    write_json(b"\n}\n")


def _indented(value: Any, columns: int) -> bytes:
    return _formatted(value).replace(b"\n", b"\n" + b" " * columns)


def _formatted(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=2)


def _as_page(answer: Answer, display: Display) -> str:
    if display.output == "html":
        from kubectl_sched.render.html.page import explanation_page

        return explanation_page(answer, display)
    from kubectl_sched.render.markdown.markdown_answer import explanation_markdown

    return explanation_markdown(answer, display)


def write_data(data: dict[str, Any], output: str) -> None:
    """Print the data on stdout as `json` or `yaml`."""
    if output == "json":
        write_json(as_json(data))
    else:
        write_page(as_yaml(data))


def as_json(data: dict[str, Any]) -> bytes:
    """The data as indented JSON with a line's end."""
    return safe_json(_formatted(data)) + b"\n"


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


def exit_code(explanations: Sequence[Explanation], display: Display) -> int:
    """0 where every pod fits (with --node: fits there), 1 where one does not."""
    results = [each.result for each in explanations]
    if display.node is None:
        return 0 if all(result.fits for result in results) else 1
    fitting = (
        result.fits and result.verdict is not None and result.verdict[result.nodes.row_of[display.node]].is_success
        for result in results
    )
    return 0 if all(fitting) else 1
