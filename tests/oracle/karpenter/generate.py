"""Random clusters with NodePools for the comparison with Karpenter: a seed is a cluster."""

import copy
from random import Random
from typing import Any

Json = dict[str, Any]

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"
CAPACITY_TYPE = "karpenter.sh/capacity-type"
INSTANCE_TYPE = "node.kubernetes.io/instance-type"
ARCH = "kubernetes.io/arch"
FAMILY = "karpenter.kwok.sh/instance-family"
CPU = "karpenter.kwok.sh/instance-cpu"
POOL = "karpenter.sh/nodepool"
ZONES = ["zone-a", "zone-b", "zone-c"]
APPS = ["web", "db", "cache"]
WELL_KNOWN = [
    POOL, ZONE, "topology.kubernetes.io/region", INSTANCE_TYPE, ARCH, "kubernetes.io/os", CAPACITY_TYPE,
    "node.kubernetes.io/windows-build", "karpenter.kwok.sh/instance-size", FAMILY, CPU,
    "karpenter.kwok.sh/instance-memory", "example.com/reservation-id",
]  # fmt: skip
TAINTS = [
    {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"},
    {"key": "dedicated", "value": "db", "effect": "NoExecute"},
    {"key": "busy", "effect": "PreferNoSchedule"},
]


RARE_TAINTS = [
    {"key": "readiness.k8s.io/x", "effect": "NoSchedule"},
    {"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"},
    {"key": "node.cloudprovider.kubernetes.io/uninitialized", "effect": "NoSchedule"},
    {"key": "karpenter.sh/disrupted", "effect": "NoSchedule"},
    {"key": "starting", "value": "v", "effect": "NoSchedule"},
]
RARE_LABELS = [
    ("team", "green"), ("topology.kubernetes.io/region", "r1"), ("kubernetes.io/os", "windows"),
    ("karpenter.test.sh/testnodeclass", "default"), ("beta.kubernetes.io/arch", "amd64"), ("arch", "amd64"),
    ("example.com/special", "yes"), (CPU, "4"), ("not a key", "x"), ("k", "bad value!"), (CAPACITY_TYPE, "foo"),
]  # fmt: skip
ADDRESSES = ["", "0.0.0.0", "127.0.0.1", "10.0.0.1", "::", "::1"]  # noqa: S104 - of host ports
DELETED = {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["example.com/x"]}


def request_of(seed: int) -> Json:
    """A cluster with its instance types and Karpenter's options."""
    return _Generator(Random(seed)).request(seed)  # noqa: S311 - reproducible on purpose


def with_overlays(request: Json, seed: int) -> Json:
    """The cluster with NodeOverlays, some of one weight, some that Karpenter refuses, and their gate on."""
    random = Random(seed)  # noqa: S311 - reproducible on purpose
    overlays = [_overlay(random, number) for number in range(random.randint(2, 7))]
    return {**request, "objects": [*request["objects"], *overlays], "nodeOverlay": True}


def with_rarities(request: Json, seed: int) -> Json:
    """The cluster with fields that few have: addresses of ports, many terms, other namespaces, nodes in odd states."""
    return _Rarities(Random(seed)).applied(copy.deepcopy(request))  # noqa: S311 - reproducible on purpose


def with_movement(request: Json, seed: int) -> Json:
    """The cluster with nodes that go away and pods that budgets or annotations keep there, gates, and reservations."""
    return _Movement(Random(seed)).applied(copy.deepcopy(request))  # noqa: S311 - reproducible on purpose


def _overlay(random: Random, number: int) -> Json:
    requirements = random.sample(
        [
            selector(CAPACITY_TYPE, random.choice(["spot", "on-demand"])),
            selector(ZONE, *random.sample(ZONES, 2)),
            selector(ARCH, "amd64"),
            selector("pool", "general"),
            selector(POOL, "pool-0"),
            selector(FAMILY, *random.sample(["c", "m", "r"], 2)),
            {"key": "unknown", "operator": "DoesNotExist"},
            {"key": CPU, "operator": "Gt", "values": ["3"]},
        ],
        random.choice([0, 1, 1, 2]),
    )
    if random.random() < 0.2:
        requirements.append(
            random.choice(
                [
                    selector(CAPACITY_TYPE, "cheap"),
                    selector(CAPACITY_TYPE, "cheap", "spot"),
                    {"key": "karpenter.sh/initialized", "operator": "DoesNotExist"},
                    {"key": HOSTNAME, "operator": "NotIn", "values": ["node-0"]},
                    {"key": "unknown", "operator": "NotIn", "values": ["not a value"]},
                    {"key": "unknown", "operator": "NotIn", "values": []},
                    {"key": "not a name", "operator": "DoesNotExist"},
                    {"key": CPU, "operator": "Gt", "values": ["-1"]},
                    {"key": CPU, "operator": "Gte", "values": ["1", "2"]},
                    {"key": CPU, "operator": "Gt", "values": [""]},
                    {"key": ARCH, "operator": "Like", "values": ["amd64"]},
                ]
            )
        )
    spec: Json = {"requirements": requirements}
    price = random.choice(["", "price", "priceAdjustment"])
    if price:
        spec[price] = random.choice(["0.01", "3.5"] if price == "price" else ["+10%", "-50%", "-100%", "+1.5", "-0.4"])
    if not price or random.random() < 0.3:
        spec["capacity"] = {random.choice(["example.com/gpu", "example.com/fpga"]): random.choice(["1", "4"])}
    if random.random() < 0.05:
        spec["capacity"] = {"cpu": "64"}
    if random.random() < 0.6:
        spec["weight"] = random.choice([1, 10])
    return {"apiVersion": "karpenter.sh/v1alpha1", "kind": "NodeOverlay",
            "metadata": {"name": f"overlay-{number}"}, "spec": spec}  # fmt: skip


class _Generator:
    def __init__(self, random: Random) -> None:
        self._random = random

    def chance(self, share: float) -> bool:
        return self._random.random() < share

    def pick(self, items: list[Any], least: int = 1) -> list[Any]:
        return self._random.sample(items, self._random.randint(min(least, len(items)), len(items)))

    def request(self, seed: int) -> Json:
        pools = [self.pool(number) for number in range(self._random.choice([1, 1, 2, 2, 3, 4]))]
        types = self.instance_types()
        objects = [
            *pools,
            *self.storage(),
            *({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"team": name}}}
              for name in ("default", "other")),
            *(self.daemon_set(number) for number in range(self._random.choice([0, 0, 1, 2, 3]))),
        ]  # fmt: skip
        for number in range(self._random.choice([0, 0, 1, 2, 4])):
            objects += self.node(number, types, len(pools))
        shapes = [self.shape(number) for number in range(self._random.choice([1, 2, 3, 4, 6]))]
        for number, shape in enumerate(shapes):
            objects += [
                self.pod(f"pod-{number}-{copy}", shape) for copy in range(self._random.choice([1, 1, 2, 3, 5, 9]))
            ]
        return {
            "id": str(seed),
            "objects": objects,
            "instanceTypes": {"": {"types": types}} | self.own_types(pools),
            "wellKnownLabels": WELL_KNOWN,
            "reservationIDLabel": "example.com/reservation-id",
            "preferencePolicy": "Ignore" if self.chance(0.15) else "Respect",
            "minValuesPolicy": "BestEffort" if self.chance(0.3) else "Strict",
            "noReservedCapacity": self.chance(0.1),
            "maxInstanceTypes": self._random.choice([600, 600, 5, 2]),
            "runs": 1,
        }

    def own_types(self, pools: list[Json]) -> Json:
        if not self.chance(0.2):
            return {}
        return {pools[-1]["metadata"]["name"]: {"types": self.instance_types() if self.chance(0.8) else []}}

    def instance_types(self) -> list[Json]:
        sizes = self.pick([1, 2, 4, 8, 16, 32], 1)
        families = self.pick(["c", "m", "r"])
        return [
            self.instance_type(family, size, arch)
            for family in families
            for size in sizes
            for arch in (["amd64", "arm64"] if self.chance(0.3) else ["amd64"])
        ]

    def instance_type(self, family: str, size: int, arch: str) -> Json:
        memory = size * {"c": 2, "m": 4, "r": 8}[family]
        zones = self.pick(ZONES) if self.chance(0.3) else ZONES
        offerings: list[Json] = []
        for zone in zones:
            for capacity_type, share in (("on-demand", 1.0), ("spot", 0.7)):
                requirements = [selector(ZONE, zone), selector(CAPACITY_TYPE, capacity_type)]
                price = size * share * self._random.choice([1.0, 1.0, 1.1, 1.25])
                offerings.append({"requirements": requirements, "price": price, "available": not self.chance(0.07)})
        if self.chance(0.06):
            reserved = [
                selector(ZONE, zones[0]),
                selector(CAPACITY_TYPE, "reserved"),
                selector("example.com/reservation-id", f"cr-{family}-{size}"),
            ]
            offerings.append(
                {"requirements": reserved, "price": 0.01, "available": True,
                 "reservationCapacity": self._random.randint(0, 3)}
            )  # fmt: skip
        if self.chance(0.04):
            offerings[0]["capacityOverride"] = {"example.com/gpu": "1"}
        name = f"{family}-{size}x-{arch}"
        capacity = {"cpu": str(size), "memory": f"{memory}Gi", "pods": self._random.choice(["110", "110", "8"])}
        if self.chance(0.1):
            capacity["example.com/gpu"] = "2"
        if self.chance(0.05):
            capacity["hugepages-2Mi"] = "512Mi"
        requirements = [
            selector(INSTANCE_TYPE, name),
            selector(ARCH, arch),
            selector("kubernetes.io/os", "linux"),
            selector(ZONE, *zones),
            selector(CAPACITY_TYPE, *sorted({each["requirements"][1]["values"][0] for each in offerings})),
            selector(FAMILY, family),
            selector(CPU, str(size)),
        ]
        if self.chance(0.2):
            requirements.append({"key": "example.com/special", "operator": "DoesNotExist"})
        overhead = {"cpu": "100m", "memory": "10Mi"}
        return {
            "name": name, "requirements": requirements, "offerings": offerings, "capacity": capacity,
            "overhead": overhead,
        }  # fmt: skip

    def pool(self, number: int) -> Json:
        requirements = [each for each in self.pool_requirements() if self.chance(0.3)]
        template: Json = {
            "spec": {
                "nodeClassRef": {"group": "karpenter.test.sh", "kind": "TestNodeClass", "name": "default"},
                "requirements": requirements,
            }
        }
        if self.chance(0.3):
            template["spec"]["taints"] = self.pick(TAINTS)[:2]
        if self.chance(0.15):
            template["spec"]["startupTaints"] = [{"key": "starting", "effect": "NoSchedule"}]
        if self.chance(0.4):
            template["metadata"] = {"labels": {"pool": self._random.choice(["general", "gpu"])}}
        spec: Json = {"template": template}
        if self.chance(0.35):
            spec["limits"] = self._random.choice(
                [{"cpu": "8"}, {"cpu": "40"}, {"memory": "64Gi"}, {"cpu": "100", "memory": "100Gi"}, {"nodes": "0"},
                 {"nodes": "2"}, {"example.com/gpu": "1"}]
            )  # fmt: skip
        if self.chance(0.4):
            spec["weight"] = self._random.choice([1, 10, 50])
        ready = "False" if self.chance(0.04) else "True"
        return {
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodePool",
            "metadata": {"name": f"pool-{number}", "uid": f"pool-{number}"},
            "spec": spec,
            "status": {"conditions": [condition(kind, ready if kind == "Ready" else "True")
                                      for kind in ("ValidationSucceeded", "NodeClassReady", "Ready")]},
        }  # fmt: skip

    def pool_requirements(self) -> list[Json]:
        return [
            selector(ZONE, *self.pick(ZONES)),
            selector(CAPACITY_TYPE, *self.pick(["on-demand", "spot", "reserved"])),
            self.with_min_values(selector(FAMILY, *self.pick(["c", "m", "r"], 2))),
            self.with_min_values({"key": INSTANCE_TYPE, "operator": "Exists"}),
            {"key": CPU, "operator": self._random.choice(["Gt", "Lt", "Gte", "Lte"]),
             "values": [self._random.choice(["2", "4", "16"])]},
            selector(ARCH, "amd64"),
            {"key": "team", "operator": "In", "values": self.pick(["red", "blue", "green"])},
            {"key": "team", "operator": "NotIn", "values": ["green"]},
            {"key": "tier", "operator": "Exists"},
        ]  # fmt: skip

    def with_min_values(self, requirement: Json) -> Json:
        return requirement | {"minValues": self._random.randint(1, 5)} if self.chance(0.5) else requirement

    def storage(self) -> list[Json]:
        classes: list[Json] = [
            {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "late"},
             "provisioner": "ebs.example.com", "volumeBindingMode": "WaitForFirstConsumer"},
            {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "zonal"},
             "provisioner": "kubernetes.io/gce-pd", "volumeBindingMode": "WaitForFirstConsumer",
             "allowedTopologies": [{"matchLabelExpressions": [{"key": ZONE, "values": self.pick(ZONES)}]}
                                   for _ in range(self._random.randint(1, 2))]},
            {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "soon"},
             "provisioner": "ebs.example.com", "volumeBindingMode": "Immediate"},
        ]  # fmt: skip
        claims: list[Json] = [claim("late", "late"), claim("zonal", "zonal"), claim("soon", "soon"), claim("none", "")]
        claims += [claim("gone-class", "missing"), claim("leaving", "late")]
        claims[-1]["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["kubernetes.io/x"]}
        bound = claim("bound", "late", "pv-bound")
        local = claim("local", "late", "pv-local")
        unfinished = claim("unfinished", "late", "pv-bound")
        unfinished["metadata"].pop("annotations")
        volumes: list[Json] = [
            volume("pv-bound", [term(selector(ZONE, zone)) for zone in self.pick(ZONES)], csi=True),
            volume("pv-local", [term(selector(HOSTNAME, "node-0"))], csi=False),
        ]
        return [*classes, *claims, bound, local, unfinished, claim("lost-volume", "late", "pv-lost"), *volumes]

    def daemon_set(self, number: int) -> Json:
        spec = self.pod_spec(self.requests(small=True))
        if self.chance(0.3):
            spec["tolerations"] = [{"operator": "Exists"}]
        if self.chance(0.4):
            terms = [term(self.expression()) for _ in range(self._random.randint(1, 2))]
            spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
                                                 {"nodeSelectorTerms": terms}}}  # fmt: skip
        if self.chance(0.2):
            spec["containers"][0]["ports"] = [{"hostPort": 9100, "containerPort": 9100, "protocol": "TCP"}]
        name = f"daemon-{number}"
        return {
            "apiVersion": "apps/v1", "kind": "DaemonSet",
            "metadata": {"name": name, "namespace": "default", "uid": name},
            "spec": {"selector": {"matchLabels": {"daemon": name}},
                     "template": {"metadata": {"labels": {"daemon": name}}, "spec": spec}},
        }  # fmt: skip

    def node(self, number: int, types: list[Json], pools: int) -> list[Json]:
        """A node with or without a NodeClaim, or a NodeClaim alone, and pods on it."""
        name = f"node-{number}"
        kind = self._random.choice(types)
        zone = self._random.choice(ZONES)
        labels = {ZONE: zone, HOSTNAME: name, INSTANCE_TYPE: kind["name"], ARCH: "amd64", "kubernetes.io/os": "linux",
                  CAPACITY_TYPE: "on-demand", FAMILY: kind["name"][0]}  # fmt: skip
        managed = self.chance(0.7)
        stage = self._random.choice(["launched", "joined", "registered", "initialized", "initialized"])
        if managed:
            labels[POOL] = f"pool-{self._random.randrange(pools)}"
        if self.chance(0.3):
            labels["team"] = "red"
        amounts = kind["capacity"]
        claim_labels = {key: value for key, value in labels.items() if key != HOSTNAME}
        node_labels = dict(labels)
        if stage in {"registered", "initialized"}:
            node_labels["karpenter.sh/registered"] = "true"
        if stage == "initialized":
            node_labels["karpenter.sh/initialized"] = "true"
        taints = [taint for taint in TAINTS if self.chance(0.1)]
        own_taints = list(taints)
        if stage != "initialized" and managed:
            own_taints += [{"key": "starting", "effect": "NoSchedule"},
                           {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]  # fmt: skip
        made: list[Json] = []
        if managed:
            made.append(
                {
                    "apiVersion": "karpenter.sh/v1",
                    "kind": "NodeClaim",
                    "metadata": {"name": f"claim-{number}", "labels": claim_labels},
                    "spec": {
                        "taints": taints,
                        "startupTaints": [{"key": "starting", "effect": "NoSchedule"}],
                        "nodeClassRef": {"group": "karpenter.test.sh", "kind": "TestNodeClass", "name": "default"},
                        "requirements": [],
                    },
                    "status": {"providerID": f"fake://{name}", "capacity": amounts, "allocatable": amounts},
                }
            )
            if self.chance(0.08):
                made[-1]["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["karpenter.sh/x"]}
        if managed and stage == "launched":
            return made
        reported = {} if stage == "joined" and self.chance(0.5) else amounts
        made.append(
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": name, "labels": node_labels},
                "spec": {"providerID": f"fake://{name}", "taints": own_taints},
                "status": {"capacity": reported, "allocatable": reported},
            }
        )
        if self.chance(0.2):
            made.append(
                {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": name},
                 "spec": {"drivers": [{"name": "ebs.example.com", "nodeID": name, "topologyKeys": [],
                                       "allocatable": {"count": self._random.randint(0, 2)}}]}}
            )  # fmt: skip
        copies = range(self._random.choice([0, 1, 2, 3]))
        return [*made, *(self.bound_pod(f"bound-{number}-{copy}", name) for copy in copies)]

    def bound_pod(self, name: str, node: str) -> Json:
        spec = self.pod_spec(self.requests(small=True)) | {"nodeName": node}
        app = self._random.choice(APPS)
        if self.chance(0.25):
            spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
                                                    [self.pod_term(app)]}}  # fmt: skip
        metadata = {"name": name, "namespace": "default", "uid": name, "labels": {"app": app}}
        phase = "Succeeded" if self.chance(0.1) else "Running"
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": phase}}

    def shape(self, number: int) -> Json:
        """The spec and the labels that the copies of a pending pod share."""
        spec = self.pod_spec(self.requests(small=self.chance(0.5)))
        app = self._random.choice(APPS)
        if self.chance(0.3):
            spec["nodeSelector"] = dict(
                [self._random.choice([("team", "red"), (ZONE, "zone-a"), (ARCH, "arm64"), ("pool", "gpu"),
                                      (CAPACITY_TYPE, "spot"), (FAMILY, "m"), ("tier", "x"), ("zone", "zone-a"),
                                      ("failure-domain.beta.kubernetes.io/zone", "zone-b"), (POOL, "pool-0")])]
            )  # fmt: skip
        if self.chance(0.4):
            spec["affinity"] = self.affinity(app)
        if self.chance(0.35):
            spec["topologySpreadConstraints"] = [self.spread(app) for _ in range(self._random.randint(1, 2))]
        if self.chance(0.5):
            spec["tolerations"] = self._random.choice(
                [[{"operator": "Exists"}], [{"key": "dedicated", "operator": "Exists"}],
                 [{"key": "dedicated", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}]]
            )  # fmt: skip
        if self.chance(0.12):
            spec["containers"][0]["ports"] = [
                {"hostPort": self._random.choice([80, 9100]), "containerPort": 80, "protocol": "TCP"}
            ]
        if self.chance(0.2):
            names = ["late", "zonal", "bound", "local", "soon", "none", "gone-class", "leaving", "unfinished",
                     "lost-volume", "absent"]  # fmt: skip
            weights = [5, 5, 5, 4, 1, 1, 1, 1, 1, 1, 1]
            spec["volumes"] = [
                {"name": f"v{index}", "persistentVolumeClaim": {"claimName": name}}
                for index, name in enumerate(self._random.choices(names, weights, k=self._random.randint(1, 2)))
            ]
        if self.chance(0.02):
            spec["resourceClaims"] = [{"name": "gpu", "resourceClaimName": "gpu"}]
        return {"spec": spec, "labels": {"app": app, "shape": str(number)}}

    def pod(self, name: str, shape: Json) -> Json:
        metadata = {
            "name": name,
            "namespace": "default",
            "uid": f"{self._random.getrandbits(32):08x}-{name}",
            "labels": shape["labels"],
            "creationTimestamp": f"2026-01-01T00:00:{self._random.randrange(3):02}Z",
        }
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
        return {
            "apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": shape["spec"],
            "status": {"phase": "Pending", "conditions": [condition]},
        }  # fmt: skip

    def pod_spec(self, requests: Json) -> Json:
        return {"containers": [{"name": "main", "image": "x", "resources": {"requests": requests}}]}

    def requests(self, *, small: bool) -> Json:
        cpu = self._random.choice(["100m", "250m", "500m"] if small else ["1", "1500m", "3", "7", "15", "40"])
        memory = self._random.choice(["64Mi", "128Mi", "512Mi"] if small else ["1Gi", "3Gi", "10Gi", "60G"])
        found = {"cpu": cpu, "memory": memory}
        if self.chance(0.06):
            found["example.com/gpu"] = "1"
        return found

    def expression(self) -> Json:
        return self._random.choice(
            [selector(ZONE, *self.pick(ZONES)), selector(ARCH, "amd64"), selector(ARCH, "arm64"),
             {"key": "team", "operator": "In", "values": self.pick(["red", "blue"])},
             {"key": "team", "operator": "NotIn", "values": ["red"]}, {"key": "tier", "operator": "Exists"},
             {"key": "pool", "operator": "DoesNotExist"}, {"key": CPU, "operator": "Gt", "values": ["4"]},
             {"key": CPU, "operator": "Lt", "values": ["16"]}, selector(FAMILY, *self.pick(["c", "m", "r"])),
             {"key": ZONE, "operator": "NotIn", "values": ["zone-a"]},
             selector(INSTANCE_TYPE, "m-4x-amd64", "c-8x-amd64"),
             {"key": POOL, "operator": "DoesNotExist"} if self.chance(0.1) else selector(POOL, "pool-0")]
        )  # fmt: skip

    def affinity(self, app: str) -> Json:
        found: Json = {}
        if self.chance(0.5):
            node: Json = {}
            if self.chance(0.7):
                terms = [term(self.expression()) for _ in range(self._random.randint(1, 3))]
                node["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}
            if self.chance(0.5):
                node["preferredDuringSchedulingIgnoredDuringExecution"] = [
                    {"weight": self._random.choice([1, 10, 50]), "preference": term(self.expression())}
                    for _ in range(self._random.randint(1, 3))
                ]
            found["nodeAffinity"] = node
        for kind, share in (("podAffinity", 0.3), ("podAntiAffinity", 0.4)):
            if self.chance(share):
                field = "required" if self.chance(0.6) else "preferred"
                chosen: Json = self.pod_term(app if self.chance(0.6) else self._random.choice(APPS))
                if field == "preferred":
                    chosen = {"weight": self._random.choice([1, 20]), "podAffinityTerm": chosen}
                found[kind] = {f"{field}DuringSchedulingIgnoredDuringExecution": [chosen]}
        return found

    def pod_term(self, app: str) -> Json:
        made: Json = {
            "labelSelector": {"matchLabels": {"app": app}},
            "topologyKey": self._random.choice([ZONE, HOSTNAME, HOSTNAME, CAPACITY_TYPE, "team"]),
        }
        if self.chance(0.1):
            made["namespaceSelector"] = {"matchLabels": {"team": "default"}}
        if self.chance(0.05):
            made.pop("labelSelector")
        return made

    def spread(self, app: str) -> Json:
        made: Json = {
            "maxSkew": self._random.choice([1, 1, 2]),
            "topologyKey": self._random.choice([ZONE, ZONE, HOSTNAME, CAPACITY_TYPE, "team"]),
            "whenUnsatisfiable": self._random.choice(["DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"]),
            "labelSelector": {"matchLabels": {"app": app}},
        }
        if self.chance(0.15):
            made["minDomains"] = self._random.randint(1, 4)
            made["whenUnsatisfiable"] = "DoNotSchedule"
        if self.chance(0.15):
            made["nodeTaintsPolicy"] = self._random.choice(["Honor", "Ignore"])
        if self.chance(0.15):
            made["nodeAffinityPolicy"] = self._random.choice(["Honor", "Ignore"])
        if self.chance(0.15):
            made["matchLabelKeys"] = ["shape"]
        return made


class _Rarities(_Generator):
    """Changes a cluster, one topic or several of them."""

    def applied(self, request: Json) -> Json:
        objects = request["objects"]
        topics = self.pick(["pods", "terms", "pools", "nodes", "bound"])
        shapes: dict[str, Json] = {}
        for each in objects:
            kind, spec = each["kind"], each.get("spec", {})
            if kind == "Pod" and not spec.get("nodeName"):
                shape = each["metadata"]["labels"]["shape"]
                if shape not in shapes:
                    shapes[shape] = self.rare_spec(copy.deepcopy(spec), topics)
                each["spec"] = copy.deepcopy(shapes[shape])
            elif kind == "Pod" and "bound" in topics:
                self.change_bound_pod(each)
            elif kind == "NodePool" and "pools" in topics:
                self.change_pool(each)
            elif kind in {"Node", "NodeClaim"} and "nodes" in topics:
                self.change_node(each)
        return request

    def rare_spec(self, spec: Json, topics: list[str]) -> Json:
        if "pods" in topics:
            self.change_requests(spec)
            self.change_ports(spec)
            if self.chance(0.3):
                spec["nodeSelector"] = dict(self.pick(RARE_LABELS)[:2])
            if self.chance(0.3):
                spec["tolerations"] = [self.toleration() for _ in range(self._random.randint(1, 4))]
        if "terms" in topics:
            self.change_terms(spec)
        return spec

    def change_terms(self, spec: Json) -> None:
        affinity = spec.setdefault("affinity", {})
        if self.chance(0.5):
            affinity["nodeAffinity"] = self.many_node_terms()
        for kind in ("podAffinity", "podAntiAffinity"):
            if self.chance(0.4):
                affinity[kind] = self.many_pod_terms()
        if self.chance(0.4):
            constraints = [self.spread(self._random.choice(APPS)) for _ in range(self._random.randint(1, 4))]
            for each in constraints:
                if self.chance(0.3):
                    each["topologyKey"] = self._random.choice([ARCH, FAMILY, INSTANCE_TYPE, POOL, "tier", "unknown"])
            spec["topologySpreadConstraints"] = constraints

    def change_requests(self, spec: Json) -> None:
        small = {"requests": {"cpu": "300m", "memory": "5Gi"}}
        container = spec["containers"][0]
        match self._random.randrange(9):
            case 0:
                container["resources"] = {}
            case 1:
                spec["initContainers"] = [{"name": "init", "image": "x", "resources": small}]
            case 2:
                spec["initContainers"] = [{"name": "init", "image": "x", "restartPolicy": "Always", "resources": small}]
            case 3:
                spec["overhead"] = {"cpu": "250m", "memory": "120Mi"}
            case 4:
                spec["resources"] = {"requests": {"cpu": "6", "memory": "2Gi"}}
            case 5:
                container["resources"]["requests"] |= {"hugepages-2Mi": "128Mi"}
            case 6:
                container["resources"]["requests"] |= {"example.com/none": self._random.choice(["0", "1"])}

    def change_ports(self, spec: Json) -> None:
        if self.chance(0.3):
            spec["containers"][0]["ports"] = [
                {"hostPort": self._random.choice([80, 9100]), "containerPort": 80,
                 "protocol": self._random.choice(["TCP", "UDP"]),
                 "hostIP": self._random.choice(ADDRESSES)}
                for _ in range(self._random.randint(1, 3))
            ]  # fmt: skip

    def toleration(self) -> Json:
        key = self._random.choice(["dedicated", "busy", "starting", ""])
        operator = self._random.choice(["Exists", "Equal", ""]) if key else "Exists"
        made = {"key": key, "operator": operator,
                "effect": self._random.choice(["", "NoSchedule", "NoExecute", "PreferNoSchedule"])}  # fmt: skip
        if operator != "Exists":
            made["value"] = self._random.choice(["", "gpu", "db"])
        return made

    def expressions(self) -> list[Json]:
        return [self.expression() for _ in range(self._random.choice([0, 1, 1, 2, 3]))]

    def many_node_terms(self) -> Json:
        preferred = [
            {"weight": self._random.choice([1, 1, 10, 50]), "preference": term(*self.expressions())}
            for _ in range(self._random.choice([1, 2, 5, 14]))
        ]
        required = [term(*self.expressions()) for _ in range(self._random.randint(1, 4))]
        return {"preferredDuringSchedulingIgnoredDuringExecution": preferred} | (
            {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": required}}
            if self.chance(0.5)
            else {}
        )

    def many_pod_terms(self) -> Json:
        terms = [self.pod_term(self._random.choice(APPS)) for _ in range(self._random.randint(1, 5))]
        for each in terms:
            if self.chance(0.2):
                each["namespaces"] = self.pick(["default", "other"])
            if self.chance(0.1):
                each["namespaceSelector"] = {}
            if self.chance(0.2) and "labelSelector" in each:
                operator = self._random.choice(["In", "NotIn"])
                expression = {"key": "app", "operator": operator, "values": ["web", "db"]}
                each["labelSelector"] = self._random.choice([{}, {"matchExpressions": [expression]}])
        required = self._random.randint(0, len(terms))
        preferred = [
            {"weight": self._random.choice([1, 20, 100]), "podAffinityTerm": each} for each in terms[required:]
        ]
        return {"requiredDuringSchedulingIgnoredDuringExecution": terms[:required],
                "preferredDuringSchedulingIgnoredDuringExecution": preferred}  # fmt: skip

    def change_pool(self, pool: Json) -> None:
        template = pool["spec"]["template"]
        template["spec"]["requirements"] += self.pick(
            [
                {"key": CPU, "operator": "Gt", "values": ["1"]},
                {"key": CPU, "operator": "Lt", "values": ["17"]},
                {"key": CPU, "operator": "In", "values": ["2", "4", "8"], "minValues": 2},
                {"key": ZONE, "operator": "Exists", "minValues": 2},
                {"key": "generation", "operator": "Gt", "values": ["3"]},
                {"key": "generation", "operator": "In", "values": ["3", "5", "x"]},
                {"key": CAPACITY_TYPE, "operator": "NotIn", "values": ["spot"]},
                {"key": "tier", "operator": "DoesNotExist"},
                {"key": "example.com/special", "operator": "Exists"},
                selector("failure-domain.beta.kubernetes.io/zone", "zone-a", "zone-c"),
            ]
        )[:3]
        if self.chance(0.3):
            limits = [{"cpu": "0"}, {"nodes": "1", "cpu": "20"}, {"pods": "200"}, {"example.com/none": "0"}, {}]
            pool["spec"]["limits"] = self._random.choice(limits)
        if self.chance(0.05):
            pool["spec"]["replicas"] = 1
        if self.chance(0.05):
            pool["metadata"] |= DELETED
        if self.chance(0.2):
            template.setdefault("metadata", {}).setdefault("labels", {})["generation"] = "5"

    def change_node(self, node: Json) -> None:
        labels, spec, status = node["metadata"]["labels"], node["spec"], node["status"]
        match self._random.randrange(10):
            case 0:
                spec.pop("providerID", None)
            case 1:
                labels.pop(INSTANCE_TYPE, None)
            case 2:
                spec["taints"] = [*spec.get("taints", []), self._random.choice(RARE_TAINTS)]
            case 3:
                node["metadata"] |= DELETED
            case 4:
                labels.pop(HOSTNAME, None)
            case 5:
                status["allocatable"] = {**status["allocatable"], "cpu": "0"}
            case 6 if node["kind"] == "NodeClaim":
                status["conditions"] = [condition("InstanceTerminating", "True")]
            case 7:
                labels.pop(POOL, None)

    def change_bound_pod(self, pod: Json) -> None:
        match self._random.randrange(6):
            case 0:
                pod["metadata"]["ownerReferences"] = [
                    {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "daemon-0", "uid": "daemon-0",
                     "controller": True}
                ]  # fmt: skip
            case 1:
                pod["metadata"]["ownerReferences"] = [
                    {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "s", "uid": "s", "controller": True}
                ]
                pod["metadata"] |= DELETED
            case 2:
                pod["metadata"] |= DELETED
            case 3:
                pod["spec"]["nodeName"] = "gone"
            case 4:
                pod["metadata"]["namespace"] = "other"


class _Movement(_Generator):
    """Lets nodes go away, and adds what decides about their pods."""

    def applied(self, request: Json) -> Json:
        objects = request["objects"]
        for each in objects:
            kind = each["kind"]
            if kind == "NodeClaim" and self.chance(0.5):
                each["metadata"] |= DELETED
            elif kind == "Pod" and each["spec"].get("nodeName"):
                self.change_bound_pod(each)
            elif kind == "Pod" and self.chance(0.15):
                each["spec"] = {**each["spec"], "schedulingGates": [{"name": "example.com/gate"}]}
                each["status"]["conditions"][0]["reason"] = "SchedulingGated"
        for types in request["instanceTypes"].values():
            self.reserve(types["types"])
        objects += [self.budget(number) for number in range(self._random.choice([0, 1, 1, 2, 3]))]
        return request

    def change_bound_pod(self, pod: Json) -> None:
        if self.chance(0.4):
            value = self._random.choice(["true", "1h", "999999h", "false", "-1h", "soon"])
            pod["metadata"]["annotations"] = {"karpenter.sh/do-not-disrupt": value}
        if self.chance(0.7):
            pod["status"]["startTime"] = "2026-01-01T00:00:00Z"
        if self.chance(0.2):
            pod["status"]["conditions"] = [condition("Ready", "False")]
        if self.chance(0.2):
            owner = self._random.choice(["StatefulSet", "StatefulSet", "ReplicaSet", "DaemonSet"])
            pod["metadata"]["ownerReferences"] = [
                {"apiVersion": "apps/v1", "kind": owner, "name": "s", "uid": "s", "controller": True}
            ]
        if self.chance(0.2):
            pod["metadata"] |= DELETED
        if self.chance(0.1):
            pod["spec"]["tolerations"] = [{"key": "karpenter.sh/disrupted", "operator": "Exists"}]

    def budget(self, number: int) -> Json:
        selector = self._random.choice([{}, {"matchLabels": {"app": self._random.choice(APPS)}}, None])
        spec: Json = self._random.choice(
            [{"maxUnavailable": 0}, {"maxUnavailable": "0%"}, {"maxUnavailable": 1}, {"minAvailable": "100%"},
             {"minAvailable": "50%"}, {"minAvailable": 0}]
        )  # fmt: skip
        spec = {**spec, "selector": selector}
        if self.chance(0.3):
            spec["unhealthyPodEvictionPolicy"] = self._random.choice(["AlwaysAllow", "IfHealthyBudget"])
        return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
                "metadata": {"name": f"budget-{number}", "namespace": self._random.choice(["default", "other"])},
                "spec": spec}  # fmt: skip

    def reserve(self, types: list[Json]) -> None:
        """Reserve some of the types, several of them by one reservation, some of which is used up."""
        for kind in types:
            if not self.chance(0.3):
                continue
            identity = f"cr-{self._random.randrange(3)}"
            zone = kind["offerings"][0]["requirements"][0]["values"][0]
            requirements = [selector(ZONE, zone), selector(CAPACITY_TYPE, "reserved"),
                            selector("example.com/reservation-id", identity)]  # fmt: skip
            kind["offerings"].append(
                {"requirements": requirements, "price": 0.01, "available": not self.chance(0.1),
                 "reservationCapacity": self._random.choice([0, 1, 1, 2])}
            )  # fmt: skip
            for stated in kind["requirements"]:
                if stated["key"] == CAPACITY_TYPE and "reserved" not in stated["values"]:
                    stated["values"] = sorted([*stated["values"], "reserved"])


def condition(kind: str, status: str) -> Json:
    """A condition of a NodePool."""
    return {"type": kind, "status": status, "reason": kind, "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}


def selector(key: str, *values: str) -> Json:
    """`key in (values)`."""
    return {"key": key, "operator": "In", "values": list(values)}


def term(*expressions: Json) -> Json:
    """A node selector's term."""
    return {"matchExpressions": list(expressions)}


def claim(name: str, storage_class: str, volume_name: str = "") -> Json:
    """A PersistentVolumeClaim, bound if it names a volume."""
    spec: Json = {"storageClassName": storage_class}
    metadata: Json = {"name": name, "namespace": "default"}
    if volume_name:
        spec["volumeName"] = volume_name
        metadata["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}


def volume(name: str, terms: list[Json], *, csi: bool) -> Json:
    """A PersistentVolume with a node affinity."""
    source = {"csi": {"driver": "ebs.example.com", "volumeHandle": name}} if csi else {"local": {"path": "/x"}}
    spec = {"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}} | source
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec}
