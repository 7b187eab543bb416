"""Triage as it is printed, at 80, 120 and 160 columns and in a pipe, and laws that each of them keeps.

tests/golden/screens has it (`pytest --update-golden` writes it anew).
"""

from __future__ import annotations

import io
from functools import cache

import pytest
from msgspec.structs import replace
from rich.console import Console

from kubectl_sched.queries.explain import ExplainQuestion
from kubectl_sched.queries.triage import Triage, triage
from kubectl_sched.render.answers.triage import triage_document
from kubectl_sched.render.display import Display
from kubectl_sched.render.sentences.group_sentences import help_in_words
from kubectl_sched.render.writers.terminal import rendered
from kubectl_sched.sources.dump.reader import read
from kubectl_sched.sources.pod_selection import Selection
from tests.render.test_golden import NOTES, compare

PIPE = 100_000
WIDTHS = (80, 120, 160, PIPE)


@cache
def found() -> Triage:
    of_fixture = triage(ExplainQuestion(selection=Selection(namespace=None, pending=True)), read(["fixtures/triage"]))
    return replace(
        of_fixture, notes=NOTES, changing=("Without PodDisruptionBudget, preemption may choose another node",)
    )


@cache
def screen(output: str, width: int) -> str:
    console = Console(file=io.StringIO(), width=width, no_color=True, markup=False, highlight=False)
    display = Display(output=output)
    lines = rendered(triage_document(found(), display), display, console, None)
    return "\n".join("".join(segment.text for segment in line).rstrip() for line in lines)


@pytest.mark.parametrize("output", ["table", "wide"])
def test_the_screen(output: str, update_golden: bool) -> None:
    told = (f"--- {'piped' if width == PIPE else width}\n{screen(output, width)}" for width in WIDTHS)
    compare(f"screens/triage-{output}.txt", "\n".join(told), update=update_golden)


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_cut(width: int) -> None:
    assert "…" not in screen("table", width) + screen("wide", width)


@pytest.mark.parametrize("width", WIDTHS)
def test_wide_holds_what_the_table_holds_in_its_order(width: int) -> None:
    wide = iter(screen("wide", width).splitlines())
    assert [line for line in screen("table", width).splitlines() if line and line not in wide] == []


@pytest.mark.parametrize("width", WIDTHS)
def test_wide_says_each_thing_that_helps_once_in_full(width: int) -> None:
    text = " ".join(screen("wide", width).lower().split())
    for group in found().groups:
        for position, each in enumerate(group.suggestions or ()):
            is_in_summary = position == 0
            assert text.count(help_in_words(each).lower()) == 1 + is_in_summary
