"""Pods: what they ask of a node, of other pods and of the queue."""

from typing import Any

from hypothesis import strategies as st

from tests.oracle.generate.nodes import EFFECTS, IMAGES
from tests.oracle.generate.nodes import KEYS as TAINT_KEYS
from tests.oracle.generate.values import (
    HOSTNAME,
    NAMESPACES,
    NODE_KEYS,
    NODE_VALUES,
    SELECTS,
    ZONE,
    Json,
    JsonStrategy,
    expressions,
    label_selectors,
    labels,
    maybe,
    metadata,
    namespace_selectors,
    often,
    some,
    without_nothing,
)

requests = st.fixed_dictionaries(
    {},
    optional={
        "cpu": st.sampled_from(
            ["0", "1m", "100m", "0.3", "1", "1500m", "5", "1e-1", "0.0001", "2500000u", "9P", "20P"]
        ),
        "memory": st.sampled_from(
            ["0", "1", "64Mi", "100M", "1Gi", "3Gi", "1.5Gi", "1e9", "0.1", "99Pi", "5E", "8Ei", "30E"]
        ),
        "ephemeral-storage": st.sampled_from(["0", "1Gi", "30Gi", "5E"]),
        "nvidia.com/gpu": st.sampled_from(["1", "2", "5E"]),
        "hugepages-2Mi": st.sampled_from(["2Mi", "64Mi"]),
        "example.com/foo": st.sampled_from(["1", "2"]),
    },
)
plain_requests = st.fixed_dictionaries(
    {}, optional={"cpu": st.sampled_from(["100m", "1", "2"]), "memory": st.sampled_from(["64Mi", "1Gi"])}
)
pod_level = st.fixed_dictionaries(
    {},
    optional={
        "cpu": st.sampled_from(["0", "1", "2500m"]),
        "memory": st.sampled_from(["512Mi", "2Gi"]),
        "hugepages-2Mi": st.just("4Mi"),
    },
)
overheads = st.sampled_from(
    [{"cpu": "250m", "memory": "64Mi"}, {"cpu": "0"}, {"memory": "1Mi", "example.com/foo": "1"}]
)

tolerations = some(
    st.one_of(
        st.just({"operator": "Exists"}),
        st.fixed_dictionaries(
            {"key": st.sampled_from([*TAINT_KEYS, "node.kubernetes.io/unschedulable"]), "operator": st.just("Exists")},
            optional={"effect": st.sampled_from(EFFECTS)},
        ),
        st.fixed_dictionaries(
            {"key": st.sampled_from(TAINT_KEYS), "value": st.sampled_from(["", "a", "12"])},
            optional={"effect": st.sampled_from(EFFECTS), "operator": st.just("Equal")},
        ),
        st.fixed_dictionaries(
            {
                "key": st.sampled_from(TAINT_KEYS),
                "operator": st.sampled_from(["Gt", "Lt"]),
                "value": st.sampled_from(["11", "12", "-5", "007", "9223372036854775807"]),
            },
            optional={"effect": st.sampled_from(EFFECTS)},
        ),
    )
)

node_terms = st.fixed_dictionaries(
    {},
    optional={
        "matchExpressions": expressions(NODE_KEYS, NODE_VALUES, (*SELECTS, "Gt", "Lt")),
        "matchFields": st.lists(
            st.fixed_dictionaries(
                {
                    "key": st.just("metadata.name"),
                    "operator": st.sampled_from(["In", "NotIn"]),
                    "values": st.sampled_from([["n0"], ["n1"], ["nobody"]]),
                }
            ),
            max_size=2,
        ),
    },
)
node_affinity = st.fixed_dictionaries(
    {},
    optional={
        "requiredDuringSchedulingIgnoredDuringExecution": st.fixed_dictionaries(
            {"nodeSelectorTerms": some(node_terms, least=1, up_to=2)}
        ),
        "preferredDuringSchedulingIgnoredDuringExecution": some(
            st.fixed_dictionaries({"weight": st.sampled_from([1, 33, 100]), "preference": node_terms}), up_to=2
        ),
    },
)
node_selectors = st.dictionaries(st.sampled_from(NODE_KEYS), st.sampled_from(NODE_VALUES), max_size=1)

ports = some(
    st.fixed_dictionaries(
        {"containerPort": st.just(80)},
        optional={
            "hostPort": st.sampled_from([0, 80, 443]),
            "hostIP": st.sampled_from(["", "0.0.0.0", "10.0.0.1", "10.0.0.2", "::", "::1"]),  # noqa: S104 - a value of the API
            "protocol": st.sampled_from(["TCP", "UDP", "SCTP"]),
        },
    ),
    up_to=2,
)

spread_constraints = some(
    st.fixed_dictionaries(
        {
            "maxSkew": st.sampled_from([1, 2, 5, 2**31 - 1]),
            "topologyKey": st.sampled_from([ZONE, HOSTNAME, "pool", "disk", "absent"]),
            "whenUnsatisfiable": st.sampled_from(["DoNotSchedule", "ScheduleAnyway"]),
        },
        optional={
            "labelSelector": label_selectors,
            "minDomains": st.sampled_from([1, 2, 5]),
            "nodeAffinityPolicy": st.sampled_from(["Honor", "Ignore"]),
            "nodeTaintsPolicy": st.sampled_from(["Honor", "Ignore"]),
            "matchLabelKeys": some(["app", "version", "absent"], up_to=2),
        },
    ),
    up_to=3,
    least=1,
)

pod_terms: JsonStrategy = st.fixed_dictionaries(
    {"topologyKey": st.sampled_from([ZONE, HOSTNAME, "pool", "disk", "absent"])},
    optional={
        "labelSelector": label_selectors,
        "namespaces": some(NAMESPACES, up_to=2),
        "namespaceSelector": namespace_selectors,
        "matchLabelKeys": some(["app", "version"], up_to=1),
        "mismatchLabelKeys": some(["tier"], up_to=1),
    },
)
pod_affinity = st.fixed_dictionaries(
    {},
    optional={
        "requiredDuringSchedulingIgnoredDuringExecution": some(pod_terms, up_to=2),
        "preferredDuringSchedulingIgnoredDuringExecution": some(
            st.fixed_dictionaries({"weight": st.sampled_from([1, 50, 100]), "podAffinityTerm": pod_terms}), up_to=2
        ),
    },
)

needing_features = st.fixed_dictionaries(
    {},
    optional={
        "restartPolicyRules": some(
            st.builds(
                lambda action: {"action": action, "exitCodes": {"operator": "In", "values": [42]}},
                st.sampled_from(["Restart", "RestartAllContainers"]),
            ),
            up_to=2,
        ),
        "volumeMounts": st.builds(
            lambda options: [without_nothing({"name": "v", "mountPath": "/v", "bindMountOptions": options})],
            some(["noexec", "nodev"], up_to=1),
        ),
    },
)
"""What of a container may need a feature that its node declares."""

image_volumes = some(st.sampled_from([*IMAGES, "nginx"]), up_to=2).map(
    lambda images: [{"name": f"image-{i}", "image": {"reference": image}} for i, image in enumerate(images)]
)

PRIORITIES = (-10, 0, 100, 1000)

OWNERS = {"rc": ("v1", "ReplicationController"), "rs": ("apps/v1", "ReplicaSet"), "ss": ("apps/v1", "StatefulSet")}
"""What may control a pod and tells PodTopologySpread which pods belong together, by name."""

controllers = st.sampled_from(
    [
        None,
        *(
            [{"apiVersion": version, "kind": kind, "name": name, "uid": f"uid-{name}", "controller": controls}]
            for name, (version, kind) in {
                **OWNERS,
                "job": ("batch/v1", "Job"),
                "old": ("x/v1", "ReplicaSet"),
            }.items()
            for controls in (True, False)
        ),
    ]
)


@st.composite
def containers(draw: st.DrawFn, topics: frozenset[str], *, init: bool) -> list[Json]:
    """One or two containers; init containers may be sidecars."""
    amounts = requests if "resources" in topics else plain_requests
    found = []
    for i in range(draw(st.integers(0 if init else 1, 2))):
        container: Json = {"name": f"{'i' if init else 'c'}{i}"}
        if "images" in topics:
            container["image"] = draw(st.sampled_from([*IMAGES, "nginx", "redis"]))
        wanted = draw(often(amounts))
        if wanted:
            container["resources"] = {"requests": wanted}
        if "ports" in topics and draw(st.booleans()):
            container["ports"] = draw(ports)
        if init and draw(st.booleans()):
            container["restartPolicy"] = "Always"
        if "features" in topics:
            container |= draw(needing_features)
        found.append(container)
    return found


@st.composite
def specs(draw: st.DrawFn, topics: frozenset[str]) -> Json:
    """A pod's spec, with what the topics are about."""

    def about(topic: str, strategy: st.SearchStrategy[Any]) -> Any:
        return draw(often(strategy)) if topic in topics else None

    affinity = without_nothing(
        {
            "nodeAffinity": about("nodes", node_affinity),
            "podAffinity": about("interpod", pod_affinity),
            "podAntiAffinity": about("interpod", pod_affinity),
        }
    )
    resources = "resources" in topics
    level = draw(st.none() | pod_level) if resources else None
    return without_nothing(
        {
            "schedulerName": "default-scheduler",
            "containers": draw(containers(topics, init=False)),
            "initContainers": draw(maybe(containers(topics, init=True))) if {"resources", "images"} & topics else None,
            "volumes": draw(maybe(image_volumes)) if "images" in topics else None,
            "overhead": draw(maybe(overheads)) if resources else None,
            "resources": level and {draw(st.sampled_from(["requests", "requests", "limits"])): level},
            "affinity": affinity or None,
            "nodeSelector": draw(maybe(node_selectors)) if "nodes" in topics else None,
            "tolerations": about("taints", tolerations),
            "topologySpreadConstraints": about("spread", spread_constraints),
            "hostNetwork": draw(st.sampled_from([None, None, True])) if {"ports", "features"} & topics else None,
            "hostUsers": draw(st.sampled_from([None, True, False, False])) if "features" in topics else None,
            "priority": draw(maybe(st.sampled_from(PRIORITIES))) if "preemption" in topics else None,
            "preemptionPolicy": draw(st.sampled_from([None, None, None, "Never", "PreemptLowerPriority"]))
            if "preemption" in topics
            else None,
        }
    )


@st.composite
def running_pods(draw: st.DrawFn, topics: frozenset[str], node_names: list[str], i: int) -> Json:
    """The pod run-<i> on one of the nodes."""
    spec = draw(specs(topics)) | {"nodeName": draw(st.sampled_from([*node_names * 4, "gone"]))}
    status: Json = {"phase": draw(phases), "startTime": f"2026-01-01T00:0{draw(st.integers(0, 3))}:00Z"}
    if "resources" in topics:
        status |= draw(resized(spec))
    deleted = "2026-01-01T01:00:00Z" if draw(st.integers(0, 9)) == 0 else None
    if deleted and draw(st.booleans()):
        reason = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
        status["conditions"] = [*status.get("conditions", []), reason]
    owners = draw(controllers) if "owners" in topics else None
    about = {"deletionTimestamp": deleted, "ownerReferences": owners}
    return pod(f"run-{i}", draw(st.sampled_from(NAMESPACES)), draw(labels), spec, status, **about)


phases = st.sampled_from(["Running"] * 8 + ["Pending", "Unknown", "Succeeded", "Failed"])


@st.composite
def resized(draw: st.DrawFn, spec: Json) -> Json:
    """A status in which the pod holds other amounts than its spec asks for, or an empty one."""
    if draw(st.integers(0, 3)):
        return {}
    status: Json = {"containerStatuses": [draw(holding(container)) for container in spec["containers"]]}
    if spec["containers"] and draw(st.integers(0, 7)) == 0:
        status["containerStatuses"].append(draw(holding(spec["containers"][0])))
    if spec.get("initContainers") and draw(st.booleans()):
        status["initContainerStatuses"] = [draw(holding(container)) for container in spec["initContainers"]]
    if draw(st.integers(0, 2)) == 0:
        status |= draw(st.fixed_dictionaries({}, optional={"resources": reported, "allocatedResources": pod_level}))
    if draw(st.integers(0, 2)):
        status["conditions"] = [draw(resize_conditions)]
    return status


resize_conditions = st.fixed_dictionaries(
    {
        "type": st.just("PodResizePending"),
        "status": st.just("True"),
        "reason": st.sampled_from(["Infeasible", "Deferred", "Deferred"]),
    }
)


reported = st.fixed_dictionaries({}, optional={"requests": pod_level, "limits": pod_level})


@st.composite
def holding(draw: st.DrawFn, container: Json) -> Json:
    """What a container holds; of what is not yet reported, nothing is said."""
    held = st.fixed_dictionaries({}, optional={"requests": plain_requests, "limits": plain_requests})
    return {"name": container["name"]} | draw(
        st.fixed_dictionaries({}, optional={"resources": held, "allocatedResources": plain_requests})
    )


@st.composite
def pending_pods(draw: st.DrawFn, topics: frozenset[str], node_names: list[str], i: int) -> Json:
    """The pod pend-<i>, which is to be explained."""
    spec = draw(specs(topics))
    status: Json = {"phase": "Pending"}
    deleted = None
    if "queue" in topics:
        if draw(st.integers(0, 5)) == 0:
            spec["schedulingGates"] = [{"name": gate} for gate in draw(some(["a.io/x", "b.io/y"], least=1, up_to=2))]
        if draw(st.integers(0, 3)) == 0:
            status["nominatedNodeName"] = draw(st.sampled_from([*node_names, "gone"]))
        if draw(st.integers(0, 9)) == 0:
            deleted = "2026-01-01T01:00:00Z"
        if draw(st.integers(0, 7)) == 0:
            status["conditions"] = [draw(resize_conditions)]
    owners = draw(controllers) if "owners" in topics else None
    about = {"deletionTimestamp": deleted, "ownerReferences": owners}
    return pod(f"pend-{i}", draw(st.sampled_from(NAMESPACES)), draw(labels), spec, status, **about)


def pod(name: str, namespace: str, with_labels: Json, spec: Json, status: Json, **more: Any) -> Json:
    """A pod with a UID of its own."""
    about = metadata(
        name, f"uid-{name}", namespace, labels=with_labels, creationTimestamp="2026-01-01T00:00:00Z", **more
    )
    return {"apiVersion": "v1", "kind": "Pod", "metadata": about, "spec": spec, "status": status}
