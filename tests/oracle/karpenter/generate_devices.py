"""Random clusters with claims for devices: of nodes that are there, of the whole cluster, and of instance types."""

import copy
from random import Random
from typing import Any

from tests.oracle.karpenter.generate import ZONE, ZONES, selector, term

Json = dict[str, Any]

DRIVERS = ["gpu.example.com", "nic.example.com"]
MODELS = ["a", "b"]
CLASSES = ["gpu", "nic", "model-a", "shared"]


def with_devices(request: Json, seed: int) -> Json:
    """The cluster with IGNORE_DRA_REQUESTS off, devices, classes and claims for them."""
    return _Devices(Random(f"devices-{seed}"), copy.deepcopy(request)).applied()  # noqa: S311 - reproducible on purpose


class _Devices:
    def __init__(self, random: Random, request: Json) -> None:
        self._random = random
        self._made = request
        self._claims: list[Json] = []

    def chance(self, share: float) -> bool:
        return self._random.random() < share

    def applied(self) -> Json:
        made = self._made
        made["allocatesDevices"] = True
        for types in made["instanceTypes"].values():
            for kind in types["types"]:
                if self.chance(0.7):
                    kind["resourceSlices"] = self.slices(kind["name"])
        slices = [
            self.published(each, f"{node}-{number}", node)
            for node in (each["metadata"]["name"] for each in made["objects"] if each["kind"] == "Node")
            if self.chance(0.7)
            for number, each in enumerate(self.slices(node))
        ]
        for number in range(self._random.choice([0, 0, 1, 2])):
            slices += [
                self.published(each, f"cluster-{number}-{place}", "")
                for place, each in enumerate(self.slices(f"cluster-{number}"))
            ]
        pods = [each for each in made["objects"] if each["kind"] == "Pod"]
        for pod in pods:
            if pod["status"]["phase"] == "Pending" and self.chance(0.7):
                self.claim_for(pod)
        self.allocate(slices, pods)
        made["objects"] += [*slices, *self.classes(), *self._claims]
        return made

    def classes(self) -> list[Json]:
        expressions = {
            "gpu": f'device.driver == "{DRIVERS[0]}"',
            "nic": f'device.driver == "{DRIVERS[1]}"',
            "model-a": f'device.attributes["{DRIVERS[0]}"].model == "a"',
            "shared": "device.allowMultipleAllocations",
        }
        return [
            {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": name},
             "spec": {"selectors": [{"cel": {"expression": text}}]}}
            for name, text in expressions.items()
            if name != "nic" or not self.chance(0.05)
        ]  # fmt: skip

    def slices(self, pool: str) -> list[Json]:
        """One or two pools: of GPUs, with counters or without, and of network cards."""
        made: list[Json] = []
        for driver in DRIVERS:
            if not self.chance(0.75):
                continue
            devices = [self.device(driver, number) for number in range(self._random.choice([1, 1, 2, 4]))]
            slices: list[Json] = [{"driver": driver, "pool": {"name": pool}, "devices": devices}]
            if driver == DRIVERS[0] and self.chance(0.3):
                for each in devices:
                    amount = str(self._random.choice([1, 2, 3]))
                    each["consumesCounters"] = [{"counterSet": "board", "counters": {"parts": {"value": amount}}}]
                parts = {"parts": {"value": str(self._random.choice([2, 4]))}}
                counters = [{"name": "board", "counters": parts}]
                slices.append({"driver": driver, "pool": {"name": pool}, "sharedCounters": counters})
            for each in slices:
                each["pool"] |= {"generation": 1, "resourceSliceCount": len(slices)}
            made += slices
        if made and self.chance(0.05):
            made[0]["pool"]["resourceSliceCount"] += 1
        return made

    def device(self, driver: str, number: int) -> Json:
        made: Json = {"name": f"device-{number}", "attributes": {}}
        if self.chance(0.9):
            made["attributes"]["model"] = {"string": self._random.choice(MODELS)}
        if self.chance(0.7):
            made["attributes"]["example.com/root"] = {"int": self._random.choice([1, 2])}
        if self.chance(0.5):
            made["attributes"]["index"] = {"int": number}
        if driver == DRIVERS[1] and self.chance(0.5):
            made["allowMultipleAllocations"] = True
            capacity: Json = {"value": self._random.choice(["10", "4"])}
            policy = self._random.choice(
                [
                    None,
                    {"default": "1"},
                    {"default": "2", "validValues": ["2", "4"]},
                    {"default": "1", "validRange": {"min": "1", "step": "2", "max": "9"}},
                ]
            )
            if policy is not None:
                capacity["requestPolicy"] = policy
            made["capacity"] = {"bandwidth": capacity} if self.chance(0.9) else {}
        return made  # fmt: skip

    def published(self, spec: Json, name: str, node: str) -> Json:
        spec = copy.deepcopy(spec)
        metadata: Json = {"name": name}
        if node:
            spec["nodeName"] = node
            if self.chance(0.9):
                metadata["ownerReferences"] = [{"apiVersion": "v1", "kind": "Node", "name": node, "uid": node}]
        elif "sharedCounters" in spec or self.chance(0.4):
            spec["allNodes"] = True
        else:
            zones = self._random.sample(ZONES, self._random.choice([1, 1, 2]))
            spec["nodeSelector"] = {"nodeSelectorTerms": [term(selector(ZONE, *zones))]}
        return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": metadata, "spec": spec}

    def claim_for(self, pod: Json) -> None:
        """Give the pod claims of its own, one that it shares, or one that is not there."""
        pod["spec"] = copy.deepcopy(pod["spec"])
        namespace = pod["metadata"]["namespace"]
        names = []
        for number in range(self._random.choice([1, 1, 1, 2])):
            name = f"{pod['metadata']['name']}-{number}"
            same = [each for each in self._claims if each["metadata"]["namespace"] == namespace]
            if same and self.chance(0.2):
                name = self._random.choice(same)["metadata"]["name"]
            elif not self.chance(0.03):
                self._claims.append(self.claim(name, namespace))
            names.append(name)
        if self.chance(0.3):
            pod["spec"]["resourceClaims"] = [
                {"name": f"c{number}", "resourceClaimTemplateName": "x"} for number in range(len(names))
            ]
            pod["status"] = {**pod["status"], "resourceClaimStatuses": [
                {"name": f"c{number}"} | ({"resourceClaimName": name} if not self.chance(0.1) else {})
                for number, name in enumerate(names)
            ]}  # fmt: skip
            return
        pod["spec"]["resourceClaims"] = [
            {"name": f"c{number}", "resourceClaimName": name} for number, name in enumerate(names)
        ]

    def claim(self, name: str, namespace: str) -> Json:
        requests = [self.request(f"r{number}") for number in range(self._random.choice([1, 1, 1, 2]))]
        devices: Json = {"requests": requests}
        if self.chance(0.25):
            constraint: Json = {"matchAttribute": self._random.choice(["example.com/root", f"{DRIVERS[0]}/model"])}
            if self.chance(0.05):
                constraint = {"distinctAttribute": "example.com/root"}
            if self.chance(0.4):
                constraint["requests"] = [self._random.choice(["r0", "r1", "r0/s0"])]
            devices["constraints"] = [constraint]
        return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
                "metadata": {"name": name, "namespace": namespace}, "spec": {"devices": devices}}  # fmt: skip

    def request(self, name: str) -> Json:
        if self.chance(0.35):
            alternatives = [
                {"name": f"s{number}", **self.exact()} for number in range(self._random.choice([1, 2, 2, 3]))
            ]
            return {"name": name, "firstAvailable": alternatives}
        return {"name": name, "exactly": self.exact()}

    def exact(self) -> Json:
        made: Json = {"deviceClassName": self._random.choice(CLASSES), "allocationMode": "ExactCount"}
        if self.chance(0.01):
            made["deviceClassName"] = "unknown"
        if self.chance(0.15):
            made["allocationMode"] = "All"
        else:
            made["count"] = self._random.choice([1, 1, 1, 2, 3]) if not self.chance(0.02) else 33
        if self.chance(0.2):
            expression = f'device.attributes["{DRIVERS[0]}"].index < 2'
            made["selectors"] = [{"cel": {"expression": expression}}]
        if self.chance(0.2):
            made["capacity"] = {"requests": {"bandwidth": self._random.choice(["1", "3", "5"])}}
        return made

    def allocate(self, slices: list[Json], pods: list[Json]) -> None:
        """Some published devices are allocated already, to pods that run or to nobody who is known."""
        for published in slices:
            spec = published["spec"]
            for device in spec.get("devices", ()):
                if not self.chance(0.25):
                    continue
                result: Json = {"request": "r0", "driver": spec["driver"], "pool": spec["pool"]["name"],
                                "device": device["name"]}  # fmt: skip
                if device.get("allowMultipleAllocations"):
                    result |= {
                        "shareID": "8d7ad0a5-44b1-4c2a-8f6b-1f9f1fd1d3d1",
                        "consumedCapacity": {"bandwidth": "2"},
                    }
                name = f"held-{len(self._claims)}"
                claim = self.claim(name, "default")
                claim["status"] = {"allocation": {"devices": {"results": [result]}}}
                if "nodeSelector" in spec:
                    claim["status"]["allocation"]["nodeSelector"] = spec["nodeSelector"]
                users = self._random.sample(pods, min(len(pods), self._random.choice([0, 1, 1, 2])))
                if users:
                    claim["status"]["reservedFor"] = [
                        {"resource": "pods", "name": each["metadata"]["name"], "uid": each["metadata"]["uid"]}
                        for each in users
                    ]
                waiting = [each for each in users if each["status"]["phase"] == "Pending"]
                if waiting and waiting[0]["metadata"]["namespace"] == "default":
                    references = waiting[0]["spec"].setdefault("resourceClaims", [])
                    references.append({"name": f"h{len(references)}", "resourceClaimName": name})
                self._claims.append(claim)
