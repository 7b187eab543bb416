from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_sched.api.apimachinery.quantity import InvalidQuantity
from kubectl_sched.api.component_helpers.container_resources import PodResourcesOptions
from kubectl_sched.api.component_helpers.pod_qos import compute_pod_qos, pod_qos
from kubectl_sched.api.component_helpers.pod_requests import (
    DEFAULT_REQUESTS,
    fit_request,
    pod_limits,
    pod_requests,
    pod_resource,
    request_key,
    scheduler_options,
    scoring_request,
)
from kubectl_sched.api.component_helpers.resource_names import (
    is_dra_extended_resource_name,
    is_extended_resource_name,
    is_scalar_resource_name,
)
from kubectl_sched.api.meta import Condition
from kubectl_sched.api.pod import ContainerStatus, Pod, PodStatus, ReportedResources
from kubectl_sched.config.versions import RELEASES, KubeVersion

if TYPE_CHECKING:
    from kubectl_sched.api.containers import Container

NOW = scheduler_options(lambda name: name != "DRANodeAllocatableResources")
MIB = 2**20


def container(name: str = "main", restart_policy: str | None = None, **requests: str) -> dict[str, Any]:
    policy = {"restartPolicy": restart_policy} if restart_policy else {}
    return {"name": name, "resources": {"requests": requests}} | policy


def pod(*containers: dict[str, Any], status: dict[str, Any] | None = None, **spec: Any) -> Pod:
    metadata = {"name": "web", "namespace": "shop"}
    whole = {"containers": list(containers)} | spec
    return msgspec.convert({"kind": "Pod", "metadata": metadata, "spec": whole, "status": status or {}}, Pod)


def printed(resources: dict[str, Any]) -> dict[str, str]:
    return {name: str(quantity) for name, quantity in resources.items()}


@pytest.mark.parametrize(
    ("asked", "requests"),
    [
        (pod(container()), {}),
        (pod(container(cpu="100m"), container(cpu="1", memory="1Gi")), {"cpu": "1100m", "memory": "1Gi"}),
        (pod(container(cpu="1"), initContainers=[container(cpu="3"), container(cpu="2")]), {"cpu": "3"}),
        (pod(container(cpu="1"), initContainers=[container("log", "Always", cpu="500m")]), {"cpu": "1500m"}),
        (
            pod(container(cpu="1"), initContainers=[container("log", "Always", cpu="500m"), container(cpu="2")]),
            {"cpu": "2500m"},
        ),
        (
            pod(container(cpu="1"), initContainers=[container(cpu="2"), container("log", "Always", cpu="500m")]),
            {"cpu": "2"},
        ),
        (pod(container(cpu="1"), overhead={"cpu": "250m", "memory": "64Mi"}), {"cpu": "1250m", "memory": "64Mi"}),
        (
            pod(
                container(cpu="1", memory="1Gi", **{"example.com/gpu": "1"}),
                resources={"requests": {"cpu": "3", "hugepages-2Mi": "4Mi", "example.com/gpu": "7"}},
                overhead={"cpu": "1"},
            ),
            {"cpu": "4", "memory": "1Gi", "example.com/gpu": "1", "hugepages-2Mi": "4Mi"},
        ),
    ],
)
def test_requests(asked: Pod, requests: dict[str, str]) -> None:
    assert printed(pod_requests(asked)) == requests


def test_parts_can_be_left_out() -> None:
    asked = pod(container(cpu="1"), resources={"requests": {"cpu": "3"}}, overhead={"cpu": "1"})
    assert printed(pod_requests(asked, PodResourcesOptions(skip_pod_level_resources=True))) == {"cpu": "2"}
    assert printed(pod_requests(asked, PodResourcesOptions(exclude_overhead=True))) == {"cpu": "3"}
    spec_only = PodResourcesOptions(skip_container_level_resources=True, skip_pod_level_resources=True)
    assert printed(pod_requests(asked, spec_only)) == {"cpu": "1"}


def test_overhead_raises_only_limits_that_are_set() -> None:
    limited = {"name": "main", "resources": {"limits": {"cpu": "2", "memory": "0"}}}
    asked = pod(limited, overhead={"cpu": "1", "memory": "1Gi", "example.com/gpu": "1"})
    assert printed(pod_limits(asked)) == {"cpu": "3", "memory": "0"}


def resized(reason: str, **pod_level: Any) -> Pod:
    """A pod that asks for 3 cpus, runs with 1, and has 2 allocated."""
    return pod(
        container(cpu="3"),
        status={
            "conditions": [{"type": "PodResizePending", "reason": reason}],
            "containerStatuses": [
                {"name": "main", "resources": {"requests": {"cpu": "1"}}, "allocatedResources": {"cpu": "2"}}
            ],
        },
        **pod_level,
    )


@pytest.mark.parametrize("sums_status_per_pod", [False, True])
def test_a_resize_counts_as_far_as_it_may_get(sums_status_per_pod: bool) -> None:
    options = PodResourcesOptions(use_status_resources=True, sums_status_per_pod=sums_status_per_pod)
    assert printed(pod_requests(resized("Deferred"), options)) == {"cpu": "3"}
    assert printed(pod_requests(resized("Infeasible"), options)) == {"cpu": "2"}
    assert printed(pod_requests(resized("Infeasible"))) == {"cpu": "3"}


def test_the_largest_of_each_container_is_more_than_the_largest_sum() -> None:
    statuses = [{"name": name, "resources": {"requests": {"cpu": cpu}}} for name, cpu in {"a": "4", "b": "1"}.items()]
    asked = pod(container("a", cpu="1"), container("b", cpu="4"), status={"containerStatuses": statuses})
    per_container = PodResourcesOptions(use_status_resources=True)
    per_pod = PodResourcesOptions(use_status_resources=True, sums_status_per_pod=True)
    assert printed(pod_requests(asked, per_container)) == {"cpu": "8"}
    assert printed(pod_requests(asked, per_pod)) == {"cpu": "5"}


@pytest.mark.parametrize(
    ("asked", "requested", "non_zero"),
    [
        (pod(container()), {}, {"cpu": 100, "memory": 200 * MIB}),
        (pod(container(cpu="0")), {"cpu": 0}, {"cpu": 0, "memory": 200 * MIB}),
        (
            pod(container(cpu="1"), container(memory="1Mi")),
            {"cpu": 1000, "memory": MIB},
            {"cpu": 1100, "memory": 201 * MIB},
        ),
        (
            pod(container(cpu="1", memory="1Mi"), initContainers=[container()]),
            {"cpu": 1000, "memory": MIB},
            {"cpu": 1000, "memory": 200 * MIB},
        ),
        (pod(container(cpu="0.1m"), container(cpu="0.1m")), {"cpu": 1}, {"cpu": 1, "memory": 400 * MIB}),
        (
            pod(container(), container(), resources={"requests": {"cpu": "1"}}),
            {"cpu": 1000},
            {"cpu": 1000, "memory": 400 * MIB},
        ),
        (
            pod(container(pods="3", storage="1Gi", **{"example.com/gpu": "1.5", "ephemeral-storage": "1k"})),
            {"example.com/gpu": 2, "ephemeral-storage": 1000},
            {"cpu": 100, "memory": 200 * MIB},
        ),
    ],
)
def test_a_pod_on_a_node_counts_as(asked: Pod, requested: dict[str, int], non_zero: dict[str, int]) -> None:
    assert pod_resource(asked, NOW) == (requested, non_zero)


def test_the_filter_looks_at_the_spec_and_scoring_at_the_status_too() -> None:
    asked = resized("Infeasible")
    assert fit_request(asked, NOW) == {"cpu": 3000}
    assert scoring_request(asked, NOW, use_requested=True) == {"cpu": 2000}
    assert scoring_request(asked, NOW, use_requested=False) == {"cpu": 2000, "memory": 200 * MIB}


def test_scoring_puts_defaults_into_pods_that_ask_as_a_whole() -> None:
    asked = pod(container(), container(), resources={"requests": {"memory": "1Mi"}})
    assert scoring_request(asked, NOW, use_requested=False) == {"cpu": 200, "memory": MIB}
    assert pod_resource(asked, NOW)[1] == {"cpu": 200, "memory": MIB}


def test_devices_may_take_from_the_node_itself() -> None:
    old = {"resources": {"cpu": "2"}}
    new = {
        "containers": ["a", "b"],
        "mapping": [{"name": "cpu", "quantity": "2"}],
        "overhead": [{"name": "memory", "perPod": "1Mi", "perContainer": "2Mi"}],
    }
    options = scheduler_options(lambda _: True)
    asked = pod(container(cpu="1"), status={"nodeAllocatableResourceClaimStatuses": [old]})
    assert pod_resource(asked, options)[0] == {"cpu": 3000}
    assert pod_resource(asked, NOW)[0] == {"cpu": 1000}
    asked = pod(container(cpu="1"), status={"nodeAllocatableResourceClaimStatuses": [new]})
    options = scheduler_options(lambda _: True, RELEASES[KubeVersion.parse("1.37")])
    assert pod_resource(asked, options)[0] == {"cpu": 3000, "memory": 5 * MIB}


@pytest.mark.parametrize(("version", "memory"), [("1.37", 9), ("1.38", 5)])
def test_the_overhead_of_devices_counts_while_their_container_runs(version: str, memory: int) -> None:
    claim = {
        "containers": ["first", "second", "web"],
        "overhead": [{"name": "memory", "perPod": "1Mi", "perContainer": "2Mi"}],
    }
    inits = [container("first", memory="2Mi"), container("second", memory="2Mi")]
    asked = pod(container("web"), initContainers=inits, status={"nodeAllocatableResourceClaimStatuses": [claim]})
    options = scheduler_options(lambda _: True, RELEASES[KubeVersion.parse(version)])
    assert pod_resource(asked, options)[0]["memory"] == memory * MIB


@pytest.mark.parametrize(("version", "cpu"), [("1.37", 0), ("1.38", 2**63 - 1)])
def test_a_request_beyond_int64_is_held_there_since_1_38(version: str, cpu: int) -> None:
    options = scheduler_options(lambda _: True, RELEASES[KubeVersion.parse(version)])
    assert pod_resource(pod(container(cpu="20P")), options)[0]["cpu"] == cpu
    assert fit_request(pod(container(cpu="20P")), options)["cpu"] == cpu


def test_what_is_no_quantity_is_named_with_its_pod() -> None:
    with pytest.raises(InvalidQuantity) as refused:
        pod_resource(pod(container(memory="1mi")), NOW)
    assert str(refused.value) == (
        "pod shop/web: memory: '1mi' is not a quantity: unable to parse quantity's suffix; write Mi for powers of 1024"
    )


@pytest.mark.parametrize(
    ("name", "extended", "scalar"),
    [
        ("nvidia.com/gpu", True, True),
        ("cpu", False, False),
        ("pods", False, False),
        ("storage", False, False),
        ("hugepages-2Mi", False, True),
        ("kubernetes.io/batch", False, True),
        ("node.kubernetes.io/x", False, True),
        ("requests.nvidia.com/gpu", False, False),
        ("attachable-volumes-aws-ebs", False, True),
        ("UPPER.com/gpu", False, False),
        ("nvidia.com/g pu", False, False),
    ],
)
def test_kinds_of_resources(name: str, extended: bool, scalar: bool) -> None:
    assert is_extended_resource_name(name) is extended
    assert is_scalar_resource_name(name) is scalar
    assert is_dra_extended_resource_name(name) is extended


def test_a_device_class_is_a_resource() -> None:
    assert is_dra_extended_resource_name("deviceclass.resource.kubernetes.io/gpu")


def guaranteed(cpu: str = "1", memory: str = "1Gi", **requests: str) -> dict[str, Any]:
    limits = {"cpu": cpu, "memory": memory}
    return {"resources": {"requests": limits | requests, "limits": limits}}


@pytest.mark.parametrize(
    ("asked", "qos"),
    [
        (pod(container()), "BestEffort"),
        (pod(container(cpu="0", **{"example.com/gpu": "1"})), "BestEffort"),
        (pod(container(cpu="1")), "Burstable"),
        (pod(guaranteed()), "Guaranteed"),
        (pod(guaranteed(cpu="1"), guaranteed(cpu="500m")), "Guaranteed"),
        (pod(guaranteed(cpu="1000m", memory="1073741824")), "Guaranteed"),
        (pod(guaranteed(memory="1Gi") | {"name": "x"}, container()), "Burstable"),
        (pod({"resources": guaranteed()["resources"] | {"requests": {"cpu": "500m", "memory": "1Gi"}}}), "Burstable"),
        (pod(guaranteed(), initContainers=[container()]), "Burstable"),
        (pod(container(), resources=guaranteed()["resources"]), "Guaranteed"),
        (pod(guaranteed(), resources={"requests": {"cpu": "1"}}), "Burstable"),
    ],
)
def test_quality_of_service(asked: Pod, qos: str) -> None:
    assert compute_pod_qos(asked) == qos


def test_the_status_knows_the_quality_of_service() -> None:
    assert pod_qos(pod(container(), status={"qosClass": "Guaranteed"})) == "Guaranteed"
    assert pod_qos(pod(container())) == "BestEffort"


AMOUNTS = st.sampled_from(["0", "1", "100m", "1Ki", "2"])
LISTS = st.dictionaries(st.sampled_from(["cpu", "memory", "example.com/gpu"]), AMOUNTS, max_size=2)
REQUIREMENTS = st.builds(lambda requests: {"requests": requests}, LISTS)
CONTAINERS = st.builds(
    lambda name, policy, resources: {"name": name, "restartPolicy": policy, "resources": resources},
    st.sampled_from("ab"),
    st.sampled_from(["Always", None]),
    REQUIREMENTS,
)
STATUSES = st.builds(
    lambda name, resources, allocated: {"name": name, "resources": resources, "allocatedResources": allocated},
    st.sampled_from("ab"),
    st.none() | REQUIREMENTS,
    LISTS,
)
PODS = st.builds(
    lambda containers, inits, overhead, level, statuses, reason, reached: pod(
        *containers,
        initContainers=inits,
        overhead=overhead,
        resources=level,
        status={
            "containerStatuses": statuses,
            "conditions": [{"type": "PodResizePending", "reason": reason}] if reason else [],
            "resources": reached,
        },
    ),
    st.lists(CONTAINERS, min_size=1, max_size=2),
    st.lists(CONTAINERS, max_size=2),
    LISTS,
    st.none() | REQUIREMENTS,
    st.lists(STATUSES, max_size=1),
    st.sampled_from(["", "Infeasible"]),
    st.none() | REQUIREMENTS,
)
OPTIONS = st.builds(
    PodResourcesOptions,
    use_status_resources=st.booleans(),
    in_place_pod_level_resources_vertical_scaling=st.booleans(),
    skip_pod_level_resources=st.booleans(),
    sums_status_per_pod=st.booleans(),
    non_missing_container_requests=st.sampled_from([(), DEFAULT_REQUESTS]),
)


@given(PODS, PODS, OPTIONS)
def test_equal_keys_mean_equal_requests(one: Pod, other: Pod, options: PodResourcesOptions) -> None:
    key, requests = request_key(one), pod_requests(one, options)
    assert request_key(msgspec.convert(msgspec.to_builtins(one), Pod)) == key
    for changed in (other, Pod(spec=one.spec, status=other.status), Pod(spec=other.spec, status=one.status)):
        if request_key(changed) == key:
            assert pod_requests(changed, options) == requests


def with_own_names(containers: tuple[Container, ...], prefix: str) -> tuple[Container, ...]:
    return tuple(msgspec.structs.replace(each, name=f"{prefix}{index}") for index, each in enumerate(containers))


def repeated(containers: tuple[Container, ...]) -> tuple[ContainerStatus, ...]:
    return tuple(
        ContainerStatus(
            name=each.name,
            resources=ReportedResources(requests=each.resources.requests),
            allocated_resources=each.resources.requests,
        )
        for each in containers
    )


@given(PODS, OPTIONS, st.sampled_from(["", "Deferred", "Infeasible"]))
def test_a_status_that_repeats_the_spec_of_each_container_changes_nothing(
    drawn: Pod, options: PodResourcesOptions, reason: str
) -> None:
    main, init = with_own_names(drawn.spec.containers, "main"), with_own_names(drawn.spec.init_containers, "init")
    spec = msgspec.structs.replace(drawn.spec, containers=main, init_containers=init)
    silent, conditions = Pod(spec=spec), (Condition(type="PodResizePending", reason=reason),)
    status = PodStatus(container_statuses=repeated(main), init_container_statuses=repeated(init), conditions=conditions)
    asked = Pod(spec=spec, status=status)
    assert request_key(asked) == request_key(silent)
    assert pod_requests(asked, options) == pod_requests(silent, options)
    of_some = Pod(spec=spec, status=msgspec.structs.replace(status, container_statuses=repeated(main[1:])))
    assert (request_key(of_some) == request_key(silent)) == (reason != "Infeasible")


@given(PODS, OPTIONS)
def test_a_pod_requests_at_least_its_containers_and_overhead(asked: Pod, options: PodResourcesOptions) -> None:
    bare = msgspec.structs.replace(options, use_status_resources=False, skip_pod_level_resources=True)
    requests = pod_requests(asked, bare)
    without = pod_requests(asked, msgspec.structs.replace(bare, exclude_overhead=True))
    assert all(requests[name] >= quantity for name, quantity in without.items())
    assert all(name in requests for each in asked.spec.containers for name in each.resources.requests)
