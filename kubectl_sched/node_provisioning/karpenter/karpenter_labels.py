"""The labels that Karpenter gives a meaning to (pkg/apis/v1/labels.go)."""

from __future__ import annotations

from typing import Final

from kubectl_sched.api.core import HOSTNAME, ZONE

GROUP: Final = "karpenter.sh"
NODE_POOL: Final = "karpenter.sh/nodepool"
CAPACITY_TYPE: Final = "karpenter.sh/capacity-type"
REGISTERED: Final = "karpenter.sh/registered"
INITIALIZED: Final = "karpenter.sh/initialized"
INSTANCE_TYPE: Final = "node.kubernetes.io/instance-type"
RESERVED: Final = "reserved"
CAPACITY_TYPES: Final = frozenset({"on-demand", "spot", RESERVED})

SIMULATION_KEYS: Final = frozenset({REGISTERED, INITIALIZED})
"""Requirements of a template that only daemons are held against."""

RESTRICTED: Final = frozenset({HOSTNAME})

CORE_WELL_KNOWN: Final = frozenset(
    {
        NODE_POOL,
        ZONE,
        "topology.kubernetes.io/region",
        INSTANCE_TYPE,
        "kubernetes.io/arch",
        "kubernetes.io/os",
        CAPACITY_TYPE,
        "node.kubernetes.io/windows-build",
    }
)

AZURE_DISK_ZONE: Final = "topology.disk.csi.azure.com/zone"
AZURE_NO_ZONE: Final = "0"
"""The zone of nodes that are in none, of which the driver of Azure's disks says an empty text."""

NORMALIZED: Final = {
    "failure-domain.beta.kubernetes.io/zone": ZONE,
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/instance-type": INSTANCE_TYPE,
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "topology.ebs.csi.aws.com/zone": ZONE,
    "topology.ebs.csi.eks.amazonaws.com/zone": ZONE,
    AZURE_DISK_ZONE: ZONE,
    "topology.gke.io/zone": ZONE,
}
"""Labels that stand for others. Those of CSI drivers are added by the provider whose disks they are of."""


def node_class_label(group: str, kind: str) -> str:
    """The label that names a node's NodeClass (NodeClassLabelKey)."""
    return f"{group}/{kind.lower()}"
