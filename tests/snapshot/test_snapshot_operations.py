"""Every operation of a Snapshot gives what a list of nodes and of pods on them would give, in whatever order."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_sched.api.apimachinery.int64 import MAX_INT64
from kubectl_sched.api.meta import with_spec
from tests.examples import examples
from tests.plugins.clusters import node, pod, requests, snapshot

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.snapshot import Snapshot


class Version(NamedTuple):
    """A snapshot, the names of its nodes, and its pods in their order, each with the name of its node."""

    nodes: Snapshot
    names: tuple[str, ...]
    pods: tuple[tuple[Pod, str], ...]


class Versions:
    """Each operation makes a version out of any earlier one, so that versions branch and share their stores."""

    def __init__(self, minor: str, unit: str) -> None:
        self.minor = minor
        self.unit = unit
        pods = [pod("a", on="n0", **requests(cpu=f"1{unit}")), pod("b", on="n1", **requests(cpu=f"2{unit}"))]
        nodes = snapshot(node("n0"), node("n1"), node("n2"), *pods, version=minor)
        self.versions = [Version(nodes, nodes.names, tuple((each, each.spec.node_name) for each in pods))]
        self.made = 0

    def new_pod(self, number: int) -> Pod:
        self.made += 1
        (container,) = requests(cpu=f"{1 + number % 3}{self.unit}")["containers"]
        ports = [{"containerPort": 80, "hostPort": 8000 + number % 3}] if number % 2 else []
        return pod(f"p{self.made}", containers=[{**container, "ports": ports}])

    def assume(self, which: int, row: int, number: int, _: int = 0) -> None:
        nodes, names, pods = self.version(which)
        new, row = self.new_pod(number), row % len(names)
        self.versions.append(Version(nodes.assume(new, row), names, (*pods, (new, names[row]))))

    def assume_equal(self, which: int, *rows: int) -> None:
        nodes, names, pods = self.version(which)
        added = [(self.new_pod(0), row % len(names)) for row in rows]
        told = [(each, names[row]) for each, row in added]
        self.versions.append(Version(nodes.assume_equal(added), names, (*pods, *told)))

    def remove(self, which: int, index: int, evicted: int, _: int) -> None:
        nodes, names, pods = self.version(which)
        if pods:
            index %= len(pods)
            fewer = nodes.evict(index) if evicted % 2 else nodes.remove(index)
            self.versions.append(Version(fewer, names, (*pods[:index], *pods[index + 1 :])))

    def without(self, which: int, gone: int, *_: int) -> None:
        nodes, names, pods = self.version(which)
        mask = np.array([bool(gone >> index % 8 & 1) for index in range(len(pods))], dtype=np.bool_)
        left = tuple(each for each, is_gone in zip(pods, mask, strict=True) if not is_gone)
        self.versions.append(Version(nodes.without(mask), names, left))

    def with_pod(self, which: int, index: int, *_: int) -> None:
        nodes, names, pods = self.version(which)
        if pods:
            old, name = pods[index % len(pods)]
            labels = {"change": str(len(self.versions))}
            changed = replace(old, metadata=replace(old.metadata, labels=labels))
            others = tuple(each for each in pods if each[0] is not old)
            self.versions.append(Version(nodes.with_pod(changed), names, (*others, (changed, name))))

    def add_node(self, which: int, daemons: int, *_: int) -> None:
        nodes, names, pods = self.version(which)
        self.made += 1
        name = f"n{self.made + 2}"
        self.versions.append(Version(nodes.add_node(node(name)), (*names, name), pods))
        if daemons % 2:
            self.assume(len(self.versions) - 1, len(names), daemons)

    def take(self, which: int, *rows: int) -> None:
        nodes, names, pods = self.version(which)
        taken = list(dict.fromkeys(row % len(names) for row in rows))
        kept = tuple(names[row] for row in taken)
        there = tuple(each for each in pods if each[1] in kept)
        self.versions.append(Version(nodes.take(np.array(taken, dtype=np.intp)), kept, there))

    def version(self, which: int) -> Version:
        return self.versions[which % len(self.versions)]


def check(version: Version, minor: str) -> None:
    """Hold a version against a snapshot that is built of the same nodes and pods."""
    nodes, names, pods = version
    bound = [with_spec(each, node_name=name) for each, name in pods]
    fresh = snapshot(*map(node, names), *bound, version=minor)
    table = nodes.existing_pods
    assert nodes.names == names
    assert list(zip(table.pods, [names[row] for row in table.rows], strict=True)) == list(pods)
    assert len(table) == len(pods)
    assert [table.find(each.namespace, each.name) for each, _ in pods] == list(range(len(pods)))
    assert [table.at(index) for index in range(len(pods))] == [each for each, _ in pods]
    assert list(table.identity) == list(fresh.existing_pods.identity)
    assert [table.on(row).tolist() for row in range(len(names))] == [
        [index for index, (_, on) in enumerate(pods) if on == name] for name in names
    ]
    assert nodes.pod_count.tolist() == fresh.pod_count.tolist()
    assert nodes.requested("cpu").tolist() == fresh.requested("cpu").tolist()
    assert nodes.non_zero_requested("memory").tolist() == fresh.non_zero_requested("memory").tolist()
    everything = nodes.usage_of(np.arange(len(pods), dtype=np.intp))
    assert everything.pod_count.tolist() == fresh.pod_count.tolist()
    if minor == "1.38":
        milli = [sum(nodes.resource_of(each).requested["cpu"] for each, on in pods if on == name) for name in names]
        assert nodes.requested("cpu").tolist() == [min(each, MAX_INT64) for each in milli]


OPERATIONS: tuple[Callable[[Versions, int, int, int, int], None], ...] = (
    Versions.assume,
    Versions.assume_equal,
    Versions.remove,
    Versions.without,
    Versions.with_pod,
    Versions.add_node,
    Versions.take,
)


@settings(max_examples=examples(300))
@given(
    steps=st.lists(st.tuples(st.sampled_from(OPERATIONS), *[st.integers(0, 99)] * 4), min_size=8, max_size=24),
    minor=st.sampled_from(["1.36", "1.38"]),
    unit=st.sampled_from(["", "P"]),
)
def test_operations_hold_in_any_order(
    steps: list[tuple[Callable[[Versions, int, int, int, int], None], int, int, int, int]], minor: str, unit: str
) -> None:
    """In cpu of petas a few pods leave int64: sums wrap around, or are held at its limit since 1.38."""
    versions = Versions(minor, unit)
    for operation, which, *numbers in steps:
        operation(versions, which, *numbers)
    for version in versions.versions:
        check(version, minor)
