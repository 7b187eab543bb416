"""Pods of a group are placed in one cycle: groups of manifests, those that Jobs get, and the claims that they share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.simulation.test_what_if_claims import asked, deployment, device_class, devices, landed, node, template

if TYPE_CHECKING:
    from pathlib import Path

Json = dict[str, Any]

GATES = "GenericWorkload=true,GangScheduling=true,WorkloadWithJob=true,DRAWorkloadResourceClaims=true"
OF_1_36 = ("--kube-version", "1.36", "--feature-gates", GATES)
OF_1_37 = (
    "--kube-version",
    "1.37",
    "--feature-gates",
    "GenericWorkload=true,WorkloadWithJob=true,DRAWorkloadResourceClaims=true",
)


def group(minimum: int, version: str = "v1alpha2", **spec: Any) -> Json:
    about = {"name": "train", "namespace": "default"}
    policy = {"schedulingPolicy": {"gang": {"minCount": minimum}}}
    return {"apiVersion": f"scheduling.k8s.io/{version}", "kind": "PodGroup", "metadata": about, "spec": policy | spec}


def members(count: int, cpu: str = "5", **spec: Any) -> Json:
    container = {"name": "main", "image": "x", "resources": {"requests": {"cpu": cpu}}}
    return deployment(count, {"containers": [container], "schedulingGroup": {"podGroupName": "train"}, **spec})


def job(count: int, **spec: Any) -> Json:
    template_ = members(count)["spec"]["template"]["spec"] | {"restartPolicy": "Never"}
    del template_["schedulingGroup"]
    sizes = {"parallelism": count, "completions": count, "completionMode": "Indexed"}
    about = {"name": "fit", "namespace": "default"}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": about,
        "spec": sizes | spec | {"template": {"spec": template_}},
    }


@pytest.mark.parametrize(("count", "placed"), [(2, 2), (3, 0)])
def test_a_gang_is_placed_as_a_whole_or_not_at_all(count: int, placed: int, tmp_path: Path) -> None:
    answer = asked(tmp_path, [node("n1"), node("n2")], *OF_1_36, manifests=[group(count), members(count)])
    assert sum(each is not None for each in landed(answer).values()) == placed


def test_pods_that_come_after_a_group_see_its_pods(tmp_path: Path) -> None:
    alone = deployment(1, {"containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "5"}}}]}, "web")
    answer = asked(tmp_path, [node("n1"), node("n2")], *OF_1_36, manifests=[group(2), members(2), alone])
    assert [each["pod"]["name"].split("-")[0] for each in answer["placements"] if each["node"] is None] == ["web"]


def test_the_pods_of_a_group_share_its_claim(tmp_path: Path) -> None:
    claim = {"name": "gpu", "resourceClaimTemplateName": "one-gpu"}
    manifests = [template(), group(2, "v1beta1", resourceClaims=[claim]), members(2, "1", resourceClaims=[claim])]
    cluster = [node("n1"), node("n2"), device_class(), devices("n1", 1)]
    assert set(landed(asked(tmp_path, cluster, *OF_1_37, manifests=manifests)).values()) == {"n1"}
    manifests[1] = group(2, "v1beta1")
    assert set(landed(asked(tmp_path, cluster, *OF_1_37, manifests=manifests)).values()) == {None}


def test_an_indexed_job_is_a_gang_in_1_36(tmp_path: Path) -> None:
    assert set(landed(asked(tmp_path, [node("n1")], *OF_1_36, manifests=[job(2)])).values()) == {None}
    apart = asked(tmp_path, [node("n1")], *OF_1_36, manifests=[job(2, completionMode="NonIndexed")])
    assert set(landed(apart).values()) == {"n1", None}


def test_a_job_says_what_group_it_wants_since_1_37(tmp_path: Path) -> None:
    assert "n1" in landed(asked(tmp_path, [node("n1")], *OF_1_37, manifests=[job(2)])).values()
    gang: Json = {"schedulingPolicy": {"gang": {}}}
    assert set(landed(asked(tmp_path, [node("n1")], *OF_1_37, manifests=[job(2, scheduling=gang)])).values()) == {None}


def test_a_group_has_the_priority_of_its_class(tmp_path: Path) -> None:
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 7}
    manifests = [group(1, "v1beta1", priorityClassName="high"), members(1, priorityClassName="high")]
    assert landed(asked(tmp_path, [node("n1"), high], *OF_1_37, manifests=manifests)) == {"trainer-0": "n1"}
