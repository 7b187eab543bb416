"""A pod of a manifest is what the real kube-apiserver would store, in every field that the scheduler reads.

What the API server refuses for the fields and the admissions that are replayed is refused here, too.
"""

from __future__ import annotations

import copy
import os
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from msgspec import structs

from kubectl_sched.api.admission import LimitRange, RuntimeClass
from kubectl_sched.api.apimachinery.quantity import parse_quantity
from kubectl_sched.api.containers import Container, SecurityContext
from kubectl_sched.api.pod import Pod, PodSecurityContext, PodSpec
from kubectl_sched.api.pod_volumes import Volume
from kubectl_sched.api.policy import PriorityClass
from kubectl_sched.apiserver.pod_admission import Admission
from kubectl_sched.apiserver.refused_manifest import RefusedError
from kubectl_sched.apiserver.validation.unknown_fields import types_known
from kubectl_sched.apiserver.validation.workload_validation import check_workload
from kubectl_sched.config import Features, KubeVersion
from kubectl_sched.snapshot import Objects
from tests.apiserver.workloads import PATHS, WRITTEN
from tests.e2e.agreement.test_agreement import populate, random_pods
from tests.e2e.api import Api, ApiError
from tests.sources.pods import WRITTEN_PODS, pod_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_sched.api.core import ResourceList
    from kubectl_sched.api.meta import KubernetesObject

pytestmark = pytest.mark.e2e

Json = dict[str, Any]

INVALID = {400, 403, 422}
LIMITS = {"limits": [{"type": "Container", "default": {"memory": "512Mi"}, "defaultRequest": {"memory": "256Mi"}}]}
SANDBOX = {
    "handler": "sandbox",
    "overhead": {"podFixed": {"cpu": "250m", "memory": "64Mi"}},
    "scheduling": {"nodeSelector": {"sandbox": "yes"}, "tolerations": [{"key": "sandbox", "operator": "Exists"}]},
}
OF_MANIFESTS = tuple(f"io.k8s.{each}." for each in ("api.core.v1", "api.apps.v1", "api.batch.v1", "apimachinery"))
SELECTOR = {"matchLabels": {"app": "web"}}
BY_HAND: tuple[Json, ...] = (
    {"containers": [{"resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}]},
    {"containers": [{"resources": {"limits": {"cpu": "1"}, "requests": {"memory": "1Gi"}}}]},
    {"containers": [{"resources": {"limits": {"example.com/gpu": "1"}}}]},
    {"containers": [{"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}}]},
    {"containers": [{"resources": {"requests": {"example.com/gpu": "1"}}}]},
    {"containers": [{"resources": {"requests": {"cpu": "-1"}}}]},
    {"hostNetwork": True, "containers": [{"ports": [{"containerPort": 80}]}]},
    {"containers": [{"ports": [{"containerPort": 80, "hostPort": 81, "protocol": "UDP"}]}]},
    {"containers": [{"ports": [{"containerPort": 0}]}]},
    {"initContainers": [{"name": "side", "restartPolicy": "Always", "resources": {"limits": {"cpu": "1"}}}]},
    {"resources": {"limits": {"cpu": "2"}}, "containers": [{"resources": {"requests": {"cpu": "500m"}}}]},
    {"resources": {"limits": {"cpu": "2", "memory": "2Gi"}}},
    {"tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}]},
    {"tolerations": [{"operator": "Exists"}]},
    {"tolerations": [{"operator": "Exists", "value": "x"}]},
    {"tolerations": [{"key": "a", "effect": "Never"}]},
    {"tolerations": [{"key": "a", "tolerationSeconds": 3}]},
    {"runtimeClassName": "sandbox"},
    {"runtimeClassName": "sandbox", "nodeSelector": {"sandbox": "no"}},
    {"runtimeClassName": "nothing"},
    {"overhead": {"cpu": "1"}},
    {"priorityClassName": "system-node-critical"},
    {"priorityClassName": "nothing"},
    {"schedulerName": "other"},
    {"volumes": [{"name": "disk", "rbd": {"monitors": ["a"], "image": "i"}}]},
    {"volumes": [{"name": "disk", "azureDisk": {"diskName": "d", "diskURI": "https://disks.example/d"}}]},
    {"volumes": [{"name": "files", "image": {"reference": "registry.example/files:1"}}]},
    {"volumes": [{"name": "made", "ephemeral": {"volumeClaimTemplate": {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }}}]},
    {"nodeSelector": {"a b": "c"}},
    {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "zone", "labelSelector": SELECTOR, "matchLabelKeys": ["tier"]}
    ]}}},
    {"affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 5, "podAffinityTerm":
            {"topologyKey": "zone", "labelSelector": SELECTOR, "mismatchLabelKeys": ["tier"]}}
    ]}}},
    {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"labelSelector": SELECTOR}]}}},
    {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}},
    {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 0, "preference": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}}
    ]}}},
    {"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
                                    "labelSelector": SELECTOR, "matchLabelKeys": ["tier"]}]},
    {"topologySpreadConstraints": [{"maxSkew": 0, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]},
    {"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "Sometimes"}]},
    {"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway",
                                    "minDomains": 2}]},
)  # fmt: skip


@pytest.fixture(scope="module")
def admission(api: Api) -> Admission:
    populate(api)
    objects: list[KubernetesObject] = []
    for path, kind, body in (
        ("/api/v1/namespaces/default/limitranges", LimitRange, {"metadata": {"name": "limits"}, "spec": LIMITS}),
        ("/apis/node.k8s.io/v1/runtimeclasses", RuntimeClass, {"metadata": {"name": "sandbox"}, **SANDBOX}),
    ):
        objects.append(msgspec.convert(stored_form(api.create(path, body)), kind))
    classes = api.get("/apis/scheduling.k8s.io/v1/priorityclasses")["items"]
    objects += (msgspec.convert(stored_form(each), PriorityClass) for each in classes)
    features = Features.for_version(KubeVersion.parse("1.36"), {})
    return Admission(objects=Objects(objects), enabled=features.enabled, present=frozenset({"PriorityClass"}))


def stored_form(item: Json) -> Json:
    return {key: value for key, value in item.items() if key not in {"kind", "apiVersion"}}


def by_hand() -> Iterator[Json]:
    for number, stated in enumerate(BY_HAND):
        spec = copy.deepcopy(stated)
        for field in ("containers", "initContainers"):
            spec[field] = [
                {"name": f"c{index}", "image": "nginx"} | each for index, each in enumerate(spec.get(field, []))
            ]
        spec["containers"] = spec["containers"] or [{"name": "main", "image": "nginx"}]
        about = {"name": f"hand-{number}", "namespace": "default", "labels": {"app": "web", "tier": "front"}}
        yield {"metadata": about, "spec": spec}


def sandboxed(pods: Iterable[Json]) -> Iterator[Json]:
    """Pods for which a LimitRange and a RuntimeClass have a say."""
    for pod in pods:
        spec = {**pod["spec"], "runtimeClassName": "sandbox"}
        yield {"metadata": {**pod["metadata"], "namespace": "default"}, "spec": spec}


def test_pods_are_as_the_api_server_stores_them(api: Api, admission: Admission) -> None:
    compared = refused = 0
    for wanted in (*by_hand(), *random_pods(), *sandboxed(random_pods())):
        path = f"/api/v1/namespaces/{wanted['metadata']['namespace']}/pods?dryRun=All"
        wanted["spec"].pop("preemptionPolicy", None)  # refused by the API server, but kept on purpose here
        pod = msgspec.convert(wanted, Pod)
        real = dry_run(api, path, wanted)
        if isinstance(real, str):
            assert is_refused(pod, admission), f"the API server says {real}; it was admitted: {wanted}"
            refused += 1
            continue
        theirs = msgspec.convert(stored_form(real), Pod)
        assert shown(admission.admitted(pod).spec) == shown(theirs.spec), wanted
        compared += 1
    assert compared > int(os.environ.get("E2E_PODS", "200")) // 2
    assert refused > 10


def test_workloads_are_refused_for_what_the_api_server_refuses_them_for(api: Api) -> None:
    for written in WRITTEN:
        real = dry_run(api, f"{PATHS[written.kind]}?dryRun=All", written.body)
        assert isinstance(real, str) == bool(written.field), (written, real)
        if not written.field:
            continue
        with pytest.raises(RefusedError) as refused:
            check_workload(msgspec.convert(written.body, written.kind))
        reason, _, _ = refused.value.reason.partition(" (and ")
        assert f"{refused.value.field}: {reason}" in str(real), written


def test_pods_are_refused_for_what_the_api_server_refuses_them_for(api: Api, admission: Admission) -> None:
    for field, spec in WRITTEN_PODS:
        real = dry_run(api, "/api/v1/namespaces/kube-public/pods?dryRun=All", pod_of(spec))
        assert isinstance(real, str) == bool(field), (spec, real)
        if not field:
            continue
        with pytest.raises(RefusedError) as refused:
            admission.admitted(msgspec.convert(pod_of(spec), Pod))
        reason, _, _ = refused.value.reason.partition(" (and ")
        assert f"{refused.value.field}: {reason}" in str(real), spec


def test_no_field_that_the_api_server_knows_is_called_unknown(api: Api) -> None:
    compared = 0
    for path in ("api/v1", "apis/apps/v1", "apis/batch/v1"):
        for name, schema in api.get(f"/openapi/v3/{path}")["components"]["schemas"].items():
            kind = name.rpartition(".")[2]
            if kind not in types_known() or not name.startswith(OF_MANIFESTS) or "properties" not in schema:
                continue
            assert set(schema["properties"]) <= set(types_known()[kind]), name
            compared += 1
    assert compared > 150


def dry_run(api: Api, path: str, wanted: Json) -> Json | str:
    """What the API server would store, or why it refuses it."""
    try:
        return api.create(path, wanted)
    except ApiError as error:
        if error.code not in INVALID:
            raise
        return str(error)


def is_refused(pod: Pod, admission: Admission) -> bool:
    try:
        admission.admitted(pod)
    except RefusedError:
        return True
    return False


def shown(spec: PodSpec) -> Json:
    data: Json = msgspec.to_builtins(as_read(spec))
    return data


def as_read(spec: PodSpec) -> PodSpec:
    """Without what says nothing to the scheduler: how amounts are written, pull policies, a service account's token."""
    return structs.replace(
        spec,
        containers=tuple(map(container_as_read, spec.containers)),
        init_containers=tuple(map(container_as_read, spec.init_containers)),
        volumes=tuple(volume for volume in spec.volumes if volume != Volume(name=volume.name)),
        overhead=amounts(spec.overhead),
        node_selector=spec.node_selector or None,
        resources=None if spec.resources is None else structs.replace(
            spec.resources, requests=amounts(spec.resources.requests), limits=amounts(spec.resources.limits)
        ),
        security_context=None if spec.security_context == PodSecurityContext() else spec.security_context,
    )  # fmt: skip


def container_as_read(container: Container) -> Container:
    resources = container.resources
    return structs.replace(
        container,
        image_pull_policy="",
        resize_policy=(),
        volume_mounts=(),
        resources=structs.replace(resources, requests=amounts(resources.requests), limits=amounts(resources.limits)),
        security_context=None if container.security_context == SecurityContext() else container.security_context,
    )


def amounts(resources: ResourceList) -> ResourceList:
    return {name: parse_quantity(raw).canonical() for name, raw in sorted(resources.items())}
