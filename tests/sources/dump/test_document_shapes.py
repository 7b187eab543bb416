"""Every layout in which objects are found: bundles, maps, recordings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from kubectl_sched.api.pod import Pod
from kubectl_sched.sources import Dump, DumpError
from kubectl_sched.sources.dump.document_shapes import kind_of_path, kind_of_word
from kubectl_sched.sources.dump.reader import read
from tests.apiserver.manifests import NODE, POD, keys, listing, obj, without_kind

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PODS = listing(without_kind(POD), kind="PodList")
BARE_NODES = {"metadata": {}, "items": [without_kind(NODE)]}


def as_yaml(value: Any) -> str:
    """JSON is YAML."""
    return "---\n" + json.dumps(value)


def write(top: Path, files: dict[str, Any]) -> str:
    for name, content in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else as_yaml(content) if "yaml" in name else json.dumps(content)
        path.write_text(text)
    return str(top)


LAYOUTS: dict[str, dict[str, Any]] = {
    "kubectl cluster-info dump": {
        "nodes.json": listing(without_kind(NODE), kind="NodeList"),
        "shop/pods.json": PODS,
        "shop/web-0/logs.txt": "started",
        "shop/events.json": {"kind": "EventList", "apiVersion": "v1", "metadata": {}, "items": None},
    },
    "must-gather with lists": {
        "must-gather/quay-io/cluster-scoped-resources/core/nodes.yaml": listing(NODE),
        "must-gather/quay-io/namespaces/shop/core/pods.yaml": listing(POD),
        "must-gather/quay-io/namespaces/shop/core/secrets.yaml": listing(obj("Secret", "s")),
        "must-gather/event-filter.html": "<html>",
    },
    "must-gather with a file for each object": {
        "quay-io/cluster-scoped-resources/core/nodes/n1.yaml": NODE,
        "quay-io/namespaces/shop/pods/web-0/web-0.yaml": POD,
        "quay-io/namespaces/shop/pods/web-0/c/c/logs/current.log": "log",
    },
    "support bundle": {
        "bundle/cluster-resources/nodes.json": BARE_NODES,
        "bundle/cluster-resources/pods/shop.json": PODS,
        "bundle/cluster-resources/pods-errors.json": ["pods is forbidden"],
        "bundle/cluster-resources/resources.json": [{"kind": "APIResourceList", "groupVersion": "v1"}],
        "bundle/cluster-resources/custom-resources/nodes.longhorn.io/shop.json": [
            obj("Node", "x", "", "longhorn.io/v1")
        ],
        "bundle/node-metrics/n1.json": {"node": {"nodeName": "n1"}, "pods": [{"podRef": {"name": "web-0"}}]},
    },
    "Velero backup": {
        "resources/nodes/cluster/n1.json": NODE,
        "resources/nodes/v1-preferredversion/cluster/n1.json": NODE,
        "resources/pods/namespaces/shop/web-0.json": POD,
        "resources/pods/v1-preferredversion/namespaces/shop/web-0.json": POD,
        "metadata/version": "1.1.0",
    },
    "crust-gather": {"cluster/v1/node/n1.yaml": NODE, "namespaces/shop/v1/pod/web-0.yaml": POD},
    "sonobuoy": {
        "resources/cluster/core_v1_nodes.json": {"items": [without_kind(NODE)]},
        "resources/ns/shop/core_v1_pods.json": PODS,
        "meta/config.json": {"Description": "DEFAULT"},
    },
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_directory_of_every_layout_gives_the_same_objects(tmp_path: Path, layout: str) -> None:
    dump = read([write(tmp_path, LAYOUTS[layout])])
    assert sorted(keys(dump)) == ["Node n1", "Pod shop/web-0"]
    assert {"Node", "Pod"} <= dump.present
    assert [each for each in dump.warnings if "leaves out" not in each and "could not be collected" not in each] == []


def test_a_must_gather_says_what_it_leaves_out(tmp_path: Path) -> None:
    dump = read([write(tmp_path, LAYOUTS["must-gather with lists"])])
    assert "namespaces of applications" in dump.warnings[0]


def test_a_support_bundle_says_what_could_not_be_collected(tmp_path: Path) -> None:
    refused = {"cluster-resources/pods-errors.json": ["pods is forbidden in secret"]}
    fine = {"cluster-resources/nodes.json": listing(NODE), "cluster-resources/pvcs-errors.json": None}
    (warning,) = read([write(tmp_path, {**refused, **fine})]).warnings
    assert warning.endswith(
        "pods-errors.json: the bundle lacks what could not be collected: pods is forbidden in secret"
    )


def test_must_gathers_of_several_dates_are_told(tmp_path: Path) -> None:
    files = {f"must-gather.local.{day}/quay/cluster-scoped-resources/core/nodes/n1.yaml": NODE for day in (1, 2)}
    told = read([write(tmp_path, files)]).warnings
    assert any("there are 2 must-gathers in it" in each and "must-gather.local.1, must-" in each for each in told)


def test_a_sosreports_files_are_named_after_their_commands(tmp_path: Path) -> None:
    folder = "sos_commands/kubernetes/cluster-info/shop"
    files = {
        f"{folder}/k8s_kubectl_get_-o_json_--namespace_shop_pods": PODS,
        "sos_commands/kubernetes/cluster-info/k8s_kubectl_get_-o_json_nodes": listing(NODE),
        f"{folder}/k8s_kubectl_get_pods": "NAME  READY\nweb-0  1/1\n",
    }
    assert sorted(keys(read([write(tmp_path, files)]))) == ["Node n1", "Pod shop/web-0"]


def test_a_partial_cluster_info_dump_on_stdout_says_which_namespaces_it_has(read_text: Callable[..., Dump]) -> None:
    dump = read_text(json.dumps(listing(NODE), indent=4) + "\n" + json.dumps(PODS, indent=4) + "\n" + LOGS)
    assert "only the namespaces shop" in dump.warnings[0]


def test_a_list_in_yaml_that_is_cut_off_is_told(read_text: Callable[..., Dump]) -> None:
    text = "apiVersion: v1\nitems:\n" + "".join(f"- {json.dumps(item)}\n" for item in (NODE, POD))
    (warning,) = read_text(text).warnings
    assert "the end of its List is missing" in warning
    assert read_text(text + "kind: List\nmetadata: {}\n").warnings == ()


def test_the_folder_that_is_named_tells_the_kind_as_well(tmp_path: Path) -> None:
    write(tmp_path, {"pods/shop.json": {"items": [without_kind(POD)]}})
    (folder,) = tmp_path.rglob("pods")
    assert keys(read([str(folder)])) == ["Pod shop/web-0"]


def test_a_document_of_json_that_is_cut_off_behind_others_is_refused(read_text: Callable[..., Dump]) -> None:
    text = json.dumps(listing(NODE), indent=4) + "\n" + json.dumps(PODS, indent=4)[:-20]
    with pytest.raises(DumpError, match="the last of its documents ends too early"):
        read_text(text)


def test_a_partial_cluster_info_dump_says_which_namespaces_it_has(tmp_path: Path) -> None:
    files = {f"{name}/replication-controllers.json": listing(kind="ReplicationControllerList") for name in ("a", "b")}
    dump = read([write(tmp_path, {"nodes.json": listing(NODE), **files})])
    assert "only the namespaces a, b" in dump.warnings[0]


@pytest.mark.parametrize("as_text", [json.dumps, lambda value: json.dumps(value, indent=4)])
@pytest.mark.parametrize(
    "content",
    [
        pytest.param({"/v1//Node/n1": NODE, "/v1/shop/Pod/web-0": POD}, id="map of objects"),
        pytest.param(
            {"nodes": [without_kind(NODE)], "pods": [without_kind(POD)], "pvcs": []}, id="kube-scheduler-simulator"
        ),
        pytest.param({"nodes": listing(NODE), "pods": PODS}, id="map of lists"),
        pytest.param([NODE, POD], id="bare array"),
        pytest.param([NODE, PODS], id="array of an object and a list"),
        pytest.param([listing(without_kind(NODE), kind="NodeList"), PODS], id="array of lists, as jq -s makes it"),
        pytest.param(listing(listing(NODE), listing(POD)), id="list of lists"),
        pytest.param(
            {
                "NodeList": [{"Node": without_kind(NODE), "Pods": [without_kind(POD)]}],
                "UnscheduledPodsCanBeScheduled": [],
                "TemplateNodes": {"group": {"Node": without_kind(obj("Node", "template")), "Pods": []}},
            },
            id="cluster-autoscaler /snapshotz",
        ),
    ],
)
def test_one_file_of_every_shape_gives_the_same_objects(
    read_text: Callable[..., Dump], content: Any, as_text: Callable[[Any], str]
) -> None:
    dump = read_text(as_text(content))
    assert keys(dump) == ["Node n1", "Pod shop/web-0"]
    assert {"Node", "Pod"} <= dump.present
    assert dump.warnings == ()


def test_the_simulators_scheduler_configuration_is_found(read_text: Callable[..., Dump]) -> None:
    config = {"kind": "KubeSchedulerConfiguration", "apiVersion": "kubescheduler.config.k8s.io/v1"}
    dump = read_text({"nodes": [without_kind(NODE)], "pvs": [], "schedulerConfig": config})
    assert dump.scheduler_configuration == config
    assert "PersistentVolume" in dump.present


def test_the_simulators_recording_is_played_to_its_end(read_text: Callable[..., Dump]) -> None:
    bound = {**POD, "spec": {"nodeName": "n2"}}
    records = [("Add", NODE), ("Add", obj("Node", "n2")), ("Add", POD), ("Update", bound), ("Delete", NODE)]
    lines = [json.dumps({"time": "2026-01-01T00:00:00Z", "event": event, "resource": item}) for event, item in records]
    dump = read_text("\n".join(lines))
    assert sorted(keys(dump)) == ["Node n2", "Pod shop/web-0"]
    (pod,) = (item for item in dump.objects if isinstance(item, Pod))
    assert pod.spec.node_name == "n2"


def test_a_watch_is_played_to_its_end(read_text: Callable[..., Dump]) -> None:
    gone = obj("Pod", "gone", "shop")
    events = [("ADDED", NODE), ("ADDED", gone), ("ADDED", POD), ("MODIFIED", POD), ("DELETED", gone)]
    lines = [json.dumps({"type": kind, "object": item}) for kind, item in events]
    dump = read_text("\n".join([*lines, json.dumps({"type": "BOOKMARK", "object": gone})]))
    assert (keys(dump), dump.warnings) == (["Node n1", "Pod shop/web-0"], ())


def test_a_watch_goes_on_from_the_lists_before_it(read_text: Callable[..., Dump]) -> None:
    nodes = listing(without_kind(NODE), kind="NodeList")
    events = [{"type": "DELETED", "object": POD}, {"type": "ADDED", "object": obj("Pod", "web-1", "shop")}]
    dump = read_text("\n".join(map(json.dumps, (nodes, PODS, *events))))
    assert (keys(dump), dump.warnings) == (["Node n1", "Pod shop/web-1"], ())


def patch(method: str, seconds: int, resource: str, name: str, template: Any = None, namespace: str = "") -> Any:
    return {
        "apiVersion": "action.kwok.x-k8s.io/v1alpha1",
        "kind": "ResourcePatch",
        "resource": {"version": "v1", "resource": resource},
        "target": {"name": name, **({"namespace": namespace} if namespace else {})},
        "durationNanosecond": seconds * 10**9,
        "method": method,
        "template": template,
    }


def test_kwoks_recording_is_played_to_its_end_in_the_order_of_its_times(read_text: Callable[..., Dump]) -> None:
    condition = {"type": "PodScheduled", "status": "True"}
    documents = [
        NODE,
        obj("Node", "n2"),
        {**POD, "status": {"conditions": [{"type": "Ready", "status": "False"}]}},
        patch("patch", 2, "pods", "web-0", {"spec": {"nodeName": "n2"}, "status": {"conditions": [condition]}}, "shop"),
        patch("patch", 1, "pods", "web-0", {"spec": {"nodeName": "n1"}}, "shop"),
        patch("delete", 3, "nodes", "n1"),
        patch("create", 4, "nodes", "n3", obj("Node", "n3")),
        patch("patch", 5, "stages", "other", {}),
    ]
    dump = read_text("".join(as_yaml(document) + "\n" for document in documents), "recording.yaml")
    assert sorted(keys(dump)) == ["Node n2", "Node n3", "Pod shop/web-0"]
    (pod,) = (item for item in dump.objects if isinstance(item, Pod))
    assert pod.spec.node_name == "n2"
    assert [condition.type for condition in pod.status.conditions] == ["Ready", "PodScheduled"]


LOGS = (
    "==== START logs for container c of pod shop/web-0 ====\n"
    '{\n"kind": "Pod"\n}\nkind: [\n'
    "==== END logs for container c of pod shop/web-0 ====\n"
)


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(listing(NODE), indent=4) + "\n" + LOGS + json.dumps(PODS, indent=4) + "\n" + LOGS,
        "apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\n" + LOGS + as_yaml(PODS) + "\n" + LOGS,
        json.dumps(NODE) + "\n" + json.dumps(POD),
        json.dumps(NODE, indent=2) + "\n" + json.dumps(POD, indent=2),
        json.dumps(NODE) + "\n---\n" + json.dumps(POD),
        "# a comment\n---\n" + json.dumps(NODE) + "\n---\n---\n" + json.dumps(POD) + "\n---\n",
        json.dumps(listing(NODE), indent=4) + "\n---\n" + as_yaml(POD),
        json.dumps(NODE) + json.dumps(POD),
        json.dumps(listing(NODE), indent=4) + "\n" + json.dumps(PODS) + "\n",
        json.dumps(PODS) + "\n" + json.dumps(listing(NODE), indent=4) + "\n",
        json.dumps(NODE, indent=4) + "\n" + json.dumps([POD], indent=2) + "\n",
        json.dumps(NODE, indent=4) + "\nerror: no match\n" + json.dumps(POD) + "\n",
        json.dumps([NODE], indent=4) + "\nerror: no match\n" + json.dumps([POD]) + "\n",
        "\ufeff" + as_yaml(NODE) + "\n---\n\ufeff" + as_yaml(POD),
        "me@host:~$ kubectl get nodes,pods -o yaml\n" + as_yaml(listing(NODE, POD)),
    ],
    ids=[
        "json among logs",
        "yaml among logs",
        "lines",
        "documents",
        "json between separators",
        "yaml documents",
        "json before yaml",
        "joined without a line",
        "a line behind an indented one",
        "an indented one behind a line",
        "an array behind a document",
        "a line behind an error",
        "arrays around an error",
        "marks at each beginning",
        "with the command line",
    ],
)
def test_documents_that_follow_each_other_are_all_read(read_text: Callable[..., Dump], text: str) -> None:
    assert sorted(keys(read_text(text))) == ["Node n1", "Pod shop/web-0"]


@pytest.mark.parametrize("between", ["\n", "\nerror: no match\n"])
@pytest.mark.parametrize("indent", [None, 4])
def test_a_document_that_is_no_json_is_not_passed_over(
    read_text: Callable[..., Dump], indent: int | None, between: str
) -> None:
    pod = json.dumps(POD, indent=indent).replace('"web-0"', "NaN")
    with pytest.raises(DumpError, match=r"it is not JSON: invalid character at line \d+, column"):
        read_text(json.dumps(NODE, indent=4) + between + pod + "\n" + json.dumps(NODE, indent=4))


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("cluster-resources/pvcs/default.json", "PersistentVolumeClaim"),
        ("cluster-resources/storage-classes.json", "StorageClass"),
        ("cluster-resources/pod-disruption-budgets/x.json", "PodDisruptionBudget"),
        ("resources/ns/x/apps_v1_replicasets.json.gz", "ReplicaSet"),
        ("resources/replicasets.apps/namespaces/x/y.json", "ReplicaSet"),
        ("custom-resources/nodes.longhorn.io/x.yaml", None),
        ("all/everything.json", None),
    ],
)
def test_a_path_tells_the_kind_by_its_plural(path: str, kind: str | None) -> None:
    found = kind_of_path(path)
    assert (found.name if found else None) == kind


def test_a_word_that_is_a_key_of_another_kind_tells_nothing() -> None:
    assert kind_of_word("/v1/shop/Pod/web-0") is None


def test_several_paths_are_read_together(tmp_path: Path) -> None:
    (tmp_path / "nodes.json").write_text(json.dumps(listing(NODE)))
    (tmp_path / "pods.yaml").write_text(as_yaml(PODS))
    assert keys(read([str(tmp_path / "nodes.json"), str(tmp_path / "pods.yaml")])) == ["Node n1", "Pod shop/web-0"]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (
            {"eks_i-0a1b2c3d_2026/kubelet/kubelet.log": "x", "eks_i-0a1b2c3d_2026/system/ps.txt": "y"},
            "EKS log collector",
        ),
        ({"aks-periscope/node-0/kubeobjects/pods.txt": "Name:  a"}, "aks-periscope"),
        ({"ingress.json": obj("Ingress", "d", "", "networking.k8s.io/v1")}, "only Ingress"),
        ({"notes.txt": "nothing"}, "none of its 1 files holds Kubernetes objects"),
    ],
)
def test_a_bundle_without_objects_is_refused_with_the_command_that_makes_a_dump(
    tmp_path: Path, files: dict[str, Any], said: str
) -> None:
    with pytest.raises(
        DumpError, match=r"kubectl get nodes,pods,.*replicasets\.apps.* -A -o json > dump\.json"
    ) as raised:
        read([write(tmp_path, files)])
    assert said in str(raised.value)
