"""The explorer tells what autoscalers would do, on 80 columns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from kubectl_sched.queries.explain import ExplainQuestion, explain
from kubectl_sched.queries.provisioning.new_nodes import NewNodesFlags
from kubectl_sched.sources.dump.reader import read
from kubectl_sched.sources.pod_selection import Selection
from kubectl_sched.tui.app import Explorer
from kubectl_sched.tui.decision import Decision
from kubectl_sched.tui.explorer_input import Exploration
from tests.node_provisioning import test_cluster_autoscaler as autoscaler_objects
from tests.node_provisioning.test_new_nodes import TYPES, node, pod, pool
from tests.tui.driving import FORMATS, SSH, on_screen, opened

if TYPE_CHECKING:
    from pathlib import Path

Json = dict[str, Any]

GPU = pool("gpu", taints=[{"key": "nvidia.com/gpu", "effect": "NoSchedule"}])


def explorer_of(folder: Path, *objects: Json) -> Explorer:
    """The explorer as `explain pod web --new-nodes -i` opens it."""
    path = folder / "cluster.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))
    question = ExplainQuestion(
        selection=Selection(targets=("pod", "web")), new_nodes=NewNodesFlags(instance_types=(TYPES, "types.json"))
    )
    answer, schedulers = explain(question, read([str(path)]))
    decisions = tuple(
        Decision(each, schedulers.scheduler(each.pod), schedulers.dump.at) for each in answer.explanations
    )
    return Explorer(Exploration(decisions=decisions, formats=FORMATS, node=None, is_list=False))


@on_screen
async def test_the_first_screen_has_the_verdict_until_something_is_changed(tmp_path: Path) -> None:
    async with opened(explorer_of(tmp_path, GPU, pool("general"), node("n1"), pod()), size=SSH) as screen:
        verdict = "Karpenter would create a node for it from NodePool general: m5.large or 1 other."
        assert verdict in screen.lines[1:4]
        await screen.press("w")
        await screen.enter("taint n1 a=b:NoSchedule")
        assert "WHAT IF" in screen.text
        assert "Karpenter" not in screen.text


@on_screen
async def test_a_long_verdict_takes_two_lines_and_the_report_has_all_of_it(tmp_path: Path) -> None:
    async with opened(
        explorer_of(tmp_path, GPU, pool("arm", taints=GPU["spec"]["template"]["spec"]["taints"]), node("n1"), pod()),
        size=SSH,
    ) as screen:
        assert sum("Karpenter" in line for line in screen.lines) == 1
        assert screen.text.count(" …") == 1
        await screen.press("i")
        assert "did not tolerate taint (taint=nvidia.com/gpu:NoSchedule)" in " ".join(screen.text.split())


@on_screen
async def test_the_report_has_a_table_of_nodepools(tmp_path: Path) -> None:
    async with opened(explorer_of(tmp_path, GPU, pool("general"), node("n1"), pod()), size=SSH) as screen:
        await screen.press("i")
        table = [line.strip(" ▁▂▃▄▅▆▇█") for line in screen.lines]
        start = table.index("NodePool  would it create a node?")
        assert table[start + 1 : start + 3] == [
            "gpu       no: did not tolerate taint (taint=nvidia.com/gpu:NoSchedule)",
            "general   yes: 2 instance types fit",
        ]


@on_screen
async def test_node_groups_with_names_wider_than_the_screen_stand_one_below_the_other(tmp_path: Path) -> None:
    cluster = (
        autoscaler_objects.status(),
        autoscaler_objects.node("n1", "web"),
        autoscaler_objects.FULL,
        autoscaler_objects.pod(),
    )
    async with opened(explorer_of(tmp_path, *cluster), size=(80, 60)) as screen:
        await screen.press("i")
        lines = [line.strip() for line in screen.lines]
        assert "yes: the pod fits on its template" in lines
        assert any(line.endswith("gke-main-pool-1-0a1b2c3d-grp") for line in lines)
