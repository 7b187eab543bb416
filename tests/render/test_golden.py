"""Whole outputs at 80 columns and at 160: tests/golden has it (`pytest --update-golden` writes it anew)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from kubectl_sched.queries.contrast import contrast_of
from kubectl_sched.render.display import Display
from kubectl_sched.suggestions.search import suggest
from tests.plugins.clusters import node, pod, requests
from tests.render.worlds import explained, gpu_cluster, gpu_pod, gpu_users, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.queries.explanation import Explanation

GOLDEN = Path(__file__).parent.parent / "golden"
NOTES = ("about the dump: taken no earlier than 2026-06-01 03:00 (3 h ago)",)

FULL = Display(all_nodes=True)


def no_gpu(nodes: int, gpu_nodes: int) -> Explanation:
    return explained([*gpu_cluster(nodes, gpu_nodes), *gpu_users(gpu_nodes, min(7, gpu_nodes - 1)), gpu_pod()])


def free_gpu() -> Explanation:
    return explained([*gpu_cluster(20, 4), *gpu_users(3), gpu_pod()])


def image_leads() -> Explanation:
    image = {"names": ["example.com/web:1"], "sizeBytes": 500 * 2**20}
    nodes = [
        node(
            f"w{index}",
            images=[image] if index == 1 else [],
            labels={"zone": f"z{index}", "kubernetes.io/hostname": f"w{index}"},
        )
        for index in (1, 2, 3)
    ]
    return explained([*nodes, pod("web-0", containers=[{"name": "main", "image": "example.com/web:1"}])])


def preempting() -> Explanation:
    low = [
        pod(f"low-{index}", on=f"w{index}", priority=index, metadata={"namespace": "batch"}, **requests(cpu="6"))
        for index in (1, 2)
    ]
    return explained([node("w1"), node("w2"), *low, pod("web-0", priority=1000, **requests(cpu="4"))])


def no_nodes() -> Explanation:
    return explained([pod("web-0")])


CASES: dict[str, Callable[[], Explanation]] = {
    "no-gpu-on-3-nodes": lambda: no_gpu(3, 1),
    "no-gpu-on-300-nodes": lambda: no_gpu(300, 12),
    "no-gpu-on-3000-nodes": lambda: no_gpu(3000, 120),
    "free-gpu": free_gpu,
    "image-leads": image_leads,
    "preempting": preempting,
    "no-nodes": no_nodes,
    "tied": lambda: explained([*gpu_cluster(300, 12), pod("web-0")]),
}


def compare(name: str, text: str, *, update: bool) -> None:
    path = GOLDEN / name
    if update:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert text == path.read_text()


@pytest.mark.parametrize("width", [80, 160])
@pytest.mark.parametrize("name", CASES)
def test_the_first_screen(name: str, width: int, update_golden: bool) -> None:
    compare(f"{name}.{width}.txt", shown(CASES[name](), width=width, notes=NOTES), update=update_golden)


@pytest.mark.parametrize("width", [80, 160])
@pytest.mark.parametrize("name", ["free-gpu", "image-leads", "no-gpu-on-3-nodes", "preempting"])
def test_the_whole_table(name: str, width: int, update_golden: bool) -> None:
    compare(
        f"{name}.wide.{width}.txt", shown(CASES[name](), width=width, display=FULL, notes=NOTES), update=update_golden
    )


ONE_NODE = [
    ("free-gpu", "gpu-3"),
    ("no-gpu-on-3-nodes", "gpu-0"),
    ("no-gpu-on-3-nodes", "cp-0"),
    ("image-leads", "w1"),
    ("image-leads", "w2"),
]


@pytest.mark.parametrize("width", [80, 100])
@pytest.mark.parametrize(("name", "on"), ONE_NODE)
def test_one_node_in_full(name: str, on: str, width: int, update_golden: bool) -> None:
    result = CASES[name]()
    asked = replace(result, suggestions=suggest(result.result, on), contrast=contrast_of(result.result, on))
    text = shown(asked, width=width, display=Display(node=on), notes=NOTES)
    compare(f"{name}.node-{on}.{width}.txt", text, update=update_golden)


def test_several_pods(update_golden: bool) -> None:
    results = [
        explained([*gpu_cluster(30, 3), *gpu_users(3), *_web_pods(4), gpu_pod(), pod("free")], name)
        for name in ("web-0", "free", *(f"api-7d4b9c6f5-{index}" for index in range(4)))
    ]
    compare("several-pods.80.txt", shown(*results, width=80, notes=NOTES), update=update_golden)


def _web_pods(count: int) -> list[Pod]:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "api-7d4b9c6f5", "uid": "u", "controller": True}
    labels = {"pod-template-hash": "7d4b9c6f5"}
    return [
        pod(f"api-7d4b9c6f5-{index}", metadata={"labels": labels, "ownerReferences": [owner]}, **requests(cpu="100"))
        for index in range(count)
    ]
