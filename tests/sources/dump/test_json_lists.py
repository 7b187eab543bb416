from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubectl_sched.api.core import Node
from kubectl_sched.api.pod import Pod
from kubectl_sched.sources.dump.collection import Collection
from kubectl_sched.sources.dump.json_documents import read_json, read_list
from kubectl_sched.sources.dump.json_lists import NotAList
from tests.apiserver.manifests import NODE, POD, keys, listing, obj, without_kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.sources import Dump


@pytest.mark.parametrize("indent", [4, 2, None, "\t"])
def test_a_list_is_read_however_it_is_indented(read_text: Callable[..., Dump], indent: int | str | None) -> None:
    dump = read_text(json.dumps(listing(NODE, POD), indent=indent))
    assert keys(dump) == ["Node n1", "Pod shop/web-0"]
    assert dump.warnings == ()


def test_a_typed_list_names_the_kind_of_items_that_do_not(read_text: Callable[..., Dump]) -> None:
    dump = read_text(listing(without_kind(POD), without_kind(obj("Pod", "b")), kind="PodList"))
    assert keys(dump) == ["Pod shop/web-0", "Pod default/b"]


def test_the_api_servers_own_order_of_fields_is_read(read_text: Callable[..., Dump]) -> None:
    items = ",".join(json.dumps({"metadata": {"name": f"n{number}"}}) for number in range(3))
    text = '{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":"x"},"items":[%s]}'
    assert keys(read_text(text % items)) == ["Node n0", "Node n1", "Node n2"]


def test_an_empty_typed_list_counts_as_present(read_text: Callable[..., Dump]) -> None:
    dump = read_text(listing(kind="PodList"))
    assert dump.objects == ()
    assert dump.present == {"Pod"}


def test_namespaced_objects_are_in_default_and_others_in_none(read_text: Callable[..., Dump]) -> None:
    dump = read_text(listing(obj("Pod", "a"), obj("Node", "n", "nonsense")))
    assert [item.metadata.namespace for item in dump.objects] == ["default", ""]


@pytest.mark.parametrize(
    "foreign",
    [
        obj("Service", "s", "x", "serving.knative.dev/v1", spec={"selector": 7}),
        obj("Ingress", "d", "x", "networking.k8s.io/v1"),
        obj("Workload", "w", "x", "example.com/v1beta1", spec={"podGroups": "many"}),
        obj("PodGroup", "g", "x", "example.com/v1beta1"),
        obj("NodeMetrics", "n1", "", "metrics.k8s.io/v1beta1"),
    ],
)
def test_other_kinds_and_namesakes_of_other_groups_are_passed_over(
    read_text: Callable[..., Dump], foreign: dict[str, Any]
) -> None:
    dump = read_text(listing(NODE, foreign, POD))
    assert keys(dump) == ["Node n1", "Pod shop/web-0"]
    assert dump.warnings == ()


def test_null_stands_for_an_absent_field(read_text: Callable[..., Dump]) -> None:
    pod = obj(
        "Pod",
        "a",
        metadata={"labels": None},
        spec={"nodeName": None, "tolerations": None, "containers": [{"name": "c", "resources": {"requests": None}}]},
    )
    (found,) = read_text(listing(pod)).objects
    assert isinstance(found, Pod)
    assert (found.metadata.labels, found.spec.node_name, found.spec.tolerations) == ({}, "", ())
    assert found.spec.containers[0].resources.requests == {}


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"priority": "high"}, "spec.priority: expected int | null, got str"),
        ({"priority": 2**31}, "spec.priority: expected int <= 2147483647"),
        ({"priority": "@" * 5000}, "spec.priority: integer value out of range"),
        ({"containers": {"name": "c"}}, "spec.containers: expected array, got object"),
        ({"containers": [{"name": 7}]}, "spec.containers[0].name: expected str, got int"),
    ],
)
def test_one_broken_object_is_skipped_with_a_warning(
    read_text: Callable[..., Dump], spec: dict[str, Any], said: str
) -> None:
    text = json.dumps(listing(NODE, obj("Pod", "bad", "x", spec=spec), POD))
    dump = read_text(text.replace(f'"{"@" * 5000}"', "1" * 5000))
    assert keys(dump) == ["Node n1", "Pod shop/web-0"]
    (warning,) = dump.warnings
    assert "Pod x/bad was skipped" in warning
    assert said in warning


def test_a_skipped_object_is_known_by_the_key_that_it_would_have(read_text: Callable[..., Dump]) -> None:
    pod, node = ({**obj(kind, "bad"), "spec": 7} for kind in ("Pod", "Node"))
    pod["metadata"], node["metadata"] = {"name": "bad"}, {"name": "bad", "namespace": "nonsense"}
    assert list(read_text(listing(NODE, pod, node)).skipped) == [("Pod", "default/bad"), ("Node", "bad")]


def test_a_nameless_object_is_skipped_with_a_warning(read_text: Callable[..., Dump]) -> None:
    dump = read_text(listing(NODE, {"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "x"}}))
    assert keys(dump) == ["Node n1"]
    assert "a Pod without a name" in dump.warnings[0]


def test_broken_utf8_is_replaced_as_go_does(read_text: Callable[..., Dump]) -> None:
    text = json.dumps(listing(obj("Node", "n1", metadata={"labels": {"a": "@"}})), indent=4).encode()
    (node,) = read_text(text.replace(b"@", b"\xff")).objects
    assert isinstance(node, Node)
    assert node.metadata.labels == {"a": "�"}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_what_powershell_saves_is_read(read_text: Callable[..., Dump], encoding: str) -> None:
    assert keys(read_text(json.dumps(listing(NODE), indent=4).encode(encoding))) == ["Node n1"]


def test_warnings_of_kubectl_may_stand_before_the_json(read_text: Callable[..., Dump]) -> None:
    text = "Warning: v1 ComponentStatus is deprecated in v1.19+\n" + json.dumps(listing(NODE), indent=4)
    assert keys(read_text(text)) == ["Node n1"]


def test_the_same_object_twice_is_taken_once(read_text: Callable[..., Dump]) -> None:
    pod = obj("Pod", "a", metadata={"uid": "u", "resourceVersion": "5"})
    dump = read_text(listing(pod, {**pod, "status": {"phase": "Running"}}, pod))
    assert len(dump.objects) == 1
    assert dump.warnings == ()


def test_of_conflicting_objects_the_newest_is_taken_with_a_warning(read_text: Callable[..., Dump]) -> None:
    versions = [obj("Node", "n1", metadata={"uid": "u", "resourceVersion": version}) for version in ("9", "10", "8")]
    dump = read_text(listing(*versions))
    assert [item.metadata.resource_version for item in dump.objects] == ["10"]
    assert "Node n1 is there more than once and differs" in dump.warnings[0]


def test_conflicting_objects_are_counted_once_however_often_they_are_there(read_text: Callable[..., Dump]) -> None:
    made = (("n1", "1"), ("n1", "2"), ("n2", "1"), ("n2", "2"), ("n1", "3"), ("n2", "3"), ("n1", "4"))
    versions = [obj("Node", name, metadata={"uid": name, "resourceVersion": version}) for name, version in made]
    assert [warning.partition(": ")[2] for warning in read_text(listing(*versions)).warnings] == [
        f"Node {name} is there more than once and differs; the one of resourceVersion {version} was taken"
        for name, version in (("n1", "4"), ("n2", "3"))
    ]


def test_dumps_of_two_clusters_are_told_apart(read_text: Callable[..., Dump]) -> None:
    dump = read_text(listing(*(obj("Namespace", "kube-system", metadata={"uid": uid}) for uid in "ab")))
    assert any("different clusters" in warning for warning in dump.warnings)


def test_pods_on_nodes_that_are_not_there_are_mentioned(read_text: Callable[..., Dump]) -> None:
    dump = read_text(listing(NODE, obj("Pod", "lost", spec={"nodeName": "gone"})))
    assert "1 pod is bound to a node that is not in the dump" in dump.warnings[0]


def test_only_configmaps_that_configure_a_scheduler_are_kept(read_text: Callable[..., Dump]) -> None:
    config = {"config.yaml": "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"}
    secret = obj("ConfigMap", "app", data={"password": "hunter2"})
    dump = read_text(listing(secret, obj("ConfigMap", "scheduler", data=config)))
    assert keys(dump) == ["ConfigMap default/scheduler"]


def test_the_dump_is_as_old_as_the_newest_time_in_it(read_text: Callable[..., Dump]) -> None:
    node = obj("Node", "n1", metadata={"creationTimestamp": "2026-01-01T00:00:00Z"})
    node["status"] = {"conditions": [{"type": "Ready", "lastHeartbeatTime": "2026-03-01T00:00:00Z"}]}
    event = obj("Event", "e", lastTimestamp="2026-02-01T00:00:00Z")
    assert read_text(listing(node, event)).taken_at == "2026-03-01T00:00:00Z"
    assert read_text(listing(NODE)).taken_at is None


ITEMS = st.lists(
    st.one_of(
        st.builds(
            lambda name, labels: obj("Pod", name, "x", metadata={"labels": labels}),
            st.text("abc", min_size=1, max_size=3),
            st.dictionaries(st.text(max_size=3), st.text(max_size=20), max_size=3),
        ),
        st.builds(lambda name: obj("Node", name, metadata={"labels": None}), st.text("abc", min_size=1, max_size=3)),
        st.builds(lambda name: obj("Pod", name, spec={"priority": "x"}), st.text("abc", min_size=1, max_size=3)),
        st.builds(
            lambda name: obj(
                "Pod", name, metadata={"ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": name}] * 2}
            ),
            st.text("abc", min_size=1, max_size=3),
        ),
        st.just(obj("Ingress", "d", "", "networking.k8s.io/v1")),
        st.just(listing(obj("Pod", "inner"), obj("Node", "inner"))),
    ),
    min_size=1,
    max_size=12,
)


@settings(deadline=None)
@given(ITEMS, st.sampled_from([4, 1, None]), st.booleans(), st.integers(min_value=1, max_value=400))
def test_reading_in_pieces_equals_reading_at_once(
    items: list[dict[str, Any]], indent: int | None, sort: bool, chunk: int
) -> None:
    text = json.dumps(listing(*items), indent=indent, sort_keys=sort).encode()
    whole, pieces = Collection(), Collection()
    read_json(text, "f", whole)
    try:
        read_list(io.BytesIO(text), "f", pieces, chunk=chunk)
    except NotAList:
        read_json(text, "f", pieces)
    assert pieces.dump == whole.dump


@pytest.mark.parametrize("sort", [False, True])
@pytest.mark.parametrize("chunk", [100, 1 << 20])
@pytest.mark.parametrize(
    "kinds",
    [("Secret", "Pod", "Node"), ("Pod", "Node", "Secret"), ("Node", "Pod"), ("Pod", "Secret", "Pod")],
    ids=",".join,
)
def test_lists_behind_one_another_have_each_its_own_kind(kinds: tuple[str, ...], chunk: int, *, sort: bool) -> None:
    lists = [
        {
            "kind": f"{kind}List",
            "apiVersion": "v1",
            "metadata": {},
            "items": [{"metadata": {"name": f"{kind}-{n}"}}] * 9,
        }
        for n, kind in enumerate(kinds)
    ]
    text = "\n".join(json.dumps(each, sort_keys=sort, separators=(",", ":")) for each in lists).encode()
    collection = Collection()
    with pytest.raises(NotAList):
        read_list(io.BytesIO(text), "f", collection, chunk=chunk)
    read_json(text, "f", collection)
    read = sorted(item.name for item in collection.objects)
    assert read == sorted(f"{kind}-{n}" for n, kind in enumerate(kinds) if kind != "Secret")


class Stream(io.RawIOBase):
    """Content that is read but once, a few bytes at a time."""

    def __init__(self, content: bytes, step: int) -> None:
        super().__init__()
        self._content, self._step = io.BytesIO(content), step

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        return self._content.readinto(memoryview(buffer)[: self._step])


@settings(deadline=None)
@given(ITEMS, st.sampled_from([4, 1, None]), st.booleans(), st.integers(1, 400), st.integers(1, 400), st.booleans())
def test_a_stream_is_read_as_a_file_is(
    items: list[dict[str, Any]], indent: int | None, sort: bool, chunk: int, step: int, is_snapshot: bool
) -> None:
    said = {"snapshot": "kubectl-sched/v1", "serverVersion": "v1.36.2", "present": ["Pod"]} if is_snapshot else {}
    text = json.dumps({**listing(*items), "metadata": said}, indent=indent, sort_keys=sort).encode()
    file, stream = Collection(), Collection()
    try:
        read_list(io.BytesIO(text), "f", file, chunk=chunk)
    except NotAList:
        with pytest.raises(NotAList):
            read_list(io.BufferedReader(Stream(text, len(text)), len(text)), "f", stream, chunk=chunk)
        return
    read_list(io.BufferedReader(Stream(text, step + _HEAD), step + _HEAD), "f", stream, chunk=chunk)
    assert stream.dump == file.dump


_HEAD = 2000
"""A stream gives at least the beginning of the first item at once."""


def test_pieces_are_told_as_they_are_read() -> None:
    text = json.dumps(listing(*(obj("Node", f"n{number}") for number in range(50))), indent=4).encode()
    told: list[int] = []
    collection = Collection()
    read_list(io.BytesIO(text), "f", collection, tell=told.append, chunk=500)
    assert len(collection.dump.objects) == 50
    assert told == sorted(told)
    assert len(told) > 5
