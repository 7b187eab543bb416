"""Random clusters of devices as requests for the oracle: few names, so that much collides."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from random import Random

Json = dict[str, Any]

DRIVER = "gpu.example.com"
OTHER_DRIVER = "nic.example.com"
API = "resource.k8s.io/v1"
NAMES = ("n0", "n1", "n2")
EXPRESSIONS = (
    f'device.attributes["{DRIVER}"].model == "a100"',
    f'device.attributes["{DRIVER}"].numa == 0',
    f'device.attributes["{DRIVER}"].ecc',
    f'device.driver == "{DRIVER}"',
    f'device.capacity["{DRIVER}"].memory.compareTo(quantity("40Gi")) >= 0',
    f'has(device.attributes["{DRIVER}"].ecc) && device.attributes["{DRIVER}"].ecc',
    f'device.attributes["{DRIVER}"].?ecc.orValue(false)',
    f'device.attributes["{DRIVER}"].version.isGreaterThan(semver("1.1.0"))',
    f'device.attributes["{DRIVER}"].model in ["a100", "t4"]',
    f'cel.bind(d, device.attributes["{DRIVER}"], d.numa < 2 && d.model.startsWith("a"))',
    'device.attributes["resource.kubernetes.io"].pcieRoot == "pci0"',
    f'device.attributes["{DRIVER}"].gone == 1',
    f'device.attributes["{DRIVER}"].numa == "0"',
    f'device.attributes["{DRIVER}"].links.exists(each, each == "a")',
    f'device.attributes["{DRIVER}"].model.includes("a100")',
    'device.driver.matches("^gpu[.]") || device.attributes["x"].y',
    "device.allowMultipleAllocations",
    "device.driver",
    "1 +",
)
DERIVED = (
    f'device.attributes["{DRIVER}"].model',
    f'device.attributes["{DRIVER}"].numa % 2 == 0',
    f'device.attributes["{DRIVER}"].version',
    f'[device.attributes["{DRIVER}"].model, "x"]',
    f'device.attributes["{DRIVER}"].ecc',
    f'device.capacity["{DRIVER}"].memory',
    "[]",
)
GATES = {
    "1.33": ("DRAAdminAccess", "DRADeviceTaints", "DRAPartitionableDevices", "DRAPrioritizedList"),
    "1.34": (
        "DRAAdminAccess",
        "DRAConsumableCapacity",
        "DRADeviceBindingConditions",
        "DRADeviceTaints",
        "DRAExtendedResource",
        "DRAPartitionableDevices",
        "DRAPrioritizedList",
    ),
    "1.35": (
        "DRAAdminAccess",
        "DRAConsumableCapacity",
        "DRADeviceBindingConditions",
        "DRADeviceTaints",
        "DRAExtendedResource",
        "DRAPartitionableDevices",
        "DRAPrioritizedList",
    ),
    "1.36": (
        "DRAConsumableCapacity",
        "DRADeviceBindingConditions",
        "DRADeviceTaintRules",
        "DRAListTypeAttributes",
        "DRANodeAllocatableResources",
        "DRAPartitionableDevices",
        "DRAPrioritizedList",
    ),
    "1.37": (
        "DRAConsumableCapacity",
        "DRADerivedAttributes",
        "DRADeviceBindingConditions",
        "DRADeviceCompatibilityGroups",
        "DRAListTypeAttributes",
        "DRANodeAllocatableResources",
        "DRAOptionalNodeOperations",
        "DRAPartitionableDevices",
    ),
}
"""The gates that are switched at random, besides DynamicResourceAllocation, which is on."""
LINKS = ({"strings": ["a", "b"]}, {"strings": ["b"]}, {"string": "b"}, {"ints": [1, 2]})
_STRATEGY: Json = {
    "type": "LeastAllocated",
    "resources": [{"name": "example.com/gpu", "weight": 2}, {"name": "cpu", "weight": 1}],
}
SCORED: Json = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [{"pluginConfig": [{"name": "NodeResourcesFit", "args": {"scoringStrategy": _STRATEGY}}]}],
}
"""Nodes are scored by devices, too."""
CREATED = ("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z")
RULES_API = {"1.36": "resource.k8s.io/v1beta2", "1.37": "resource.k8s.io/v1"}
NEEDS = {
    "DRADeviceCompatibilityGroups": "DRAPartitionableDevices",
    "DRADeviceTaintRules": "DRADeviceTaints",
    "DRAFractionalCapacityRange": "DRAConsumableCapacity",
}


class DeviceCluster:
    """One cluster; `request` asks about every pod of it."""

    def __init__(self, random: Random, version: str, *, takes_rules: bool = True) -> None:
        """Without `takes_rules` there is no DeviceTaintRule: Kubernetes 1.36.2 goes down as soon as there is one."""
        self.random = random
        self.version = version
        self.takes_rules = takes_rules
        self._made = 0

    def _maybe(self, chance: float) -> bool:
        return self.random.random() < chance

    def _one(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def _uid(self) -> str:
        self._made += 1
        return f"uid-{self._made}"

    def request(self, number: int) -> Json:
        """Objects, gates and the pods to ask about."""
        gates = self._gates()
        if self.version == "1.33":
            gates["DynamicResourceAllocation"] = True
        if not gates.get("DRAConsumableCapacity", True):
            gates |= {"DRAFractionalCapacityRange": False} if self.version == "1.37" else {}
        for name, needed in NEEDS.items():
            if gates.get(name) and not gates.get(needed, True):
                gates[name] = False
        objects = [*map(self._node, NAMES), *self._classes(), *self._slices(), *self._taint_rules(gates)]
        pods = [self._pod(index) for index in range(4)]
        claims = [claim for pod in pods for claim in self._claims(pod)]
        claims += [self._held_claim(index) for index in range(self._one(0, 1, 3))]
        return {
            "id": f"devices-{self.version}-{number}",
            "objects": [*objects, *claims, *pods],
            "config": json.dumps(SCORED) if self._maybe(0.2) else "",
            "featureGates": gates,
            "pods": [f"default/{pod['metadata']['name']}" for pod in pods],
        }

    def _gates(self) -> dict[str, bool]:
        """Gates as they are by default, all off, or at random: each chooses another allocator."""
        how = self._one("default", "off", "random", "random")
        if how == "default":
            return {}
        return {name: how == "random" and self._one(True, True, False) for name in GATES[self.version]}

    def _node(self, name: str) -> Json:
        allocatable = {"cpu": "4", "memory": "8Gi", "pods": "20"}
        if self._maybe(0.3):
            allocatable["example.com/gpu"] = self._one("0", "1", "2")
        status: Json = {"allocatable": allocatable}
        if self._maybe(0.5):
            status["declaredFeatures"] = ["DRAOptionalNodeOperations"]
        labels = {"kubernetes.io/hostname": name, "zone": self._one("a", "b")}
        return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "status": status}

    def _classes(self) -> list[Json]:
        gpu: Json = {"selectors": [{"cel": {"expression": f'device.driver == "{DRIVER}"'}}]}
        if self._maybe(0.6):
            gpu["extendedResourceName"] = "example.com/gpu"
        any_: Json = {"extendedResourceName": "example.com/gpu"} if self._maybe(0.3) else {}
        specs = {"any": any_, "gpu": gpu, "picky": {"selectors": self._selectors(1)}}
        return [
            {
                "apiVersion": API,
                "kind": "DeviceClass",
                "metadata": {
                    "name": name,
                    "uid": self._uid(),
                    "creationTimestamp": f"2026-01-0{self._one(1, 2)}T00:00:00Z",
                },
                "spec": spec,
            }
            for name, spec in specs.items()
        ]

    def _selectors(self, at_most: int) -> list[Json]:
        count = self.random.randint(0, at_most)
        usual, odd = EXPRESSIONS[:11], EXPRESSIONS[11:]
        return [{"cel": {"expression": self._one(*(odd if self._maybe(0.08) else usual))}} for _ in range(count)]

    def _slices(self) -> list[Json]:
        made: list[Json] = []
        for pool in ("p0", "p1"):
            if self._maybe(0.15):
                continue
            kind = self._one("node", "node", "all", "selector", "device", "counters")
            count = self._one(1, 1, 2)
            driver = DRIVER if pool == "p0" or self._maybe(0.6) else OTHER_DRIVER
            for index in range(count):
                made += self._slice(pool, driver, kind, index, count + self._one(0, 0, 0, 0, 1))
        return made

    def _slice(self, pool: str, driver: str, kind: str, index: int, total: int) -> list[Json]:
        name = f"{pool}-{index}"
        generation = self._one(1, 1, 1, 2)
        spec: Json = {
            "driver": driver,
            "pool": {"name": pool, "generation": generation, "resourceSliceCount": total},
            "devices": [self._device(f"d{index * 3 + number}", kind) for number in range(self._one(1, 2, 3))],
        }
        if self._maybe(0.1) and len(spec["devices"]) > 1:
            spec["devices"][1]["name"] = spec["devices"][0]["name"]
        if self.version == "1.37" and self._maybe(0.15):
            spec["skipNodeOperations"] = ["*"]
        where = {
            "node": {"nodeName": self._one("n0", "n1")},
            "all": {"allNodes": True},
            "selector": {"nodeSelector": self._zone(self._one("a", "b"))},
            "device": {"perDeviceNodeSelection": True},
            "counters": {"nodeName": "n0"},
        }[kind]
        made = [self._published(name, spec | where)]
        if kind == "counters" and index == 0:
            shared = {"name": "set", "counters": {"mem": {"value": self._one("40Gi", "80Gi")}, "sm": {"value": "4"}}}
            counters = {
                "driver": driver,
                "pool": {"name": pool, "generation": generation, "resourceSliceCount": total + 1},
                "sharedCounters": [shared],
                "nodeName": "n0",
            }
            if self.version in {"1.33", "1.34"} and self._maybe(0.7):
                made[0]["spec"]["sharedCounters"] = [shared]
            else:
                spec["pool"]["resourceSliceCount"] = total + 1
                made.append(self._published(f"{name}-c", counters))
        return made

    def _published(self, name: str, spec: Json) -> Json:
        return {
            "apiVersion": API,
            "kind": "ResourceSlice",
            "metadata": {"name": name, "uid": self._uid()},
            "spec": spec,
        }

    @staticmethod
    def _zone(zone: str) -> Json:
        requirement = {"key": "zone", "operator": "In", "values": [zone]}
        return {"nodeSelectorTerms": [{"matchExpressions": [requirement]}]}

    def _device(self, name: str, kind: str) -> Json:
        attributes: Json = {
            "model": {"string": self._one("a100", "t4")},
            "numa": {"int": self._one(0, 1)},
            "version": {"version": self._one("1.0.0", "1.2.3", "1.2.3-rc.1")},
            "resource.kubernetes.io/pcieRoot": {"string": self._one("pci0", "pci1")},
        }
        if self._maybe(0.6):
            attributes["ecc"] = {"bool": self._one(True, False)}
        if self.version in {"1.36", "1.37"} and self._maybe(0.3):
            attributes["links"] = self._one(
                {"strings": ["a", "b"]}, {"strings": ["b"]}, {"string": "b"}, {"ints": [1, 2]}
            )
        device: Json = {"name": name, "attributes": attributes, "capacity": {"memory": self._capacity()}}
        if self._maybe(0.3):
            parts = {"default": "500m", "validRange": {"min": "250m", "max": "3", "step": "250m"}}
            device["capacity"]["cores"] = {"value": self._one("2", "0", "2500m"), "requestPolicy": parts}
        if self._maybe(0.25):
            device["taints"] = [self._taint()]
        if self._maybe(0.15):
            device["bindingConditions"] = ["ready"]
        if self._maybe(0.35):
            device["allowMultipleAllocations"] = True
        if kind == "device":
            device |= self._one({"nodeName": "n0"}, {"allNodes": True}, {"nodeSelector": self._zone("a")}, {})
        if kind == "counters":
            consumed: Json = {
                "counterSet": "set" if self._maybe(0.95) else "gone",
                "counters": {"mem": {"value": self._one("20Gi", "40Gi")}, "sm": {"value": self._one("1", "2")}},
            }
            if self.version == "1.37" and self._maybe(0.3):
                consumed["compatibilityGroups"] = [self._one("x", "y")]
            device["consumesCounters"] = [consumed]
        self._take_of_node(device)
        return device

    def _take_of_node(self, device: Json) -> None:
        if self.version == "1.36" and self._maybe(0.2):
            device["nodeAllocatableResourceMappings"] = {"cpu": {"allocationMultiplier": self._one("1", "500m", "5")}}
        if self.version == "1.37" and self._maybe(0.2):
            taken: Json = {"mapping": {"deviceMultiplier": self._one("1", "500m", "5")}}
            if self._maybe(0.5):
                taken["overhead"] = {"perPod": "100m", "perContainer": "1"}
            device["nodeAllocatableResources"] = {"cpu": taken}

    def _capacity(self) -> Json:
        capacity: Json = {"value": self._one("16Gi", "40Gi", "80Gi")}
        if self._maybe(0.5):
            capacity["requestPolicy"] = self._one(
                {"default": "4Gi", "validRange": {"min": "4Gi", "max": "64Gi", "step": "4Gi"}},
                {"default": "8Gi", "validRange": {"min": "8Gi"}},
                {"default": "10Gi", "validValues": ["10Gi", "20Gi"]},
                {"default": "0"},
            )
        return capacity

    def _taint(self) -> Json:
        return {
            "key": self._one("broken", "slow"),
            "value": "x",
            "effect": self._one("NoSchedule", "NoExecute", "None"),
        }

    def _taint_rules(self, gates: Json) -> list[Json]:
        on = self.version == "1.37" or gates.get("DRADeviceTaintRules")
        if self.version not in RULES_API or not self.takes_rules or not on or self._maybe(0.5):
            return []
        selector = self._one({"driver": DRIVER}, {"pool": "p1"}, {"device": "d0"}, {})
        metadata = {"name": "rule", "uid": self._uid()}
        spec = {"deviceSelector": selector, "taint": self._taint()}
        return [{"apiVersion": RULES_API[self.version], "kind": "DeviceTaintRule", "metadata": metadata, "spec": spec}]

    def _pod(self, index: int) -> Json:
        container: Json = {"name": "main", "image": "x", "resources": {"requests": {"cpu": "100m"}}}
        if self._maybe(0.25):
            container["resources"]["requests"][
                self._one("example.com/gpu", "deviceclass.resource.kubernetes.io/any")
            ] = self._one("1", "2")
            container["resources"]["limits"] = dict(container["resources"]["requests"])
        initial = self._initial() if self._maybe(0.1) else None
        names = [f"c{number}" for number in range(self._one(0, 1, 1, 2))]
        if names and self._maybe(0.9):
            container["resources"]["claims"] = [{"name": name} for name in names]
        spec: Json = {"schedulerName": "default-scheduler", "containers": [container]}
        if initial:
            spec["initContainers"] = [initial]
        spec["resourceClaims"] = [{"name": name, "resourceClaimName": f"pod{index}-{name}"} for name in names]
        status = self._from_templates(spec["resourceClaims"]) if self._maybe(0.2) else {}
        metadata = {"name": f"pod{index}", "namespace": "default", "uid": f"uid-pod{index}"}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}

    def _initial(self) -> Json:
        """An init container, perhaps one that stays, which wants devices by a resource's name."""
        wants = {self._one("example.com/gpu", "deviceclass.resource.kubernetes.io/any"): self._one("1", "2")}
        stays = {"restartPolicy": "Always"} if self._maybe(0.5) else {}
        return {"name": "first", "image": "x", "resources": {"requests": wants, "limits": wants}, **stays}

    def _from_templates(self, references: list[Json]) -> Json:
        """The status of a pod whose claims are made for it: all are there, one is not yet, or one is not needed."""
        statuses = []
        for reference in references:
            claim = reference.pop("resourceClaimName")
            reference["resourceClaimTemplateName"] = "template"
            made = self._one("made", "made", "made", "not yet", "not needed")
            if made != "not yet":
                statuses.append({"name": reference["name"]} | ({"resourceClaimName": claim} if made == "made" else {}))
        return {"resourceClaimStatuses": statuses}

    def _claims(self, pod: Json) -> list[Json]:
        made = []
        for reference in pod["spec"]["resourceClaims"]:
            if self._maybe(0.04):
                continue
            claim = self._claim(f"{pod['metadata']['name']}-{reference['name']}")
            if "resourceClaimTemplateName" in reference:
                claim["metadata"] |= self._owned(pod["metadata"])
            if self._maybe(0.03):
                claim["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
            if self._maybe(0.15):
                claim["status"] = self._status(pod["metadata"] if self._maybe(0.5) else None)
            made.append(claim)
        return made

    def _owned(self, pod: Json) -> Json:
        """By the pod, by one of the same name before it, or by nobody."""
        uid = self._one(pod["uid"], pod["uid"], pod["uid"], "uid-before", "")
        owner = {"apiVersion": "v1", "kind": "Pod", "name": pod["name"], "uid": uid, "controller": True}
        return {"ownerReferences": [owner]} if uid else {}

    def _claim(self, name: str) -> Json:
        requests = [self._request(f"r{number}") for number in range(self._one(1, 1, 2))]
        devices: Json = {"requests": requests}
        if self._maybe(0.25):
            kind = self._one("matchAttribute", "matchAttribute", "distinctAttribute")
            attribute = self._one(
                *(f"{DRIVER}/numa", f"{DRIVER}/model", "resource.kubernetes.io/pcieRoot", f"{DRIVER}/ecc"),
                *(f"{DRIVER}/links", "derived/key"),
            )
            devices["constraints"] = [{kind: attribute}]
            if self._maybe(0.3):
                devices["constraints"][0]["requests"] = self._one(["r0"], ["r1"], ["r0/s0"], ["r0", "r1/s1"], ["gone"])
            if self._maybe(0.2):
                devices["constraints"].append({"matchAttribute": f"{DRIVER}/numa"})
            if self.version == "1.37" and attribute in {"derived/key", f"{DRIVER}/model"} and self._maybe(0.8):
                derived = [{"name": attribute, "expression": self._one(*DERIVED)}]
                for request in requests:
                    for exact in request.get("firstAvailable") or [request["exactly"]]:
                        exact["derivedAttributes"] = derived
        metadata = {"name": name, "namespace": "default", "uid": self._uid()}
        return {"apiVersion": API, "kind": "ResourceClaim", "metadata": metadata, "spec": {"devices": devices}}

    def _request(self, name: str) -> Json:
        if self._maybe(0.25):
            return {"name": name, "firstAvailable": [{"name": f"s{n}", **self._exact(False)} for n in range(2)]}
        return {"name": name, "exactly": self._exact(True)}

    def _exact(self, may_be_admin: bool) -> Json:
        exact: Json = {"deviceClassName": self._one("gpu", "gpu", "any", "any", "picky")}
        if self._maybe(0.03):
            exact["deviceClassName"] = "missing"
        if self._maybe(0.15):
            exact["allocationMode"] = "All"
        else:
            exact |= {"allocationMode": "ExactCount", "count": self._one(*[1, 1, 2, 3] * 8, 33)}
        if self._maybe(0.35):
            exact["selectors"] = self._selectors(2)
        if self._maybe(0.25):
            exact["tolerations"] = [self._one({"key": "broken", "operator": "Exists"}, {"operator": "Exists"})]
        if may_be_admin and self._maybe(0.1):
            exact["adminAccess"] = True
        if self._maybe(0.2):
            exact["capacity"] = {
                "requests": {
                    self._one("memory", "memory", "memory", "cores"): self._one("3Gi", "10Gi", "30Gi", "1300m")
                }
            }
        return exact

    def _status(self, pod: Json | None) -> Json:
        result = {"request": "r0", "driver": DRIVER, "pool": self._one("p0", "p1"), "device": self._one("d0", "d1")}
        if self._maybe(0.3):
            result |= {
                "shareID": f"00000000-0000-0000-0000-00000000000{self._one(1, 2)}",
                "consumedCapacity": {"memory": "4Gi"},
            }
        allocation: Json = {"devices": {"results": [result]}}
        if self._maybe(0.6):
            field = {"key": "metadata.name", "operator": "In", "values": [self._one(*NAMES)]}
            allocation["nodeSelector"] = {"nodeSelectorTerms": [{"matchFields": [field]}]}
        status: Json = {"allocation": allocation}
        if pod is not None:
            status["reservedFor"] = [{"resource": "pods", "name": pod["name"], "uid": pod["uid"]}]
        elif self._maybe(0.5):
            status["reservedFor"] = [{"resource": "pods", "name": "gone", "uid": "uid-gone"}]
        return status

    def _held_claim(self, index: int) -> Json:
        return self._claim(f"held-{index}") | {"status": self._status(None)}
