"""Nodes: their labels, taints, amounts and images."""

from hypothesis import strategies as st

from tests.oracle.generate.values import HOSTNAME, REGION, ZONE, Json, metadata, often, some, without_nothing

KEYS = ("pool", "dedicated", "node.kubernetes.io/not-ready")
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")

taints = some(
    st.fixed_dictionaries(
        {"key": st.sampled_from(KEYS), "effect": st.sampled_from(EFFECTS)},
        optional={"value": st.sampled_from(["", "a", "12", "007"])},
    ),
    up_to=2,
)

amounts = st.fixed_dictionaries(
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

IMAGES = (
    "nginx:1.25",
    "docker.io/library/nginx:1.25",
    "redis:latest",
    "gcr.io/big/model:v7",
    "quay.io/x@sha256:" + "a" * 64,
)

images = some(
    st.fixed_dictionaries(
        {
            "names": st.lists(st.sampled_from(IMAGES), min_size=1, max_size=2, unique=True),
            "sizeBytes": st.sampled_from([1, 23 * 1024**2, 196083712, 943718400, 6291456000]),
        }
    )
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
def nodes(draw: st.DrawFn, topics: frozenset[str], *, up_to: int = 6) -> list[Json]:
    """Some nodes, with what the topics are about."""
    return [draw(one_node(topics, i)) for i in range(draw(st.integers(1, up_to)))]


@st.composite
def one_node(draw: st.DrawFn, topics: frozenset[str], i: int) -> Json:
    """The node n<i>."""
    name = f"n{i}"
    labels = {HOSTNAME: name} | {ZONE: draw(st.sampled_from(["za", "zb", "zc"]))}
    if "topology" in topics and draw(st.integers(0, 5)) == 0:
        labels.pop(draw(st.sampled_from([ZONE, HOSTNAME])))
    if "nodes" in topics:
        labels |= draw(extra_labels)
    allocatable = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    if "resources" in topics:
        allocatable = draw(amounts)
    spec = {
        "taints": draw(often(taints)) if "taints" in topics else None,
        "unschedulable": draw(st.sampled_from([None, None, None, True])) if "taints" in topics else None,
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
