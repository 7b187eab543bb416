"""Replays of Karpenter in the orders that chance may give it, and the outcome for a pod that most of them have."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_sched.api.core import ZONE
from kubectl_sched.node_provisioning.karpenter.provisioner import provision
from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import of_key

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from kubectl_sched.node_provisioning.karpenter.cloudprovider.instance_type import InstanceType
    from kubectl_sched.node_provisioning.karpenter.cluster import Cluster
    from kubectl_sched.node_provisioning.karpenter.outcome import Outcome
    from kubectl_sched.queries.provisioning.karpenter_setting import Setting

ORDERS: Final = 20
_FEWEST: Final = 4
_PODS_PLACED: Final = 4_000
"""Pods that all replays together place at most, as long as a few replays are made."""


class Agreement(NamedTuple):
    """An outcome, and how many of so many replays give the pod the same place."""

    outcome: Outcome
    agreeing: int = 1
    replays: int = 1


def most_common_outcome(cluster: Cluster, known: Setting, pod: str, only: str | None) -> Agreement:
    """Replay Karpenter for a pod (namespace/name), and in other orders too if it leaves anything to chance."""
    types: Mapping[str, Sequence[InstanceType]] = dict.fromkeys(known.pools, known.types)
    first = provision(cluster, types, known.options, only)
    if not first.ties:
        return Agreement(first)
    placed = sum(len(claim.pods) for claim in first.claims) + len(first.errors)
    replays = min(ORDERS, max(_FEWEST, _PODS_PLACED // max(placed, 1)))
    seen = [provision(cluster, types, known.options, only, seed=seed) for seed in range(replays)]
    places = [_place(outcome, pod) for outcome in seen]
    counts = Counter(places)
    own = _place(first, pod)
    place, agreeing = max(counts.items(), key=lambda item: (item[1], item[0] == own))
    outcome = first if place == own else seen[places.index(place)]
    return Agreement(outcome, agreeing, replays)


def _place(outcome: Outcome, pod: str) -> Hashable:
    """The part of an outcome that is told of the pod."""
    for claim in outcome.claims:
        if pod in claim.pods:
            zones = of_key(claim.requirements, ZONE)
            requests = tuple(sorted((name, str(amount)) for name, amount in claim.requests.items()))
            return claim.node_pool, claim.instance_types[0], zones, requests if len(claim.pods) == 1 else None
    return next((name for name, pods in outcome.existing.items() if pod in pods), None)
