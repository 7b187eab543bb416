"""The numbers of the evidence are those that `kubectl describe node` prints.

fixtures/describe_node/describe.txt is what kubectl 1.32 printed for the node of objects.json beside it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
import pytest

from kubectl_sched.api.apimachinery.quantity import parse_quantity
from kubectl_sched.api.core import Node
from kubectl_sched.api.pod import Pod
from kubectl_sched.framework.cycle_state import CycleState
from kubectl_sched.plugins.node_resources.fit import NodeResourcesFit
from tests.plugins.clusters import make, pod, snapshot

FOLDER = Path(__file__).parents[3] / "fixtures" / "describe_node"
DESCRIBED = (FOLDER / "describe.txt").read_text(encoding="utf-8")
KINDS: dict[str, type[Node | Pod]] = {"Node": Node, "Pod": Pod}
ITEMS = json.loads((FOLDER / "objects.json").read_text(encoding="utf-8"))["items"]
NODES = snapshot(*(msgspec.convert(item, KINDS[item["kind"]]) for item in ITEMS))


def in_units(resource: str, printed: str) -> int:
    quantity = parse_quantity(printed)
    return quantity.milli_value() if resource == "cpu" else quantity.value()


def section(title: str) -> list[list[str]]:
    """The lines of a table, split where kubectl leaves two spaces."""
    body = DESCRIBED.split(f"\n{title}", 1)[1].split("\n", 1)[1]
    indented = re.match(r"(?:  .*\n)*", body)
    assert indented is not None
    return [re.split(r"\s{2,}", line.strip()) for line in indented[0].splitlines()]


ALLOCATED = {name: requests.split(" ")[0] for name, requests, _ in section("Allocated resources:")[3:]}
ALLOCATABLE = {name.rstrip(":"): amount for name, amount in section("Allocatable:")}


@pytest.mark.parametrize("resource", ALLOCATED)
def test_used_and_capacity(resource: str) -> None:
    too_much = pod("new", containers=[{"name": "main", "resources": {"requests": {resource: "1Ti"}}}])
    (evidence,) = make(NodeResourcesFit).explain_filter(CycleState(), too_much, NODES, 0)
    assert evidence.facts["used"] == in_units(resource, ALLOCATED[resource])
    assert evidence.facts["capacity"] == in_units(resource, ALLOCATABLE[resource])


@pytest.mark.parametrize(("resource", "column"), [("cpu", 2), ("memory", 4)])
def test_who_uses_how_much(resource: str, column: int) -> None:
    too_much = pod("new", containers=[{"name": "main", "resources": {"requests": {resource: "1Ti"}}}])
    (evidence,) = make(NodeResourcesFit).explain_filter(CycleState(), too_much, NODES, 0)
    printed = {
        f"{row[0]}/{row[1]}": in_units(resource, row[column].split(" ")[0])
        for row in section("Non-terminated Pods:")[2:]
    }
    users = evidence.facts["usedBy"]
    assert isinstance(users, list)
    told = {user["pod"]: user["amount"] for user in users if isinstance(user, dict)}
    assert told == {key: amount for key, amount in printed.items() if amount}
