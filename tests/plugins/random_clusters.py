"""Hypothesis strategies for small clusters in which much collides: labels, taints, ports, images and requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from tests.plugins.clusters import node, pod

if TYPE_CHECKING:
    from kubectl_sched.api.core import Node
    from kubectl_sched.api.pod import Pod

KEYS = ("pool", "zone", "size")
VALUES = ("a", "b", "4", "12")
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
SIZES = {"x:1": 10, "x:latest": 300, "docker.io/library/x:1": 900, "y:1": 2000}
"""Images in MB; each has one size everywhere, as which node is listed first must not matter here."""
FEATURE = "UserNamespacesHostNetworkSupport"

amounts = st.fixed_dictionaries(
    {},
    optional={
        "cpu": st.sampled_from(["0", "1", "500m", "3"]),
        "memory": st.sampled_from(["1Gi", "100M", "5Gi"]),
        "ephemeral-storage": st.sampled_from(["1Gi", "20Gi"]),
        "x.com/gpu": st.sampled_from(["1", "2"]),
    },
)
labels = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES))
taints = st.lists(
    st.fixed_dictionaries(
        {"key": st.sampled_from(KEYS), "value": st.sampled_from(["", *VALUES]), "effect": st.sampled_from(EFFECTS)}
    ),
    max_size=2,
)
tolerations = st.lists(
    st.fixed_dictionaries(
        {
            "key": st.sampled_from(["", *KEYS, "node.kubernetes.io/unschedulable"]),
            "operator": st.sampled_from(["", "Equal", "Exists", "Gt"]),
            "value": st.sampled_from(["", *VALUES]),
            "effect": st.sampled_from(["", *EFFECTS]),
        }
    ),
    max_size=3,
)
expressions = st.lists(
    st.fixed_dictionaries(
        {
            "key": st.sampled_from(KEYS),
            "operator": st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Near"]),
            "values": st.lists(st.sampled_from(VALUES), max_size=2),
        }
    ),
    max_size=2,
)
names = st.lists(
    st.fixed_dictionaries(
        {
            "key": st.just("metadata.name"),
            "operator": st.sampled_from(["In", "NotIn"]),
            "values": st.lists(st.sampled_from(["w0", "w1", "nobody"]), min_size=1, max_size=2),
        }
    ),
    max_size=1,
)
terms = st.fixed_dictionaries({"matchExpressions": expressions, "matchFields": names})
ports = st.lists(
    st.fixed_dictionaries(
        {
            "hostPort": st.sampled_from([0, 80, 443]),
            "hostIP": st.sampled_from(["", "10.0.0.1", "10.0.0.2"]),
            "protocol": st.sampled_from(["", "TCP", "UDP"]),
        }
    ),
    max_size=2,
)
containers = st.lists(
    st.fixed_dictionaries(
        {
            "image": st.sampled_from(["x", "x:1", "docker.io/library/x:1", "y:1", "z:1"]),
            "ports": ports,
            "resources": st.fixed_dictionaries({"requests": amounts}),
        }
    ),
    max_size=2,
)


@st.composite
def nodes(draw: st.DrawFn, name: str) -> Node:
    """A node of that name."""
    allocatable = {"cpu": "4", "memory": "8Gi", "pods": "4", "ephemeral-storage": "10Gi"}
    allocatable |= draw(st.sampled_from([{}, {"x.com/gpu": "2"}, {"cpu": "1"}, {"memory": "0"}]))
    listed = draw(st.lists(st.sampled_from(sorted(SIZES)), unique=True, max_size=3))
    return node(
        name,
        labels=draw(labels),
        taints=draw(taints),
        unschedulable=draw(st.booleans()),
        allocatable=allocatable,
        images=[{"names": [image], "sizeBytes": SIZES[image] << 20} for image in listed],
        declaredFeatures=draw(st.sampled_from([[], [FEATURE]])),
    )


@st.composite
def incoming_pods(draw: st.DrawFn) -> Pod:
    """A pod to be scheduled."""
    affinity = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "requiredDuringSchedulingIgnoredDuringExecution": st.fixed_dictionaries(
                    {"nodeSelectorTerms": st.lists(terms, max_size=2)}
                )
            },
        )
    )
    spec: dict[str, Any] = {
        "containers": draw(containers),
        "tolerations": draw(tolerations),
        "nodeSelector": draw(st.one_of(st.none(), labels)),
        "affinity": {"nodeAffinity": affinity},
        "nodeName": draw(st.sampled_from(["", "", "", "w1", "nobody"])),
        "hostNetwork": draw(st.booleans()),
        "hostUsers": draw(st.sampled_from([None, False])),
    }
    return pod("new", **spec)


@st.composite
def clusters(draw: st.DrawFn) -> tuple[list[Node], list[Pod]]:
    """Some nodes, and pods that run on them."""
    made = [draw(nodes(f"w{number}")) for number in range(draw(st.integers(1, 5)))]
    running = [
        pod(f"p{number}", on=f"w{draw(st.integers(0, len(made) - 1))}", containers=draw(containers))
        for number in range(draw(st.integers(0, 6)))
    ]
    return made, running
