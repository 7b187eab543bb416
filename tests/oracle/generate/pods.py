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
        "cpu": st.sampled_from(["0", "100m", "0.3", "1", "1500m", "5"]),
        "memory": st.sampled_from(["0", "64Mi", "100M", "1Gi", "3Gi"]),
        "ephemeral-storage": st.sampled_from(["1Gi", "30Gi"]),
        "nvidia.com/gpu": st.sampled_from(["1", "2"]),
        "hugepages-2Mi": st.sampled_from(["2Mi", "64Mi"]),
        "example.com/foo": st.sampled_from(["1", "2"]),
    },
)
plain_requests = st.fixed_dictionaries(
    {}, optional={"cpu": st.sampled_from(["100m", "1", "2"]), "memory": st.sampled_from(["64Mi", "1Gi"])}
)
pod_level = st.fixed_dictionaries(
    {}, optional={"cpu": st.sampled_from(["1", "2500m"]), "memory": st.sampled_from(["512Mi", "2Gi"])}
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
                "value": st.sampled_from(["11", "12", "007"]),
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
            "hostIP": st.sampled_from(["", "0.0.0.0", "10.0.0.1", "10.0.0.2"]),  # noqa: S104 - a value of the API
            "protocol": st.sampled_from(["TCP", "UDP"]),
        },
    ),
    up_to=2,
)

spread_constraints = some(
    st.fixed_dictionaries(
        {
            "maxSkew": st.sampled_from([1, 2, 5]),
            "topologyKey": st.sampled_from([ZONE, HOSTNAME, "pool"]),
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
    {"topologyKey": st.sampled_from([ZONE, HOSTNAME, "pool"])},
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

PRIORITIES = (-10, 0, 100, 1000)


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
            "initContainers": draw(maybe(containers(topics, init=True))) if resources else None,
            "overhead": draw(st.sampled_from([None, None, {"cpu": "250m", "memory": "64Mi"}])) if resources else None,
            "resources": level and {"requests": level},
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
    spec = draw(specs(topics)) | {"nodeName": draw(st.sampled_from(node_names))}
    status: Json = {"phase": "Running", "startTime": f"2026-01-01T00:0{draw(st.integers(0, 3))}:00Z"}
    if "resources" in topics:
        status |= draw(resized(spec["containers"]))
    deleted = "2026-01-01T01:00:00Z" if draw(st.integers(0, 9)) == 0 else None
    if deleted and draw(st.booleans()):
        reason = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
        status["conditions"] = [*status.get("conditions", []), reason]
    return pod(f"run-{i}", draw(st.sampled_from(NAMESPACES)), draw(labels), spec, status, deletionTimestamp=deleted)


@st.composite
def resized(draw: st.DrawFn, containers: list[Json]) -> Json:
    """A status in which containers hold other amounts than their spec asks for, or an empty one."""
    if draw(st.integers(0, 3)):
        return {}
    statuses = [
        {
            "name": container["name"],
            "resources": {"requests": draw(plain_requests)},
            "allocatedResources": draw(plain_requests),
        }
        for container in containers
    ]
    pending = draw(st.sampled_from([None, "Infeasible", "Deferred"]))
    condition = {"type": "PodResizePending", "status": "True", "reason": pending}
    return {"containerStatuses": statuses} | ({"conditions": [condition]} if pending else {})


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
    return pod(f"pend-{i}", draw(st.sampled_from(NAMESPACES)), draw(labels), spec, status, deletionTimestamp=deleted)


def pod(name: str, namespace: str, with_labels: Json, spec: Json, status: Json, **more: Any) -> Json:
    """A pod with a UID of its own."""
    about = metadata(
        name, f"uid-{name}", namespace, labels=with_labels, creationTimestamp="2026-01-01T00:00:00Z", **more
    )
    return {"apiVersion": "v1", "kind": "Pod", "metadata": about, "spec": spec, "status": status}
