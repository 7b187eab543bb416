"""The size of the package in lines of code, by what they are for, as docs/development/architecture.md has it.

    python -m tests.bench.size

Blank lines, comments, docstrings and data files do not count. The texts below fields and constants do: Python itself
takes them for expressions.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import kubectl_sched

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(kubectl_sched.__file__).parent

BASE = "all that was there, with what came to these modules since"
PARTS = {
    "new nodes: Karpenter's simulation, cluster-autoscaler's node groups": (
        r"node_provisioning/|queries/provisioning/|new_nodes|karpenter|cluster_autoscaler|scale_up_text"
    ),
    "pod groups, bound too": (
        r"podgroup|pod_group|group_cycles|placement_choice|topology_placement|workload_gang|waiting_gangs"
        r"|member_result|group_members"
    ),
    "gates and queues": r"diagnostics/gates/|kueue|gate_(data|sentences|holders|managers)|held_pods|ungated",
    "making room": (
        r"make_room|room_(candidates|search)|relocation|evictable_pods|needing_room|plan_ties|node_evictions"
    ),
    "triage": r"triage|pending_cause|group_(lines|screen|sentences|table)|filtered_page|for_all",
    "capacity": r"(cli|queries|answers)/capacity|capacity_(markdown|text|output|view)|pod_capacity|queries/shapes",
    "what wakes a waiting pod: queueing hints by plugin": r"queueing_hints/",
    "the library": r"^library",
    "recordings": r"watch_recordings",
}
"""The parts that came later, by the paths of their modules; the first that matches counts."""

_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def lines_of_code(path: Path) -> int:
    """Count the lines with more on them than a comment, and every line of a text of several lines."""
    text = path.read_text("utf-8")
    written = (line.strip() for line in text.split("\n"))
    documented: set[int] = set()
    lines = {number for number, line in enumerate(written, 1) if line and not line.startswith("#")}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant | ast.JoinedStr) and node.end_lineno != node.lineno:
            lines.update(range(node.lineno, (node.end_lineno or 0) + 1))
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False):
            documented.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return len(lines - documented)


def sizes() -> dict[str, int]:
    """The lines of each part, the largest first, and then of all."""
    found: Counter[str] = Counter()
    for path in PACKAGE.rglob("*.py"):
        name = path.relative_to(PACKAGE).as_posix()
        part = next((part for part, pattern in PARTS.items() if re.search(pattern, name)), BASE)
        found[part] += lines_of_code(path)
    return {**dict(found.most_common()), "all": found.total()}


def table() -> Iterator[str]:
    yield "| part | lines |"
    yield "|---|---|"
    yield from (f"| {part} | {lines:,} |" for part, lines in sizes().items())


if __name__ == "__main__":
    sys.stdout.write("\n".join(table()) + "\n")
