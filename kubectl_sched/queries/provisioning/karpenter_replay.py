"""Karpenter's part of `explain --new-nodes`: the node that it would make for a pod, and kube-scheduler's word on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import field
from msgspec.structs import replace

from kubectl_sched.api.karpenter import NodeClaim, NodePool
from kubectl_sched.api.meta import with_spec
from kubectl_sched.api.pod import Pod
from kubectl_sched.node_provisioning.karpenter.cluster import Cluster
from kubectl_sched.node_provisioning.karpenter.daemons import has_dynamic_resources
from kubectl_sched.node_provisioning.karpenter.karpenter_release import NEWEST
from kubectl_sched.node_provisioning.karpenter.outcome import PlannedNodeClaim, selectors
from kubectl_sched.node_provisioning.karpenter.provisionable_pods import exclusion
from kubectl_sched.node_provisioning.karpenter.provisioner import usable_pools
from kubectl_sched.queries.provisioning.karpenter_advice import (
    missing_startup_taints,
    smaller_than_promised,
    spread_beyond,
)
from kubectl_sched.queries.provisioning.karpenter_orders import most_common_outcome
from kubectl_sched.queries.provisioning.karpenter_setting import Setting, setting, unschedulable
from kubectl_sched.queries.provisioning.new_karpenter_node import (
    Asking,
    ThenScheduler,
    devices_of,
    node_of,
    then_scheduler,
)
from kubectl_sched.queries.provisioning.node_pool_advice import in_order
from kubectl_sched.queries.provisioning.node_pool_verdicts import (
    CREATED,
    EXISTING,
    IMPOSSIBLE,
    IN_FLIGHT,
    UNKNOWN,
    PoolJudge,
    PoolVerdict,
)
from kubectl_sched.record import CachingRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_sched.queries.provisioning.provisioner_advice import ProvisionerAdvice
    from kubectl_sched.sources.dump.dump import Dump

_DEVICES = (
    "IGNORE_DRA_REQUESTS is off, and no node shows the devices of {count} of the {all} instance types, which may have "
    "what the pod claims"
)
_OBSERVED_DEVICES = "the devices of new nodes are those that a node of the same type has published"
_NEW_NODE = "karpenter-new-node"
_GATED = "the pod is gated: kube-scheduler has not tried it, and Karpenter looks only at pods that it has tried"


class KarpenterAnswer(CachingRecord, frozen=True, kw_only=True):
    """Describes what Karpenter would do for a pod."""

    verdict: str
    node: str = ""
    """The node or NodeClaim that is there already and would take the pod, or that Karpenter waits for."""

    node_pool: str = ""
    instance_types: tuple[str, ...] = ()
    requirements: list[dict[str, Any]] = field(default_factory=list)
    node_claim: dict[str, Any] = field(default_factory=dict)
    error: str = ""
    node_pools: tuple[PoolVerdict, ...] = ()
    then_scheduler: ThenScheduler | None = None
    assumed: tuple[str, ...] = ()
    version: str = NEWEST.version
    agreeing: int = 1
    """The number of replays that have this outcome, of all in the orders that chance may give."""

    replays: int = 1
    types_seen: int = 0
    """The number of instance types that the answer rests on."""

    advice: tuple[ProvisionerAdvice, ...] = ()
    """The changes to NodePools that would help the pod."""


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
    asked = pod if pod.spec.scheduling_gates else unschedulable(pod)
    cluster = Cluster((asked if each is pod else each for each in dump.objects), dump.at)
    known = setting(cluster, instance_types)
    assumed = known.assumed
    if asked is not pod:
        assumed = (*assumed, "kube-scheduler has marked the pod as Unschedulable")
    if not in_full:
        assumed = (*assumed, "no other pod needs a node")
    return _Replayed(cluster, asked, known, in_full=in_full).answer(dump, asking, assumed)


class _Replayed:
    """One replay of Karpenter, and the questions to it."""

    def __init__(self, cluster: Cluster, pod: Pod, known: Setting, *, in_full: bool) -> None:
        self._cluster = cluster
        self._pod = pod
        self._known = known
        self._in_full = in_full
        self._pools = cluster.of(NodePool)
        only = None if in_full else pod.key
        self._agreement = most_common_outcome(cluster, known, pod.key, only)
        self._outcome = self._agreement.outcome
        self._ignored = _exclusion(pod) or self._outcome.ignored.get(pod.key, "")

    def answer(self, dump: Dump, asking: Asking, assumed: tuple[str, ...]) -> KarpenterAnswer:
        """The verdict about the pod."""
        found = self._verdict(dump, asking)
        agreeing, replays = self._agreement.agreeing, self._agreement.replays
        if agreeing < replays:
            assumed = (*assumed, f"Karpenter leaves a choice to chance here: {agreeing} of {replays} replays agree")
        if found.verdict == CREATED:
            assumed = (*assumed, f"kube-scheduler is asked about the cheapest choice, {found.instance_types[0]}")
            if self._allocates_devices:
                assumed = (*assumed, _OBSERVED_DEVICES)
        return replace(
            found,
            assumed=assumed,
            types_seen=len(self._known.types),
            advice=self._all_advice(found),
            version=self._known.options.release.version,
            agreeing=agreeing,
            replays=replays,
        )

    def _all_advice(self, found: KarpenterAnswer) -> tuple[ProvisionerAdvice, ...]:
        of_pools = [each for pool in found.node_pools for each in pool.advice]
        return tuple(in_order(of_pools, [*self._advice(found)], is_certain=found.verdict == IMPOSSIBLE))

    def _advice(self, found: KarpenterAnswer) -> Iterator[ProvisionerAdvice]:
        """Yield what would help a pod for which Karpenter makes a node in vain, or none, besides its NodePools."""
        if self._ignored or found.verdict not in {CREATED, IMPOSSIBLE, UNKNOWN}:
            return
        yield from missing_startup_taints(self._cluster, self._pod, self._known)
        if found.verdict == CREATED:
            yield from smaller_than_promised(self._cluster, self._pod)
        else:
            yield from spread_beyond(self._cluster, self._pod, self._known)

    def _verdict(self, dump: Dump, asking: Asking) -> KarpenterAnswer:
        outcome, key = self._outcome, self._pod.key
        claim = next((each for each in outcome.claims if key in each.pods), None)
        node = next((name for name, pods in outcome.existing.items() if key in pods), None)
        pools: tuple[PoolVerdict, ...] = ()
        if self._in_full or (claim is None and node is None):
            judge = PoolJudge(self._cluster, self._pod, self._known, outcome, in_full=self._in_full)
            pools = tuple(judge.verdict(pool, self._ignored) for pool in self._pools)
        unlaunched = next((each.name for each in self._cluster.of(NodeClaim) if not each.status.provider_id), None)
        if unlaunched is not None and not self._ignored:
            waits = f"it places no pod until NodeClaim {unlaunched} has launched"
            pools = tuple(replace(each, verdict=IN_FLIGHT) if each.verdict == CREATED else each for each in pools)
            return KarpenterAnswer(verdict=IN_FLIGHT, node=unlaunched, error=waits, node_pools=pools)
        if claim is not None:
            return self._created(claim, pools, dump, asking)
        if node is not None:
            state = next(each for each in self._cluster.state_nodes if each.name == node)
            verdict = EXISTING if state.is_initialized else IN_FLIGHT
            return KarpenterAnswer(verdict=verdict, node=node, node_pool=state.node_pool, node_pools=pools)
        types = self._known.types
        unseen = sum(not each.device_slices for each in types)
        if not self._ignored and self._allocates_devices and unseen:
            error = outcome.errors.get(key, "")
            if error.startswith("resourceclaim "):
                return KarpenterAnswer(verdict=IMPOSSIBLE, error=error, node_pools=pools)
            return KarpenterAnswer(
                verdict=UNKNOWN, error=_DEVICES.format(count=unseen, all=len(types)), node_pools=pools
            )
        return self._refused(pools)

    @property
    def _allocates_devices(self) -> bool:
        """Report whether Karpenter looks for devices for the pod."""
        return not self._known.options.ignores_devices and has_dynamic_resources(self._pod)

    def _refused(self, pools: tuple[PoolVerdict, ...]) -> KarpenterAnswer:
        """No node is made: in Karpenter's words where all is known, else in those of each NodePool."""
        verdict = IMPOSSIBLE if all(each.verdict == IMPOSSIBLE for each in pools) else UNKNOWN
        error = self._ignored or self._outcome.errors.get(self._pod.key, "")
        usable = {each.name for each in usable_pools(self._pools)}
        own = [each for each in pools if each.name in usable]
        if own and not self._ignored and (verdict == UNKNOWN or not self._known.knows_all_types):
            deciding = [each for each in own if each.verdict == verdict]
            error = "; ".join(dict.fromkeys(each.reason for each in deciding))
        return KarpenterAnswer(verdict=verdict, error=error, node_pools=pools)

    def _created(
        self, claim: PlannedNodeClaim, pools: tuple[PoolVerdict, ...], dump: Dump, asking: Asking
    ) -> KarpenterAnswer:
        labels, requirements = claim.created(self._known.options.max_instance_types)
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
        return KarpenterAnswer(
            verdict=CREATED,
            node_pool=claim.node_pool,
            instance_types=tuple(claim.instance_types),
            requirements=selectors(claim.requirements.values()),
            node_claim=node_claim,
            node_pools=pools,
            then_scheduler=then_scheduler(self._pod, node, self._with_others(dump, claim), asking),
        )

    def _with_others(self, dump: Dump, own: PlannedNodeClaim) -> Dump:
        """Return the state in which all other pods are where Karpenter expects them."""
        outcome, limit = self._outcome, self._known.options.max_instance_types
        others = {f"{_NEW_NODE}-{number}": each for number, each in enumerate(outcome.claims) if each is not own}
        made: list[Any] = [node_of(each, each.created(limit)[0], name) for name, each in others.items()]
        made += devices_of(own, _NEW_NODE)
        places = {key: name for name, each in others.items() for key in each.pods}
        places |= {key: name for name, keys in outcome.existing.items() for key in keys}
        places |= dict.fromkeys(own.pods, _NEW_NODE)
        del places[self._pod.key]
        objects: Iterable[Any] = (
            with_spec(each, node_name=places[each.key]) if isinstance(each, Pod) and each.key in places else each
            for each in dump.objects
        )
        return replace(dump, objects=(*objects, *made))

    def _cluster_pool(self, name: str) -> NodePool:
        return next(each for each in self._pools if each.name == name)


def _exclusion(pod: Pod) -> str:
    """Return the reason, which Karpenter never states, for which it passes over a pod; empty if there is none."""
    return _GATED if pod.spec.scheduling_gates else exclusion(pod)
