"""NodePools and NodeClaims of Karpenter (sigs.k8s.io/karpenter/pkg/apis/v1)."""

import msgspec

from kubectl_sched.api.core import ResourceList, Taint
from kubectl_sched.api.meta import Condition, Int32, Int64, KubernetesObject, Part


class NodeSelectorRequirementWithMinValues(Part, frozen=True):
    """A node selector's requirement, and how many values it must leave open; Gte and Lte are operators too."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()
    min_values: Int64 | None = None


class NodeClassReference(Part, frozen=True):
    """The cloud provider's own settings, by reference."""

    group: str = ""
    kind: str = ""
    name: str = ""


class NodeClaimResources(Part, frozen=True):
    """The sum of what the pods of a NodeClaim request."""

    requests: ResourceList = {}


class NodeClaimSpec(Part, frozen=True):
    """The requirements of a node."""

    requirements: tuple[NodeSelectorRequirementWithMinValues, ...] = ()
    taints: tuple[Taint, ...] = ()
    startup_taints: tuple[Taint, ...] = ()
    node_class_ref: NodeClassReference = NodeClassReference()
    resources: NodeClaimResources = NodeClaimResources()


class NodeClaimTemplateMeta(Part, frozen=True):
    """The labels of each node."""

    labels: dict[str, str] = {}


class NodeClaimTemplate(Part, frozen=True):
    """The template of a NodePool's NodeClaims."""

    metadata: NodeClaimTemplateMeta = NodeClaimTemplateMeta()
    spec: NodeClaimSpec = NodeClaimSpec()


class NodePoolSpec(Part, frozen=True):
    """The nodes that Karpenter may make, their limits, and the weight against other NodePools."""

    template: NodeClaimTemplate = NodeClaimTemplate()
    limits: ResourceList = {}
    weight: Int32 | None = None
    replicas: Int64 | None = None


class NodePoolStatus(Part, frozen=True):
    """True if the NodePool can be used."""

    conditions: tuple[Condition, ...] = ()


class NodePool(KubernetesObject, frozen=True, tag_field="kind", tag="NodePool"):
    """A kind of nodes that Karpenter makes when pods need them."""

    spec: NodePoolSpec = NodePoolSpec()
    status: NodePoolStatus = NodePoolStatus()

    @property
    def is_ready(self) -> bool:
        """Report whether Karpenter uses it: it is Ready, and the conditions that this rests on are known."""
        known = {each.type: each.status for each in self.status.conditions}
        return known.get("Ready") == "True" and "ValidationSucceeded" in known and "NodeClassReady" in known


class NodeClaimStatus(Part, frozen=True):
    """The status of a NodeClaim."""

    node_name: str = ""
    provider_id: str = msgspec.field(name="providerID", default="")
    capacity: ResourceList = {}
    allocatable: ResourceList = {}
    conditions: tuple[Condition, ...] = ()


class NodeClaim(KubernetesObject, frozen=True, tag_field="kind", tag="NodeClaim"):
    """A node that Karpenter has asked its cloud for."""

    spec: NodeClaimSpec = NodeClaimSpec()
    status: NodeClaimStatus = NodeClaimStatus()

    @property
    def is_being_deleted(self) -> bool:
        """Report whether it is going, or its instance is."""
        terminating = any(
            each.type == "InstanceTerminating" and each.status == "True" for each in self.status.conditions
        )
        return self.metadata.deletion_timestamp is not None or terminating
