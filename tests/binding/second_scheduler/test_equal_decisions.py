"""Pods that are placed by where others are: each decision that shares a cycle equals a whole one."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, Final

import msgspec
from hypothesis import settings as budget
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule
from msgspec import structs

from kubectl_sched.api.core import Service
from kubectl_sched.sources.kinds import BY_NAME
from kubectl_sched.sources.live.reflector import Changed
from tests.binding.second_scheduler.test_scheduling_loop import MINE, AnyCourse, on
from tests.examples import examples
from tests.plugins.clusters import node, pod, requests

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod

Json = dict[str, Any]

ZONE: Final = "topology.kubernetes.io/zone"
ZONES: Final = {"n1": "a", "n2": "b", "n3": "b"}
WEB: Final[Json] = {"matchLabels": {"app": "web"}}
BY_ZONE: Final[Json] = {"matchExpressions": [{"key": ZONE, "operator": "Exists"}]}


def spread(selector: Json, when: str) -> Json:
    constraint = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": when, "labelSelector": selector}
    return {"topologySpreadConstraints": [constraint]}


def apart(selector: Json, *, required: bool = False) -> Json:
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": selector}
    if required:
        return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}
    weighted = [{"weight": 9, "podAffinityTerm": term}]
    return {"affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": weighted}}}


SPECS: Final[tuple[Json, ...]] = (
    {},
    spread(WEB, "DoNotSchedule"),
    spread(WEB, "ScheduleAnyway"),
    spread(BY_ZONE, "ScheduleAnyway"),
    spread(BY_ZONE, "DoNotSchedule"),
    apart(WEB, required=True),
    apart(WEB),
    apart(BY_ZONE),
)
"""The first is spread by a Service, if there is one; BY_ZONE asks for a label that comes with the binding."""


class CountedCourse(AnyCourse):
    """Replicas that count others and each other, while pods come, go and get other labels."""

    @initialize(service=st.booleans())
    def begin_with_three_nodes(self, service: bool) -> None:
        self.begin()
        for name in ZONES:
            self.node_comes_or_changes(name, 8)
        if service:
            self.service_comes()

    def begin_with_some(self, cpus: list[int]) -> None:
        """Not here."""

    def teardown(self) -> None:
        """Pods that must be apart may wait for good."""

    @rule(name=st.sampled_from(list(ZONES)), cpu=st.sampled_from([2, 8]))
    def node_comes_or_changes(self, name: str, cpu: int) -> None:
        self.version += 1
        self.nodes[name] = cpu
        labels = {"kubernetes.io/hostname": name, ZONE: ZONES[name]}
        made = node(name, labels=labels, allocatable={"cpu": str(cpu), "memory": "8Gi", "pods": "110"})
        item = structs.replace(made, metadata=structs.replace(made.metadata, resource_version=str(self.version)))
        self.scheduling_loop.take(Changed(BY_NAME["Node"], item, gone=False))

    @rule()
    def service_comes(self) -> None:
        self.version += 1
        metadata = {"name": "web", "namespace": "default", "resourceVersion": str(self.version)}
        service = msgspec.convert({"metadata": metadata, "spec": {"selector": {"app": "web"}}}, Service)
        self.scheduling_loop.take(Changed(BY_NAME["Service"], service, gone=False))

    @rule(
        spec=st.sampled_from(SPECS),
        count=st.integers(4, 6),
        bound_after=st.lists(st.booleans(), min_size=4, max_size=6),
    )
    def replicas_come(self, spec: Json, count: int, bound_after: list[bool]) -> None:
        """Decided one after the other, while the watch tells now and then that all until then are bound."""
        labels = {"labels": {"app": "web"}}
        for _ in range(count):
            self.put(pod(f"p{self.version}", metadata=labels, schedulerName=MINE, **requests(cpu="1"), **spec))
        self.watch_tells_all()
        for told in (*bound_after, *[False] * count)[:count]:
            self.decides()
            if told:
                self.all_are_bound()

    @rule()
    def all_are_bound(self) -> None:
        for finished in list(self.recorder.flying.values()):
            self.end_well(finished)
        self.watch_tells_all()

    def watch_tells_all(self) -> None:
        while self.late:
            self.deliver(self.late.pop(0))

    def put(self, item: Pod) -> None:
        """The API server gives a pod its node's zone when it is bound."""
        if on(item) and ZONE not in item.metadata.labels:
            item = relabelled(item, item.metadata.labels | {ZONE: ZONES[on(item)]})
        super().put(item)

    @precondition(lambda self: any(map(on, self.server.values())))
    @rule(data=st.data(), labels=st.sampled_from([{"app": "web"}, {"app": "db"}, {"app": "web", ZONE: "c"}]))
    def pod_is_relabelled(self, data: st.DataObject, labels: dict[str, str]) -> None:
        placed = sorted(name for name, each in self.server.items() if on(each))
        self.put(relabelled(self.server[data.draw(st.sampled_from(placed))], labels))


def relabelled(item: Pod, labels: dict[str, str]) -> Pod:
    return structs.replace(item, metadata=structs.replace(item.metadata, labels=labels))


TestCountedCourse = CountedCourse.TestCase
TestCountedCourse.settings = budget(max_examples=examples(80), stateful_step_count=15, deadline=None)


def test_replicas_that_count_each_other_share_a_cycle_unless_a_label_comes_that_a_selector_asks_for() -> None:
    for spec in SPECS:
        course = CountedCourse()
        course.begin_with_three_nodes(service=True)
        course.replicas_come(spec, 3, [False, True])
        assert course.pods.equally_decided == (1 if "Exists" in str(spec) else 2), spec


def test_whenever_the_watch_tells_of_bindings_decisions_are_those_of_whole_cycles() -> None:
    for spec, *bound_after in product(SPECS, *[(False, True)] * 4):
        course = CountedCourse()
        course.begin_with_three_nodes(service=True)
        course.replicas_come(spec, 5, bound_after)
        assert course.pods.equally_decided > 0
