"""The objects that the API server's admission plugins read (k8s.io/api/core/v1 and node/v1)."""

from kubectl_sched.api.affinity import Toleration
from kubectl_sched.api.core import ResourceList
from kubectl_sched.api.meta import KubernetesObject, Part


class LimitRangeItem(Part, frozen=True):
    """Bounds and defaults for each Container, Pod or PersistentVolumeClaim, by `type`."""

    type: str = ""
    max: ResourceList = {}
    min: ResourceList = {}
    default: ResourceList = {}
    default_request: ResourceList = {}
    max_limit_request_ratio: ResourceList = {}


class LimitRangeSpec(Part, frozen=True):
    """All bounds of one LimitRange."""

    limits: tuple[LimitRangeItem, ...] = ()


class LimitRange(KubernetesObject, frozen=True, tag_field="kind", tag="LimitRange"):
    """core/v1."""

    spec: LimitRangeSpec = LimitRangeSpec()


class ScopeSelectorRequirement(Part, frozen=True):
    """One condition on the pods that a quota counts."""

    scope_name: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class ScopeSelector(Part, frozen=True):
    """All of its conditions must hold."""

    match_expressions: tuple[ScopeSelectorRequirement, ...] = ()


class ResourceQuotaSpec(Part, frozen=True):
    """The hard limits of a namespace, and the scopes that select the pods they count."""

    hard: ResourceList = {}
    scopes: tuple[str, ...] = ()
    scope_selector: ScopeSelector | None = None


class ResourceQuotaStatus(Part, frozen=True):
    """The limits that the quota controller enforces, and the usage that it has counted."""

    hard: ResourceList = {}
    used: ResourceList = {}


class ResourceQuota(KubernetesObject, frozen=True, tag_field="kind", tag="ResourceQuota"):
    """core/v1."""

    spec: ResourceQuotaSpec = ResourceQuotaSpec()
    status: ResourceQuotaStatus = ResourceQuotaStatus()


class Overhead(Part, frozen=True):
    """The resources that each pod uses in addition to its containers."""

    pod_fixed: ResourceList = {}


class RuntimeClassScheduling(Part, frozen=True):
    """The nodes that pods of the class can run on."""

    node_selector: dict[str, str] = {}
    tolerations: tuple[Toleration, ...] = ()


class RuntimeClass(KubernetesObject, frozen=True, tag_field="kind", tag="RuntimeClass"):
    """node.k8s.io/v1."""

    handler: str = ""
    overhead: Overhead | None = None
    scheduling: RuntimeClassScheduling | None = None
