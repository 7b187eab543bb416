"""NodePools and NodeClaims of Karpenter (sigs.k8s.io/karpenter/pkg/apis/v1)."""

import msgspec

from kubectl_sched.api.affinity import NodeSelectorRequirement
from kubectl_sched.api.core import ResourceList, Taint
from kubectl_sched.api.meta import Condition, Conditions, Int32, Int64, KubernetesObject, Part
from kubectl_sched.lazy_pattern import pattern

_PRICE = pattern(r"[0-9]{1,15}(?:\.[0-9]{1,15})?|[+-][0-9]{0,15}\.?[0-9]{1,15}%?")


class NodeSelectorRequirementWithMinValues(NodeSelectorRequirement, frozen=True):
    """A node selector's requirement, and how many values it must leave open; Gte and Lte are operators too."""

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
    expire_after: str = ""
    termination_grace_period: str = ""


class NodeClaimTemplateMeta(Part, frozen=True):
    """The labels of each node."""

    labels: dict[str, str] = {}


class NodeClaimTemplate(Part, frozen=True):
    """The template of a NodePool's NodeClaims."""

    metadata: NodeClaimTemplateMeta = NodeClaimTemplateMeta()
    spec: NodeClaimSpec = NodeClaimSpec()


class DisruptionBudget(Part, frozen=True):
    """A limit on the nodes that Karpenter disrupts at once: a number or a share, always or by schedule."""

    nodes: str = "10%"
    schedule: str = ""
    duration: str = ""
    reasons: tuple[str, ...] | None = None
    """The reasons that it is about; all of them if there are none."""


class Disruption(Part, frozen=True):
    """The rules by which Karpenter removes nodes of a NodePool that it could do without."""

    consolidation_policy: str = "WhenEmptyOrUnderutilized"
    consolidate_after: str = "0s"
    budgets: tuple[DisruptionBudget, ...] = ()


class NodePoolSpec(Part, frozen=True):
    """The nodes that Karpenter may make, their limits, and the weight against other NodePools."""

    template: NodeClaimTemplate = NodeClaimTemplate()
    limits: ResourceList = {}
    weight: Int32 | None = None
    disruption: Disruption = Disruption()
    replicas: Int64 | None = None


class NodePool(KubernetesObject, frozen=True, tag_field="kind", tag="NodePool"):
    """A kind of nodes that Karpenter makes when pods need them; its conditions say whether it can be used."""

    spec: NodePoolSpec = NodePoolSpec()
    status: Conditions = Conditions()

    @property
    def is_ready(self) -> bool:
        """Report whether Karpenter uses it: it is Ready, and the conditions that this rests on are known."""
        known = {each.type: each.status for each in self.status.conditions}
        return known.get("Ready") == "True" and "ValidationSucceeded" in known and "NodeClassReady" in known


def is_price(text: str) -> bool:
    """Report whether a NodeOverlay may have it as its price or its adjustment."""
    return _PRICE.fullmatch(text) is not None


class NodeOverlaySpec(Part, frozen=True):
    """Another price or more capacity, as the simulation has it, for the offerings that meet the requirements."""

    requirements: tuple[NodeSelectorRequirementWithMinValues, ...] = ()
    price: str = ""
    price_adjustment: str = ""
    capacity: ResourceList | None = None
    weight: Int32 | None = None


class NodeOverlay(KubernetesObject, frozen=True, tag_field="kind", tag="NodeOverlay"):
    """A correction of what a provider says of its instance types (karpenter.sh/v1alpha1).

    Its conditions say whether it is valid, and in conflict with no other.
    """

    spec: NodeOverlaySpec = NodeOverlaySpec()
    status: Conditions = Conditions()

    @property
    def is_invalid(self) -> bool:
        """Report whether Karpenter has found it, as it is now, to be invalid, or no API server would take its price."""
        return not is_price(self.spec.price or self.spec.price_adjustment or "0") or any(
            each.type == "ValidationSucceeded"
            and each.status == "False"
            and each.reason == "RuntimeValidation"
            and each.observed_generation >= self.metadata.generation
            for each in self.status.conditions
        )


class NodeClaimStatus(Part, frozen=True):
    """The status of a NodeClaim."""

    node_name: str = ""
    provider_id: str = msgspec.field(name="providerID", default="")
    capacity: ResourceList = {}
    allocatable: ResourceList = {}
    conditions: tuple[Condition, ...] = ()
    last_pod_event_time: str | None = None


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
