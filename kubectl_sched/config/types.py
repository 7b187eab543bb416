"""KubeSchedulerConfiguration: what a person writes, in upstream's names, with upstream's defaults for what is absent.

Answers to k8s.io/kube-scheduler/config/v1/types.go and types_pluginargs.go. The few defaults that depend on a gate or
on another field are in defaults.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Final, TypeAlias

import msgspec

from kubectl_sched.api.affinity import NodeAffinity, TopologySpreadConstraint
from kubectl_sched.api.meta import Part
from kubectl_sched.lazy_pattern import pattern

Int32: TypeAlias = Annotated[int, msgspec.Meta(title="int32", ge=-(2**31), le=2**31 - 1)]
Int64: TypeAlias = Annotated[int, msgspec.Meta(title="int64", ge=-(2**63), le=2**63 - 1)]
Float32: TypeAlias = Annotated[float, msgspec.Meta(title="float32")]

DEFAULT_SCHEDULER_NAME: Final = "default-scheduler"
MAX_CUSTOM_PRIORITY_SCORE: Final = 10


@cache
def _attribute(point: str) -> str:
    """Return the attribute of an extension point: `preFilter` -> `pre_filter`."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in point)


_USER_IN_URL = pattern(r"(?:(?<=://)|\A)[^/?#]*@")


class Duration(msgspec.Struct, frozen=True, order=True):
    """A metav1.Duration; `10s` in a document."""

    nanoseconds: int = 0

    @property
    def seconds(self) -> float:
        """The duration in seconds."""
        return self.nanoseconds / 1e9

    @classmethod
    def of(cls, seconds: int) -> Duration:
        """Return a duration of whole seconds."""
        return cls(seconds * 1_000_000_000)


class ResourceSpec(Part, frozen=True):
    """A resource and its weight in scoring."""

    name: str = ""
    weight: Int64 = 1


class UtilizationShapePoint(Part, frozen=True):
    """One point of a scoring function: utilization 0 to 100, score 0 to 10."""

    utilization: Int32 = 0
    score: Int32 = 0


class RequestedToCapacityRatioParam(Part, frozen=True):
    """The scoring function of RequestedToCapacityRatio."""

    shape: tuple[UtilizationShapePoint, ...] = ()


DEFAULT_RESOURCES: Final = (ResourceSpec(name="cpu"), ResourceSpec(name="memory"))


class ScoringStrategy(Part, frozen=True):
    """`type` is LeastAllocated, MostAllocated or RequestedToCapacityRatio."""

    type: str = ""
    resources: tuple[ResourceSpec, ...] = DEFAULT_RESOURCES
    requested_to_capacity_ratio: RequestedToCapacityRatioParam | None = None


class NodeResourcesFitArgs(Part, frozen=True):
    """Arguments of NodeResourcesFit; `ignored_resources` is the extenders' list where they ignore any."""

    ignored_resources: tuple[str, ...] = ()
    ignored_resource_groups: tuple[str, ...] = ()
    scoring_strategy: ScoringStrategy = ScoringStrategy(type="LeastAllocated")


class NodeResourcesBalancedAllocationArgs(Part, frozen=True):
    """Arguments of NodeResourcesBalancedAllocation."""

    resources: tuple[ResourceSpec, ...] = DEFAULT_RESOURCES


class NodeAffinityArgs(Part, frozen=True):
    """Arguments of NodeAffinity: an affinity that every pod of the profile has besides its own."""

    added_affinity: NodeAffinity | None = None


class InterPodAffinityArgs(Part, frozen=True):
    """Arguments of InterPodAffinity."""

    hard_pod_affinity_weight: Int32 = 1
    ignore_preferred_terms_of_existing_pods: bool = False


class PodTopologySpreadArgs(Part, frozen=True):
    """Arguments of PodTopologySpread; `defaulting_type` is System or List."""

    default_constraints: tuple[TopologySpreadConstraint, ...] = ()
    defaulting_type: str = "System"


class VolumeBindingArgs(Part, frozen=True):
    """Arguments of VolumeBinding; `shape` is None unless it is given or scoring by storage capacity is on."""

    bind_timeout_seconds: Int64 = 600
    shape: tuple[UtilizationShapePoint, ...] | None = None


class DefaultPreemptionArgs(Part, frozen=True):
    """Arguments of DefaultPreemption: how many candidates a dry run shortlists."""

    min_candidate_nodes_percentage: Int32 = 10
    min_candidate_nodes_absolute: Int32 = 100


class DynamicResourcesArgs(Part, frozen=True):
    """Arguments of DynamicResources; None if the gate of a timeout is off."""

    filter_timeout: Duration | None = None
    binding_timeout: Duration | None = None


class OutOfTreeArgs(Part, frozen=True):
    """Arguments of a plugin that is not kube-scheduler's own, as they were written."""

    document: Mapping[str, Any] = {}


Args: TypeAlias = (
    NodeResourcesFitArgs
    | NodeResourcesBalancedAllocationArgs
    | NodeAffinityArgs
    | InterPodAffinityArgs
    | PodTopologySpreadArgs
    | VolumeBindingArgs
    | DefaultPreemptionArgs
    | DynamicResourcesArgs
    | OutOfTreeArgs
)

ARGS: Final[Mapping[str, type[Args]]] = {
    "DefaultPreemption": DefaultPreemptionArgs,
    "DynamicResources": DynamicResourcesArgs,
    "InterPodAffinity": InterPodAffinityArgs,
    "NodeAffinity": NodeAffinityArgs,
    "NodeResourcesBalancedAllocation": NodeResourcesBalancedAllocationArgs,
    "NodeResourcesFit": NodeResourcesFitArgs,
    "PodTopologySpread": PodTopologySpreadArgs,
    "VolumeBinding": VolumeBindingArgs,
}
"""The in-tree plugins that have arguments."""


class Plugin(Part, frozen=True):
    """A plugin and its weight, 0 where it is left unset."""

    name: str = ""
    weight: Int32 = 0


class PluginSet(Part, frozen=True):
    """Plugins to enable besides the defaults, and defaults to disable (`*`: all of them)."""

    enabled: tuple[Plugin, ...] = ()
    disabled: tuple[Plugin, ...] = ()


class Plugins(Part, frozen=True):
    """One plugin set for each extension point, and multiPoint for all that a plugin has."""

    pre_enqueue: PluginSet = PluginSet()
    queue_sort: PluginSet = PluginSet()
    pre_filter: PluginSet = PluginSet()
    filter: PluginSet = PluginSet()
    post_filter: PluginSet = PluginSet()
    pre_score: PluginSet = PluginSet()
    score: PluginSet = PluginSet()
    reserve: PluginSet = PluginSet()
    permit: PluginSet = PluginSet()
    pre_bind: PluginSet = PluginSet()
    bind: PluginSet = PluginSet()
    post_bind: PluginSet = PluginSet()
    multi_point: PluginSet = PluginSet()
    placement_generate: PluginSet = PluginSet()
    placement_score: PluginSet = PluginSet()
    placement_feasible: PluginSet = PluginSet()
    pod_group_post_filter: PluginSet = PluginSet()

    def at(self, point: str) -> PluginSet:
        """Return the plugin set of an extension point, such as `preFilter`."""
        plugins: PluginSet = getattr(self, _attribute(point))
        return plugins


class PluginConfig(Part, frozen=True):
    """A plugin's arguments; None if the document names the plugin without any."""

    name: str = ""
    args: Args | None = None


class KubeSchedulerProfile(Part, frozen=True):
    """A profile as written; `plugins` None means the default ones."""

    scheduler_name: str | None = None
    percentage_of_nodes_to_score: Int32 | None = None
    percentage_of_placements_to_score: Int32 | None = None
    plugins: Plugins | None = None
    plugin_config: tuple[PluginConfig, ...] = ()


class ExtenderManagedResource(Part, frozen=True):
    """An extended resource that an extender manages."""

    name: str = ""
    ignored_by_scheduler: bool = False


class ExtenderTLSConfig(Part, frozen=True):
    """TLS towards an extender; data is base64 as written."""

    insecure: bool = False
    server_name: str = ""
    cert_file: str = ""
    key_file: str = ""
    ca_file: str = ""
    cert_data: str = ""
    key_data: str = ""
    ca_data: str = ""


class Extender(Part, frozen=True):
    """A webhook that filters, prioritizes, preempts or binds; an empty verb is not asked."""

    url_prefix: str = ""
    filter_verb: str = ""
    preempt_verb: str = ""
    prioritize_verb: str = ""
    weight: Int64 = 0
    bind_verb: str = ""
    enable_https: bool = msgspec.field(name="enableHTTPS", default=False)
    tls_config: ExtenderTLSConfig | None = None
    http_timeout: Duration = Duration()
    node_cache_capable: bool = False
    managed_resources: tuple[ExtenderManagedResource, ...] = ()
    ignorable: bool = False

    @property
    def address(self) -> str:
        """The urlPrefix as it may be shown: without a user, a password and a query."""
        return _USER_IN_URL.sub("", self.url_prefix.partition("?")[0])


class LeaderElectionConfiguration(Part, frozen=True):
    """Leader election; which replica schedules, and by which Lease."""

    leader_elect: bool = True
    lease_duration: Duration = Duration.of(15)
    renew_deadline: Duration = Duration.of(10)
    retry_period: Duration = Duration.of(2)
    resource_lock: str = "leases"
    resource_name: str = "kube-scheduler"
    resource_namespace: str = "kube-system"


class ClientConnectionConfiguration(Part, frozen=True):
    """The connection to the API server; nothing of it changes a decision."""

    kubeconfig: str = ""
    accept_content_types: str = ""
    content_type: str = "application/vnd.kubernetes.protobuf"
    qps: Float32 = 50.0
    burst: Int32 = 100


class KubeSchedulerConfiguration(Part, frozen=True):
    """A configuration, decoded and with its defaults; `profiles` as written."""

    api_version: str = ""
    parallelism: Int32 = 16
    leader_election: LeaderElectionConfiguration = LeaderElectionConfiguration()
    client_connection: ClientConnectionConfiguration = ClientConnectionConfiguration()
    enable_profiling: bool = True
    enable_contention_profiling: bool = True
    percentage_of_nodes_to_score: Int32 = 0
    percentage_of_placements_to_score: Int32 | None = None
    pod_initial_backoff_seconds: Int64 = 1
    pod_max_backoff_seconds: Int64 = 10
    profiles: tuple[KubeSchedulerProfile, ...] = ()
    extenders: tuple[Extender, ...] = ()
    delay_cache_until_active: bool = False
