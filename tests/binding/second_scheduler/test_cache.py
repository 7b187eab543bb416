"""The cache brought up to date is the cache made from scratch, whatever came in whatever order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec import structs

from kubectl_sched.api.component_helpers.pod_requests import scheduler_options
from kubectl_sched.api.core import Node
from kubectl_sched.api.meta import OwnerReference
from kubectl_sched.api.pod import Pod
from kubectl_sched.api.storage import PersistentVolumeClaim
from kubectl_sched.binding.pre_bind import Written
from kubectl_sched.binding.second_scheduler.cache import Cache
from kubectl_sched.config import Features, KubeVersion
from kubectl_sched.snapshot import build
from tests.plugins.clusters import node, pod, requests

if TYPE_CHECKING:
    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.snapshot import Snapshot

OPTIONS = scheduler_options(Features.for_version(KubeVersion.parse("1.36"), {}).enabled)
NODES = ("n1", "n2", "n3")
PODS = tuple("abcdefgh")


def picture(snapshot: Snapshot) -> dict[str, Any]:
    """All that plugins can see of a snapshot, in no order."""
    return {
        "nodes": {
            info.name: (
                structs.replace(info.node, metadata=structs.replace(info.node.metadata, resource_version="")),
                sorted(each.key for each in info.pods),
                {name: int(snapshot.requested(name)[row]) for name in ("cpu", "memory", "example.com/gpu")},
                int(snapshot.pod_count[row]),
                int(snapshot.allocatable("cpu")[row]),
            )
            for row, info in enumerate(snapshot)
        },
        "labels": {each.key: each.metadata.labels for each in snapshot.existing_pods.pods},
        "identities": sorted(
            (namespace, tuple(labels.items()))
            for namespace, labels in snapshot.existing_pods.identity.map(lambda identity: identity)
        )
        if len(snapshot.existing_pods)
        else [],
        "claims": {each.key: each.spec.volume_name for each in snapshot.objects.all(PersistentVolumeClaim)},
        "pending": sorted(
            (each.key, each.spec.scheduling_group.pod_group_name, each.metadata.labels)
            for each in snapshot.pending
            if each.spec.scheduling_group is not None
        ),
    }


def claim(name: str, volume: str, version: int) -> PersistentVolumeClaim:
    metadata = {"name": name, "namespace": "default", "resourceVersion": str(version)}
    return msgspec.convert({"metadata": metadata, "spec": {"volumeName": volume}}, PersistentVolumeClaim)


class AnyCache(RuleBasedStateMachine):
    """A model of what the server has and of what we have assumed, next to the cache that is told of both."""

    @initialize()
    def empty(self) -> None:
        self.cache = Cache(OPTIONS)
        self.version = 0
        self.stored: dict[tuple[type[KubernetesObject], str], KubernetesObject] = {}
        self.assumed: dict[str, tuple[Pod, PersistentVolumeClaim | None]] = {}
        self.flying: set[str] = set()

    def tell(self, item: KubernetesObject, *, gone: bool = False) -> None:
        self.cache.change(item, gone=gone)
        if gone:
            self.stored.pop((type(item), item.key), None)
        else:
            self.stored[type(item), item.key] = item

    def next_version(self) -> str:
        self.version += 1
        return str(self.version)

    @rule(name=st.sampled_from(NODES), cpu=st.sampled_from(["4", "8", "x"]), zone=st.sampled_from(["", "a"]))
    def node_comes_or_changes(self, name: str, cpu: str, zone: str) -> None:
        made = node(name, labels={"zone": zone} if zone else {}, allocatable={"cpu": cpu, "memory": "8Gi"})
        self.tell(structs.replace(made, metadata=structs.replace(made.metadata, resource_version=self.next_version())))

    @rule(name=st.sampled_from(NODES))
    def node_goes(self, name: str) -> None:
        if (Node, name) in self.stored:
            self.tell(self.stored[Node, name], gone=True)

    @rule(
        name=st.sampled_from(PODS),
        on=st.sampled_from(["", "", *NODES]),
        cpu=st.sampled_from(["1", "2"]),
        app=st.sampled_from(["x", "y"]),
        started=st.booleans(),
        group=st.sampled_from(["", "g"]),
    )
    def pod_comes_or_changes(self, name: str, on: str, cpu: str, app: str, started: bool, group: str) -> None:
        key = f"default/{name}"
        known = self.stored.get((Pod, key))
        bound = known.spec.node_name if isinstance(known, Pod) else ""
        metadata = {"labels": {"app": app}, "resourceVersion": self.next_version()}
        status = {"startTime": "2026-01-01T00:00:00Z"} if started else {}
        grouped = {"schedulingGroup": {"podGroupName": group}} if group else {}
        self.tell(pod(name, on=bound or on, metadata=metadata, status=status, **grouped, **requests(cpu=cpu)))
        if bound or on:
            self.ends(key, keeps_claim=key in self.flying)

    @rule(name=st.sampled_from(PODS))
    def pod_goes(self, name: str) -> None:
        key = f"default/{name}"
        if (Pod, key) in self.stored:
            self.tell(self.stored[Pod, key], gone=True)
            self.ends(key, keeps_claim=key in self.flying)

    def ends(self, key: str, *, keeps_claim: bool) -> None:
        """The assumption is over; what is reserved stays so until the binding cycle ends."""
        assumed = self.assumed.pop(key, None)
        if assumed is not None and keeps_claim:
            self.assumed[f"reserved/{key}"] = assumed

    @rule(name=st.sampled_from(PODS), on=st.sampled_from(NODES), takes=st.booleans())
    def is_assumed(self, name: str, on: str, takes: bool) -> None:
        key = f"default/{name}"
        waiting = self.stored.get((Pod, key))
        free = key not in self.assumed and f"reserved/{key}" not in self.assumed
        if not isinstance(waiting, Pod) or waiting.spec.node_name or not free:
            return
        taken = claim(f"claim-{name}", "pv", 0) if takes else None
        self.cache.assume(waiting, on, [taken] if taken is not None else [])
        bound = structs.replace(waiting, spec=structs.replace(waiting.spec, node_name=on))
        self.assumed[key] = (bound, taken)
        self.flying.add(key)

    @precondition(lambda self: self.flying)
    @rule(data=st.data())
    def binding_fails(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.flying)))
        self.flying.discard(key)
        gone = self.assumed.pop(key, None) or self.assumed.pop(f"reserved/{key}", None)
        assert gone is not None
        self.cache.forget(gone[0])

    @rule()
    def lists_are_read_anew(self) -> None:
        for kind in (Node, Pod, PersistentVolumeClaim):
            self.cache.replace(kind, [item for (each, _), item in self.stored.items() if each is kind])

    @rule()
    def is_looked_at(self) -> None:
        self.cache.snapshot({})

    @invariant()
    def is_the_same_as_from_scratch(self) -> None:
        if self.version % 3:
            return  # several changes come between two looks
        pods: dict[str, Pod] = {item.key: item for item in self.stored.values() if isinstance(item, Pod)}
        for key, (bound, _) in self.assumed.items():
            if not key.startswith("reserved/"):
                pods[key] = bound
        claims = [taken for _, taken in self.assumed.values() if taken is not None]
        others = [item for item in self.stored.values() if isinstance(item, Node)]
        expected, _ = build([*others, *pods.values(), *claims], OPTIONS)
        assert picture(self.cache.snapshot({})) == picture(expected)


TestAnyCache = AnyCache.TestCase


def a_node() -> Node:
    return node("n1")


def test_an_assumed_pod_is_there_until_the_watch_shows_it_or_the_binding_fails() -> None:
    cache = Cache(OPTIONS)
    cache.change(a_node(), gone=False)
    waiting = pod("a", metadata={"resourceVersion": "1"}, **requests(cpu="1"))
    cache.change(waiting, gone=False)
    cache.assume(waiting, "n1")
    assert cache.is_assumed("default/a")
    assert int(cache.snapshot({}).requested("cpu")[0]) == 1000
    cache.bound(waiting, {})
    assert cache.is_assumed("default/a"), "the watch may be late"
    cache.change(pod("a", on="n1", metadata={"resourceVersion": "2"}, **requests(cpu="1")), gone=False)
    assert not cache.is_assumed("default/a")
    assert int(cache.snapshot({}).requested("cpu")[0]) == 1000


def test_a_claim_stays_reserved_while_the_binding_is_under_way_whatever_else_changes_it() -> None:
    cache = Cache(OPTIONS)
    cache.change(a_node(), gone=False)
    waiting = pod("a")
    cache.change(waiting, gone=False)
    cache.change(claim("c", "", 1), gone=False)
    cache.assume(waiting, "n1", [claim("c", "pv", 1)])
    cache.change(claim("c", "", 2), gone=False)

    def volume() -> str:
        return next(iter(cache.snapshot({}).objects.all(PersistentVolumeClaim))).spec.volume_name

    assert volume() == "pv"
    cache.bound(waiting, {})
    assert volume() == "", "what the server has is newer than what was reserved"


def volume_of(cache: Cache) -> str:
    (found,) = cache.snapshot({}).objects.all(PersistentVolumeClaim)
    return found.spec.volume_name


def test_a_claim_stays_reserved_until_the_watch_shows_the_last_of_its_writes() -> None:
    cache = Cache(OPTIONS)
    waiting = pod("a")
    for each in (a_node(), waiting, claim("c", "", 8)):
        cache.change(each, gone=False)
    cache.assume(waiting, "n1", [claim("c", "pv", 8)])
    cache.change(claim("c", "", 9), gone=False)
    cache.bound(waiting, {Written("PersistentVolumeClaim", "default", "c"): "10"})
    assert volume_of(cache) == "pv", "the watch has shown the first write only"
    cache.change(claim("c", "other", 10), gone=False)
    assert volume_of(cache) == "other"


def test_a_claim_stays_reserved_for_one_pod_when_the_binding_of_another_fails() -> None:
    cache = Cache(OPTIONS)
    first, second = pod("a"), pod("b")
    for each in (a_node(), first, second, claim("c", "", 1)):
        cache.change(each, gone=False)
    cache.assume(first, "n1", [claim("c", "of-a", 1)])
    cache.assume(second, "n1", [claim("c", "of-b", 1)])
    assert volume_of(cache) == "of-b"
    cache.forget(second)
    assert volume_of(cache) == "of-a"
    cache.forget(first)
    assert volume_of(cache) == ""


def test_a_claim_that_the_server_named_stays_reserved_until_the_watch_shows_it_or_the_pod_is_gone() -> None:
    cache = Cache(OPTIONS)
    cache.change(a_node(), gone=False)
    waiting = pod("a")
    cache.change(waiting, gone=False)
    cache.assume(waiting, "n1", [claim("assumed-name", "pv", 0)])
    cache.bound(waiting, {})

    def names() -> list[str]:
        return [each.name for each in cache.snapshot({}).objects.all(PersistentVolumeClaim)]

    assert names() == ["assumed-name"]
    owner = OwnerReference(kind="Pod", name="a", uid=waiting.metadata.uid, controller=True)
    made = claim("made-x7k2p", "pv", 3)
    made = structs.replace(made, metadata=structs.replace(made.metadata, owner_references=(owner,)))
    cache.change(made, gone=False)
    assert names() == ["made-x7k2p"]
    cache.change(made, gone=True)
    cache.assume(waiting, "n1", [claim("assumed-name", "pv", 0)])
    cache.bound(waiting, {})
    cache.change(waiting, gone=True)
    assert names() == []


def test_a_snapshot_shows_the_pending_pods_of_groups_and_makes_their_list_anew_only_when_one_of_them_changes() -> None:
    cache = Cache(OPTIONS)
    cache.change(a_node(), gone=False)
    members = [pod(name, schedulingGroup={"podGroupName": "g"}) for name in ("a", "b")]
    gang = pod("c", workloadRef={"name": "w", "podGroup": "g"})
    for each in (*members, gang, pod("alone")):
        cache.change(each, gone=False)
    first = cache.snapshot({}).pending
    assert [each.name for each in first] == ["a", "b", "c"]
    cache.assume(pod("alone"), "n1")
    assert cache.snapshot({}).pending is first
    cache.assume(members[0], "n1")
    assert [each.name for each in cache.snapshot({}).pending] == ["b", "c"]
    cache.forget(members[0])
    assert [each.name for each in cache.snapshot({}).pending] == ["b", "c", "a"]


def test_many_pods_that_come_and_go_do_not_make_it_grow() -> None:
    cache = Cache(OPTIONS)
    cache.change(a_node(), gone=False)
    for number in range(3_000):
        cache.change(pod(f"p{number}", on="n1"), gone=False)
        cache.snapshot({})
        cache.change(pod(f"p{number}", on="n1"), gone=True)
        cache.snapshot({})
    assert len(cache.snapshot({}).existing_pods) == 0
    assert len(cache.snapshot({}).existing_pods._store.pods) <= 1_002  # noqa: SLF001 - the store is what would grow


def test_sizes_count_what_is_known_before_any_snapshot_is_taken() -> None:
    cache = Cache(OPTIONS)
    cache.change(node("n1"), gone=False)
    cache.change(pod("there", on="n1"), gone=False)
    coming = pod("coming")
    cache.change(coming, gone=False)
    assert cache.sizes == {"nodes": 1, "pods": 1, "assumed_pods": 0}
    cache.assume(coming, "n1")
    assert cache.sizes == {"nodes": 1, "pods": 2, "assumed_pods": 1}
    cache.change(pod("coming", on="n1"), gone=False)
    assert cache.sizes == {"nodes": 1, "pods": 2, "assumed_pods": 0}
    cache.change(pod("there", on="n1"), gone=True)
    assert cache.sizes == {"nodes": 1, "pods": 1, "assumed_pods": 0}
