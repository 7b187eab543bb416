"""The form in which an answer is shown: format, width, colour."""

from __future__ import annotations

from kubectl_sched.record import Record

PAGES = frozenset({"html", "markdown"})
"""The formats that are whole pages to hand on."""

DATA = frozenset({"json", "yaml"})
"""The formats that programs read."""

REPORTS = frozenset({"junit", "github"})
"""The formats that CI reads."""


class Display(Record, frozen=True, kw_only=True):
    """The form of the output: the flags of the same names."""

    output: str = "table"
    color: str = "auto"
    all_nodes: bool = False
    node: str | None = None
    evidence: bool = False
    notes: bool = False
    brief: bool = False
    parts_of_page: int = 1
    """The number of pods that share the room of a page."""

    @property
    def is_wide(self) -> bool:
        """Report whether everything is to be shown."""
        return self.all_nodes or self.output == "wide"

    @property
    def is_page(self) -> bool:
        """Report whether it is a page that a browser draws, which folds what is long."""
        return self.output == "html"

    @property
    def in_full(self) -> bool:
        """Report whether there is room for all: with -o wide, and on a page."""
        return self.is_wide or self.is_page
