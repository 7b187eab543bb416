"""Random clusters of devices with what is rare: resources of nodes, taint rules, conditions of binding, odd names."""

from __future__ import annotations

from typing import Any

from tests.plugins.random_devices import DRIVER, NAMES, OTHER_DRIVER, DeviceCluster, Json

RULES_API = {"1.33": "v1alpha3", "1.34": "v1alpha3", "1.35": "v1alpha3", "1.36": "v1beta2", "1.37": "v1"}
AMOUNTS = {
    "cpu": ("1", "500m", "5", "0"),
    "memory": ("1Gi", "512Mi", "100M"),
    "hugepages-2Mi": ("2Mi", "4Mi"),
    "ephemeral-storage": ("1Gi", "0"),
}
TOLERATIONS = (
    {"key": "broken", "operator": "Equal", "value": "x"},
    {"key": "broken", "value": "y"},
    {"operator": "Exists", "effect": "NoExecute"},
    {"key": "slow", "operator": "Exists", "effect": "NoSchedule"},
)


class DetailedDeviceCluster(DeviceCluster):
    """Clusters of devices with all fields of which a plugin takes notice."""

    def request(self, number: int) -> Json:
        request = super().request(number)
        if self._maybe(0.5):
            request["objects"].append(self._running())
        if self._maybe(0.15):
            request["objects"].append(self._earlier())
        return request

    def _gates(self) -> dict[str, bool]:
        gates = super()._gates()
        if self.version in {"1.36", "1.37"} and self._maybe(0.5):
            gates["DRANodeAllocatableResources"] = True
        if self._maybe(0.5):
            gates["DRADeviceTaints"] = True
            gates |= {"DRADeviceTaintRules": True} if self.version in {"1.35", "1.36", "1.37"} else {}
        return gates

    def _node(self, name: str) -> Json:
        node = super()._node(name)
        allocatable = node["status"]["allocatable"]
        allocatable["cpu"] = self._one("4", "2", "1500m")
        if self._maybe(0.6):
            allocatable["hugepages-2Mi"] = self._one("0", "8Mi", "64Mi")
        return node

    def _slice(self, pool: str, driver: str, kind: str, index: int, total: int) -> list[Json]:
        """Now and then pools of two drivers have the same name."""
        made = super()._slice(pool, driver, kind, index, total)
        if driver == OTHER_DRIVER and self._maybe(0.2):
            for each in made:
                each["spec"]["pool"]["name"] = "p0"
        return made

    def _device(self, name: str, kind: str) -> Json:
        device = super()._device(name, kind)
        if self._maybe(0.15):
            device["bindsToNode"] = True
        if device.get("bindingConditions") and self._maybe(0.5):
            device["bindingFailureConditions"] = ["failed"]
        if self._maybe(0.15):
            device["attributes"][f"{DRIVER}/model"] = device["attributes"].pop("model")
        if self._maybe(0.1):
            device["attributes"]["other.example.com/model"] = {"string": "a100"}
        if self._maybe(0.1):
            device["capacity"] = self._one({}, {f"{DRIVER}/memory": device["capacity"]["memory"]})
        return device

    def _take_of_node(self, device: Json) -> None:
        resource = self._one(*AMOUNTS)
        key = self._one(None, None, "memory", "cores", "gone")
        if self._maybe(0.5):
            return
        if self.version == "1.36":
            by_key = {"capacityKey": key, "allocationMultiplier": self._one("1", "2", "500m")}
            taken = by_key if key else {"allocationMultiplier": self._one(*AMOUNTS[resource])}
            device["nodeAllocatableResourceMappings"] = {resource: taken}
        if self.version == "1.37":
            device["nodeAllocatableResources"] = {resource: self._taken(resource, key)}

    def _taken(self, resource: str, key: str | None) -> Json:
        taken: Json = {}
        if self._maybe(0.7):
            by_key = {"capacityKey": key, "capacityMultiplier": self._one("1", "2", "500m")}
            taken["mapping"] = by_key if key else {"deviceMultiplier": self._one(*AMOUNTS[resource])}
        if not taken or self._maybe(0.5):
            named = self._one(["perPod"], ["perContainer"], ["perPod", "perContainer"])
            taken["overhead"] = {name: self._one(*AMOUNTS[resource]) for name in named}
        return taken

    def _taint_rules(self, gates: Json) -> list[Json]:
        if self.version not in RULES_API or not self.takes_rules or (not gates and self._maybe(0.5)):
            return []
        return [self._taint_rule(f"rule-{index}") for index in range(self._one(0, 1, 1, 2))]

    def _taint_rule(self, name: str) -> Json:
        where = self._one(
            {"driver": DRIVER}, {"pool": "p1"}, {"device": "d0"}, {"driver": DRIVER, "device": "d1"}, {}, None
        )
        selector = None if where is None else dict(where)
        if selector is not None and self.version in {"1.33", "1.34"}:
            selector |= {"deviceClassName": self._one("gpu", "any", "picky", "gone")} if self._maybe(0.4) else {}
            selector |= {"selectors": self._selectors(2)} if self._maybe(0.5) else {}
        spec: Json = {"taint": self._taint()} | ({} if selector is None else {"deviceSelector": selector})
        metadata = {"name": name, "uid": self._uid()}
        version = f"resource.k8s.io/{RULES_API[self.version]}"
        return {"apiVersion": version, "kind": "DeviceTaintRule", "metadata": metadata, "spec": spec}

    def _pod(self, index: int) -> Json:
        pod = super()._pod(index)
        spec = pod["spec"]
        resources = spec["containers"][0]["resources"]
        if self._maybe(0.3):
            resources.setdefault("limits", {})["cpu"] = self._one("200m", "1", "2")
        if self._maybe(0.2):
            resources.setdefault("limits", {})["hugepages-2Mi"] = "2Mi"
            resources["requests"]["hugepages-2Mi"] = "2Mi"
        if self._maybe(0.3):
            spec["containers"].append(self._second(spec["resourceClaims"]))
        if self._maybe(0.3):
            whole: Json = {"requests": {"cpu": self._one("1", "2", "3")}}
            if self._maybe(0.6):
                whole["limits"] = {"cpu": self._one("2", "3"), "hugepages-2Mi": self._one("4Mi", "6Mi")}
                whole["requests"]["hugepages-2Mi"] = whole["limits"]["hugepages-2Mi"]
            spec["resources"] = whole
        if self._maybe(0.15):
            spec["overhead"] = self._one({"cpu": "250m"}, {"memory": "64Mi"}, {"hugepages-2Mi": "2Mi"})
        return pod

    def _second(self, claims: list[Json]) -> Json:
        resources: Json = {"requests": {"cpu": "100m"}, "limits": {"cpu": "1"}}
        if claims and self._maybe(0.5):
            resources["claims"] = [{"name": claims[0]["name"]}]
        return {"name": "second", "image": "x", "resources": resources}

    def _running(self) -> Json:
        """A pod on a node, whose status tells what its claim takes of the node."""
        claim = self._one("held-0", "pod0-c0", "pod1-c0")
        told: Json = {"resourceClaimName": claim, "containers": ["main"]}
        if self.version == "1.37":
            overhead = {"name": "memory", "perPod": "100Mi", "perContainer": "50Mi"}
            told |= {"mapping": [{"name": "cpu", "quantity": self._one("1", "200m")}], "overhead": [overhead]}
        else:
            told["resources"] = {"cpu": self._one("1", "200m"), "memory": "100Mi"}
        status: Json = {"phase": "Running", "startTime": "2026-01-01T00:00:00Z"}
        if self.version in {"1.36", "1.37"} and self._maybe(0.7):
            status["nodeAllocatableResourceClaimStatuses"] = [told]
        spec = {
            "schedulerName": "default-scheduler",
            "nodeName": self._one(*NAMES),
            "containers": [{"name": "main", "image": "x", "resources": {"requests": {"cpu": "500m"}}}],
            "resourceClaims": [{"name": "c", "resourceClaimName": claim}],
        }
        metadata = {"name": "run", "namespace": "default", "uid": "uid-run"}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}

    def _earlier(self) -> Json:
        """The claim for extended resources that an earlier attempt made."""
        claim = self._claim("pod0-extended-resources-1")
        claim["metadata"]["annotations"] = {"resource.kubernetes.io/extended-resource-claim": "true"}
        owner = {"apiVersion": "v1", "kind": "Pod", "name": "pod0", "uid": "uid-pod0", "controller": True}
        claim["metadata"]["ownerReferences"] = [owner]
        return claim | ({"status": self._status(None)} if self._maybe(0.5) else {})

    def _exact(self, may_be_admin: bool) -> Json:
        exact = super()._exact(may_be_admin)
        if "tolerations" in exact and self._maybe(0.4):
            exact["tolerations"] = [self._one(*TOLERATIONS)]
        if self._maybe(0.1):
            exact["capacity"] = {"requests": self._one({"gone": "1"}, {})}
        return exact

    def _status(self, pod: Json | None) -> Json:
        status: Json = super()._status(pod)
        results: list[Any] = status["allocation"]["devices"]["results"]
        first = results[0]
        if self._maybe(0.15):
            first["adminAccess"] = True
        if self._maybe(0.2):
            self._binding(status, first)
        if self._maybe(0.2):
            results.append(first | {"device": "d2"})
        return status

    def _binding(self, status: Json, result: Json) -> None:
        """The device waits for its driver, too long perhaps, or its driver has failed."""
        result |= {"bindingConditions": ["ready"], "bindingFailureConditions": self._one([], ["failed"])}
        status["allocation"]["allocationTimestamp"] = self._one("2026-01-01T00:00:00Z", "2090-01-01T00:00:00Z")
        if self._maybe(0.6):
            said = {"type": self._one("ready", "failed", "other"), "status": self._one("True", "False"), "reason": "x"}
            condition = said | {"message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
            named = {key: result[key] for key in ("driver", "pool", "device")}
            status["devices"] = [named | {"conditions": [condition]}]
