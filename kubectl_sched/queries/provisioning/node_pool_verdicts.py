"""The verdict on each NodePool by itself for a pod, and the change of it that would help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.affinity import Toleration
from kubectl_sched.api.apimachinery.quantity import ZERO, parse_resource_list
from kubectl_sched.api.karpenter import NodePool
from kubectl_sched.node_provisioning.karpenter.node_pool_obstacles import certain_obstacle, labels_not_named
from kubectl_sched.node_provisioning.karpenter.provisioner import provision_apart, remaining_resources, usable_pools
from kubectl_sched.node_provisioning.karpenter.scheduling.untolerated_taints import tolerates_all
from kubectl_sched.node_provisioning.karpenter.scheduling.volume_topology import (
    MissingVolumeObject,
    volume_requirements,
)
from kubectl_sched.queries.provisioning.node_pool_advice import (
    LimitUse,
    changed_pool,
    higher_limits,
    made_ready,
    more_replicas,
)
from kubectl_sched.queries.provisioning.provisioner_advice import (
    ProvisionerAdvice,  # noqa: TC001 - the JSON Schema is made from the types
)
from kubectl_sched.record import CachingRecord

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_sched.api.apimachinery.quantity import Quantity
    from kubectl_sched.api.karpenter import NodePool
    from kubectl_sched.api.meta import Condition
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.node_provisioning.karpenter.cluster import Cluster
    from kubectl_sched.node_provisioning.karpenter.outcome import Outcome, PlannedNodeClaim
    from kubectl_sched.queries.provisioning.karpenter_setting import Setting

CREATED, EXISTING, IN_FLIGHT, IMPOSSIBLE, UNKNOWN = "Created", "Existing", "InFlight", "Impossible", "Unknown"
NO_TYPES = "not known without instance types (--instance-types FILE names them)"


class PoolVerdict(CachingRecord, frozen=True, kw_only=True):
    """One NodePool and the pod: Created, Impossible or Unknown, or Existing where it could, and no node is needed."""

    name: str
    verdict: str
    reason: str
    suggestion: str = ""
    """A sentence about a change of the pod with which it would, or about other pods; replayed, empty if none."""

    limits: tuple[LimitUse, ...] = ()
    """The limits without which it would make a node."""

    advice: tuple[ProvisionerAdvice, ...] = ()


class PoolJudge:
    """Judges the NodePools of a replay for one pod."""

    def __init__(self, cluster: Cluster, pod: Pod, known: Setting, outcome: Outcome, *, in_full: bool) -> None:
        self._cluster = cluster
        self._pod = pod
        self._known = known
        self._in_full = in_full
        self._own_errors = outcome.errors_by_pool.get(pod.key, {})
        self._is_refused = pod.key in outcome.errors
        try:
            self._volumes = volume_requirements(pod, cluster.storage)
        except MissingVolumeObject:
            self._volumes = []
        self._has_node = any(pod.key in pods for pods in outcome.existing.values())

    def verdict(self, pool: NodePool, ignored: str) -> PoolVerdict:
        """Judge a NodePool; `ignored` is the reason why Karpenter does not look at the pod at all."""
        if not usable_pools([pool]):
            advice = (*self._more_replicas(pool), *self._made_ready(pool))
            return PoolVerdict(name=pool.name, verdict=IMPOSSIBLE, reason=_unusable(pool), advice=advice)
        if ignored:
            return PoolVerdict(name=pool.name, verdict=IMPOSSIBLE, reason=ignored)
        unclear = self._unclear_labels(pool)
        if unclear:
            return PoolVerdict(name=pool.name, verdict=UNKNOWN, reason=unclear)
        apart = self._apart(pool)
        if apart is not None and not self._is_refused:
            return self._possible(pool, apart)
        return self._refused(pool, apart)

    def _more_replicas(self, pool: NodePool) -> Iterator[ProvisionerAdvice]:
        """Yield one replica more of a static NodePool, if the pod fits on its nodes."""
        spec = pool.spec
        if spec.replicas is not None and self._apart(replace(pool, spec=replace(spec, replicas=None))) is not None:
            yield more_replicas(pool, spec.replicas)

    def _made_ready(self, pool: NodePool) -> Iterator[ProvisionerAdvice]:
        """Yield what keeps a NodePool from being ready, unless it would make no node for the pod all the same."""
        if pool.spec.replicas is None and pool.metadata.deletion_timestamp is None:
            lacking = next((each for each in pool.status.conditions if _keeps_from_being_ready(each)), None)
            if lacking is not None and self._would_make(pool, self._pod) is not False:
                yield made_ready(pool, lacking)

    def _possible(self, pool: NodePool, claim: PlannedNodeClaim) -> PoolVerdict:
        count = len(claim.rows)
        fitting = f"{count} instance type{'s' if count != 1 else ''} fit{'s' if count == 1 else ''}"
        verdict = EXISTING if self._has_node else CREATED
        return PoolVerdict(name=pool.name, verdict=verdict, reason=fitting)

    def _refused(self, pool: NodePool, apart: PlannedNodeClaim | None) -> PoolVerdict:
        """A NodePool that makes no node: the replay's own reason where it has one, else that of the NodePool alone."""
        certain = self._certain(pool, self._remaining(pool))
        own = self._own_errors.get(pool.name)
        if certain and not self._known.knows_all_types:
            reason = certain
        elif not self._known.types:
            reason = NO_TYPES
        else:
            reason = own or self._error_apart(pool)
        is_certain = self._known.knows_all_types or bool(certain)
        found = PoolVerdict(name=pool.name, verdict=IMPOSSIBLE if is_certain else UNKNOWN, reason=reason)
        if apart is not None:
            others = (
                f"for this pod alone NodePool {pool.name} would make a node: other pods that need a node come first"
            )
            return replace(found, suggestion=others)
        limits = self._binding_limits(pool)
        if limits:
            return replace(found, limits=limits, advice=tuple(higher_limits(pool, limits)))
        if not is_certain:
            return found
        changes = changed_pool(pool, self._pod, self._known.options, self._volumes, self._would_make)
        return replace(found, suggestion=self._tolerations(pool), advice=tuple(changes))

    def _apart(self, pool: NodePool, pod: Pod | None = None) -> PlannedNodeClaim | None:
        """Return the node that the NodePool alone would make for the pod alone."""
        made = provision_apart(self._cluster, pod or self._pod, pool, self._known.types, self._known.options).claims
        return made[0] if made else None

    def _would_make(self, pool: NodePool, pod: Pod) -> bool | None:
        """Report whether the NodePool would make a node for the pod; None if that depends on unknown machines."""
        if self._known.types and self._apart(pool, pod) is not None:
            return True
        return False if self._known.knows_all_types else None

    def _certain(self, pool: NodePool, remaining: Mapping[str, Quantity]) -> str:
        return certain_obstacle(pool, self._pod, remaining, self._known.options, self._volumes)

    def _error_apart(self, pool: NodePool) -> str:
        apart = provision_apart(self._cluster, self._pod, pool, self._known.types, self._known.options)
        return apart.errors.get(self._pod.key, "")

    def _unclear_labels(self, pool: NodePool) -> str:
        """Say which labels of the pod the NodePool's provider may know; empty if all are known here."""
        group = pool.spec.template.spec.node_class_ref.group
        if group not in self._known.unknown_groups:
            return ""
        missing = labels_not_named(pool, self._pod, self._known.options)
        if not missing:
            return ""
        listed = " and ".join(missing)
        return f"its provider, {group or 'without a name'}, is not known here, and may know the label {listed}"

    def _remaining(self, pool: NodePool) -> dict[str, Quantity]:
        active = [each for each in self._cluster.state_nodes if not each.is_being_deleted]
        return remaining_resources([pool], active)[pool.name]

    def _binding_limits(self, pool: NodePool) -> tuple[LimitUse, ...]:
        """Return the limits without which the NodePool would make a node for the pod, none if these are not all."""
        limits, left = parse_resource_list(pool.spec.limits), self._remaining(pool)
        if not limits:
            return ()
        unlimited = replace(pool, spec=replace(pool.spec, limits={}))
        claim = self._apart(unlimited) if self._known.types else None
        if self._known.types and claim is None:
            return ()
        if claim is None and self._certain(unlimited, {}):
            return ()
        found = (_limit_use(name, limits[name], left[name], claim) for name in limits)
        return tuple(each for each in found if each is not None)

    def _tolerations(self, pool: NodePool) -> str:
        """Replay a NodePool once more for the pod with tolerations for all its taints, if these keep the pod out."""
        spec = self._pod.spec
        binding = (each for each in pool.spec.template.spec.taints if each.effect != "PreferNoSchedule")
        lacking = [each for each in binding if not tolerates_all([each], spec.tolerations)]
        if not (self._in_full and lacking):
            return ""
        added = (Toleration(key=each.key, operator="Equal", value=each.value, effect=each.effect) for each in lacking)
        tolerant = replace(self._pod, spec=replace(spec, tolerations=(*spec.tolerations, *added)))
        if self._apart(pool, tolerant) is None:
            return ""
        return f"NodePool {pool.name} would make one if the pod tolerated {' and '.join(map(str, lacking))}"


def _limit_use(name: str, limit: Quantity, left: Quantity, claim: PlannedNodeClaim | None) -> LimitUse | None:
    """A limit that leaves no room for the smallest machine that the pod could have; None if there is room."""
    needed = None
    if claim is not None:
        types = claim.template.table.types
        needed = min(types[row].capacity.get(name, ZERO) for row in claim.rows)
        if needed <= left and not (name == "nodes" and left <= ZERO):
            return None
    elif left > ZERO:
        return None
    return LimitUse(
        resource=name,
        limit=str(limit),
        used=str(limit - left),
        left=str(left),
        needed=None if needed is None or name == "nodes" else str(needed),
    )


def _unusable(pool: NodePool) -> str:
    if pool.spec.replicas is not None:
        return "it has a fixed number of nodes (replicas)"
    if pool.metadata.deletion_timestamp is not None:
        return "it is being deleted"
    known = {each.type: each for each in pool.status.conditions}
    lacking = [_lacking(name, known.get(name)) for name in ("ValidationSucceeded", "NodeClassReady")]
    others = [_lacking(each.type, each) for each in pool.status.conditions if each.type not in _NAMED]
    said = [each for each in (*lacking, *others) if each] or [_lacking("Ready", known.get("Ready"))]
    return f"it is not ready: {', '.join(said)}"


_NAMED = frozenset({"Ready", "ValidationSucceeded", "NodeClassReady", "NodeRegistrationHealthy"})
"""Conditions that are named by themselves, and one that Ready does not depend on."""


def _keeps_from_being_ready(condition: Condition) -> bool:
    """Report whether Ready is not True for this condition; Ready itself sums the others up."""
    return condition.status != "True" and condition.type not in {"Ready", "NodeRegistrationHealthy"}


def _lacking(name: str, condition: Condition | None) -> str:
    """Say what a condition is that is not True; empty if it is."""
    if condition is None:
        return f"condition {name} is missing"
    if condition.status == "True":
        return ""
    because = f" ({condition.reason})" if condition.reason and condition.reason != name else ""
    return f"condition {name} is {condition.status or 'not set'}{because}"
