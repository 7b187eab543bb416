"""The listed nodes and their order, the pipeline's steps, and what is exported: all without a terminal."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from kubectl_sched.errors import SchedError
from kubectl_sched.queries.explanation import Explanation
from kubectl_sched.tui import explorer_state
from kubectl_sched.tui.explorer_input import Exploration
from kubectl_sched.tui.export import Shown, export, exported, format_of
from kubectl_sched.tui.keys import EXPLORER, TRIAGE, help_lines
from kubectl_sched.tui.lines.line import bar, bar_to_the_left, padded, plain, wrapped
from kubectl_sched.tui.lines.node_columns import NodeLines, columns, heading
from kubectl_sched.tui.lines.node_lines import findings
from kubectl_sched.tui.lines.what_if_changes import changes, in_words
from kubectl_sched.tui.listing import Listing, rows_shown
from kubectl_sched.tui.pipeline import bar_lines, moved_to, stage_at, stage_named, stages
from kubectl_sched.tui.typed_edits import FORMS, parse
from tests.plugins.clusters import node, pod
from tests.scheduler.cycles import explain
from tests.tui.driving import FORMATS
from tests.tui.test_edits import CONTEXT, decision, edited

if TYPE_CHECKING:
    from kubectl_sched.tui.explorer_state import View

API, WEB = "api-5d9c7b8f6d-m7c5t", "web-0"
WIDTHS = st.integers(20, 240)


def with_edits(name: str, *entries: str) -> View:
    view = explorer_state.opened(decision(name).explanation)
    edits = tuple(edit for entry in entries for edit in parse(entry, CONTEXT))
    return explorer_state.edited(view, edits, Explanation(result=edited(name, *entries)))


def shown(view: View) -> Shown:
    listing = Listing(view.result, view.base.result)
    return Shown(
        view=view,
        listing=listing,
        rows=rows_shown(view, listing, stage_named(stages(view.explanation), view.stage)),
        about=Exploration(decisions=(), formats=FORMATS),
    )


def names(view: View) -> list[str]:
    return [view.result.nodes.names[row] for row in shown(view).rows.tolist()]


@pytest.mark.parametrize("key", ["rank", "node", "why", "moved", "cpu", "memory", "NodeResourcesFit"])
@pytest.mark.parametrize("reverse", [False, True])
def test_every_order_lists_every_node_once(key: str, reverse: bool) -> None:
    view = explorer_state.sorted_by(with_edits(API, "cordon gpu-1", "weight fit=3"), key)
    view = explorer_state.reversed_sort(view) if reverse else view
    assert sorted(names(view)) == sorted(view.result.nodes.names)


def test_nodes_whose_points_moved_the_most_come_first() -> None:
    view = explorer_state.sorted_by(with_edits(API, "weight fit=3"), "moved")
    assert names(view)[:3] == ["general-3", "general-1", "general-2"]


def test_the_steps_narrow_to_what_they_are_about() -> None:
    found = stages(decision(API).explanation)
    assert [stage.name for stage in found] == [
        *("Queue", "PreEnqueue", "PreFilter", "TaintToleration", "Score", "Best", "Bind"),
    ]
    view = explorer_state.opened(decision(API).explanation)
    assert names(explorer_state.narrowed(view, "TaintToleration")) == ["master"]
    assert names(explorer_state.narrowed(view, "Best")) == ["general-3"]
    assert len(names(explorer_state.narrowed(view, "Score"))) == 6
    assert len(names(explorer_state.narrowed(view, "Queue"))) == 7


def test_steps_are_gone_through_from_all_nodes_to_the_last_and_back() -> None:
    found = stages(decision(WEB).explanation)
    assert moved_to(found, None, -1) is None
    assert moved_to(found, None, 1) == "Queue"
    assert moved_to(found, "Queue", -1) is None
    assert moved_to(found, found[-1].name, 1) == found[-1].name
    assert moved_to(found, "a step that is gone", 1) == "Queue"


@given(st.sampled_from([API, WEB, "batch-1"]), WIDTHS, st.data())
def test_the_bar_fits_every_width_and_a_click_finds_each_step(name: str, width: int, data: st.DataObject) -> None:
    found = stages(decision(name).explanation)
    chosen = data.draw(st.sampled_from([None, *(stage.name for stage in found)]))
    lines = bar_lines(found, chosen, width)
    longest = max(len(stage.label) for stage in found) + len("[] > ")
    assert all(cell_len(plain(line)) <= max(width, longest) for line in lines)
    clicked = [stage_at(found, chosen, width, x, y) for y, line in enumerate(lines) for x in range(len(plain(line)))]
    assert list(dict.fromkeys(each for each in clicked if each)) == [stage.name for stage in found]


@given(
    st.sampled_from([(API, ("weight fit=3",)), (API, ()), (WEB, ()), (WEB, ("cordon gpu-*",))]), st.integers(60, 240)
)
def test_every_line_of_the_list_has_the_width_of_its_columns(case: tuple[str, tuple[str, ...]], width: int) -> None:
    view = with_edits(case[0], *case[1]) if case[1] else explorer_state.opened(decision(case[0]).explanation)
    listing = Listing(view.result, view.base.result)
    chosen = columns(view, listing, width)
    line_of = NodeLines(view, listing, chosen)
    lengths = {sum(cell_len(span.text) for span in line_of(row)) for row in range(len(view.result.nodes))}
    assert len(lengths) == 1
    assert max(*lengths, cell_len(plain(heading(chosen, view.sort)))) <= width


@pytest.mark.parametrize("width", [80, 120, 160])
@pytest.mark.parametrize("key", ["rank", "cpu", "memory", "NodeResourcesBalancedAllocation", "PodTopologySpread"])
def test_headings_are_whole_and_the_sorted_column_is_shown(key: str, width: int) -> None:
    view = explorer_state.sorted_by(explorer_state.opened(decision(API).explanation), key)
    chosen = columns(view, Listing(view.result, view.base.result), width)
    told = plain(heading(chosen, view.sort))
    assert key in {column.key for column in chosen}
    assert all(column.heading in told for column in chosen)


@pytest.mark.parametrize("width", [80, 120, 160])
def test_long_names_that_differ_anywhere_are_told_apart(width: int) -> None:
    cluster = "ci-ln-k0vj1vb-72292-w7gjh-in-a-zone-far-away"
    nodes = [node(f"{cluster}-{middle}-{'of-this-cluster' * 3}") for middle in ("master-0", "worker-a", "worker-b")]
    view = explorer_state.opened(Explanation(result=explain(pod("web-0"), *nodes)))
    listing = Listing(view.result, view.base.result)
    line_of = NodeLines(view, listing, columns(view, listing, width))
    assert len({plain(line_of(row)).split()[1] for row in range(3)}) == 3


@given(st.integers(-5, 200), st.integers(0, 100), st.integers(0, 60))
def test_bars_fill_their_cells_by_their_share(value: int, most: int, width: int) -> None:
    drawn = bar(value, most, width)
    assert cell_len(drawn) == width == cell_len(bar_to_the_left(value, most, width))
    if most and width:
        assert bool(drawn.strip()) == (value > 0)
        assert (drawn == "━" * width) == (value >= most or round(value / most * width * 2) == width * 2)


@given(st.text(), st.integers(0, 50))
def test_a_cell_has_exactly_its_width(text: str, width: int) -> None:
    from kubectl_sched.render.safe_text import safe

    assert cell_len(padded(safe(text), width)) == width


@given(st.text(min_size=1), st.integers(2, 50))
def test_wrapping_loses_nothing_but_blanks(text: str, width: int) -> None:
    from kubectl_sched.render.safe_text import safe

    lines = [line[0].text for line in wrapped(text, width)]
    assert all(cell_len(line) <= width for line in lines)
    whole = "".join(safe(paragraph) for paragraph in text.split("\n"))
    assert "".join(lines).replace(" ", "") == whole.replace(" ", "")


def test_what_changed_is_counted() -> None:
    view = with_edits(API, "cordon general-3")
    found = changes(view.base.result, view.result)
    assert in_words(found) == "1 node no longer fits; winner general-3 → gpu-1, gpu-2 and gpu-3"
    assert in_words(changes(view.base.result, view.base.result)) == "nothing changes"


@pytest.mark.parametrize("output", FORMATS)
def test_every_format_says_which_changes_were_made(output: str) -> None:
    view = with_edits(WEB, "request nvidia.com/gpu=2")
    text = exported(shown(view), output)
    assert "gpu-2" in text
    assert output == "name" or "request nvidia.com/gpu=2" in text.replace("\\", "")


@pytest.mark.parametrize("output", ["html", "markdown", "wide"])
def test_an_answer_that_is_handed_on_says_what_is_not_so_before_what_follows(output: str) -> None:
    supposed = exported(shown(with_edits(WEB, "request nvidia.com/gpu=2")), output).replace("\\", "")
    assert supposed.index("What if: request nvidia.com/gpu=2") < supposed.index("lands on gpu-2")
    assert "What if" not in exported(shown(explorer_state.opened(decision(WEB).explanation)), output)


def test_data_holds_the_nodes_that_are_listed_and_the_changes() -> None:
    view = explorer_state.filtered(with_edits(WEB, "cordon gpu-1"), "pool=gpu")
    data = json.loads(exported(shown(view), "json"))
    assert [node["name"] for node in data["nodes"]] == ["gpu-1", "gpu-2", "gpu-3"]
    assert data["whatIf"] == ["cordon gpu-1"]
    assert "only 3 nodes of 7 were listed" in data["warnings"]
    assert yaml.safe_load(exported(shown(view), "yaml")) == data


def test_names_are_the_best_nodes_or_those_of_a_narrowed_list() -> None:
    view = explorer_state.opened(decision(API).explanation)
    assert exported(shown(view), "name") == "node/general-3\n"
    assert exported(shown(explorer_state.filtered(view, "gpu")), "name") == "node/gpu-1\nnode/gpu-2\nnode/gpu-3\n"


def test_the_table_is_what_the_screen_shows_with_all_its_lines() -> None:
    lines = exported(shown(explorer_state.opened(decision(API).explanation)), "table").splitlines()
    assert lines[0].startswith("default/api-5d9c7b8f6d-m7c5t: lands on general-3")
    assert sum(line.startswith(("  ★", "  ✓", "  ✗")) for line in lines) == 7


def test_a_filter_that_was_never_run_is_not_called_skipped() -> None:
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "not-there"}}]
    result = explain(pod("web", volumes=volumes), node("n1"))
    told = {each.plugin: plain(each.line) for each in findings(result, 0, 100)}
    assert told["VolumeRestrictions"] == "✗ VolumeRestrictions  UnschedulableAndUnresolvable"
    assert told["NodeResourcesFit"].endswith("not run")
    assert told["NodePorts"].endswith("skipped")


def test_an_ending_chooses_the_format() -> None:
    assert format_of("a/b.HTML", FORMATS, "table") == "html"
    assert format_of("a.yml", FORMATS, "table") == "yaml"
    assert format_of("a.md", ("table", "json"), "table") == "table"
    assert format_of("a.bin", FORMATS, "wide") == "wide"


@pytest.mark.parametrize(
    ("path", "told"), [("", "name the file"), ("no/such/folder/x", "cannot be written"), ("\0", "cannot be written")]
)
def test_a_file_that_cannot_be_written_is_told_in_a_sentence(path: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(SchedError, match=told):
        export(shown(explorer_state.opened(decision(API).explanation)), "name", f"{tmp_path}/{path}" if path else path)


@given(WIDTHS)
def test_no_line_of_the_help_is_wider_than_the_screen(width: int) -> None:
    for keys in (EXPLORER, TRIAGE):
        assert all(cell_len(plain(line)) <= width for line in help_lines(list(FORMS.values()), width, keys))


def test_the_documentation_names_every_key_and_every_entry() -> None:
    documented = Path("docs/explorer.md").read_text(encoding="utf-8")
    for verb in FORMS:
        assert f"`{verb} " in documented
    for key in EXPLORER:
        name = {"⏎": "enter", "␣": "space", "←→": "`←` `→`"}.get(key.key, f"`{key.key}`")
        assert name in documented


def test_the_core_knows_no_textual() -> None:
    folder = Path("kubectl_sched/tui")
    core = [
        path.stem for path in folder.glob("*.py") if path.stem not in {"__init__", "app", "palette", "triage_explorer"}
    ]
    script = f"import importlib, sys; [importlib.import_module('kubectl_sched.tui.' + each) for each in {core}]"
    done = subprocess.run(
        [sys.executable, "-c", f"{script}; print('textual' in sys.modules)"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
