"""The explorer shows no node as passed that a plugin could not judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from kubectl_sched.plugins.node_resources.fit import NodeResourcesFit
from kubectl_sched.render.funnel import UNJUDGED
from kubectl_sched.tui.lines.node_lines import details, findings
from kubectl_sched.tui.listing import NO_POINTS, Listing
from kubectl_sched.tui.pipeline import stages
from tests.tui.driving import decisions, explorer, on_screen, opened

if TYPE_CHECKING:
    from kubectl_sched.framework.status import NodeToStatus
    from kubectl_sched.snapshot import Snapshot

JUDGED = NodeResourcesFit.filter
NODE = "gpu-1"


def failing(plugin: Any, state: Any, pod: Any, nodes: Snapshot) -> NodeToStatus:
    if NODE in nodes.names:
        raise KeyError("a bug")
    return JUDGED(plugin, state, pod, nodes)


def test_lines_and_stages_tell_of_a_node_that_could_not_be_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NodeResourcesFit, "filter", failing)
    (decision,) = decisions("web-0")
    result = decision.explanation.result
    row = result.nodes.row_of[NODE]
    said = {each.plugin: "".join(span.text for span in each.line) for each in findings(result, row, 100)}
    assert "not judged" in said["NodeResourcesFit"]
    assert "could not be judged" in "".join(span.text for line in details(result, row, 400) for span in line)
    assert Listing(result, result).totals[row] == NO_POINTS
    kept_out = [stage.nodes for stage in stages(decision.explanation) if stage.name == UNJUDGED]
    assert all(nodes is not None and nodes[row] for nodes in kept_out)


@on_screen
async def test_the_screen_opens_and_shows_it() -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(NodeResourcesFit, "filter", failing)
        async with opened(explorer("web-0")) as screen:
            assert "not be judged" in " ".join(screen.text.split())
