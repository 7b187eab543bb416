"""The first screens that matter, at 80, 120 and 160 columns and in a pipe, and laws that each of them keeps.

tests/golden/screens has them (`pytest --update-golden` writes them anew).
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from kubectl_sched.queries.contrast import contrast_of
from kubectl_sched.queries.verdict.wording import shared_domain, without_domain
from kubectl_sched.render.display import Display
from kubectl_sched.render.writers.waterfall_lines import waterfall_lines
from tests.plugins.clusters import node, pod, requests
from tests.render.test_golden import CASES, NOTES, compare
from tests.render.worlds import explained, gpu_cluster, gpu_pod, gpu_users, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubectl_sched.api.core import Node
    from kubectl_sched.queries.explanation import Explanation

PIPE = 100_000
HEIGHTS = {80: 24, 120: 40, 160: 50, PIPE: None}
WIDTHS = tuple(HEIGHTS)
TIMES = "\N{MULTIPLICATION SIGN}"
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


def by_several_plugins() -> Explanation:
    """Six nodes with long names, no two of which get the same points from each of six plugins."""
    image = {"names": ["example.com/web:1"], "sizeBytes": 500 * 2**20}
    disliked = {"key": "spot", "effect": "PreferNoSchedule"}
    nodes = [
        node(
            f"{CLUSTER}-worker-{index}.europe-west3-{zone}.c.openshift-gce-devel-ci.internal",
            labels={"zone": zone, "disk": "ssd" if index % 2 else "hdd"},
            images=[image] if index in {3, 5} else [],
            taints=[disliked] if index == 4 else [],
        )
        for index, zone in enumerate("aabbcc")
    ]
    users = [
        pod(f"user-{index}", on=nodes[index].metadata.name, metadata={"labels": {"app": "web"}}, **requests(cpu=cpu))
        for index, cpu in ((0, "1500m"), (2, "6"), (3, "1"), (5, "2500m"))
    ]
    spread = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    liked = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}
    preferred = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 10, "preference": liked}]}
    container = {**requests(cpu="1", memory="2Gi")["containers"][0], "image": "example.com/web:1"}
    spec: dict[str, Any] = {
        "affinity": {"nodeAffinity": preferred},
        "topologySpreadConstraints": [spread],
        "containers": [container],
    }
    return explained([*nodes, *users, pod("web-0", metadata={"labels": {"app": "web"}}, **spec)])


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
    "fits-by-several-plugins": by_several_plugins,
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
    height = HEIGHTS[width]
    lines = height - 1 if height is not None else None
    return shown(_explained(name), width=width, notes=NOTES, display=display, lines=lines)


@cache
def _explained(name: str) -> Explanation:
    return SCREENS[name]()


@pytest.mark.parametrize("name", SCREENS)
def test_the_screen(name: str, update_golden: bool) -> None:
    told = (
        f"--- {'piped' if width == PIPE else f'{width}x{HEIGHTS[width]}'}\n{screen(name, width)}" for width in WIDTHS
    )
    compare(f"screens/{name}.txt", "\n".join(told), update=update_golden)


@pytest.mark.parametrize("name", SCREENS)
def test_in_a_pipe_nothing_is_cut(name: str) -> None:
    text = screen(name, PIPE)
    assert "…" not in text.partition("\n")[2]  # the verdict is short everywhere
    assert not re.search(r"\.\.\.(\s|$)", text, re.MULTILINE)
    nodes = set(_explained(name).result.nodes.names)
    assert {row[0] for row in rows(text)} <= nodes


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", SCREENS)
def test_the_columns_of_a_row_add_up_to_its_points(name: str, width: int) -> None:
    """Each column of a plugin, that of the others, and what is the same for all."""
    result = _explained(name).result
    text = screen(name, width)
    table = [row for row in rows(text) if is_of_numbers(row)]
    assert len(table) == min(5, len(result.totals))
    for node_name, points, *parts in table:
        assert int(points) == result.total_of[named(name, node_name)]
        assert not parts or int(points) == sum(map(int, parts))
    same = SAME_FOR_ALL.search(text)
    assert bool(same) == bool(len(result.totals))
    if same is not None:
        points_of = [int(each) for each in re.findall(rf" {TIMES}\d+\s+([+]\d+)", same[2])]
        assert int(same[1]) == sum(points_of)
        assert {int(row[-1]) for row in table} == {int(same[1])}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", SCREENS)
def test_the_bars_of_a_waterfall_add_up_to_the_lead(name: str, width: int) -> None:
    explanation, text = _explained(name), screen(name, width)
    contrast = explanation.contrast
    told = re.search(r"^(\S+)\s+leads\s+(\S+)\s+by\s+(\d+) points?:$", text, re.MULTILINE)
    assert bool(told) == bool(contrast is not None and contrast.plugins)
    if told is not None and contrast is not None:
        total_of = explanation.result.total_of
        bars = [int(each) for each in re.findall(r"^ +([+-]\d+) █+ +\w", text, re.MULTILINE)]
        assert len(bars) == len(contrast.plugins)
        assert sum(bars) == int(told[3]) == total_of[named(name, told[1])] - total_of[named(name, told[2])]


@pytest.mark.parametrize("width", [20, 30, 40])
def test_a_waterfall_says_the_same_at_every_width(width: int) -> None:
    explanation = by_several_plugins()
    assert explanation.contrast is not None
    wide, narrow = (
        " ".join(
            line.plain
            for line in waterfall_lines(explanation.contrast, explanation.result.nodes.names, each, in_full=True)
        )
        for each in (PIPE, width)
    )
    assert _words_below_heading(wide) == _words_below_heading(narrow)


def _words_below_heading(text: str) -> list[str]:
    """The heading may shorten the names of nodes."""
    return text.partition(":")[2].split()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", SCREENS)
def test_wide_holds_what_the_table_holds(name: str, width: int) -> None:
    """Every cell and sentence, but what only says that there is more: points plugin by plugin, the funnel in rows."""
    text, result = screen(name, width), _explained(name).result
    wide = screen(name, PIPE, wide=True)
    wide += without_domain(wide, result.nodes.names)
    for row in filter(is_of_numbers, rows(text)):
        at = result.position_of[named(name, row[0])]
        for each in result.scores:
            raw, normalized, weighted = (int(scores[at]) for scores in (each.raw, each.normalized, each.weighted))
            assert f"raw {raw} → {normalized} of 100 {TIMES}{each.weight} = {weighted}" in wide
    for funnel in FUNNEL.finditer(text):
        steps = dict(re.findall(r"> ([\d,]+) after (\w+)", " ".join(funnel[0].split())))
        assert all(re.search(rf"\b{left}( after |  +){plugin}\b", wide) for left, plugin in steps.items())
        alone = re.findall(r"(\w+)\s+(\d[\d,]*\b)", funnel[1])
        assert all(re.search(rf"\b{plugin} +{number}\b", wide) for plugin, number in alone)
    rest = POINTS_HEADING.sub("", FUNNEL.sub("", SAME_FOR_ALL.sub("", text)))
    for line in rest.splitlines():
        if not re.match(r"and ([\d,]+|other) .*\(-o wide\)|\d+ notes: --notes", line) and not is_of_numbers(
            cells(line)
        ):
            whole = re.sub(r"; \d+ more: --notes$| \.\.\.$", "", re.sub(r"^Closest ", "Node ", line))
            assert all(re.search(pattern(cell.removesuffix(" \\")), wide) for cell in cells(whole)), line


@pytest.mark.parametrize("width", WIDTHS[:-1])
@pytest.mark.parametrize("name", SCREENS)
def test_wide_holds_the_same_at_every_width(name: str, width: int) -> None:
    words = set(screen(name, width, wide=True).split())
    names = _explained(name).result.nodes.names
    whole = without_domain(screen(name, PIPE, wide=True), names)
    lacking = set(whole.split()) - words - set(without_domain(" ".join(words), names).split())
    short = [re.compile(pattern(word)) for word in words if "…" in word]
    assert not [word for word in lacking if not any(each.fullmatch(word) for each in short)]


def test_a_node_with_a_long_name_is_compared_in_rows_of_80_columns() -> None:
    explanation = _explained("fits-by-several-plugins")
    asked = next(each for each in explanation.result.nodes.names if "worker-4" in each)
    against = replace(explanation, suggestions=(), contrast=contrast_of(explanation.result, asked))
    text = shown(against, display=Display(node=asked), lines=None)
    assert "  …4.europe-west3-c  winner (…1.europe-west3-a)\n  difference\n" in text
    assert "\n…1.europe-west3-a leads …4.europe-west3-c by 500 points:\n" in text
    rows = dict(re.findall(r"^(\w+)((?:\s+[+-]?\d+){3})$", text, re.MULTILINE))
    assert rows["TaintToleration"].split() == ["0", "300", "-300"]
    assert rows["Total"].split() == ["362", "862", "-500"]
    assert f"\n  raw 1 → 0 of 100 {TIMES}3 = 0; has taint spot:PreferNoSchedule, which" in text
    assert "skipped at Filter (not relevant to this pod): NodeAffinity, NodePorts," in text
    assert "\nskipped at Score (not relevant to this pod): InterPodAffinity, VolumeBinding\n" in text


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", SCREENS)
def test_the_names_of_two_nodes_differ(name: str, width: int) -> None:
    names = [row[0] for row in rows(screen(name, width))]
    assert len(names) == len(set(names))
    if width == PIPE:
        assert len({_explained(name).result.nodes.row_of[each] for each in names}) == len(names)


SAME_FOR_ALL = re.compile(r"^same for all: (\+\d+) \(([^)]*)\)$", re.MULTILINE)
FUNNEL = re.compile(r"^[\d,]+ > [^()]*\(alone:([^)]*)\)$", re.MULTILINE)
MORE = re.compile(r"and ([\d,]+|other) .*\(-o wide\)|\d+ notes: --notes")
POINTS_HEADING = re.compile(r"^Node +Points.*\n( .*\n)*", re.MULTILINE)


def cells(line: str) -> list[str]:
    return re.split(r"\s{2,}", line.strip())


def is_of_numbers(row: list[str]) -> bool:
    return bool(row[1:]) and all(re.fullmatch(r"\+?\d+", each) for each in row[1:])


def pattern(shown: str) -> str:
    """A regular expression of the text with whole names."""
    return re.escape(shown).replace("…", r"\S*")


def named(name: str, shown: str) -> int:
    """The row of the one node that the name, which may be shortened, stands for."""
    names = _explained(name).result.nodes.names
    domain = f"({re.escape(shared_domain(tuple(names)))})?"
    (row,) = (row for row, each in enumerate(names) if re.fullmatch(pattern(shown) + domain, each))
    return row


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
                    found.append(cells(row))
    return found
