"""Random volume graphs, broken ones among them, as Kubernetes objects.

Sizes of volumes differ from each other and storage capacities of a class do not overlap, because among equals upstream
takes whichever its cache gives first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from kubectl_sched.api import core, pod, storage

if TYPE_CHECKING:
    from random import Random

    from kubectl_sched.api.meta import KubernetesObject

ZONES = ("eu-west1-a", "eu-west1-b", "us-east1-c")
ZONE, BETA_ZONE = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"
REGION, BETA_REGION = "topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"
HOST = "kubernetes.io/hostname"
LABELS = (ZONE, BETA_ZONE, REGION, "topology.gke.io/zone", "topology.ebs.csi.aws.com/zone")
DRIVERS = ("disk.csi.example", "ebs.csi.aws.com", "pd.csi.storage.gke.io")
IN_TREE = ("kubernetes.io/gce-pd", "kubernetes.io/aws-ebs", "kubernetes.io/portworx-volume", "kubernetes.io/cinder")
CLASSES: dict[str, dict[str, Any]] = {
    "local": {"provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"},
    "csi": {"provisioner": "disk.csi.example", "volumeBindingMode": "WaitForFirstConsumer"},
    "ebs": {"provisioner": "ebs.csi.aws.com", "volumeBindingMode": "WaitForFirstConsumer"},
    "in-tree": {"provisioner": "kubernetes.io/gce-pd", "volumeBindingMode": "WaitForFirstConsumer"},
    "at-once": {"provisioner": "disk.csi.example", "volumeBindingMode": "Immediate"},
}
CLAIMS = tuple(f"claim-{number}" for number in range(10))
TYPES: dict[str, type[KubernetesObject]] = {
    "Node": core.Node,
    "Pod": pod.Pod,
    "PersistentVolume": storage.PersistentVolume,
    "PersistentVolumeClaim": storage.PersistentVolumeClaim,
    "StorageClass": storage.StorageClass,
    "CSINode": storage.CSINode,
    "CSIDriver": storage.CSIDriver,
    "CSIStorageCapacity": storage.CSIStorageCapacity,
    "VolumeAttachment": storage.VolumeAttachment,
}

Raw = dict[str, Any]


def decoded(raw: Raw) -> KubernetesObject:
    """The object as a reader would give it."""
    kind: type[KubernetesObject] = TYPES[raw["kind"]]
    return msgspec.convert(raw, kind)


class VolumeGraph:
    """One random cluster: `objects` without the pods, `running` and `pending` pods."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._names = [f"n{number}" for number in range(random.randint(1, 5))]
        self._volumes = [f"pv-{number}" for number in range(random.randint(0, 9))]
        self.objects = [self._node(name) for name in self._names]
        self.objects += [self._csi_node(name) for name in self._names if self._chance(80)]
        self.objects += [_made("StorageClass", name, **self._class(spec)) for name, spec in CLASSES.items()]
        self.objects += [self._driver(name) for name in DRIVERS if self._chance(80)]
        self.objects += self._capacities()
        self.objects += [self._volume(number, name) for number, name in enumerate(self._volumes)]
        self.objects += [self._claim(name) for name in CLAIMS if self._chance(85)]
        self.objects += [self._attachment(number) for number in range(random.randint(0, 4))]
        self.running = [self._pod(f"run-{number}", self._pick(self._names)) for number in range(random.randint(0, 6))]
        self.pending = [self._pod(f"pend-{number}", "") for number in range(4)]
        self.objects += [claim for each in (*self.running, *self.pending) for claim in self._ephemeral_claims(each)]

    def _chance(self, percent: int) -> bool:
        return self._random.random() * 100 < percent

    def _pick(self, choices: Any) -> Any:
        return self._random.choice(list(choices))

    def _some(self, choices: Any, at_most: int) -> list[Any]:
        choices = list(choices)
        return self._random.sample(choices, self._random.randint(0, min(at_most, len(choices))))

    def _node(self, name: str) -> Raw:
        zone = self._pick(ZONES)
        values = {key: zone.rsplit("-", 1)[0] if "region" in key else zone for key in self._some(LABELS, 4)}
        made = _made("Node", name, status={"allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110"}})
        made["metadata"]["labels"] = {HOST: name, **values}
        return made

    def _csi_node(self, name: str) -> Raw:
        drivers: list[Raw] = []
        for driver in self._some(DRIVERS, 3):
            allocatable = {"count": self._random.randint(0, 4)} if self._chance(75) else {}
            drivers.append({"name": driver, "nodeID": name, "topologyKeys": [], "allocatable": allocatable})
        made = _made("CSINode", name, spec={"drivers": drivers})
        if self._chance(70):
            made["metadata"]["annotations"] = {
                "storage.alpha.kubernetes.io/migrated-plugins": ",".join(self._some(IN_TREE, 4))
            }
        return made

    def _class(self, spec: Raw) -> Raw:
        if self._chance(70):
            return spec
        terms = [{"matchLabelExpressions": [{"key": ZONE, "values": self._some(ZONES, 2)}]} for _ in range(2)]
        return {**spec, "allowedTopologies": terms}

    def _driver(self, name: str) -> Raw:
        spec: Raw = {}
        if self._chance(60):
            spec["storageCapacity"] = self._chance(70)
        if name == DRIVERS[0] and self._chance(50):
            spec["preventPodSchedulingIfMissing"] = self._chance(70)
        return _made("CSIDriver", name, spec=spec)

    def _capacities(self) -> list[Raw]:
        found: list[Raw] = []
        for class_name in ("csi", "ebs", "local"):
            for zone in self._some(ZONES, 3):
                made = _made("CSIStorageCapacity", f"{class_name}-{zone}", storageClassName=class_name)
                made["metadata"]["namespace"] = "kube-system"
                if self._chance(90):
                    made["nodeTopology"] = {"matchLabels": {ZONE: zone}}
                made["capacity"] = self._pick(["1Gi", "5Gi", "20Gi", "0"])
                if self._chance(20):
                    made["maximumVolumeSize"] = self._pick(["1Gi", "8Gi"])
                found.append(made)
        return found

    def _source(self, name: str) -> Raw:
        handle = self._pick([name, "vol-1", "vol-2"])
        sources: list[Raw] = [
            {"csi": {"driver": self._pick(DRIVERS), "volumeHandle": handle}},
            {"gcePersistentDisk": {"pdName": handle}},
            {"awsElasticBlockStore": {"volumeID": self._pick([handle, "aws://eu/vol-1", "aws://eu/broken"])}},
            {"azureDisk": {"diskName": handle, "diskURI": handle, "kind": self._pick(["Managed", "Dedicated"])}},
            {"portworxVolume": {"volumeID": handle}},
            {"vsphereVolume": {"volumePath": handle}},
            {"local": {"path": "/mnt"}},
        ]
        return self._pick(sources[:2] if self._chance(50) else sources)  # type: ignore[no-any-return]

    def _volume(self, number: int, name: str) -> Raw:
        spec: Raw = {
            **self._source(name),
            "capacity": {"storage": str((self._random.randint(1, 12) << 30) + number)},
            "accessModes": self._pick([["ReadWriteOnce"], ["ReadWriteOnce", "ReadOnlyMany"], ["ReadWriteOncePod"]]),
            "storageClassName": self._pick([*CLASSES, "local", "local", ""]),
        }
        if self._chance(50):
            spec["nodeAffinity"] = {
                "required": {"nodeSelectorTerms": [self._term() for _ in range(self._pick([1, 2]))]}
            }
        if self._chance(25):
            spec["claimRef"] = {"namespace": "default", "name": self._pick(CLAIMS)}
        if self._chance(15):
            spec["volumeMode"] = self._pick(["Block", "Filesystem"])
        if self._chance(8):
            spec["volumeAttributesClassName"] = "gold"
        made = _made("PersistentVolume", name, spec=spec, status={"phase": self._pick(["Available"] * 4 + ["Bound"])})
        zone = self._pick([*ZONES, "eu-west1-a__eu-west1-b", "eu-west1-a__us-east1-c", "eu-west1-a__", "odd"])
        keys = self._some((ZONE, BETA_ZONE), 2) if self._chance(40) else []
        made["metadata"]["labels"] = {"disk": self._pick(["ssd", "hdd"]), **dict.fromkeys(keys, zone)}
        if self._chance(10):
            made["metadata"]["labels"][self._pick([REGION, BETA_REGION])] = "eu-west1"
        if self._chance(6):
            made["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["x/y"]}
        return made

    def _term(self) -> Raw:
        key = self._pick([ZONE, BETA_ZONE, HOST, BETA_REGION])
        values = self._some(self._names if key == HOST else ["eu-west1"] if "region" in key else ZONES, 3)
        operator = self._pick(["In", "In", "In", "NotIn", "Exists", "Gt"])
        expression = {"key": key, "operator": operator, "values": [] if operator == "Exists" else values}
        term: Raw = {"matchExpressions": [expression]}
        if self._chance(10):
            term["matchFields"] = [{"key": "metadata.name", "operator": "In", "values": self._some(self._names, 2)}]
        return term

    def _claim_spec(self) -> Raw:
        spec: Raw = {"accessModes": [self._pick(["ReadWriteOnce", "ReadWriteOnce", "ReadWriteOncePod"])]}
        if self._chance(92):
            spec["storageClassName"] = self._pick([*CLASSES, "local", "csi", "none"])
        if self._chance(95):
            spec["resources"] = {"requests": {"storage": self._pick(["1Gi", "3Gi", "4Gi", "9Gi"])}}
        if self._chance(12):
            spec["selector"] = {"matchLabels": {"disk": "ssd"}}
        if self._chance(6):
            spec["volumeAttributesClassName"] = "gold"
        return spec

    def _claim(self, name: str) -> Raw:
        made = _made("PersistentVolumeClaim", name, spec=self._claim_spec(), status={"phase": "Pending"})
        made["metadata"] |= {"namespace": "default", "uid": f"uid-{name}"}
        self._bind(made)
        return made

    def _bind(self, made: Raw) -> None:
        annotations: dict[str, str] = {}
        if self._volumes and self._chance(50):
            made["spec"]["volumeName"] = self._pick([*self._volumes, *self._volumes, *self._volumes, "pv-gone"])
            if self._chance(92):
                annotations["pv.kubernetes.io/bind-completed"] = "yes"
            made["status"]["phase"] = "Lost" if self._chance(3) else "Bound"
        elif self._chance(12):
            annotations["volume.kubernetes.io/selected-node"] = self._pick([*self._names, "gone"])
        if self._chance(5):
            annotations["volume.beta.kubernetes.io/storage-class"] = "local"
        made["metadata"]["annotations"] = annotations
        if self._chance(3):
            made["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["x/y"]}

    def _attachment(self, number: int) -> Raw:
        source = {"persistentVolumeName": self._pick([*self._volumes, "pv-gone"])}
        spec = {"attacher": self._pick(DRIVERS), "nodeName": self._pick(self._names), "source": source}
        return _made("VolumeAttachment", f"attachment-{number}", spec=spec)

    def _pod(self, name: str, node: str) -> Raw:
        volumes = [{"name": f"v{number}", **self._pod_volume()} for number in range(self._random.randint(0, 3))]
        containers = [{"name": "main", "image": "x", "resources": {"requests": {"cpu": "10m"}}}]
        spec = {"schedulerName": "default-scheduler", "containers": containers, "volumes": volumes, "nodeName": node}
        made = _made("Pod", name, spec=spec, status={"phase": "Running" if node else "Pending"})
        made["metadata"] |= {"namespace": "default", "uid": f"uid-{name}"}
        return made

    def _pod_volume(self) -> Raw:
        read_only = self._chance(50)
        sources: list[Raw] = [
            {"gcePersistentDisk": {"pdName": "vol-1", "readOnly": read_only}},
            {"awsElasticBlockStore": {"volumeID": self._pick(["vol-1", "aws://eu/vol-2", "aws://eu/broken"])}},
            {"iscsi": {"targetPortal": "x", "iqn": "iqn-1", "lun": 0, "readOnly": read_only}},
            {"rbd": {"monitors": self._some("abc", 2), "image": "i", "pool": "p", "readOnly": read_only}},
            {"azureFile": {"shareName": "s", "secretName": "s"}},
            {"azureDisk": {"diskName": "d", "diskURI": "d", "kind": self._pick(["managed", "Shared"])}},
            {"portworxVolume": {"volumeID": "vol-1"}},
            {"emptyDir": {}},
            {"ephemeral": {"volumeClaimTemplate": {"spec": self._claim_spec()}}},
        ]
        if self._chance(75):
            return {"persistentVolumeClaim": {"claimName": self._pick(CLAIMS)}}
        return self._pick(sources)  # type: ignore[no-any-return]

    def _ephemeral_claims(self, owner: Raw) -> list[Raw]:
        claims: list[Raw] = []
        for volume in owner["spec"]["volumes"]:
            if "ephemeral" in volume and self._chance(90):
                name = f"{owner['metadata']['name']}-{volume['name']}"
                made = _made(
                    "PersistentVolumeClaim", name, spec=dict(volume["ephemeral"]["volumeClaimTemplate"]["spec"])
                )
                made["metadata"] |= {"namespace": "default", "uid": f"uid-{name}"}
                made["status"] = {"phase": "Pending"}
                self._bind(made)
                uid = owner["metadata"]["uid"] if self._chance(93) else "another"
                reference = {"apiVersion": "v1", "kind": "Pod", "name": owner["metadata"]["name"], "uid": uid}
                made["metadata"]["ownerReferences"] = [{**reference, "controller": True}]
                claims.append(made)
        return claims


_API_VERSIONS = {"Node": "v1", "Pod": "v1", "PersistentVolume": "v1", "PersistentVolumeClaim": "v1"}


def _made(kind: str, name: str, **fields: Any) -> Raw:
    version = _API_VERSIONS.get(kind, "storage.k8s.io/v1")
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, **fields}
