"""The first screen fits 80x24 whatever the cluster is, and whatever its objects are called."""

from __future__ import annotations

import re
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

from kubectl_sched.render.display import Display
from kubectl_sched.render.safe_text import safe
from kubectl_sched.render.writers.first_screen import LINES, Part, fitted
from kubectl_sched.render.writers.styled_text import Text
from tests.plugins.clusters import node, pod, requests
from tests.render.worlds import explained, gpu_cluster, gpu_pod, gpu_users, shown

if TYPE_CHECKING:
    from kubectl_sched.api.core import Node

LONG = "a-very-long-name-such-as-clouds-give-" * 6
CONDITION = {
    "type": "Ready",
    "status": "Unknown",
    "reason": "NodeStatusUnknown",
    "message": "Kubelet stopped posting node status. " * 40,
}


def assert_fits(text: str, width: int = 80) -> None:
    lines = text.splitlines()
    assert sum(max(-(-len(line) // width), 1) for line in lines) <= LINES
    assert all(len(line) <= width for line in lines if not is_one_word(line))


def is_one_word(line: str) -> bool:
    """Report whether the line is one word, or one argument of a command, that is longer: such are not broken."""
    return line.lstrip().startswith("'") or " " not in line.removesuffix(" ...").strip()


@pytest.mark.parametrize(("nodes", "gpu_nodes"), [(3, 1), (30, 3), (300, 12), (3000, 120)])
@pytest.mark.parametrize("wanted", ["1", "4", "9"])
def test_it_fits_for_few_nodes_and_for_many(nodes: int, gpu_nodes: int, wanted: str) -> None:
    result = explained([*gpu_cluster(nodes, gpu_nodes), *gpu_users(gpu_nodes), gpu_pod(wanted)])
    text = shown(result, notes=["one note", "and another " * 30])
    assert_fits(text)
    assert " ".join(str(result.result.event or "")[:60].split()) in " ".join(text.split())


def worst_nodes() -> list[Node]:
    """Long names, long messages, a taint and a pool of each node's own."""
    return [
        node(
            f"{LONG}{index}",
            labels={"pool": f"{LONG}{index}"},
            conditions=[CONDITION],
            taints=[
                {"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"},
                {"key": f"example.com/{LONG[:60]}{index}", "effect": "NoSchedule"},
            ],
        )
        for index in range(60)
    ]


def test_it_fits_with_the_longest_of_everything() -> None:
    selector = {f"example.com/{LONG[:50]}{index}": LONG[:60] for index in range(12)}
    spec: dict[str, Any] = {"nodeSelector": selector, **requests(cpu="100", memory="1Ti", **{LONG[:60]: "3"})}
    result = explained([*worst_nodes(), pod("web-0", metadata={"namespace": LONG[:60]}, **spec)])
    text = shown(result, notes=[LONG * 3] * 9)
    assert_fits(text)
    assert " ".join(str(result.result.event or "")[:60].split()) in " ".join(text.split())


HOSTILE = [
    "\x1b[2J\x1b[31mred",
    "[bold red]markup[/]",
    "a\nb\rc",
    "\u202egpj.exe",
    ":smile:",
    "\u200bzero",
    "\x9b31m",
    "\U000e0041tag",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_text_from_a_cluster_is_neither_markup_nor_a_control_sequence(name: str) -> None:
    taint = {"key": name, "value": name, "effect": "NoSchedule"}
    condition = CONDITION | {"message": name, "reason": name}
    nodes = [node(name, labels={name: name, "pool": name}, taints=[taint], conditions=[condition]), node("w2")]
    incoming = pod("web-0", metadata={"namespace": name}, nodeSelector={name: f"{name}x"}, schedulingGates=[])
    result = explained([*nodes, incoming])
    for display in (Display(), Display(all_nodes=True), Display(node=name)):
        for color in (False, True):
            text = shown(result, display=display, notes=[name], color=color)
            assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\U000e0000-\U000e007f]", text)
    assert safe(name) in "".join(shown(result, width=2000).splitlines())


def test_a_message_as_long_as_an_event_may_be_is_shown_whole() -> None:
    wanted = {f"example.com/{'device' * 5}-{index}": "1" for index in range(40)}
    result = explained([*gpu_cluster(30, 3), pod("web-0", **requests(**wanted))])
    assert len(str(result.result.event)) > 1000
    text = shown(result, notes=["a note"])
    assert_fits(text)
    assert "".join(str(result.result.event).split()) in "".join(text.split())


def test_room_that_a_later_part_has_left_is_given_back() -> None:
    def part(lines: int, rank: int, **fields: Any) -> Part:
        return Part(full=[Text(f"{rank}") for _ in range(lines)], rank=rank, **fields)

    console = Console(width=80, file=StringIO())
    whole = part(9, 8, leaner=([Text("8")] * 3,), keep=3)
    assert len(fitted([part(4, 7, keep=1), whole], console, 9)) == 3 + 4
    assert len(fitted([part(9, 7, keep=1), whole], console, 9)) == 9
    assert len(fitted([part(9, 7, keep=1), whole], console, 12)) == 12
