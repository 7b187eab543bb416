"""Nodes: their labels, taints, amounts and images."""

from hypothesis import strategies as st

from tests.oracle.generate.values import HOSTNAME, REGION, ZONE, Json, maybe, metadata, often, some, without_nothing

KEYS = ("pool", "dedicated", "node.kubernetes.io/not-ready")
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")

taints = some(
    st.fixed_dictionaries(
        {"key": st.sampled_from(KEYS), "effect": st.sampled_from(EFFECTS)},
        optional={"value": st.sampled_from(["", "a", "12", "007", "9223372036854775807", "9223372036854775808"])},
    ),
    up_to=2,
)

usual_amounts = st.fixed_dictionaries(
    {
        "cpu": st.sampled_from(["1", "2", "3920m", "8"]),
        "memory": st.sampled_from(["2Gi", "4Gi", "8G", "16393244Ki"]),
        "pods": st.sampled_from(["110", "2", "1"]),
    },
    optional={
        "ephemeral-storage": st.sampled_from(["20Gi", "95551679124"]),
        "nvidia.com/gpu": st.sampled_from(["1", "4"]),
        "hugepages-2Mi": st.sampled_from(["0", "64Mi"]),
        "example.com/foo": st.sampled_from(["0", "3"]),
    },
)
odd_amounts = st.fixed_dictionaries(
    {},
    optional={
        "cpu": st.sampled_from(["0", "0.5", "1e1", "1k", "1500000u", "9P", "20P"]),
        "memory": st.sampled_from(["0", "1.5Gi", "1e9", "100Pi", "7Ei", "8Ei", "30E", "4294967296"]),
        "pods": st.sampled_from(["0", "3", "1k"]),
        "ephemeral-storage": st.sampled_from(["0", "1Ti", "9E"]),
        "nvidia.com/gpu": st.sampled_from(["8", "1k", "9E"]),
        "example.com/foo": st.just("3"),
    },
)
"""Amounts as a kubelet without much, a fake one, or a person may write them."""

amounts = st.one_of(usual_amounts, usual_amounts, usual_amounts, odd_amounts)

IMAGES = (
    "nginx:1.25",
    "docker.io/library/nginx:1.25",
    "redis:latest",
    "gcr.io/big/model:v7",
    "quay.io/x@sha256:" + "a" * 64,
    "registry:5000/app:latest",
)

images = some(
    st.fixed_dictionaries(
        {
            "names": st.lists(st.sampled_from(IMAGES), min_size=1, max_size=2, unique=True),
            "sizeBytes": st.sampled_from([0, 1, 23 * 1024**2, 196083712, 943718400, 6291456000, 10**12]),
        }
    )
)

preemption_policies = st.fixed_dictionaries(
    {}, optional={"disableResizePreemption": st.lists(st.just("autoscaler.example.com"), max_size=1)}
)

extra_labels = st.fixed_dictionaries(
    {},
    optional={
        "pool": st.sampled_from(["a", "b"]),
        "size": st.sampled_from(["4", "12", "007", "big"]),
        "disk": st.sampled_from(["a", ""]),
        REGION: st.just("r1"),
    },
)

declared_features = st.sets(
    st.sampled_from(
        [
            *("GuaranteedQoSPodCPUResize", "MadeUp", "UserNamespacesHostNetworkSupport", "VolumeBindMountOptions"),
            "RestartAllContainersOnContainerExits",
        ]
    ),
    max_size=3,
).map(sorted)


@st.composite
def topology(draw: st.DrawFn, labels: dict[str, str]) -> dict[str, str]:
    """The labels, now and then with one or all of them missing, empty or those of another node."""
    match draw(st.integers(0, 15)):
        case 0 | 1:
            left_out = draw(st.sampled_from([ZONE, HOSTNAME]))
            return {key: value for key, value in labels.items() if key != left_out}
        case 2:
            return {}
        case 3:
            return labels | {ZONE: ""}
        case 4:
            return labels | {HOSTNAME: "n0"}
        case _:
            return labels


NAMES = ("n0", "n1", "n10", "n2", "n.3", "n-4", "n5", "n6")
"""In an order that is not that of names."""


@st.composite
def nodes(draw: st.DrawFn, topics: frozenset[str], *, up_to: int = 6) -> list[Json]:
    """Some nodes, with what the topics are about."""
    return [draw(one_node(topics, name)) for name in NAMES[: draw(st.integers(1, up_to))]]


@st.composite
def one_node(draw: st.DrawFn, topics: frozenset[str], name: str) -> Json:
    """A node of that name."""
    labels = {HOSTNAME: name} | {ZONE: draw(st.sampled_from(["za", "zb", "zc"]))}
    if "topology" in topics:
        labels = draw(topology(labels))
    if "nodes" in topics:
        labels |= draw(extra_labels)
    allocatable = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    if "resources" in topics:
        allocatable = draw(amounts)
    spec = {
        "taints": draw(often(taints)) if "taints" in topics else None,
        "unschedulable": draw(st.sampled_from([None, None, None, True])) if "taints" in topics else None,
        "podPreemptionPolicy": draw(maybe(preemption_policies)) if {"resources", "queue"} & topics else None,
    }
    status = {
        "allocatable": allocatable,
        "capacity": allocatable,
        "images": draw(often(images)) if "images" in topics else None,
        "declaredFeatures": draw(st.none() | declared_features) if {"nodes", "features"} & topics else None,
    }
    return without_nothing(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": metadata(name, f"uid-{name}", labels=labels),
            "spec": spec,
            "status": status,
        }
    )
