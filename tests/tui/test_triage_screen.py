"""`kubectl sched` on a terminal: groups, their pods, the explorer, the filter, and what helps all tried."""

from __future__ import annotations

import re
import threading
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from textual import events
from textual.keys import key_to_character

from kubectl_sched.queries.explain import ExplainQuestion, explain
from kubectl_sched.queries.triage import Triaging
from kubectl_sched.queries.triage import triage as triage_of
from kubectl_sched.render.sentences.group_sentences import cause_of_pods, waits_for, what_helps
from kubectl_sched.render.sentences.verdict_line import verdict_line
from kubectl_sched.sources import Dump
from kubectl_sched.sources.discovery.replay_setup import Replay
from kubectl_sched.sources.dump.reader import read
from kubectl_sched.sources.pod_selection import Selection
from kubectl_sched.tui.keys import TRIAGE, TRIAL
from kubectl_sched.tui.lines.group_lines import group_rows
from kubectl_sched.tui.lines.line import plain
from kubectl_sched.tui.lines.pod_lines import PodLines
from tests.plugins.clusters import node, pod, requests
from tests.tui.driving import SSH, WIDE, Screen, on_screen, opened, triage_explorer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from kubectl_sched.queries.triage import Group, Triage

_PATIENCE_SECONDS = 60
QUESTION = ExplainQuestion(selection=Selection(namespace=None, pending=True), replay=Replay(kube_version="1.36"))


@asynccontextmanager
async def triage(size: tuple[int, int] = SSH) -> AsyncIterator[Screen]:
    async with opened(triage_explorer(), size) as screen:
        yield screen


def of_fixture() -> Triage:
    return triage_of(QUESTION, read(["fixtures/triage"]))


def at_most(longest: int, texts: list[str]) -> bool:
    return all(len(text) <= longest for text in texts)


@pytest.mark.parametrize("width", [40, 79, 119, 159])
def test_the_rows_hold_every_word_and_nothing_is_cut(width: int) -> None:
    found = of_fixture()
    for group, row in zip(found.groups, group_rows(found.groups, found, width), strict=True):
        lines = [plain(line) for line in row]
        assert at_most(width, lines)
        shown = "".join(" ".join(lines).split())
        assert "…" not in shown
        told = (
            cause_of_pods(group),
            what_helps(group) or waits_for(group) or "",
            *("/".join(each) for each in group.workloads),
        )
        assert [word for text in told for word in re.split(r"[ /:=-]", text) if word not in shown] == []


def test_two_groups_that_differ_in_the_end_of_their_cause_are_told_apart() -> None:
    def wanting(name: str, resource: str) -> Any:
        return pod(name, schedulerName="default-scheduler", **requests(**{resource: "1"}))

    names = [f"example.com/{'a' * 40}-{end}" for end in ("one", "two")]
    objects = (node("w1"), *(wanting(f"p{at}", name) for at, name in enumerate(names)))
    found = triage_of(QUESTION, Dump(objects=objects, present=frozenset({"Node", "Pod"})))
    one, two = group_rows(found.groups, found, 79)
    assert plain(one[0]) != plain(two[0])


@on_screen
async def test_nodes_that_refuse_pods_and_notes_stand_below_the_groups() -> None:
    async with triage() as screen:
        assert screen.lines[0].endswith("; 1 node refuses pods")
        assert "UnexpectedAdmissionError" not in screen.text
        await screen.press(*["down"] * 30)
        text = " ".join(screen.text.split())
        assert "Nodes whose kubelet refuses pods:" in text
        assert "the kubelet of general-1 refused 3 pods after binding" in text
        assert "UnexpectedAdmissionError" in text
        assert "note: default profile" in text
        await screen.press("enter")
        assert "1 pod of 1 workload: fits now" in screen.lines[0]


@pytest.mark.parametrize("size", [SSH, WIDE])
def test_a_group_shows_the_whole_sentence_about_the_pod_under_the_cursor(size: tuple[int, int]) -> None:
    @on_screen
    async def driven() -> None:
        answer, _ = explain(
            ExplainQuestion(selection=Selection(namespace=None, pending=True)), read(["fixtures/triage"])
        )
        told = {each.pod.key: verdict_line(each) for each in answer.explanations}
        async with triage(size) as screen:
            await screen.press("enter")
            assert told["ml/train-0"] in " ".join(screen.text.split())
            await screen.press(*["down"] * 11)
            assert told["research/eval"] in " ".join(screen.text.split())
            await screen.type("nothing like it")
            assert "research/eval" not in screen.text

    driven()


@pytest.mark.parametrize("width", [79, 119])
def test_pods_with_long_names_are_told_apart(width: int) -> None:
    names = [f"payments-reconciliation-worker-in-region-europe-west-3-{end}-0" for end in ("a", "b")]
    selection = Selection(namespace=None, pending=True)
    objects = (node("w1"), *(pod(name, schedulerName="default-scheduler") for name in names))
    answer, _ = explain(
        ExplainQuestion(selection=selection, replay=Replay(kube_version="1.36")),
        Dump(objects=objects, present=frozenset({"Node", "Pod"})),
    )
    line_of = PodLines(answer.explanations, width)
    lines = [plain(line_of(each)) for each in answer.explanations]
    assert at_most(width, lines)
    assert [line.split()[1] for line in lines] == ["…a-0", "…b-0"]


@on_screen
async def test_a_trial_shows_no_part_of_a_command_and_copies_the_whole() -> None:
    async with triage() as screen:
        await screen.press("down", "tab")
        assert "the commands are wider than this screen: y copies them" in screen.text
        assert "kubectl patch" not in screen.text
        await screen.press("y")
        assert screen.app.clipboard.startswith("kubectl patch pod/report-0 -n batch -p ")
        assert screen.app.clipboard.endswith("}'")
    async with triage(WIDE) as screen:
        await screen.press("down", "tab")
        assert "kubectl patch pod/report-0 -n batch -p " in screen.text


@on_screen
async def test_the_bottom_line_names_every_key_at_80_columns() -> None:
    async with triage() as screen:
        for keys, after in ((TRIAGE, "enter"), (TRIAGE, "tab"), (TRIAL, "escape")):
            assert all(f"{key.key} {key.word}" in screen.lines[-1] for key in keys)
            await screen.press(after)


@on_screen
async def test_help_begins_with_the_keys_of_the_list() -> None:
    async with triage() as screen:
        await screen.press("question_mark")
        assert "Keys of this list" in screen.lines[2]
        assert "what helps all pods of the group" in screen.text
        await screen.press("escape")
        assert "19 pods pending" in screen.lines[0]


@pytest.mark.parametrize("keys", [["escape"], ["ctrl+c"], ["enter", "ctrl+c"], ["q", "escape", "escape"]])
@pytest.mark.parametrize("size", [SSH, WIDE])
def test_it_leaves_by_escape_from_the_first_list_and_by_ctrl_c_from_any(keys: list[str], size: tuple[int, int]) -> None:
    @on_screen
    async def driven() -> None:
        app = triage_explorer()
        async with opened(app, size) as screen:
            await screen.press(*keys[:-1])
            assert app.return_code is None
            await screen.press(keys[-1])
        assert app.return_code == 0

    driven()


@on_screen
async def test_pages_work_from_the_list() -> None:
    async with triage() as screen:
        await screen.press("pagedown", "pagedown", "pageup", "pagedown", "pagedown", "enter")
        assert "1 pod of 1 workload: fits now" in screen.lines[0]
        await screen.press("escape", "pageup", "pageup", "enter")
        assert "12 pods of 3 workloads" in screen.lines[0]


@on_screen
async def test_the_groups_stand_largest_first_with_what_helps() -> None:
    async with triage((120, 24)) as screen:
        assert screen.lines[0].startswith("19 pods pending, 5 causes;")
        first = next(at for at, text in enumerate(screen.lines) if text.split()[1:2] == ["pods"] and at)
        assert screen.lines[first].startswith("12 pods of 3 workloads: no gpu node has 1 GPU free")
        assert screen.lines[first + 1].startswith("  What helps: 2 more nodes of")


@on_screen
async def test_typing_filters_and_escape_drops_the_filter() -> None:
    async with triage() as screen:
        await screen.type("kueue")
        assert "Kueue holds it back" in screen.text
        assert "no gpu node has" not in screen.text
        await screen.press("escape")
        assert "no gpu node has" in screen.text
        await screen.type("jgq")  # letters that move or leave elsewhere
        assert "no gpu node has" not in screen.text


@on_screen
async def test_enter_opens_the_group_then_the_pod_in_the_explorer_and_escape_goes_back() -> None:
    async with triage() as screen:
        await screen.press("enter")
        assert "12 pods of 3 workloads: no gpu node has 1 GPU free" in screen.lines[0]
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
        assert "2 more nodes of pool=gpu in eu-1a place all" in screen.text
        assert "1: replayed for 12 pods, 12 placed" in screen.text
        assert screen.line_with("gpu-1-add-1").split() == ["gpu-1-add-1", "6", "pods"]
        await screen.press("escape")
        assert "19 pods pending" in screen.text


@on_screen
async def test_a_group_tries_it_too() -> None:
    async with triage() as screen:
        await screen.type("kueue")
        await screen.press("enter", "tab")
        said = "each would fit once Kueue lifts the gate"
        assert said in " ".join(screen.text.split())


@on_screen
async def test_the_cursor_moves_while_the_filter_has_the_focus() -> None:
    async with triage() as screen:
        await screen.press("down", "down", "enter")
        assert "2 pods of 1 workload: Kueue holds it back" in screen.lines[0]


@on_screen
async def test_keys_that_come_at_once_act_in_their_order() -> None:
    async with triage() as screen:
        for key in ("down", "down", "tab"):
            screen.app.post_message(events.Key(key, key_to_character(key)))
        await screen.settle()
        assert "2 pods of 1 workload: Kueue holds it back" in screen.lines[0]
        assert "1: replayed for 2 pods, 2 placed" in screen.text


@on_screen
async def test_a_trial_of_pods_that_fit_says_that_they_need_no_change() -> None:
    async with triage() as screen:
        await screen.press("down", "down", "down", "down", "tab")
        assert "No change is needed: they wait for kube-scheduler's next attempt." in " ".join(screen.text.split())


@on_screen
async def test_a_trial_has_each_way_and_where_the_pods_land_by_it() -> None:
    async with triage((80, 60)) as screen:
        await screen.press("down", "tab")
        for number in (1, 2, 3):
            assert any(line.startswith(f" {number} ") for line in screen.lines)
            assert f"{number}: replayed for 3 pods, 3 placed" in screen.text


@on_screen
async def test_groups_stand_and_open_while_what_helps_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    goes_on, helped = threading.Event(), Triaging.helped

    def later(triaging: Triaging, group: Group) -> Group:
        goes_on.wait(_PATIENCE_SECONDS)  # a thread that waited for ever would keep a test that fails from ending
        return helped(triaging, group)

    monkeypatch.setattr(Triaging, "helped", later)
    app = triage_explorer()
    async with app.run_test(size=SSH, notifications=True) as pilot:
        screen = Screen(app, pilot)
        for key, shown in (
            ("home", "looking for what helps: 0 of 5"),
            ("enter", "ml/train-0"),
            ("tab", "looking for what helps these pods"),
        ):
            app.post_message(events.Key(key, key_to_character(key)))
            await screen.until(shown)
            assert "no gpu node has 1 GPU free" in " ".join(screen.text.split())
        goes_on.set()
        await screen.settle()
        assert " 1 pay    2 more nodes of pool=gpu in eu-1a place all" in screen.text
        await screen.press("escape", "escape")
        assert screen.lines[0] == "19 pods pending, 5 causes; 1 node refuses pods"
