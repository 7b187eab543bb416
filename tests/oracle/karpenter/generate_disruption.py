"""Random clusters whose nodes Karpenter might remove: budgets with schedules, policies, prices, pods that hold them."""

import copy
from random import Random
from typing import Any

from tests.oracle.karpenter.generate import (
    APPS,
    CAPACITY_TYPE,
    FAMILY,
    HOSTNAME,
    INSTANCE_TYPE,
    POOL,
    ZONE,
    ZONES,
    condition,
    request_of,
)

Json = dict[str, Any]

NOWS = ["2026-11-01T00:00:00Z", "2026-11-06T09:07:30Z", "2026-11-28T17:59:00Z", "2027-02-28T23:30:00Z"]
BEFORE = ["2026-01-01T00:00:00Z", "2026-10-31T23:59:30Z", "2026-11-06T09:00:00Z", "2026-11-28T17:30:00Z"]
SCHEDULES = [
    ("@daily", "8h"), ("@hourly", "10m"), ("@weekly", "24h0m"), ("@monthly", "1h"), ("0 9 * * mon-fri", "8h"),
    ("*/15 * * * *", "5m"), ("0 0 1 * 5", "30m"), ("30 23 28 2 *", "1h"), ("0 9,17 * NOV *", "1h30m0s"),
    ("0-10/2 * ? * FRI", "2m"), ("5/20 * 6 11 *", "3m"), ("0 0 31 2 *", "1h"), ("0 25 * * *", "1h"),
    ("0 9 * * mon", "1h"), ("* * * *", "1h"), ("0 0 * * 7", "1h"), ("@never", "1h"),
]  # fmt: skip


def with_disruption(seed: int) -> Json:
    """A request that asks what Karpenter disrupts in a cluster of NodePools with nodes of its own."""
    request = copy.deepcopy(request_of(seed))
    return _Disrupted(Random(f"disruption-{seed}"), request).made()  # noqa: S311 - reproducible on purpose


class _Disrupted:
    """Gives a cluster nodes of its NodePools, and what decides about their removal."""

    def __init__(self, random: Random, request: Json) -> None:
        self._random = random
        self._request = request
        self._now = random.choice(NOWS)

    def chance(self, share: float) -> bool:
        return self._random.random() < share

    def made(self) -> Json:
        kinds = {"Node", "NodeClaim", "CSINode"}
        kept = [each for each in self._request["objects"] if each["kind"] not in kinds and self._keeps(each)]
        pools = [each for each in kept if each["kind"] == "NodePool"]
        for pool in pools:
            self.change_pool(pool)
        for number in range(self._random.choice([2, 3, 3, 4, 6])):
            kept += self.node(number, self._random.choice(pools)["metadata"]["name"])
        kept += [self.budget(number) for number in range(self._random.choice([0, 1, 1, 2]))]
        return {
            **self._request,
            "objects": kept,
            "now": self._now,
            "spotToSpotConsolidation": self.chance(0.5),
        }

    def _keeps(self, each: Json) -> bool:
        """Leave most pending pods out, so that nodes have room."""
        if each["kind"] != "Pod":
            return True
        return not each["spec"].get("nodeName") and self.chance(0.15)

    def change_pool(self, pool: Json) -> None:
        spec = pool["spec"]
        if self.chance(0.7):
            spec.pop("limits", None)
        spec["disruption"] = {
            "consolidationPolicy": self._random.choice(
                ["WhenEmptyOrUnderutilized", "WhenEmptyOrUnderutilized", "Balanced", "Balanced", "WhenEmpty"]
            ),
            "consolidateAfter": self._random.choice(["0s"] * 8 + ["30s", "30s", "15m", "Never"]),
            "budgets": [self.node_budget() for _ in range(self._random.choice([0, 1, 1, 2]))],
        }
        if self.chance(0.05):
            spec["replicas"] = 2
        if self.chance(0.6):
            spec["template"]["spec"]["requirements"] = [
                each for each in spec["template"]["spec"].get("requirements", []) if "minValues" not in each
            ]

    def node_budget(self) -> Json:
        made: Json = {"nodes": self._random.choice(["0", "0%", "1", "1", "5", "10%", "34%", "50%", "100%"])}
        if self.chance(0.5):
            made["schedule"], made["duration"] = self._random.choice(SCHEDULES)
        if self.chance(0.3):
            made["reasons"] = self._random.sample(["Empty", "Drifted", "Underutilized"], self._random.choice([1, 2]))
        return made

    def node(self, number: int, pool: str) -> list[Json]:
        """A node with its NodeClaim, and the pods on it."""
        name = f"node-{number}"
        types = self._request["instanceTypes"].get(pool, self._request["instanceTypes"][""])["types"]
        types = types or self._request["instanceTypes"][""]["types"]
        kind = self._random.choice(types[-4:] if self.chance(0.6) else types)
        labels = {ZONE: self._random.choice(ZONES), INSTANCE_TYPE: kind["name"], "kubernetes.io/arch": "amd64",
                  "kubernetes.io/os": "linux", FAMILY: kind["name"][0], POOL: pool,
                  CAPACITY_TYPE: self._random.choice(["on-demand", "on-demand", "spot", "reserved"])}  # fmt: skip
        for label in (INSTANCE_TYPE, CAPACITY_TYPE, ZONE):
            if self.chance(0.02):
                labels.pop(label)
        claim = self.node_claim(number, labels, kind)
        own = {**labels, HOSTNAME: name, "karpenter.sh/registered": "true"}
        if self.chance(0.93):
            own["karpenter.sh/initialized"] = "true"
        metadata: Json = {"name": name, "uid": name, "labels": own}
        if self.chance(0.05):
            metadata["annotations"] = {"karpenter.sh/do-not-disrupt": self._random.choice(["true", "false"])}
        status = {"capacity": kind["capacity"], "allocatable": kind["capacity"],
                  "conditions": [condition("Ready", "True" if self.chance(0.93) else "False")]}  # fmt: skip
        node = {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {"providerID": f"fake://{name}"},
                "status": status}  # fmt: skip
        if self.chance(0.03):  # Karpenter 1.15.0 goes down over a NodeClaim that reboots and has no node
            conditions = [each for each in claim["status"]["conditions"] if each["type"] != "Rebooting"]
            return [{**claim, "status": {**claim["status"], "conditions": conditions}}]
        pods = [self.bound_pod(f"bound-{number}-{copy}", name)
                for copy in range(self._random.choice([0, 1, 1, 2, 3, 4]))]  # fmt: skip
        return [claim, node, *pods] if self.chance(0.97) else [node, *pods]

    def node_claim(self, number: int, labels: Json, kind: Json) -> Json:
        conditions = [condition("Initialized", "True" if self.chance(0.95) else "False")]
        conditions[0]["lastTransitionTime"] = self._random.choice(BEFORE)
        if self.chance(0.85):
            conditions.append(condition("Consolidatable", "True"))
        if self.chance(0.02):
            conditions.append(condition("Rebooting", "True"))
        if self.chance(0.25):
            conditions.append(condition("Drifted", "True" if self.chance(0.9) else "False"))
        node_class = {"group": "karpenter.test.sh", "kind": "TestNodeClass", "name": "default"}
        expiry = self._random.choice(["720h", "Never", "1h", "2400h"])
        spec: Json = {"nodeClassRef": node_class, "requirements": [], "expireAfter": expiry}
        if self.chance(0.3):
            spec["terminationGracePeriod"] = "1h"
        status: Json = {"providerID": f"fake://node-{number}", "nodeName": f"node-{number}",
                        "capacity": kind["capacity"], "allocatable": kind["capacity"],
                        "conditions": conditions}  # fmt: skip
        if self.chance(0.5):
            status["lastPodEventTime"] = self._random.choice(BEFORE)
        metadata: Json = {"name": f"claim-{number}", "uid": f"claim-{number}", "labels": labels,
                          "creationTimestamp": "2026-10-01T00:00:00Z"}  # fmt: skip
        if self.chance(0.05):
            metadata |= {"deletionTimestamp": "2026-10-31T00:00:00Z", "finalizers": ["karpenter.sh/termination"]}
        return {"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": metadata, "spec": spec,
                "status": status}  # fmt: skip

    def bound_pod(self, name: str, node: str) -> Json:
        requests = {"cpu": self._random.choice(["100m", "500m", "900m", "2", "6"]),
                    "memory": self._random.choice(["64Mi", "512Mi", "2Gi"])}  # fmt: skip
        spec: Json = {"nodeName": node, "containers": [{"name": "main", "image": "x",
                                                        "resources": {"requests": requests}}]}  # fmt: skip
        metadata: Json = {"name": name, "namespace": "default", "uid": name,
                          "labels": {"app": self._random.choice(APPS)}, "annotations": {}}  # fmt: skip
        if self.chance(0.06):
            value = self._random.choice(["true", "1h", "999999h", "false", "-1h", "soon"])
            metadata["annotations"]["karpenter.sh/do-not-disrupt"] = value
        if self.chance(0.15):
            cost = self._random.choice(["-2147483647", "1000", "2147483647", "x", "-134217728"])
            metadata["annotations"]["controller.kubernetes.io/pod-deletion-cost"] = cost
        if self.chance(0.08):
            cost = self._random.choice(["-2147483648", "1000000000", "2147483648", "1.5"])
            metadata["annotations"]["karpenter.sh/disruption-cost"] = cost
        if self.chance(0.15):
            spec["priority"] = self._random.choice([-2147483648, 1000, 1000000000])
        if self.chance(0.15):
            kind = self._random.choice(["DaemonSet", "StatefulSet", "Node"])
            metadata["ownerReferences"] = [{"apiVersion": "v1" if kind == "Node" else "apps/v1", "kind": kind,
                                            "name": "s", "uid": "s", "controller": True}]  # fmt: skip
        if self.chance(0.15):
            zones = {"key": ZONE, "operator": "In", "values": self._random.sample(ZONES, 2)}
            spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
                                                 {"nodeSelectorTerms": [{"matchExpressions": [zones]}]}}}  # fmt: skip
        if self.chance(0.05):
            metadata |= {"deletionTimestamp": "2026-10-31T00:00:00Z", "finalizers": ["example.com/x"]}
        if self.chance(0.05):
            spec["tolerations"] = [{"key": "karpenter.sh/disrupted", "operator": "Exists"}]
        status: Json = {"phase": self._random.choice(["Running"] * 9 + ["Succeeded", "Pending"]),
                        "startTime": "2026-10-01T00:00:00Z",
                        "conditions": [condition("Ready", "True" if self.chance(0.9) else "False")]}  # fmt: skip
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}

    def budget(self, number: int) -> Json:
        spec: Json = self._random.choice([{"maxUnavailable": 0}, {"maxUnavailable": 1}, {"minAvailable": "100%"}])
        spec = {**spec, "selector": {"matchLabels": {"app": self._random.choice(APPS)}}}
        if self.chance(0.3):
            spec["unhealthyPodEvictionPolicy"] = self._random.choice(["AlwaysAllow", "IfHealthyBudget"])
        return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
                "metadata": {"name": f"budget-{number}", "namespace": "default"}, "spec": spec,
                "status": {"disruptionsAllowed": self._random.choice([0, 1, 1, 2])}}  # fmt: skip
