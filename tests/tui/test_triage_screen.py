"""`kubectl sched` on a terminal: groups, their pods, the explorer, the filter, and what helps all tried."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from kubectl_sched.queries.explain import Question
from kubectl_sched.queries.triage import Triaging
from kubectl_sched.sources import read
from kubectl_sched.sources.pod_selection import Selection
from kubectl_sched.tui.triage_explorer import TriageExplorer
from tests.tui.driving import FORMATS, SSH, Screen, on_screen, opened

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@asynccontextmanager
async def triage(size: tuple[int, int] = SSH) -> AsyncIterator[Screen]:
    question = Question(selection=Selection(namespace=None, pending=True), suggesting=False)
    app = TriageExplorer(Triaging(question, read(["fixtures/triage"])), FORMATS)
    async with opened(app, size) as screen:
        yield screen


@on_screen
async def test_the_groups_stand_largest_first_with_what_helps() -> None:
    async with triage((120, 24)) as screen:
        assert screen.lines[0] == "19 pods pending, 4 causes"
        line = screen.line_with("no GPU free (nvidia.com/gpu)")
        assert line.split()[:2] == ["12", "4h"]
        assert "2 more nodes like gpu-1 place all" in line
        assert screen.lines.index(line) == min(
            index
            for index, text in enumerate(screen.lines)
            if text.split()[:1] and text.split()[0].isdecimal() and index > 0
        )


@on_screen
async def test_typing_filters_and_escape_drops_the_filter() -> None:
    async with triage() as screen:
        await screen.type("kueue")
        assert "Kueue holds it back" in screen.text
        assert "no GPU free" not in screen.text
        await screen.press("escape")
        assert "no GPU free" in screen.text
        await screen.type("jgq")  # letters that move or leave elsewhere
        assert "no GPU free" not in screen.text


@on_screen
async def test_enter_opens_the_group_then_the_pod_in_the_explorer_and_escape_goes_back() -> None:
    async with triage() as screen:
        await screen.press("enter")
        assert "12 pods of 3 workloads: no GPU free (nvidia.com/gpu)" in screen.lines[0]
        assert "ml/train-0" in screen.text
        await screen.type("notebook")
        await screen.press("enter")
        assert screen.explorer.view.result.pod.key == "ml/notebook-7f4-0"
        await screen.press("escape")
        assert "ml/notebook-7f4-0" in screen.text
        await screen.press("escape", "escape")
        assert "19 pods pending" in screen.text


@on_screen
async def test_one_key_tries_what_helps_on_all_pods_of_the_group() -> None:
    async with triage() as screen:
        await screen.press("tab")
        assert "2 more nodes like gpu-1 place all" in screen.text
        assert "Replayed for 12 pods, 12 placed:" in screen.text
        assert screen.line_with("gpu-1-add-1").split() == ["gpu-1-add-1", "6", "pods"]
        await screen.press("escape")
        assert "19 pods pending" in screen.text


@on_screen
async def test_a_group_tries_it_too_and_the_key_goes_on_to_the_next_suggestion() -> None:
    async with triage() as screen:
        await screen.type("kueue")
        await screen.press("enter", "tab")
        assert "once Kueue lifts the gate" in screen.text
        assert "1 of 1" in screen.text


@on_screen
async def test_the_cursor_moves_while_the_filter_has_the_focus() -> None:
    async with triage() as screen:
        await screen.press("down", "down", "enter")
        assert "2 pods of 1 workload: Kueue holds it back" in screen.lines[0]
