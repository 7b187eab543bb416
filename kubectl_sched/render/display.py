"""The form in which an answer is shown: format, width, colour."""

from __future__ import annotations

from kubectl_sched.record import Record

PAGES = frozenset({"html", "markdown"})
"""The formats that are whole pages to hand on."""


class Display(Record, frozen=True, kw_only=True):
    """The form of the output: the flags of the same names."""

    output: str = "table"
    color: str = "auto"
    all_nodes: bool = False
    node: str | None = None
    evidence: bool = False
    notes: bool = False

    @property
    def is_wide(self) -> bool:
        """Report whether everything is to be shown."""
        return self.all_nodes or self.output == "wide"
