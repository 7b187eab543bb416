"""The first screens that matter, at 80, 120 and 160 columns and in a pipe, and laws that each of them keeps.

tests/golden/screens has them (`pytest --update-golden` writes them anew).
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from kubectl_sched.render.display import Display
from kubectl_sched.render.text.screen_fitting import LINES
from tests.plugins.clusters import node, pod, requests
from tests.render.test_golden import CASES, NOTES, compare
from tests.render.worlds import explained, gpu_cluster, gpu_pod, gpu_users, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubectl_sched.api.core import Node
    from kubectl_sched.queries.explanation import Explanation

PIPE = 100_000
WIDTHS = (80, 120, 160, PIPE)
CLUSTER = "ci-ln-k0vj1vb-72292-w7gjh"


def by_one_cause() -> Explanation:
    return explained([*(node(f"w{index}") for index in range(4)), pod("web-0", **requests(cpu="64"))])


def by_five_causes() -> Explanation:
    taint = {"key": "dedicated", "value": "batch", "effect": "NoSchedule"}
    asking = requests(cpu="6")["containers"][0]
    ssd = {"disktype": "ssd"}
    ports = [{"containerPort": 80, "hostPort": 8080, "protocol": "TCP"}]
    away = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "db"}}}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [away]}}
    return explained(
        [
            node("tainted", labels=ssd, taints=[taint]),
            node("spinning"),
            node("small", labels=ssd, allocatable={"cpu": "2", "memory": "8Gi", "pods": "110"}),
            node("taken", labels=ssd),
            node("beside", labels={**ssd, "kubernetes.io/hostname": "beside"}),
            pod("proxy", on="taken", containers=[{"name": "main", "ports": ports}]),
            pod("db-0", on="beside", metadata={"labels": {"app": "db"}}),
            pod("web-0", nodeSelector=ssd, containers=[{**asking, "ports": ports}], affinity=affinity),
        ]
    )


def gated() -> Explanation:
    gates = [{"name": "example.com/quota"}]
    return explained([node("w1"), node("w2"), pod("web-0", schedulingGates=gates, **requests(cpu="1"))])


def bound_elsewhere() -> Explanation:
    image = {"names": ["example.com/web:1"], "sizeBytes": 500 * 2**20}
    running = pod("web-0", on="w1", containers=[{"name": "main", "image": "example.com/web:1"}])
    return explained([node("w1"), node("w2", images=[image]), node("w3"), running])


def long_names() -> Explanation:
    return explained([*_renamed(gpu_cluster(300, 12)), *_on_renamed(), gpu_pod("1")])


def _renamed(nodes: list[Node]) -> Iterator[Node]:
    for each in nodes:
        name = f"{CLUSTER}-{each.metadata.name}.europe-west3-a.c.openshift-gce-devel-ci.internal"
        yield node(name, labels=each.metadata.labels, allocatable=dict(each.status.allocatable))


def _on_renamed() -> Iterator[Any]:
    for each in gpu_users(12):
        on = f"{CLUSTER}-{each.spec.node_name}.europe-west3-a.c.openshift-gce-devel-ci.internal"
        yield pod(each.metadata.name, on=on, **requests(cpu="8", memory="64Gi", **{"nvidia.com/gpu": "7"}))


SCREENS: dict[str, Callable[[], Explanation]] = {
    "fits": CASES["image-leads"],
    "ties": CASES["tied"],
    "fits-nowhere-by-one-cause": by_one_cause,
    "fits-nowhere-by-five": by_five_causes,
    "preemption": CASES["preempting"],
    "gated": gated,
    "nobody-serves-it": lambda: explained([node("w1"), pod("web-0", schedulerName="volcano")]),
    "bound-elsewhere": bound_elsewhere,
    "300-nodes-with-long-names": long_names,
    "5000-nodes": lambda: explained([*gpu_cluster(5000, 200), *gpu_users(200), gpu_pod()]),
}


@cache
def screen(name: str, width: int, *, wide: bool = False) -> str:
    display = Display(output="wide" if wide else "table")
    lines = None if width == PIPE else LINES
    return shown(_explained(name), width=width, notes=NOTES, display=display, lines=lines)


@cache
def _explained(name: str) -> Explanation:
    return SCREENS[name]()


@pytest.mark.parametrize("name", SCREENS)
def test_the_screen(name: str, update_golden: bool) -> None:
    told = (f"--- {'piped' if width == PIPE else width}\n{screen(name, width)}" for width in WIDTHS)
    compare(f"screens/{name}.txt", "\n".join(told), update=update_golden)


@pytest.mark.parametrize("name", SCREENS)
def test_in_a_pipe_nothing_is_cut(name: str) -> None:
    text = screen(name, PIPE)
    assert "…" not in text
    assert not re.search(r"\.\.\.(\s|$)", text, re.MULTILINE)
    nodes = set(_explained(name).result.nodes.names)
    assert {row[0] for row in rows(text)} <= nodes


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", SCREENS)
def test_the_points_that_are_shown_add_up(name: str, width: int) -> None:
    result = _explained(name).result
    table = [row for row in rows(screen(name, width)) if row[1:] and all(re.fullmatch(r"\+?\d+", x) for x in row[1:])]
    assert bool(table) == bool(len(result.totals))
    for _, points, *parts in table:
        assert not parts or int(points) == sum(map(int, parts))


@pytest.mark.parametrize("name", SCREENS)
def test_wide_holds_what_the_table_holds(name: str) -> None:
    """Whatever stands in the table, line by line and cell by cell, but what only says that there is more."""
    wide = screen(name, PIPE, wide=True)
    for line in screen(name, PIPE).splitlines():
        if not re.match(r"and [\d,]+ |note: |Closest |Nodes left|same for all", line):
            assert all(cell in wide for cell in re.split(r"\s{2,}", line.strip())), line


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", SCREENS)
def test_the_names_of_two_nodes_differ(name: str, width: int) -> None:
    names = [row[0] for row in rows(screen(name, width))]
    assert len(names) == len(set(names))
    if width == PIPE:
        assert len({_explained(name).result.nodes.row_of[each] for each in names}) == len(names)


def rows(text: str) -> list[list[str]]:
    """The cells of the tables of nodes, row by row."""
    found: list[list[str]] = []
    lines = text.splitlines()
    for at, line in enumerate(lines):
        if re.match(r"(Node|Closest) ", line) and not line.startswith("Nodes left"):
            for row in lines[at + 1 :]:
                if not row.strip() or row.startswith(("and ", "same for all")):
                    break
                if not row.startswith(" "):
                    found.append(re.split(r"\s{2,}", row.strip()))
    return found
