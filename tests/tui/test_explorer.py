"""The explorer, driven by keys on a terminal of 80 by 24."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path

import pytest

from kubectl_sched.tui.decision import Decision
from kubectl_sched.tui.screens.explorer_layout import KEYS
from tests.tui.driving import SSH, WIDE, explorer, on_screen, opened

WEB, API = "web-0", "api-5d9c7b8f6d-m7c5t"
BY_NAME = ["general-1", "general-2", "general-3", "gpu-1", "gpu-2", "gpu-3", "master"]
BEST_FIRST = ["general-3", "gpu-1", "gpu-2", "gpu-3", "general-1", "general-2", "master"]


@on_screen
async def test_the_sentence_the_pipeline_and_the_keys_are_seen_at_once() -> None:
    async with opened(explorer(API)) as screen:
        assert screen.lines[0] == "default/api-5d9c7b8f6d-m7c5t: lands on general-3, the best of 6 nodes."
        bar = " ".join(screen.lines[1:3])
        steps = ["Queue 1/5", "PreEnqueue ✓", "PreFilter 7", "TaintToleration 6", "Score 6", "Best 1", "Bind"]
        assert [bar.find(step) for step in steps] == sorted(bar.index(step) for step in steps)
        for key in ("? help", "/ filter", "s sort", "c compare", "w what if", "u undo", "e export", "q quit"):
            assert key in screen.lines[-1]


@on_screen
async def test_the_best_nodes_stand_first_with_what_the_others_are_behind_in() -> None:
    async with opened(explorer(API)) as screen:
        assert screen.listed == BEST_FIRST
        assert screen.line_with("★").split()[:3] == ["★", "general-3", "661"]
        assert "109 behind: PodTopologySpre" in screen.line_with("general-1 ")
        assert "✗ master" in screen.line_with("TaintToleration: ")


@on_screen
async def test_sorting_goes_through_the_columns_and_turns_round() -> None:
    async with opened(explorer(API)) as screen:
        await screen.press("s")
        assert screen.listed == BY_NAME
        assert "Node▲" in screen.text
        await screen.press("S")
        assert screen.listed == BY_NAME[::-1]
        await screen.press("s", "s")
        assert screen.view.sort.key == "cpu"
        assert screen.listed[:3] == ["gpu-1", "gpu-2", "gpu-3"]
        assert "23,900" in screen.line_with("✓ gpu-1")


@on_screen
async def test_a_click_on_a_heading_sorts_by_it() -> None:
    async with opened(explorer(API)) as screen:
        await screen.pilot.click("#nodes", offset=(6, 0))
        await screen.settle()
        assert screen.listed == BY_NAME


@on_screen
async def test_a_click_on_a_heading_beside_a_scrollbar_sorts_by_what_stands_there() -> None:
    """With one more cell for the columns the memory would stand there."""
    async with opened(explorer(API), size=(96, 10)) as screen:
        at = screen.line_with("Points").index("Fit")
        await screen.pilot.click("#nodes", offset=(at, 0))
        await screen.settle()
        assert screen.view.sort.key == "NodeResourcesFit"


@on_screen
async def test_the_filter_narrows_with_every_letter() -> None:
    async with opened(explorer(API)) as screen:
        await screen.press("slash")
        await screen.type("gp")
        assert screen.listed == ["gpu-1", "gpu-2", "gpu-3"]
        await screen.type("u-2")
        assert screen.listed == ["gpu-2"]
        assert "1 of 7 nodes" in screen.text
        await screen.press("enter", "j")
        assert screen.listed == ["gpu-2"]
        await screen.press("escape")
        assert screen.listed == BEST_FIRST


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("untolerated", ["master"]),
        ("pool=gpu", ["gpu-1", "gpu-2", "gpu-3"]),
        ("hostname=gpu-3", ["gpu-3"]),
        ("GPU -1", ["gpu-1"]),
        ("nothing-of-that-name", []),
    ],
)
@on_screen
async def test_the_filter_knows_reasons_labels_and_several_words(text: str, nodes: list[str]) -> None:
    async with opened(explorer(API)) as screen:
        await screen.press("slash")
        await screen.type(text)
        assert screen.listed == nodes


@on_screen
async def test_the_filter_knows_every_reason_that_is_shown() -> None:
    async with opened(explorer(WEB), (240, 40)) as screen:
        await screen.press("slash")
        await screen.type("insufficient")
        assert "selector; NodeResources" in screen.line_with("✗ general-1")
        assert sorted(screen.listed) == BY_NAME


@on_screen
async def test_letters_typed_ahead_of_the_filter_reach_it() -> None:
    from textual import events

    async with opened(explorer(API)) as screen:
        for key in ("slash", "g", "p", "u"):
            screen.app.post_message(events.Key(key, "/" if key == "slash" else key))
        await screen.settle()
        assert screen.view.filter_text == "gpu"


@on_screen
async def test_a_step_of_the_pipeline_narrows_the_list_to_the_nodes_it_keeps_out() -> None:
    async with opened(explorer(WEB)) as screen:
        await screen.press("right", "right", "right", "right")
        assert screen.view.stage == "TaintToleration"
        assert screen.listed == ["master"]
        assert "[TaintToleration 6]" in screen.text
        assert "1 of 7 · TaintToleration alone rejects 1; 6 remain" in screen.text
        await screen.press("right")
        assert set(screen.listed) == {"general-1", "general-2", "general-3", "master"}
        await screen.press("escape")
        assert len(screen.listed) == 7


@on_screen
async def test_a_click_on_a_step_narrows_and_a_second_one_widens() -> None:
    async with opened(explorer(API)) as screen:
        place = next((x, y - 1) for y, line in enumerate(screen.lines) if (x := line.find("TaintToleration 6")) >= 0)
        await screen.pilot.click("PipelineBar", offset=place)
        await screen.settle()
        assert screen.listed == ["master"]
        await screen.pilot.click("PipelineBar", offset=place)
        await screen.settle()
        assert len(screen.listed) == 7


@on_screen
async def test_the_details_follow_the_cursor_with_bars_and_what_is_behind() -> None:
    async with opened(explorer(API), WIDE) as screen:
        await screen.press("j")
        assert "gpu-1: feasible, 13 points behind general-3" in screen.text
        assert "general-3 leads gpu-1 by 13 points:" in screen.text
        assert " NodeResourcesFit: 0.6 of 4 cpu would" in screen.line_with("+15 █")
        assert screen.line_with(" -2 █").split()[-1] == "NodeResourcesBalancedAllocation"
        assert "━" in screen.line_with("1 =    73   -15")
        assert screen.line_with("Total").endswith("648   -13")


@on_screen
async def test_a_node_opens_with_every_plugin_and_the_evidence_of_the_one_under_the_cursor() -> None:
    async with opened(explorer(WEB)) as screen:
        await screen.press("enter")
        assert "gpu-2: rejected by NodeResourcesFit (Insufficient nvidia.com/gpu) (1 of 7)" in screen.text
        assert "wants 4 nvidia.com/gpu; 2 of 8 free" in screen.text
        assert "✓ TaintToleration" in screen.text
        await screen.press("j")
        assert "nothing of it stands against the pod here" in screen.text
        await screen.press("right")
        assert "gpu-1: rejected by NodeResourcesFit" in screen.text
        await screen.press("escape")
        assert "gpu-1: rejected by NodeResourcesFit" in screen.text


@on_screen
async def test_where_nothing_fits_the_closest_stand_first_with_what_they_lack() -> None:
    async with opened(explorer(WEB)) as screen:
        assert screen.listed[:3] == ["gpu-2", "gpu-1", "gpu-3"]
        assert "gpu free/wanted" in screen.line_with("Node  ")
        assert [screen.lines[at].split()[2] for at, row in enumerate(screen.lines) if "✗ gpu-" in row] == [
            "2/4",
            "1/4",
            "0/4",
        ]


@on_screen
async def test_the_command_of_a_suggestion_is_copied_to_the_clipboard() -> None:
    async with opened(explorer(WEB)) as screen:
        first = "kubectl patch statefulset/web -n default -p "
        await screen.press("y")
        assert screen.app.clipboard.startswith(first)
        assert f"copied: {first}" in screen.text
        screen.app.copy_to_clipboard("")
        await screen.press("i", "y")
        await screen.press(*"jjjjjjj", "y")
        assert screen.app.clipboard.startswith(first)


@on_screen
async def test_a_node_is_compared_with_the_winner_and_two_marked_ones_with_each_other() -> None:
    async with opened(explorer(API)) as screen:
        await screen.press("j", "c")
        assert "gpu-1 against general-3" in screen.text
        assert screen.line_with("Fit ").split()[-2:] == ["15", "▶"]
        await screen.press("x")
        assert "general-3 against gpu-1" in screen.text
        await screen.press("escape", "space", "j", "j", "j", "space", "c")
        assert "gpu-1 against general-1" in screen.text
        assert "◀ 100" in screen.line_with("PodTopologySpread ")


@on_screen
async def test_weights_say_where_the_winner_changes_and_one_can_be_tried() -> None:
    async with opened(explorer(API)) as screen:
        await screen.press("p")
        assert "general-3 wins: what would change it" in screen.text
        assert "8 → gpu-1" in screen.line_with("NodeResourcesBalanc")
        await screen.press("j", "j", "j", "j", "enter")
        assert screen.view.edits[0].text == "weight NodeResourcesBalancedAllocation=8"
        assert "gpu-1" in screen.view.result.best
        assert screen.lines[0].startswith("WHAT IF (1): ")


@on_screen
async def test_weights_are_shown_while_a_filter_lists_no_node() -> None:
    async with opened(explorer(API)) as screen:
        await screen.press("slash")
        await screen.type("nothing-of-that-name")
        await screen.press("enter", "p")
        assert "general-3 wins: what would change it" in screen.text


@on_screen
async def test_an_edit_replays_at_once_and_marks_what_changed() -> None:
    async with opened(explorer(WEB)) as screen:
        await screen.press("w")
        await screen.enter("request nvidia.com/gpu=2")
        assert screen.lines[0].startswith("WHAT IF (1): default/web-0: lands on gpu-2")
        assert "now fits (was out: NodeR" in screen.line_with("★")
        assert "1 node now fits; winner none → gpu-2" in screen.text
        assert "1. request nvidia.com/gpu=2" in screen.text
        await screen.enter("cordon gpu-2")
        assert "WHAT IF (2)" in screen.text
        assert not screen.view.result.fits


@on_screen
async def test_the_details_have_their_whole_width_again_once_the_pane_is_left() -> None:
    async with opened(explorer(API)) as screen:
        await screen.press("w")
        await screen.enter("cordon gpu-*")
        await screen.press("escape")
        assert "general-3 leads general-1 by 109 points:" in screen.lines


@on_screen
async def test_points_that_moved_are_marked() -> None:
    async with opened(explorer(API)) as screen:
        await screen.press("w")
        await screen.enter("weight fit=3")
        assert screen.line_with("★").split()[:2] == ["★", "general-3"]
        assert "+176" in screen.line_with("★")
        assert "6 nodes have other points; the winner stays general-3" in screen.text


@on_screen
async def test_undo_and_redo() -> None:
    async with opened(explorer(WEB)) as screen:
        await screen.press("w")
        await screen.enter("request nvidia.com/gpu=2")
        await screen.press("escape", "u")
        assert screen.view.edits == ()
        assert "no node with pool=gpu has 4 GPUs free" in screen.lines[0]
        await screen.press("U")
        assert screen.view.result.best == ("gpu-2",)
        await screen.press("u", "u")
        assert "there is nothing to undo" in screen.text
        await screen.press("U", "U")
        assert "there is nothing to redo" in screen.text


@on_screen
async def test_undo_names_all_that_one_entry_changed() -> None:
    async with opened(explorer(API)) as screen:
        await screen.press("w")
        await screen.enter("cordon gpu-1")
        await screen.enter("cordon gpu-2 gpu-3")
        await screen.press("escape", "u")
        assert "undone: cordon gpu-2; cordon gpu-3" in screen.lines
        await screen.press("u")
        assert "undone: cordon gpu-1" in screen.lines


@on_screen
async def test_undo_behind_a_change_that_is_still_replayed_takes_that_one_back() -> None:
    async with opened(explorer(API)) as screen:
        may_go_on = threading.Event()
        screen.explorer.run_worker(screen.explorer.engine.run(may_go_on.wait))
        await screen.pilot.press("x", "u")
        may_go_on.set()
        await screen.settle()
        assert screen.view.edits == ()
        assert [edit.text for edit in screen.view.future[0].edits] == ["cordon general-3"]


@on_screen
async def test_a_wrong_entry_is_told_in_a_sentence_and_can_be_corrected() -> None:
    async with opened(explorer(WEB)) as screen:
        await screen.press("w")
        await screen.enter("request nvidia.com/gpu=two")
        assert "✗ nvidia.com/gpu=two: two is no quantity; write one such as 500m, 2 or 1Gi" in screen.text
        await screen.press("backspace", "backspace", "backspace")
        await screen.enter("2")
        assert screen.view.result.best == ("gpu-2",)
        await screen.enter("uncordon no-such-node")
        assert "✗ no node matches no-such-node" in screen.text
        assert len(screen.view.edits) == 1


@on_screen
async def test_entries_are_completed_with_the_names_of_the_cluster() -> None:
    async with opened(explorer(WEB)) as screen:
        await screen.press("w")
        await screen.type("req")
        await screen.press("tab")
        await screen.type("nv")
        await screen.press("tab")
        await screen.enter("2")
        assert screen.view.edits[0].text == "request nvidia.com/gpu=2"


@on_screen
async def test_a_key_cordons_the_node_and_uncordons_it_again() -> None:
    async with opened(explorer(API)) as screen:
        await screen.press("x")
        assert [edit.text for edit in screen.view.edits] == ["cordon general-3"]
        assert "lands on one of 3 nodes, tied at 648 points" in " ".join(screen.text.split())
        assert "no longer fits" in screen.line_with("✗ general-3")
        await screen.press("x")
        assert [edit.text for edit in screen.view.edits] == ["cordon general-3", "uncordon general-3"]
        assert screen.view.result.best == ("general-3",)


@on_screen
async def test_a_suggestion_is_shown_and_applied_by_one_key() -> None:
    async with opened(explorer(WEB)) as screen:
        assert re.search(r"a: yours \(1 of [0-9]+, A: next\): ask for 2 nvidia.com/gpu instead of 4", screen.text)
        await screen.press("a")
        assert screen.view.result.best == ("gpu-2",)
        await screen.press("a")
        assert "there is no suggestion to apply" in screen.text


@on_screen
async def test_a_suggestion_is_applied_once_however_often_the_key_is_pressed() -> None:
    async with opened(explorer(WEB)) as screen:
        may_go_on = threading.Event()
        screen.explorer.run_worker(screen.explorer.engine.run(may_go_on.wait))
        await screen.pilot.press("a", "a", "a")
        may_go_on.set()
        await screen.settle()
        assert len(screen.view.edits) == 1


def test_nothing_is_suggested_while_suggestions_for_a_change_are_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    @on_screen
    async def driven() -> None:
        async with opened(explorer(WEB)) as screen:
            assert screen.explorer.suggestions
            meanwhile = []

            def search(*_: object) -> tuple[()]:
                meanwhile.append(screen.explorer.suggestions)
                return ()

            monkeypatch.setattr(Decision, "suggestions", search)
            await screen.press("x")
            assert meanwhile == [()]

    driven()


@on_screen
async def test_what_it_would_take_for_one_node_is_asked_for_by_a_key() -> None:
    async with opened(explorer(API)) as screen:
        await screen.press("j", "n")
        assert "a: yours " in screen.text
        await screen.press("a")
        assert "gpu-1" in screen.view.result.best


@on_screen
async def test_no_command_is_shown_in_part() -> None:
    async with opened(explorer(WEB), (80, 50)) as screen:
        await screen.press("i")
        assert "kubectl patch " not in screen.text
        assert "wider than this screen" in screen.text


@on_screen
async def test_all_that_is_said_is_one_key_away_with_the_commands_to_paste() -> None:
    async with opened(explorer(WEB), (200, 50)) as screen:
        await screen.press("i")
        told = " ".join(screen.text.split())
        assert "kubectl patch " in told or "kubectl set resources" in told
        assert "0/7 nodes are available" in told
        await screen.press("escape")
        assert len(screen.listed) == 7


@on_screen
async def test_a_rejected_node_says_whom_preemption_would_evict() -> None:
    async with opened(explorer("urgent", source=Path("fixtures/scenarios/preemption/cluster.yaml")), WIDE) as screen:
        assert "preemption there would evict default/low-1 (priority " in screen.text


@on_screen
async def test_several_pods_are_listed_first_and_one_opens() -> None:
    async with opened(explorer()) as screen:
        assert "all 5 pods are pending; 4 would land now." in screen.text
        await screen.press("slash")
        await screen.enter("api")
        await screen.press("enter")
        assert screen.lines[0].startswith("default/api-5d9c7b8f6d-m7c5t: lands on general-3")
        await screen.press("escape", "escape")
        assert "default/web-0" in screen.text


@on_screen
async def test_the_export_asks_for_a_file_and_follows_its_ending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = explorer(API)
    monkeypatch.chdir(tmp_path)
    async with opened(app) as screen:
        await screen.press("slash")
        await screen.enter("gpu")
        await screen.press("e")
        assert "[table]" in screen.text
        await screen.press("ctrl+u")
        await screen.enter("view.json")
        assert "wrote view.json" in screen.text
    exported = json.loads((tmp_path / "view.json").read_text())
    assert [node["name"] for node in exported["nodes"]] == ["gpu-1", "gpu-2", "gpu-3"]


@on_screen
async def test_an_export_writes_over_a_file_only_when_asked_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "view.names"
    path.write_text("precious")
    app = explorer(API)
    monkeypatch.chdir(tmp_path)
    async with opened(app) as screen:
        await screen.press("e", "ctrl+u")
        await screen.enter("view.names")
        assert "exists; enter again writes over it" in " ".join(screen.text.split())
        assert path.read_text() == "precious"
        await screen.press("enter")
    assert path.read_text() == "node/general-3\n"


@on_screen
async def test_help_lists_every_key_and_closes() -> None:
    async with opened(explorer(API), (100, 60)) as screen:
        await screen.press("question_mark")
        for word in ("filter", "undo", "compare", "what-if entries", "taint [node]"):
            assert word in screen.text.lower()
        await screen.press("escape")
        assert "lands on general-3" in screen.lines[0]


@pytest.mark.parametrize("key", ["q", "ctrl+c"])
@on_screen
async def test_it_leaves_without_a_code_of_its_own(key: str) -> None:
    app = explorer(API)
    async with opened(app) as screen:
        await screen.press(key)
    assert app.return_code == 0


@on_screen
async def test_it_begins_at_the_node_that_was_asked_for() -> None:
    async with opened(explorer(API, node="gpu-3")) as screen:
        assert "gpu-3: feasible, 13 points behind general-3" in screen.text


@pytest.mark.parametrize("size", [SSH, (60, 20), (110, 30), (220, 60)])
@on_screen
async def test_no_line_is_wider_than_the_terminal_and_the_keys_stay(size: tuple[int, int]) -> None:
    async with opened(explorer(WEB), size) as screen:
        for keys in ((), ("w",), ("escape", "enter"), ("escape", "c")):
            await screen.press(*keys)
            assert len(screen.lines) == size[1]
            assert screen.lines[-1] != ""


@on_screen
async def test_tab_goes_to_the_details_which_then_scroll() -> None:
    async with opened(explorer(WEB)) as screen:
        await screen.press("G", "tab")
        assert "master: rejected by TaintToleration" in screen.text
        await screen.press("j")
        assert "master: rejected by TaintToleration" not in screen.text
        assert screen.explorer.row_name == "master"
        await screen.press("k")
        assert "master: rejected by TaintToleration" in screen.text


@on_screen
async def test_resizing_keeps_the_node_under_the_cursor() -> None:
    async with opened(explorer(API)) as screen:
        await screen.press("j", "j")
        await screen.pilot.resize_terminal(*WIDE)
        await screen.settle()
        assert "gpu-2: feasible" in screen.text


@pytest.mark.parametrize(
    ("scenario", "sentence", "step"),
    [
        ("gated", "gated: waits for example.com/quota to be removed", "PreEnqueue ✗"),
        ("unknown-scheduler", "is served by no profile of this configuration", "PreEnqueue"),
        ("preemption", "", "PostFilter 2"),
        ("node-name", "runs on worker2", "Queue bound"),
        ("cordoned", "", "Queue"),
    ],
)
@on_screen
async def test_every_outcome_can_be_walked_through(scenario: str, sentence: str, step: str) -> None:
    folder = Path("fixtures/scenarios") / scenario
    pod = json.loads((folder / "expected.json").read_text())["pod"]
    async with opened(explorer(pod, source=folder / "cluster.yaml")) as screen:
        assert sentence in " ".join(screen.text.split())
        assert step in screen.text
        for keys in (("enter",), ("escape", "c"), ("escape", "p"), ("escape", "n"), ("a",), ("x",), ("u",)):
            await screen.press(*keys)
        await screen.press("w")
        await screen.enter("label tier=front")
        assert screen.lines[-1].startswith("⏎ apply")


@on_screen
async def test_a_cluster_without_nodes_is_shown_as_one(tmp_path: Path) -> None:
    pod = {"kind": "Pod", "metadata": {"name": "lonely", "namespace": "default"}, "spec": {"containers": []}}
    path = tmp_path / "no-nodes.json"
    path.write_text(json.dumps({"kind": "List", "items": [pod]}))
    async with opened(explorer("lonely", source=path)) as screen:
        assert "the dump has no Nodes" in screen.lines[0]
        await screen.press("enter", "c", "p", "x", "n", "a", "s", "space", "right", "j")
        assert screen.listed == []


@pytest.mark.parametrize("size", [(40, 10), (60, 12)])
@on_screen
async def test_a_verdict_below_a_list_is_whole_on_a_small_screen(size: tuple[int, int]) -> None:
    async with opened(explorer(), size) as screen:
        assert screen.line_with("✗ …web-0")
        assert screen.lines[-2].endswith("best has 2 of 8.")
        await screen.press("slash")
        assert screen.lines[-3].endswith("best has 2 of 8.")


@on_screen
async def test_what_is_wider_than_the_screen_is_cut_with_dots() -> None:
    async with opened(explorer(API), (40, 24)) as screen:
        await screen.press("c")
        assert screen.line_with("PodTopologySpread ").endswith("…")
        await screen.press("escape", "enter")
        assert screen.line_with("PodTopologySpread ").endswith("…")


@pytest.mark.parametrize("size", [(40, 10), (60, 16), (80, 19), (160, 9)])
@on_screen
async def test_the_list_and_the_entry_are_seen_on_a_few_lines(size: tuple[int, int]) -> None:
    async with opened(explorer(API), size) as screen:
        assert screen.line_with("★ general-3")
        await screen.press("w")
        await screen.type("cordon gpu-*")
        assert screen.line_with("cordon gpu-*")
        await screen.press("enter")
        assert screen.line_with("3 nodes no longer fit")


@pytest.mark.parametrize("size", [(20, 5), (300, 90)])
@on_screen
async def test_no_key_breaks_a_terminal_however_small_or_large(size: tuple[int, int]) -> None:
    keys = {key for binding in KEYS for key in binding.key.split(",")} - {"e", "q"}
    async with opened(explorer(WEB), size) as screen:
        for key in sorted(keys):
            await screen.press(key, "escape", "escape")
        await screen.press("j", "enter", "j", "right", "escape", "tab", "G", "question_mark", "j", "escape")
        assert len(screen.lines) == size[1]
        assert len(screen.view.result.nodes) == 7
