"""The places of the explorer's parts, and its keys."""

from __future__ import annotations

from textual.binding import Binding

LAYOUT = """
ExplorerScreen #sentence { height: auto; text-style: bold; }
ExplorerScreen #status { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
ExplorerScreen #main { height: 1fr; }
ExplorerScreen #nodes { height: 1fr; }
ExplorerScreen #side { height: 42%; min-height: 10; border-top: solid $primary; }
ExplorerScreen #details { height: 1fr; }
ExplorerScreen #suggestion { height: auto; max-height: 3; }
ExplorerScreen #filter { border: none; height: 1; padding: 0; }
ExplorerScreen.what-if.-narrow #side { display: none; }
ExplorerScreen.-short.-narrow #side { display: none; }
ExplorerScreen.-short.what-if PipelineBar { display: none; }
ExplorerScreen.-short.what-if #status { display: none; }
ExplorerScreen.-short.what-if #main { display: none; }
ExplorerScreen.-short.what-if WhatIfPane { height: 1fr; }
ExplorerScreen.-wide #main { layout: horizontal; }
ExplorerScreen.-wide #nodes { width: 3fr; }
ExplorerScreen.-wide #side { width: 2fr; height: 1fr; min-height: 0; padding-left: 1; }
ExplorerScreen.-wide #side { border-top: none; border-left: solid $primary; }
"""

KEYS = (
    Binding("slash", "filter", "Filter"),
    Binding("s", "sort", "Sort"),
    Binding("S", "reverse", "Reverse"),
    Binding("right,l", "stage(1)", "Next step"),
    Binding("left,h", "stage(-1)", "Previous step"),
    Binding("space", "mark", "Mark"),
    Binding("c", "compare", "Compare"),
    Binding("w", "what_if", "What if"),
    Binding("p", "weights", "Weights"),
    Binding("i", "report", "Info"),
    Binding("x", "cordon", "Cordon"),
    Binding("a", "apply", "Apply"),
    Binding("y", "copy", "Copy"),
    Binding("n", "ask", "What would it take"),
    Binding("A", "next_suggestion", "Next suggestion"),
    Binding("u,ctrl+z", "undo", "Undo"),
    Binding("U,ctrl+y", "redo", "Redo"),
    Binding("e", "export", "Export"),
    Binding("t", "app.next_theme", "Theme"),
    Binding("question_mark", "app.help", "Help"),
    Binding("q", "app.leave", "Quit"),
    Binding("escape", "back", "Back"),
)
"""Each is explained on the help screen by the entry of the same key."""
