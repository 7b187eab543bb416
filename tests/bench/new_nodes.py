"""Measures the replay of Karpenter against Karpenter itself: `python -m tests.bench.new_nodes [hosts]`. It needs Go.

1,000 pending pods of 40 shapes, 20 NodePools and 700 instance types, in one round. Karpenter's seconds are those of its
own `Schedule`, ours those of `replay` over decoded instance types, by turns. Nothing here is asserted by a test.
"""

import random
import statistics
import sys
import time
from typing import Any

from kubectl_sched.node_provisioning.karpenter.cluster import Cluster
from kubectl_sched.node_provisioning.karpenter.provisioner import provision
from tests.karpenter_decisions import as_answer, differences, instance_type, objects_of, options_of
from tests.oracle.karpenter.generate import HOSTNAME, WELL_KNOWN, ZONE
from tests.oracle.karpenter.oracle import KarpenterOracle, instance_types

Json = dict[str, Any]

PODS, POOLS, TYPES, SHAPES, ROUNDS = 1000, 20, 700, 40, 3


def request(*, spread_over_hosts: bool) -> Json:
    """Return equal requests each time; a fifth of shapes is spread over zones, a fifth over hosts if asked."""
    chance = random.Random(1)  # noqa: S311 - the same cluster each time
    shapes = [_shape(chance, number, spread_over_hosts=spread_over_hosts) for number in range(SHAPES)]
    pods = [_pod(number, shapes[number % SHAPES]) for number in range(PODS)]
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}
    return {
        "id": "bench",
        "objects": [namespace, *map(_pool, range(POOLS)), *pods],
        "instanceTypes": {"": {"types": instance_types("fake", str(TYPES))}},
        "wellKnownLabels": WELL_KNOWN,
        "reservationIDLabel": "example.com/reservation-id",
        "preferencePolicy": "Respect",
        "minValuesPolicy": "Strict",
        "noReservedCapacity": False,
        "maxInstanceTypes": 600,
    }


def _pool(number: int) -> Json:
    reference = {"group": "karpenter.test.sh", "kind": "TestNodeClass", "name": "default"}
    spec: Json = {"nodeClassRef": reference, "requirements": []}
    if number % 4 == 3:
        spec["taints"] = [{"key": "team", "value": str(number), "effect": "NoSchedule"}]
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": f"pool-{number}", "uid": f"pool-{number}"},
        "spec": {"template": {"spec": spec}, "weight": POOLS - number},
        "status": {"conditions": [{"type": each, "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z",
                                   "reason": "x", "message": ""}
                                  for each in ("ValidationSucceeded", "NodeClassReady", "Ready")]},
    }  # fmt: skip


def _shape(chance: random.Random, number: int, *, spread_over_hosts: bool) -> Json:
    requests = {
        "cpu": f"{chance.choice([100, 250, 500, 1500, 4000])}m",
        "memory": f"{chance.choice([128, 512, 2048])}Mi",
    }
    spec: Json = {"containers": [{"name": "main", "image": "x", "resources": {"requests": requests}}]}
    labels = {"app": f"app-{number}"}
    if number % 5 == 0 or (number % 5 == 1 and spread_over_hosts):
        spread = {"maxSkew": 1, "topologyKey": HOSTNAME if number % 5 else ZONE, "whenUnsatisfiable": "DoNotSchedule",
                  "labelSelector": {"matchLabels": labels}}  # fmt: skip
        spec["topologySpreadConstraints"] = [spread]
    if number % 7 == 0:
        spec["nodeSelector"] = {ZONE: chance.choice(["test-zone-1", "test-zone-2"])}
    if number % 3 == 0:
        spec["tolerations"] = [{"key": "team", "operator": "Exists"}]
    return {"labels": labels, "spec": spec}


def _pod(number: int, shape: Json) -> Json:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    metadata = {"name": f"pod-{number}", "namespace": "default", "uid": f"pod-{number}", "labels": shape["labels"],
                "creationTimestamp": "2026-01-01T00:00:00Z"}  # fmt: skip
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": shape["spec"],
            "status": {"phase": "Pending", "conditions": [condition]}}  # fmt: skip


def main() -> None:
    """Print both times and their ratio; with `hosts`, pods are spread over hosts, too."""
    asked = request(spread_over_hosts="hosts" in sys.argv[1:])
    types = tuple(map(instance_type, asked["instanceTypes"][""]["types"]))
    by_pool = {f"pool-{number}": types for number in range(POOLS)}
    options = options_of(asked)
    ratios = []
    with KarpenterOracle() as oracle:
        for _ in range(ROUNDS):
            answer = oracle.ask(asked)
            cluster = Cluster(objects_of(asked))
            started = time.perf_counter()
            outcome = provision(cluster, by_pool, options)
            seconds = time.perf_counter() - started
            wrong = differences(answer["results"], as_answer(outcome, options))
            ratios.append(seconds / answer["seconds"])
            told = f"differs in {', '.join(wrong)}" if wrong else "the same answer"
            tied = ", tied" if outcome.ties else ""
            sys.stdout.write(
                f"Karpenter {answer['seconds']:.2f} s, replay {seconds:.2f} s, {ratios[-1]:.2f} times; "
                f"{len(outcome.claims)} NodeClaims{tied}, {told}\n"
            )
    sys.stdout.write(f"median: {statistics.median(ratios):.2f} times\n")


if __name__ == "__main__":
    main()
