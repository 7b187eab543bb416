"""One pod's decision: the sentence, the pipeline, the nodes, the node under the cursor, and what if."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.containers import Container
from textual.widgets import Input, Static

from kubectl_sched.tui import explorer_state
from kubectl_sched.tui.export import Shown
from kubectl_sched.tui.keys import EXPLORER, FILTER
from kubectl_sched.tui.lines.node_columns import NodeLines, column_at, columns, heading, sort_keys
from kubectl_sched.tui.lines.node_lines import details
from kubectl_sched.tui.lines.status_line import sentence, status
from kubectl_sched.tui.listing import rows_shown
from kubectl_sched.tui.pipeline import moved_to
from kubectl_sched.tui.screens.compare_screen import CompareScreen
from kubectl_sched.tui.screens.decision_screen import DecisionScreen
from kubectl_sched.tui.screens.explorer_layout import KEYS, LAYOUT
from kubectl_sched.tui.screens.export_screen import ExportScreen
from kubectl_sched.tui.screens.node_screen import NodeScreen
from kubectl_sched.tui.screens.report_screen import ReportScreen
from kubectl_sched.tui.screens.weight_margins_screen import WeightsScreen
from kubectl_sched.tui.widgets.key_line import KeyLine
from kubectl_sched.tui.widgets.line_list import LineList
from kubectl_sched.tui.widgets.pipeline_bar import PipelineBar
from kubectl_sched.tui.widgets.texts import as_text, as_texts
from kubectl_sched.tui.widgets.what_if_pane import WhatIfPane

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from kubectl_sched.tui.edits import Weigh
    from kubectl_sched.tui.lines.node_columns import Column


_SETTLING_SECONDS = 0.03
"""The time that the cursor must rest on a node before its evidence is gathered."""


class ExplorerScreen(DecisionScreen):
    """Draws the view, and turns keys into other views of the same decision."""

    DEFAULT_CSS = LAYOUT
    BINDINGS: ClassVar[list[BindingType]] = [*KEYS]

    def compose(self) -> ComposeResult:
        """From top to bottom; on a wide terminal the node stands beside the list."""
        yield Static(id="sentence", markup=False)
        yield PipelineBar()
        yield Static(id="status", markup=False)
        with Container(id="main"):
            yield LineList(id="nodes")
            with Container(id="side"):
                yield LineList(cursor=False, id="details")
                yield Static(id="suggestion", markup=False)
        yield WhatIfPane()
        yield Input(
            placeholder="part of a name or reason, or key=value for a label",
            id="filter",
            compact=True,
            select_on_focus=False,
        )
        yield KeyLine(EXPLORER)

    def on_mount(self) -> None:
        """Begin with the list, at the node that was asked for."""
        self.query_one("#filter").display = False
        self.nodes.focus()
        self.watch(self.app, "theme", self.draw, init=False)
        self.suggest()

    def on_resize(self) -> None:
        """Another width, other columns; drawn once the widgets know it."""
        first = not self.rows
        self.call_after_refresh(self.draw, row=self.about.row_in(self.view.result) if first else None)

    def draw(self, *_: object, row: int | None = None) -> None:
        """Everything, with the cursor on a row, or where it is."""
        view, width, theme = self.view, self.size.width, self.app.theme
        row = self.row if row is None else row
        stage = self.stage
        self.rows = rows_shown(view, self.listing, stage).tolist()
        self.query_one("#sentence", Static).update(as_texts(sentence(view, self.about.changing, width), theme))
        self.query_one(PipelineBar).show(self.stages, view.stage)
        self.query_one("#status", Static).update(as_text(status(view, len(self.rows), stage, self.message), theme))
        self._draw_nodes(self.rows.index(row) if row in self.rows else 0)
        self.draw_suggestion()
        self._draw_details()

    @property
    def _columns(self) -> Sequence[Column]:
        """The columns that there is room for beside a scrollbar."""
        return columns(self.view, self.listing, self.nodes.scrollable_content_region.width or self.size.width)

    def _draw_nodes(self, cursor: int) -> None:
        nodes, rows = self.nodes, self.rows
        shown = self._columns
        line_of = NodeLines(self.view, self.listing, shown)
        nodes.show(len(rows), lambda index: line_of(rows[index]), heading=heading(shown, self.view.sort), cursor=cursor)

    @work(exclusive=True, group="details")
    async def _draw_details(self) -> None:
        """The node under the cursor, once the cursor rests and the evidence is gathered."""
        panel, row, result = self.query_one("#details", LineList), self.row, self.view.result
        if row is None:
            panel.show_lines([])
            return
        await asyncio.sleep(_SETTLING_SECONDS)
        width = max(panel.scrollable_content_region.width - 1, 20)
        panel.show_lines(await self.engine.run(lambda: details(result, row, width)))

    # The list

    def on_line_list_moved(self, event: LineList.Moved) -> None:
        """Another node, other details."""
        if event.control is self.nodes:
            self._draw_details()

    def on_line_list_chosen(self, event: LineList.Chosen) -> None:
        """Open the node; the list is then at the one that was looked at last."""
        if event.control is self.nodes:
            page = NodeScreen(self.view.result, self.rows, event.index, self.engine)
            self.app.push_screen(page, lambda row: self.show(self.view, row=row))

    def on_line_list_heading_clicked(self, event: LineList.HeadingClicked) -> None:
        """Sort by that column."""
        key = column_at(self._columns, event.index)
        if key in sort_keys(self.view.result, is_edited=bool(self.view.edits)):
            self.show(explorer_state.sorted_by(self.view, str(key)))

    def action_sort(self) -> None:
        """By the next column."""
        keys = sort_keys(self.view.result, is_edited=bool(self.view.edits))
        at = keys.index(self.view.sort.key) if self.view.sort.key in keys else -1
        self.show(explorer_state.sorted_by(self.view, keys[(at + 1) % len(keys)]))

    def action_reverse(self) -> None:
        """By the same column in the other direction."""
        self.show(explorer_state.reversed_sort(self.view))

    def action_stage(self, step: int) -> None:
        """Narrow the list to another step of the pipeline."""
        self.show(explorer_state.narrowed(self.view, moved_to(self.stages, self.view.stage, step)))

    def on_pipeline_bar_stage_clicked(self, event: PipelineBar.StageClicked) -> None:
        """Narrow the list to that step; a second click widens it again."""
        self.show(explorer_state.narrowed(self.view, None if event.stage == self.view.stage else event.stage))

    def action_mark(self) -> None:
        """Mark the node for a comparison."""
        if self.row is not None:
            self.show(explorer_state.marked(self.view, self.row_name))

    def action_back(self) -> None:
        """Drop the filter, then the narrowing; then go back to the pods where there are several."""
        view = self.view
        if view.filter_text or self.query_one("#filter", Input).has_focus:
            self.query_one("#filter", Input).value = ""
            self._leave_filter()
        elif view.stage is not None:
            self.show(explorer_state.narrowed(view, None))
        elif len(self.app.screen_stack) > 2:
            self.dismiss(None)

    # The filter

    def action_filter(self) -> None:
        """Type a filter."""
        entry = self.query_one("#filter", Input)
        entry.display = True
        self.set_focus(entry)  # at once: what is typed ahead is meant for it
        self.query_one(KeyLine).show(FILTER)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter as it is typed."""
        if event.input.id == "filter":
            self.show(explorer_state.filtered(self.view, event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keep the filter, and go back to the list."""
        if event.input.id == "filter":
            self._leave_filter()

    def _leave_filter(self) -> None:
        entry = self.query_one("#filter", Input)
        entry.display = bool(entry.value)
        self.set_focus(self.nodes)
        self.query_one(KeyLine).show(EXPLORER)

    # Other screens

    def action_compare(self) -> None:
        """Two marked nodes, or the node under the cursor with a marked one, the winner, or the next best."""
        pair = self._pair()
        if pair is None:
            self.show(self.view, "there is no second node to compare with")
        else:
            self.app.push_screen(CompareScreen(self.view.result, *pair, self.engine))

    def _pair(self) -> tuple[int, int] | None:
        row_of, row = self.view.result.nodes.row_of, self.row
        rows = [row_of[name] for name in self.view.marked if name in row_of]
        if len(rows) < explorer_state.MOST_MARKED:
            rows = [*rows, *([] if row is None else [row])]
        best_first = rows_shown(explorer_state.opened(self.view.explanation), self.listing, None)
        pair = list(dict.fromkeys([*rows, *best_first[:2].tolist()]))[:2]
        return (pair[0], pair[1]) if len(pair) == explorer_state.MOST_MARKED else None

    def action_weights(self) -> None:
        """Show the weights at which another node would win; one of them may be tried."""
        result = self.view.result
        if not len(result.totals):
            self.show(self.view, "no node is feasible, so no weight decides anything")
            return
        row = result.nodes.row_of[result.best[0]] if self.row is None else self.row
        self.app.push_screen(WeightsScreen(result, row, self.engine), self._try)

    def _try(self, weight: Weigh | None) -> None:
        if weight is not None:
            self.edit((weight,))

    def action_report(self) -> None:
        """All that is said of the decision as a whole."""
        self.app.push_screen(ReportScreen(self.view, self.suggestions, self.about))

    def action_export(self) -> None:
        """Write what is shown to a file."""
        shown = Shown(
            view=self.view,
            listing=self.listing,
            rows=rows_shown(self.view, self.listing, self.stage),
            about=self.about,
        )
        self.app.push_screen(ExportScreen(shown, self.about.formats), lambda told: self.show(self.view, told or ""))
