from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from kubectl_sched.api.containers import Container
from kubectl_sched.api.core import Node
from kubectl_sched.api.kueue import QueuedWorkload
from kubectl_sched.api.meta import ObjectMeta
from kubectl_sched.api.pod import Pod, PodSpec
from kubectl_sched.sources.kinds import BY_NAME, KINDS
from kubectl_sched.sources.live.list_paths import list_paths, served_in
from kubectl_sched.sources.live.needed_kinds import (
    DEVICES,
    EVERYTHING,
    GROUPS,
    SELECTORS,
    STORAGE,
    WORKLOADS,
    Need,
    autoscaler_evidence,
    autoscaler_needs,
    local_queues,
    needless,
    needs,
)


def pod(owner: dict[str, Any] | None = None, **spec: Any) -> Pod:
    metadata = {"name": "p", "namespace": "team", "ownerReferences": [owner] if owner else []}
    return msgspec.convert({"metadata": metadata, "spec": spec}, Pod)


def kinds(*pods: Pod) -> set[str]:
    return {need.kind for need in needs(pods)}


def test_a_plain_pod_needs_no_storage_devices_or_groups() -> None:
    plain = pod(volumes=[{"name": "a", "emptyDir": {}}, {"name": "b", "configMap": {"name": "c"}}])
    assert kinds(plain) == {"Namespace", "PodDisruptionBudget", "Service"}


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]}, STORAGE),
        ({"volumes": [{"name": "v", "ephemeral": {}}]}, STORAGE),
        ({"volumes": [{"name": "v", "awsElasticBlockStore": {"volumeID": "x"}}]}, STORAGE),
        ({"resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}]}, DEVICES),
        ({"containers": [{"name": "c", "resources": {"limits": {"example.com/gpu": "1"}}}]}, DEVICES),
        ({"schedulingGroup": {"podGroupName": "g"}}, GROUPS),
    ],
)
def test_what_a_pod_uses_is_fetched(spec: dict[str, Any], wanted: tuple[str, ...]) -> None:
    assert set(wanted) <= kinds(pod(**spec))
    assert kinds(pod(**spec)) - set(wanted) == kinds(pod())


def test_the_controller_is_asked_for_by_name_and_only_for_default_spreading() -> None:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "controller": True}
    assert Need("ReplicaSet", "team", "metadata.name=web-1") in needs([pod(owner)])
    spread = pod(owner, topologySpreadConstraints=[{"maxSkew": 1, "topologyKey": "zone"}])
    assert {"ReplicaSet", "Service"}.isdisjoint(kinds(spread))


def test_a_pod_that_never_preempts_needs_no_budgets() -> None:
    assert "PodDisruptionBudget" not in kinds(pod(preemptionPolicy="Never"))


def test_several_pods_need_the_union() -> None:
    together = [pod(), pod(volumes=[{"name": "v", "ephemeral": {}}]), pod(preemptionPolicy="Never")]
    assert needs(together) == frozenset().union(*(needs([each]) for each in together))
    assert kinds(*together) == kinds(pod()) | set(STORAGE)


@pytest.mark.parametrize("also", [(), STORAGE, DEVICES, SELECTORS, EVERYTHING])
def test_kinds_that_are_wanted_as_a_whole_are_not_wanted_by_name(also: tuple[str, ...]) -> None:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "controller": True}
    together = [
        pod(owner),
        pod(volumes=[{"name": "v", "ephemeral": {}}]),
        pod(resourceClaims=[{"name": "gpu", "resourceClaimName": "c"}], schedulingGroup={"podGroupName": "g"}),
    ]
    narrower = {need for need in needs(together) if need.kind not in also}
    assert needs(together, map(Need, also)) == narrower | set(map(Need, also))


def test_what_pods_do_not_look_at_is_needless() -> None:
    stored = pod(volumes=[{"name": "v", "ephemeral": {}}])
    dynamic = pod(resourceClaims=[{"name": "gpu", "resourceClaimName": "c"}])
    extended = pod(containers=[{"name": "c", "resources": {"requests": {"example.com/gpu": "1"}}}])
    owned = pod({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "controller": True})
    workloads = {*SELECTORS, *WORKLOADS} - {"Service"}
    assert needless([pod()]) == {"Event", *STORAGE, *DEVICES, *workloads}
    assert needless([pod(), stored]) == {"Event", *DEVICES, *workloads}
    assert needless([dynamic]) == needless([extended]) == {"Event", *STORAGE, *workloads}
    assert needless([stored, dynamic]) == {"Event", *workloads}
    assert needless([pod(), owned]) == {"Event", *STORAGE, *DEVICES}


def test_every_kind_has_a_path() -> None:
    for kind in KINDS:
        assert list_paths(kind)[0].endswith(f"/{kind.plural}")
    assert list_paths(BY_NAME["Pod"], "team") == ["/api/v1/namespaces/team/pods"]
    assert list_paths(BY_NAME["Node"], "team") == ["/api/v1/nodes"]
    assert list_paths(BY_NAME["ReplicaSet"]) == ["/apis/apps/v1/replicasets"]


def test_a_kind_is_asked_for_in_the_versions_that_the_server_has() -> None:
    kind = BY_NAME["Cohort"]
    assert list_paths(kind, served=("v1alpha1", "v1beta1")) == [
        "/apis/kueue.x-k8s.io/v1beta1/cohorts",
        "/apis/kueue.x-k8s.io/v1alpha1/cohorts",
    ]
    assert list_paths(kind, served=("v9",)) == list_paths(kind)


@pytest.mark.parametrize(
    ("answer", "served"),
    [
        (
            {
                "kind": "APIGroupDiscoveryList",
                "items": [
                    {
                        "metadata": {"name": "kueue.x-k8s.io"},
                        "versions": [
                            {"version": "v1beta2", "resources": [{"resource": "workloads"}]},
                            {"version": "v1beta1", "resources": [{"resource": "workloads"}, {"resource": "cohorts"}]},
                            {"version": "v1alpha1", "freshness": "Stale"},
                        ],
                    }
                ],
            },
            {("kueue.x-k8s.io", "workloads"): ("v1beta2", "v1beta1"), ("kueue.x-k8s.io", "cohorts"): ("v1beta1",)},
        ),
        (
            {"kind": "APIGroupList", "groups": [{"name": "kueue.x-k8s.io", "versions": [{"version": "v1beta1"}]}]},
            {("kueue.x-k8s.io", ""): ("v1beta1",)},
        ),
    ],
)
def test_discovery_is_read_with_resources_or_without(
    answer: dict[str, Any], served: dict[tuple[str, str], tuple[str, ...]]
) -> None:
    assert served_in(msgspec.json.encode(answer)) == served


def test_the_local_queues_to_ask_about_are_those_of_labels_and_of_the_workloads_of_owners() -> None:
    def workload(queue: str, **owner: str) -> QueuedWorkload:
        metadata = {"name": "w", "namespace": "team", "ownerReferences": [owner]}
        return msgspec.convert({"metadata": metadata, "spec": {"queueName": queue}}, QueuedWorkload)

    meta = {"name": "p", "namespace": "team", "uid": "u", "ownerReferences": [{"uid": "job", "controller": True}]}
    labels = {"kueue.x-k8s.io/queue-name": "named", "jobset.sigs.k8s.io/jobset-name": "set"}
    held = msgspec.convert({"metadata": {**meta, "labels": labels}}, Pod)
    read = [workload("own", uid="u"), workload("of-job", uid="job"), workload("of-set", name="set", uid="s")]
    found = local_queues([held], [*read, workload("other", name="p", uid="x"), workload("", uid="u")])
    assert found == {("team", name) for name in ("named", "own", "of-job", "of-set")}


def test_cluster_autoscalers_status_is_read_only_where_one_is_seen() -> None:
    waiting = Pod(metadata=ObjectMeta(name="web", namespace="default"))
    plain = Node(metadata=ObjectMeta(name="n1"))
    own = Pod(
        metadata=ObjectMeta(name="ca", namespace="scaling"),
        spec=PodSpec(containers=(Container(image="registry.k8s.io/autoscaling/cluster-autoscaler:v1.36.1"),)),
    )
    assert autoscaler_needs([waiting], [plain], [waiting]) == ()
    found = autoscaler_needs([waiting], [plain], [waiting, own])
    status = "metadata.name=cluster-autoscaler-status"
    assert [(each.kind, each.namespace, each.fields) for each in found] == [
        ("DaemonSet", "", ""),
        ("ConfigMap", "kube-system", status),
        ("ConfigMap", "scaling", status),
    ]
    gke = Node(metadata=ObjectMeta(name="n1", labels={"cloud.google.com/gke-nodepool": "pool-1"}))
    assert [each.kind for each in autoscaler_needs([waiting], [gke], [waiting])] == ["DaemonSet", "ConfigMap"]
    placed = replace(waiting, spec=PodSpec(node_name="n1"))
    assert autoscaler_needs([placed], [gke], [own]) == ()
    assert [each.kind for each in autoscaler_evidence([gke], [placed])] == ["DaemonSet", "ConfigMap"]
    assert autoscaler_evidence([plain], [placed]) == ()
