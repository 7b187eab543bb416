"""Random changes of objects: the same plugins must find them worth another attempt as in kube-scheduler's own queue.

python -m tests.oracle.event_hints --questions 100000 --kube-version 1.36
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import msgspec

from kubectl_sched.api.component_helpers.pod_requests import scheduler_options
from kubectl_sched.api.pod import Pod
from kubectl_sched.binding.second_scheduler.cache import Cache
from kubectl_sched.binding.second_scheduler.cluster_events import (
    REGISTERED,
    Happened,
    cluster_event,
    pending_pod_events,
)
from kubectl_sched.binding.second_scheduler.queueing_hints import PluginHints
from kubectl_sched.config import KubeVersion, load_configuration
from kubectl_sched.scheduler.scheduler import Scheduler
from kubectl_sched.sources.kinds import BY_NAME
from tests.oracle.build import VERSIONS, Oracle
from tests.oracle.conformance import HINTS, record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kubectl_sched.api.meta import KubernetesObject

Json = dict[str, Any]
Question = dict[str, Any]

ZONES: Final = ("a", "b")
APPS: Final = ("web", "db")
CLAIMS: Final = ("data", "web-0-scratch", "other")
STORAGE: Final = "storage.k8s.io/v1"
SELECTORS: Final = [{}, {"matchLabels": {"a": "b"}}]
QUESTIONS: Final = 100
"""Questions about one cluster."""

PENDING_CHANGES: Final = ("labels", "tolerations", "requests", "features", "claims", "gates")


class Changes:
    """Draws a cluster with one waiting pod, and one change in it."""

    def __init__(self, seed: int, device_api: str) -> None:
        self._random = random.Random(seed)  # noqa: S311 - no secret
        self._device_api = device_api

    def cluster(self, many: int) -> tuple[list[Json], list[Question]]:
        """The waiting pod with its claims and the classes, and so many questions about them."""
        waiting = self._pod("web-0", "")
        claims = [self._claim(name) for name in CLAIMS if self._one_of(2)]
        classes = [self._device_class(name) for name in ("gpu", "net") if self._one_of(2)]
        return [waiting, *claims, *classes], [self._question(waiting, claims, classes) for _ in range(many)]

    def _question(self, waiting: Json, claims: list[Json], classes: list[Json]) -> Question:
        kinds = [
            self._node, self._node, self._placed, self._placed, self._volume_claim, self._volume, self._storage_class,
            self._csi_node, self._csi_driver, self._capacity, self._attachment, self._slice,
        ]  # fmt: skip
        choice = self._random.randrange(len(kinds) + 4)
        if choice == 0:
            return self._asked(waiting, {**waiting, **self._changed_pod(waiting)})
        if choice in {1, 2} and claims:
            return self._change_of(claims, lambda old: self._claim(old["metadata"]["name"]))
        if choice == 3 and classes:
            return self._change_of(classes, lambda old: self._device_class(old["metadata"]["name"]))
        make = kinds[choice % len(kinds)]
        old, new = make(), make()
        return self._asked(*self._random.choice([(old, new), (old, new), (None, new), (old, None)]))

    def _asked(self, old: Json | None, new: Json | None) -> Question:
        return {"pod": "default/web-0", "old": old, "new": new}

    def _change_of(self, present: list[Json], make: Callable[[Json], Json]) -> Question:
        new = self._random.choice(present)
        if self._one_of(4):
            return self._asked(None, new)
        old = {**make(new), "metadata": new["metadata"]}
        return self._asked(old, None if self._one_of(4) else new)

    def _one_of(self, many: int) -> bool:
        return self._random.randrange(many) == 0

    def _some(self, **choices: Any) -> Json:
        """Each of these, or not; of a list one."""
        drawn = {key: self._random.choice(each) if isinstance(each, list) else each for key, each in choices.items()}
        return {key: each for key, each in drawn.items() if self._random.randrange(2)}

    # Nodes and pods

    def _node(self) -> Json:
        choose = self._random.choice
        taints = [
            {"key": key, "value": choose(["", "5"]), "effect": choose(["NoSchedule", "NoExecute", "PreferNoSchedule"])}
            for key in ("dedicated", "node.kubernetes.io/unschedulable")
            if self._one_of(3)
        ]
        labels = self._some(zone=list(ZONES), rack=["1", "2"], pool=["x"])
        amounts = {"cpu": choose(["1", "2", "4"]), "pods": choose(["0", "1", "10"]), "memory": choose(["1Gi", "4Gi"])}
        extended = self._some(**{"example.com/gpu": ["0", "1", "4"]})
        status = {"allocatable": {**amounts, **extended}}
        if self._one_of(2):
            status["declaredFeatures"] = ["RestartAllContainersOnContainerExits"]  # type: ignore[assignment]
        spec = {"taints": taints, "unschedulable": self._one_of(3)}
        return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "labels": labels}, "spec": spec,
                "status": status}  # fmt: skip

    def _pod(self, name: str, node: str) -> Json:
        choose = self._random.choice
        requests = self._some(cpu=["100m", "1", "3"], memory=["0", "1Gi"], **{"example.com/gpu": ["1", "2"]})
        ports = [{"containerPort": 80, "hostPort": choose([80, 81]), "hostIP": choose(["", "10.0.0.1"])}]
        container: Json = {"name": "main", "image": "i", "resources": {"requests": requests}}
        spec: Json = {
            "containers": [{**container, **self._some(ports=[ports])}],
            **self._some(
                nodeSelector={"pool": "x"},
                tolerations=[[self._toleration()], [self._toleration(), {"operator": "Exists"}]],
                volumes=[[self._volume_of_pod(f"v{index}") for index in range(2)]],
                resourceClaims=[[{"name": "c", "resourceClaimName": choose(CLAIMS)}]],
            ),
        }
        spec["topologySpreadConstraints"] = [self._spread() for _ in range(self._random.randrange(3))]
        spec["affinity"] = self._some(
            nodeAffinity=[self._node_affinity()],
            podAffinity=[{"requiredDuringSchedulingIgnoredDuringExecution": self._terms()}],
            podAntiAffinity=[{"requiredDuringSchedulingIgnoredDuringExecution": self._terms()}],
        )
        if node:
            spec["nodeName"] = node
        namespace = "default" if name == "web-0" or self._random.randrange(4) else "other"
        metadata = {"name": name, "namespace": namespace, "uid": f"uid-{name}",
                    "labels": self._some(app=list(APPS), tier=["x", "y"])}  # fmt: skip
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {}}

    def _placed(self) -> Json:
        made = self._pod("placed", "n1")
        made["metadata"]["namespace"] = "default"
        return made

    def _changed_pod(self, before: Json) -> Json:
        """The waiting pod after one change."""
        other = self._pod("web-0", "")
        changed: Json = {"metadata": dict(before["metadata"]), "spec": dict(before["spec"])}
        match self._random.choice(PENDING_CHANGES):
            case "labels":
                changed["metadata"]["labels"] = other["metadata"]["labels"]
            case "tolerations":
                changed["spec"]["tolerations"] = [*before["spec"].get("tolerations", ()), self._toleration()]
            case "requests" | "features":
                changed["spec"]["containers"] = other["spec"]["containers"]
            case "claims":
                made = [{"name": "c", "resourceClaimName": self._random.choice(CLAIMS)}]
                changed["status"] = {"resourceClaimStatuses": made}
            case "gates":
                changed["metadata"]["annotations"] = {"changed": "yes"}
        return changed

    def _toleration(self) -> Json:
        choose = self._random.choice
        keys = ["dedicated", "node.kubernetes.io/unschedulable"]
        return {"key": choose(keys), "operator": choose(["Exists", "Exists", "Equal", "Gt"]), "value": "",
                "effect": choose(["", "NoSchedule"])}  # fmt: skip

    def _spread(self) -> Json:
        choose = self._random.choice
        return {
            "maxSkew": 1, "topologyKey": choose(["zone", "rack"]),
            "whenUnsatisfiable": choose(["DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"]),
            "labelSelector": {"matchLabels": {"app": choose(APPS)}},
            **self._some(nodeTaintsPolicy=["Honor", "Ignore"], matchLabelKeys=[["tier"]]),
        }  # fmt: skip

    def _terms(self) -> list[Json]:
        choose = self._random.choice
        return [
            {"labelSelector": {"matchLabels": {choose(["app", "tier"]): choose([*APPS, "x"])}},
             "topologyKey": choose(["zone", "rack"]),
             **self._some(namespaces=[["other"], ["default", "other"]], namespaceSelector=SELECTORS)}
            for _ in range(self._random.randrange(3))
        ]  # fmt: skip

    def _node_affinity(self) -> Json:
        expression = {"key": "zone", "operator": "In", "values": [self._random.choice(ZONES)]}
        terms = [{"matchExpressions": [expression]}]
        return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}

    # Volumes

    def _volume_of_pod(self, name: str) -> Json:
        choose = self._random.choice
        read_only = self._one_of(2)
        source: Json = choose(
            [
                {"persistentVolumeClaim": {"claimName": choose(CLAIMS)}},
                {"ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
                {"gcePersistentDisk": {"pdName": choose(["d1", "d2"]), "readOnly": read_only}},
                {"awsElasticBlockStore": {"volumeID": "vol-1"}},
                {"iscsi": {"targetPortal": "p", "iqn": "q", "lun": 0, "readOnly": read_only}},
                {"csi": {"driver": choose(["ebs.csi.aws.com", "d.example"])}},
                {"emptyDir": {}},
            ]
        )
        return {"name": choose([name, "scratch"]) if "ephemeral" in source else name, **source}

    def _volume_claim(self) -> Json:
        choose = self._random.choice
        metadata = {"name": choose(CLAIMS), "namespace": choose(["default", "default", "other"])}
        return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata,
                "spec": self._some(volumeName="pv", accessModes=[["ReadWriteOnce"]])}  # fmt: skip

    def _volume(self) -> Json:
        labels = self._some(
            **{"topology.kubernetes.io/zone": ["a", "a__b", "b__a", ""], "topology.kubernetes.io/region": ["r"]}
        )
        return {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": "pv", "labels": labels},
            "spec": {},
        }

    def _storage_class(self) -> Json:
        expression = {"key": "zone", "values": [self._random.choice(ZONES)]}
        rest = self._some(
            volumeBindingMode=["Immediate", "WaitForFirstConsumer"],
            allowedTopologies=[[{"matchLabelExpressions": [expression]}]],
        )
        return {"apiVersion": STORAGE, "kind": "StorageClass", "metadata": {"name": "s"}, "provisioner": "d", **rest}

    def _csi_node(self) -> Json:
        choose = self._random.choice
        drivers = [
            {"name": name, "nodeID": "n", **self._some(allocatable=[{"count": choose([1, 2, 5])}, {}])}
            for name in ("ebs.csi.aws.com", "d.example")
            if self._one_of(2)
        ]
        annotations = self._some(**{"storage.alpha.kubernetes.io/migrated-plugins": ["kubernetes.io/aws-ebs", ""]})
        return {"apiVersion": STORAGE, "kind": "CSINode", "metadata": {"name": "n1", "annotations": annotations},
                "spec": {"drivers": drivers}}  # fmt: skip

    def _csi_driver(self) -> Json:
        return {"apiVersion": STORAGE, "kind": "CSIDriver", "metadata": {"name": "d.example"},
                "spec": self._some(storageCapacity=[True, False])}  # fmt: skip

    def _capacity(self) -> Json:
        sizes = self._some(capacity=["1Gi", "2Gi", "1500Mi"], maximumVolumeSize=["1Gi", "3Gi"])
        return {"apiVersion": STORAGE, "kind": "CSIStorageCapacity", "metadata": {"name": "c", "namespace": "default"},
                "storageClassName": "s", **sizes}  # fmt: skip

    def _attachment(self) -> Json:
        attacher = self._random.choice(["ebs.csi.aws.com", "pd.csi.storage.gke.io", "d.example"])
        return {"apiVersion": STORAGE, "kind": "VolumeAttachment", "metadata": {"name": "a"},
                "spec": {"attacher": attacher, "nodeName": "n1", "source": {}}}  # fmt: skip

    # Devices

    def _claim(self, name: str) -> Json:
        metadata: Json = {"name": name, "namespace": "default", "uid": f"uid-{name}"}
        if self._one_of(8):
            metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        result = {"request": "r", "driver": "d", "pool": "p", "device": self._random.choice(["d1", "d2"])}
        status = self._some(allocation=[{"devices": {"results": [result]}}])
        return {"apiVersion": self._device_api, "kind": "ResourceClaim", "metadata": metadata, "spec": {},
                "status": status}  # fmt: skip

    def _device_class(self, name: str) -> Json:
        return {"apiVersion": self._device_api, "kind": "DeviceClass", "metadata": {"name": name},
                "spec": self._some(extendedResourceName=["example.com/gpu", "example.com/net"])}  # fmt: skip

    def _slice(self) -> Json:
        pool = {"name": "p", "generation": 1, "resourceSliceCount": self._random.choice([1, 2])}
        return {"apiVersion": self._device_api, "kind": "ResourceSlice", "metadata": {"name": "sl"},
                "spec": {"driver": "d", "nodeName": "n1", "pool": pool, "devices": []}}  # fmt: skip


class Ours:
    """Our hints about one cluster, with one minor's default profile."""

    def __init__(self, minor: str, objects: Sequence[Json]) -> None:
        configuration = load_configuration(version=KubeVersion.parse(minor))
        cache = Cache(scheduler_options(configuration.features.enabled))
        for item in map(decode, objects):
            cache.change(item, gone=False)
        framework = Scheduler(configuration, cache.snapshot({})).framework("default-scheduler")
        assert framework is not None
        self._waiting = decode(objects[0])
        self._hints = PluginHints({"default-scheduler": framework}, cache.objects)
        named = {ref.name for refs in framework.profile.plugins.values() for ref in refs}
        self._rejecting = sorted(named & REGISTERED.keys())

    def plugins(self, question: Question) -> list[str]:
        """The plugins that would have the pod tried again."""
        old, new = (decode(item) if item else None for item in (question["old"], question["new"]))
        waiting = new if isinstance(new, Pod) and not new.spec.node_name else self._waiting
        assert isinstance(waiting, Pod)
        events = happened(old, new)
        return [each for each in self._rejecting if any(self._hints.helps(each, waiting, event) for event in events)]


def happened(old: KubernetesObject | None, new: KubernetesObject | None) -> list[Happened]:
    """The events that the loop and the queue make of the change."""
    if isinstance(old, Pod) and isinstance(new, Pod) and not new.spec.node_name:
        return [Happened(event, old, new) for event in pending_pod_events(old, new)]
    event = cluster_event(old, new)
    return [Happened(event, old, new)] if event is not None else []


def decode(item: Json) -> KubernetesObject:
    """One object as it is read."""
    return msgspec.convert(item, BY_NAME[item["kind"]].type, strict=False)


def differences(oracle: Oracle, seed: int) -> tuple[list[str], Counter[str]]:
    """The questions of one cluster that are answered otherwise, and how many each plugin was worth an attempt in."""
    device_api = f"resource.k8s.io/{'v1' if oracle.minor != '1.33' else 'v1beta1'}"
    objects, questions = Changes(seed, device_api).cluster(QUESTIONS)
    request = {"id": str(seed), "objects": objects, "config": "", "featureGates": {}, "hints": questions}
    (answer,) = oracle.ask(request)
    if answer.get("error"):
        return [f"seed {seed}: {answer['error']}"], Counter()
    ours = Ours(oracle.patch, objects)
    found, worth = [], Counter[str]()
    for question, hints in zip(questions, answer["hints"], strict=True):
        mine, theirs = set(ours.plugins(question)), set(hints) & REGISTERED.keys()
        worth.update(mine)
        if mine != theirs:
            only = f"ours alone {sorted(mine - theirs)}, kube-scheduler's alone {sorted(theirs - mine)}"
            found.append(f"seed {seed}: {only}: {question['old']} -> {question['new']}, pod {objects[0]}")
    return found, worth


def main() -> None:
    """Compare many changes and say how many agree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=100_000)
    parser.add_argument("--kube-version", default="1.36", choices=VERSIONS)
    options = parser.parse_args()
    found: list[str] = []
    worth = Counter[str]()
    with Oracle(options.kube_version) as oracle:
        for seed in range(options.questions // QUESTIONS):
            said, plugins = differences(oracle, seed)
            found += said
            worth += plugins
    print("\n".join(found[:10]))
    print(f"kube-scheduler {VERSIONS[options.kube_version]}: {options.questions} changes, {len(found)} differ")
    print("worth another attempt:", dict(worth.most_common()))
    record(options.kube_version, {HINTS: [options.questions, len(found)]})
    raise SystemExit(bool(found))


if __name__ == "__main__":
    main()
