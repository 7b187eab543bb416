from typing import Any

import msgspec
import pytest

from kubectl_sched.api.pod import Pod
from kubectl_sched.sources.kinds import BY_NAME, KINDS
from kubectl_sched.sources.live.list_paths import list_paths
from kubectl_sched.sources.live.needed_kinds import DEVICES, GROUPS, STORAGE, Need, needs


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


def test_several_pods_need_the_union_each_list_once() -> None:
    together = needs([pod(), pod(volumes=[{"name": "v", "ephemeral": {}}]), pod()])
    assert len(together) == len(set(together))
    assert {need.kind for need in together} == kinds(pod()) | set(STORAGE)


def test_every_kind_has_a_path() -> None:
    for kind in KINDS:
        assert list_paths(kind)[0].endswith(f"/{kind.plural}")
    assert list_paths(BY_NAME["Pod"], "team") == ["/api/v1/namespaces/team/pods"]
    assert list_paths(BY_NAME["Node"], "team") == ["/api/v1/nodes"]
    assert list_paths(BY_NAME["ReplicaSet"]) == ["/apis/apps/v1/replicasets"]
