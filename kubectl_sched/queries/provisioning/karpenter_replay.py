"""Karpenter's part of `explain --new-nodes`: the node that it would make for a pod, and kube-scheduler's word on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import field
from msgspec.structs import replace
from msgspec.structs import replace as with_fields

from kubectl_sched.api.affinity import Toleration
from kubectl_sched.api.apps import Deployment
from kubectl_sched.api.core import HOSTNAME, Node, NodeSpec, NodeStatus
from kubectl_sched.api.karpenter import NodePool
from kubectl_sched.api.meta import Condition, ObjectMeta, with_spec
from kubectl_sched.api.pod import Pod
from kubectl_sched.node_provisioning.karpenter.cloudprovider.instance_types_file import (
    instance_types_of_file,
    well_known_labels,
)
from kubectl_sched.node_provisioning.karpenter.cloudprovider.observed_instance_types import (
    observed_instance_types,
    provider_labels,
)
from kubectl_sched.node_provisioning.karpenter.daemons import has_dynamic_resources
from kubectl_sched.node_provisioning.karpenter.karpenter_labels import CORE_WELL_KNOWN, INITIALIZED, REGISTERED
from kubectl_sched.node_provisioning.karpenter.node_pool_obstacles import rejection_by_any_type
from kubectl_sched.node_provisioning.karpenter.operator_options import VERSION, Options, options_of
from kubectl_sched.node_provisioning.karpenter.outcome import PlannedNodeClaim, selectors
from kubectl_sched.node_provisioning.karpenter.provisionable_pods import exclusion, failed_to_schedule
from kubectl_sched.node_provisioning.karpenter.provisioner import (
    Cluster,
    provision,
    provision_apart,
    remaining_resources,
    usable_pools,
)
from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import is_compatible
from kubectl_sched.node_provisioning.karpenter.scheduling.untolerated_taints import tolerates_all
from kubectl_sched.record import CachingRecord
from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
from kubectl_sched.sources.discovery.karpenter_deployment import find_karpenter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.core import ResourceList
    from kubectl_sched.node_provisioning.karpenter.cloudprovider.instance_type import InstanceType
    from kubectl_sched.sources.discovery.replay_setup import Replay
    from kubectl_sched.sources.dump.dump import Dump

CREATED, EXISTING, IN_FLIGHT, IMPOSSIBLE, UNKNOWN = "Created", "Existing", "InFlight", "Impossible", "Unknown"

_DEVICES = "IGNORE_DRA_REQUESTS is off, and the devices of nodes that are not there yet are not replayed"
_NEW_NODE = "karpenter-new-node"


class Asking(NamedTuple):
    """The scheduler that is asked about a new node: the configuration to replay, and the profile if one was named."""

    replay: Replay
    profile: str | None


class PoolVerdict(CachingRecord, frozen=True, kw_only=True):
    """True if one NodePool would make a node for the pod, were it the only one: Created, Impossible or Unknown."""

    name: str
    verdict: str
    reason: str
    suggestion: str = ""
    """A sentence about the tolerations with which it would, replayed; empty if none would do."""


class ThenScheduler(CachingRecord, frozen=True, kw_only=True):
    """kube-scheduler's verdict on the node that would be made."""

    outcome: str
    plugin: str = ""
    reasons: tuple[str, ...] = ()


class KarpenterAnswer(CachingRecord, frozen=True, kw_only=True):
    """Describes what Karpenter would do for a pod."""

    verdict: str
    node: str = ""
    """The node or NodeClaim that is there already and would take the pod."""

    node_pool: str = ""
    instance_types: tuple[str, ...] = ()
    requirements: list[dict[str, Any]] = field(default_factory=list)
    node_claim: dict[str, Any] = field(default_factory=dict)
    error: str = ""
    node_pools: tuple[PoolVerdict, ...] = ()
    then_scheduler: ThenScheduler | None = None
    assumed: tuple[str, ...] = ()
    version: str = VERSION


def karpenter_answer(
    pod: Pod,
    dump: Dump,
    asking: Asking,
    instance_types: tuple[bytes, str] | None = None,
    *,
    in_full: bool = True,
) -> KarpenterAnswer | None:
    """Replay Karpenter over the pods of a dump, and say what it would do for one of them; None without a NodePool.

    `instance_types` is the content of a file of Karpenter's kwok provider and its path. Unless it is asked for
    `in_full`, the pod is the only one that needs a node, and a NodePool is judged alone only if none makes one.
    Raises SchedError if the file is unusable.
    """
    if not any(isinstance(each, NodePool) for each in dump.objects):
        return None
    asked = unschedulable(pod)
    cluster = Cluster(asked if each is pod else each for each in dump.objects)
    types, options, assumed = setting(cluster, instance_types)
    if asked is not pod:
        assumed = (*assumed, "kube-scheduler has marked the pod as Unschedulable")
    if not in_full:
        assumed = (*assumed, "no other pod needs a node")
    replayed = _Replayed(cluster, asked, types, options, knows_all_types=instance_types is not None, in_full=in_full)
    return replayed.answer(dump, asking, assumed)


class _Replayed:
    """One replay of Karpenter, and the questions to it."""

    def __init__(
        self,
        cluster: Cluster,
        pod: Pod,
        types: Sequence[InstanceType],
        options: Options,
        *,
        knows_all_types: bool,
        in_full: bool,
    ) -> None:
        self._cluster = cluster
        self._pod = pod
        self._types = types
        self._options = options
        self._knows_all_types = knows_all_types
        self._in_full = in_full
        self._pools = cluster.of(NodePool)
        only = None if in_full else pod.key
        self._outcome = provision(cluster, {pool.name: types for pool in self._pools}, options, only)
        self._ignored = exclusion(pod) or self._outcome.ignored.get(pod.key, "")

    def answer(self, dump: Dump, asking: Asking, assumed: tuple[str, ...]) -> KarpenterAnswer:
        """The verdict about the pod."""
        outcome, key = self._outcome, self._pod.key
        claim = next((each for each in outcome.claims if key in each.pods), None)
        node = next((name for name, pods in outcome.existing.items() if key in pods), None)
        pools: tuple[PoolVerdict, ...] = ()
        if self._in_full or (claim is None and node is None):
            pools = tuple(self._with_suggestion(pool, self._of_pool(pool)) for pool in self._pools)
        if outcome.ties:
            assumed = (*assumed, "Karpenter leaves a choice to chance here: another run may choose otherwise")
        if claim is not None:
            return self._created(claim, pools, assumed, dump, asking)
        if node is not None:
            state = next(each for each in self._cluster.state_nodes if each.name == node)
            verdict = EXISTING if state.is_initialized else IN_FLIGHT
            return KarpenterAnswer(
                verdict=verdict, node=node, node_pool=state.node_pool, node_pools=pools, assumed=assumed
            )
        if not self._ignored and not self._options.ignores_devices and has_dynamic_resources(self._pod):
            return KarpenterAnswer(verdict=UNKNOWN, error=_DEVICES, node_pools=(), assumed=assumed)
        error = self._ignored or outcome.errors.get(key, "")
        settled = self._ignored or all(each.verdict == IMPOSSIBLE for each in pools)
        return KarpenterAnswer(
            verdict=IMPOSSIBLE if settled else UNKNOWN, error=error, node_pools=pools, assumed=assumed
        )

    def _created(
        self,
        claim: PlannedNodeClaim,
        pools: tuple[PoolVerdict, ...],
        assumed: tuple[str, ...],
        dump: Dump,
        asking: Asking,
    ) -> KarpenterAnswer:
        labels, requirements = claim.created(self._options.max_instance_types)
        spec = self._cluster_pool(claim.node_pool).spec.template.spec
        taints = [{"key": each.key, "value": each.value, "effect": each.effect} for each in claim.template.taints]
        node_claim = {
            "labels": labels,
            "requirements": requirements,
            "taints": taints,
            "resources": {"requests": {name: str(amount) for name, amount in claim.requests.items()}},
            "nodeClassRef": {"group": spec.node_class_ref.group, "kind": spec.node_class_ref.kind,
                             "name": spec.node_class_ref.name},
        }  # fmt: skip
        node = node_of(claim, labels, _NEW_NODE)
        then = _then_scheduler(self._pod, node, self._with_others(dump, claim), asking)
        return KarpenterAnswer(
            verdict=CREATED,
            node_pool=claim.node_pool,
            instance_types=tuple(claim.instance_types),
            requirements=selectors(claim.requirements.values()),
            node_claim=node_claim,
            node_pools=pools,
            then_scheduler=then,
            assumed=(*assumed, f"kube-scheduler is asked about the cheapest choice, {claim.instance_types[0]}"),
        )

    def _with_others(self, dump: Dump, own: PlannedNodeClaim) -> Dump:
        """Return the state in which all other pods are where Karpenter expects them."""
        outcome, limit = self._outcome, self._options.max_instance_types
        others = {f"{_NEW_NODE}-{number}": each for number, each in enumerate(outcome.claims) if each is not own}
        made = [node_of(each, each.created(limit)[0], name) for name, each in others.items()]
        places = {key: name for name, each in others.items() for key in each.pods}
        places |= {key: name for name, keys in outcome.existing.items() for key in keys}
        places |= dict.fromkeys(own.pods, _NEW_NODE)
        del places[self._pod.key]
        objects = (
            with_spec(each, node_name=places[each.key]) if isinstance(each, Pod) and each.key in places else each
            for each in dump.objects
        )
        return with_fields(dump, objects=(*objects, *made))

    def _cluster_pool(self, name: str) -> NodePool:
        return next(each for each in self._pools if each.name == name)

    def _with_suggestion(self, pool: NodePool, found: PoolVerdict) -> PoolVerdict:
        """Replay a NodePool once more for the pod with tolerations for all its taints, if these keep the pod out."""
        spec = self._pod.spec
        binding = (each for each in pool.spec.template.spec.taints if each.effect != "PreferNoSchedule")
        lacking = [each for each in binding if not tolerates_all([each], spec.tolerations)]
        if not (self._in_full and lacking and found.verdict == IMPOSSIBLE and usable_pools([pool])) or self._ignored:
            return found
        added = (Toleration(key=each.key, operator="Equal", value=each.value, effect=each.effect) for each in lacking)
        tolerant = replace(self._pod, spec=replace(spec, tolerations=(*spec.tolerations, *added)))
        if not provision_apart(self._cluster, tolerant, pool, self._types, self._options).claims:
            return found
        told = f"NodePool {pool.name} would make one if the pod tolerated {' and '.join(map(str, lacking))}"
        return replace(found, suggestion=told)

    def _of_pool(self, pool: NodePool) -> PoolVerdict:
        """Report whether this NodePool alone would make a node for the pod."""
        if not usable_pools([pool]):
            return PoolVerdict(name=pool.name, verdict=IMPOSSIBLE, reason=_unusable(pool))
        if self._ignored:
            return PoolVerdict(name=pool.name, verdict=IMPOSSIBLE, reason=self._ignored)
        active = [each for each in self._cluster.state_nodes if not each.is_being_deleted]
        remaining = remaining_resources([pool], active)[pool.name]
        wrong = rejection_by_any_type(pool, self._pod, remaining, self._options)
        if wrong:
            return PoolVerdict(name=pool.name, verdict=IMPOSSIBLE, reason=wrong)
        apart = provision_apart(self._cluster, self._pod, pool, self._types, self._options)
        if apart.claims:
            count = len(apart.claims[0].rows)
            return PoolVerdict(
                name=pool.name,
                verdict=CREATED,
                reason=f"{count} instance type{'s' if count != 1 else ''} fit{'s' if count == 1 else ''}",
            )
        error = apart.errors.get(self._pod.key, "")
        return PoolVerdict(name=pool.name, verdict=IMPOSSIBLE if self._knows_all_types else UNKNOWN, reason=error)


def _unusable(pool: NodePool) -> str:
    if pool.spec.replicas is not None:
        return "it has a fixed number of nodes (replicas)"
    return "it is being deleted" if pool.metadata.deletion_timestamp is not None else "it is not ready"


def setting(
    cluster: Cluster, instance_types: tuple[bytes, str] | None
) -> tuple[tuple[InstanceType, ...], Options, tuple[str, ...]]:
    """The instance types, Karpenter's options, and what is assumed about both."""
    karpenter = find_karpenter((*cluster.of(Pod), *cluster.of(Deployment)))
    groups = [pool.spec.template.spec.node_class_ref.group for pool in cluster.of(NodePool)]
    unseen = (*karpenter.assumed, "no instance type is out of stock")
    if instance_types is not None:
        types = instance_types_of_file(*instance_types)
        return types, options_of(karpenter.flags, CORE_WELL_KNOWN | well_known_labels(types), groups), unseen
    types = observed_instance_types(cluster.state_nodes)
    if any(offering.is_reserved for each in types for offering in each.offerings):
        unseen = (*unseen, "no reservation is used up")
    seen = (
        f"the instance types are the {len(types)} that nodes of NodePools have, where they have them, at equal prices; "
        "--instance-types FILE names all"
        if types
        else "no instance type is known, as no node of a NodePool shows one; --instance-types FILE names them"
    )
    return types, options_of(karpenter.flags, CORE_WELL_KNOWN | provider_labels(types), groups), (*unseen, seen)


def unschedulable(pod: Pod, nominated_node: str = "") -> Pod:
    """The pod as kube-scheduler leaves one that fits nowhere, or not before its preemption is over."""
    if failed_to_schedule(pod):
        return pod
    others = tuple(each for each in pod.status.conditions if each.type != "PodScheduled")
    said = Condition(type="PodScheduled", status="False", reason="Unschedulable")
    status = replace(pod.status, phase="Pending", nominated_node_name=nominated_node, conditions=(*others, said))
    return replace(pod, status=status)


def node_of(claim: PlannedNodeClaim, labels: dict[str, str], name: str) -> Node:
    """The node that the cheapest choice becomes, once it is ready and its startup taints are gone."""
    table = claim.template.table
    chosen = table.types[claim.rows[0]]
    offered = [
        each
        for each in chosen.offerings
        if each.available and is_compatible(claim.requirements, each.requirements, table.well_known)
    ]
    offering = min(offered, key=lambda each: each.price)
    stated = [
        (key, each.only_value if key in table.well_known else each.any_value)
        for key, each in claim.requirements.items()
    ]
    for part in (chosen.requirements, offering.requirements):
        stated += [(key, each.only_value) for key, each in part.items()]
    found = {key: value for key, value in stated if value}
    own = {HOSTNAME: name, REGISTERED: "true", INITIALIZED: "true"}
    amounts: ResourceList = {name: str(amount) for name, amount in chosen.allocatable.items()}
    return Node(
        metadata=ObjectMeta(name=name, uid=name, labels={**labels, **found, **own}),
        spec=NodeSpec(taints=claim.template.taints),
        status=NodeStatus(
            capacity={name: str(amount) for name, amount in chosen.capacity.items()},
            allocatable=amounts,
            conditions=(Condition(type="Ready", status="True"),),
        ),
    )


def _then_scheduler(pod: Pod, node: Node, dump: Dump, asking: Asking) -> ThenScheduler:
    """Return what kube-scheduler says of the pod on the node that would be made."""
    state = with_fields(dump, objects=(*dump.objects, node))
    result = ClusterSchedulers(state, asking.replay, asking.profile).schedule_one(pod)
    if result.verdict is None:
        return ThenScheduler(outcome=result.outcome.value, plugin="", reasons=(result.message or result.error or "",))
    status = result.verdict[result.nodes.row_of[node.name]]
    if status.is_success:
        return ThenScheduler(outcome="Schedulable")
    return ThenScheduler(outcome="Unschedulable", plugin=status.plugin or "", reasons=tuple(status.reasons))
