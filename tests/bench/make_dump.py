"""Writes a synthetic dump as `kubectl get nodes,pods,... -A -o json` prints one: `make_dump.py 5000 50000 dump.json`.

Nodes in three zones and some pools, a DaemonSet on each of them, Deployments whose pods carry hash labels, probes,
environments, tolerations and a full status. The bytes depend on the arguments alone. 5,000 nodes and 50,000 pods are
about 600 MB.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterator

_ZONES = ("eu-central-1a", "eu-central-1b", "eu-central-1c")
_POOLS = ("general", "general", "general", "memory", "compute", "gpu")
_REPLICAS = 40
_TIME = "2026-03-01T10:%02d:%02dZ"


def objects(nodes: int, pods: int, *, managed_fields: bool = False) -> Iterator[str]:
    """Every object of the cluster as indented JSON, nodes first."""
    node_template = _Template(_node(), managed_fields=managed_fields)
    for index in range(nodes):
        yield node_template.fill(_node_values(index))
    daemon = _Template(_daemon_pod(), managed_fields=managed_fields)
    daemons = min(nodes, pods)
    for index in range(daemons):
        yield daemon.fill(_pod_values("node-agent", index, f"{index:05x}", f"node-{index:05d}"))
    template = _Template(_deployment_pod(), managed_fields=managed_fields)
    chosen = random.Random(nodes * 1_000_003 + pods)  # noqa: S311 - nothing is secret about it
    for index in range(pods - daemons):
        app = index // _REPLICAS
        node = f"node-{chosen.randrange(nodes):05d}" if nodes and chosen.random() < 0.998 else ""
        yield template.fill(_pod_values(f"app-{app:05d}", index, f"{app * 2654435761 % 2**32:09x}", node))


def write(file: TextIO, nodes: int, pods: int, *, indent: bool = True, managed_fields: bool = False) -> None:
    """The whole List, indented as kubectl does it, or without any space as the API server does."""
    written = objects(nodes, pods, managed_fields=managed_fields)
    if not indent:
        file.write('{"apiVersion":"v1","items":[')
        file.writelines(
            ("," if index else "") + json.dumps(json.loads(item), separators=(",", ":"))
            for index, item in enumerate(written)
        )
        file.write('],"kind":"List","metadata":{"resourceVersion":""}}\n')
        return
    file.write('{\n    "apiVersion": "v1",\n    "items": [\n')
    file.writelines((",\n" if index else "") + item for index, item in enumerate(written))
    file.write('\n    ],\n    "kind": "List",\n    "metadata": {\n        "resourceVersion": ""\n    }\n}\n')


class _Template:
    """An object of which only some texts differ from one to the next, so that a hundred thousand take seconds."""

    def __init__(self, item: dict[str, Any], *, managed_fields: bool) -> None:
        if managed_fields:
            item["metadata"]["managedFields"] = _managed_fields(item)
        lines = json.dumps(item, indent=4, sort_keys=True).splitlines()
        self._text = "\n".join(" " * 8 + line for line in lines)

    def fill(self, values: dict[str, str]) -> str:
        text = self._text
        for name, value in values.items():
            text = text.replace(f"<{name}>", value)
        return text.replace('                "nodeName": "",\n', "", 1)


def _node_values(index: int) -> dict[str, str]:
    pool = _POOLS[index % len(_POOLS)]
    return {
        "name": f"node-{index:05d}",
        "uid": _uid("node", index),
        "zone": _ZONES[index % len(_ZONES)],
        "pool": pool,
        "cpu": {"general": "16", "memory": "16", "compute": "64", "gpu": "32"}[pool],
        "memory": {"general": "65536000Ki", "memory": "262144000Ki", "compute": "131072000Ki", "gpu": "131072000Ki"}[
            pool
        ],
        "address": f"10.{index >> 16 & 255}.{index >> 8 & 255}.{index & 255}",
        "version": str(1000 + index),
        "time": _time(index),
    }


def _pod_values(app: str, index: int, template_hash: str, node: str) -> dict[str, str]:
    return {
        "app": app,
        "name": f"{app}-{template_hash}-{index * 48271 % 2**31:07x}",
        "hash": template_hash,
        "namespace": f"team-{index // _REPLICAS % 50:02d}" if app != "node-agent" else "kube-system",
        "uid": _uid(app, index),
        "owner": _uid(app, -1),
        "node": node,
        "version": str(1_000_000 + index),
        "phase": "Running" if node else "Pending",
        "ready": "True" if node else "False",
        "time": _time(index),
        "address": f"172.{index >> 16 & 255}.{index >> 8 & 255}.{index & 255}",
        "cpu": ("100m", "250m", "500m", "1")[index // _REPLICAS % 4],
        "memory": ("128Mi", "256Mi", "1Gi", "2Gi")[index // _REPLICAS % 4],
    }


def _uid(name: str, index: int) -> str:
    digits = f"{random.Random(f'{name}/{index}').getrandbits(128):032x}"  # noqa: S311 - nothing is secret about it
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _time(index: int) -> str:
    return _TIME % (index // 60 % 60, index % 60)


def _node() -> dict[str, Any]:
    resources = {
        "cpu": "<cpu>",
        "ephemeral-storage": "101430960Ki",
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
        "memory": "<memory>",
        "pods": "110",
    }
    conditions = {
        "MemoryPressure": "KubeletHasSufficientMemory",
        "DiskPressure": "KubeletHasNoDiskPressure",
        "PIDPressure": "KubeletHasSufficientPID",
        "Ready": "KubeletReady",
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "annotations": {
                "csi.volume.kubernetes.io/nodeid": '{"ebs.csi.example.com":"i-<name>"}',
                "node.alpha.kubernetes.io/ttl": "0",
                "volumes.kubernetes.io/controller-managed-attach-detach": "true",
            },
            "creationTimestamp": "<time>",
            "labels": {
                "beta.kubernetes.io/arch": "amd64",
                "beta.kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
                "kubernetes.io/hostname": "<name>",
                "kubernetes.io/os": "linux",
                "node.kubernetes.io/instance-type": "m5.4xlarge",
                "pool": "<pool>",
                "topology.kubernetes.io/region": "eu-central-1",
                "topology.kubernetes.io/zone": "<zone>",
            },
            "name": "<name>",
            "resourceVersion": "<version>",
            "uid": "<uid>",
        },
        "spec": {"podCIDR": "<address>/24", "podCIDRs": ["<address>/24"], "providerID": "aws:///<zone>/i-<name>"},
        "status": {
            "addresses": [
                {"address": "<address>", "type": "InternalIP"},
                {"address": "<name>", "type": "Hostname"},
            ],
            "allocatable": resources,
            "capacity": resources,
            "conditions": [
                {
                    "lastHeartbeatTime": "<time>",
                    "lastTransitionTime": "<time>",
                    "message": f"kubelet says {reason}",
                    "reason": reason,
                    "status": "True" if name == "Ready" else "False",
                    "type": name,
                }
                for name, reason in conditions.items()
            ],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "images": [
                {
                    "names": [
                        f"registry.example.com/team/image-{number}@sha256:{number:064x}",
                        f"registry.example.com/team/image-{number}:v1.{number}.0",
                    ],
                    "sizeBytes": 10_000_000 + number * 7_654_321,
                }
                for number in range(25)
            ],
            "nodeInfo": {
                "architecture": "amd64",
                "bootID": "<uid>",
                "containerRuntimeVersion": "containerd://2.1.4",
                "kernelVersion": "6.12.40",
                "kubeProxyVersion": "",
                "kubeletVersion": "v1.36.2",
                "machineID": "<uid>",
                "operatingSystem": "linux",
                "osImage": "Linux 2026",
                "systemUUID": "<uid>",
            },
        },
    }


def _daemon_pod() -> dict[str, Any]:
    pod = _pod("DaemonSet", "node-agent", {"app": "<app>", "controller-revision-hash": "5d8f9c7b6d"})
    pod["spec"]["affinity"] = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [
                    {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["<node>"]}]},
                ]
            }
        }
    }
    pod["spec"]["tolerations"] = [
        {"effect": effect, "key": f"node.kubernetes.io/{key}", "operator": "Exists"}
        for key, effect in (
            ("not-ready", "NoExecute"),
            ("unreachable", "NoExecute"),
            ("disk-pressure", "NoSchedule"),
            ("memory-pressure", "NoSchedule"),
            ("pid-pressure", "NoSchedule"),
            ("unschedulable", "NoSchedule"),
        )
    ]
    return pod


def _deployment_pod() -> dict[str, Any]:
    labels = {
        "app": "<app>",
        "app.kubernetes.io/managed-by": "Helm",
        "app.kubernetes.io/name": "<app>",
        "pod-template-hash": "<hash>",
    }
    pod = _pod("ReplicaSet", "<app>-<hash>", labels)
    pod["spec"]["tolerations"] = [
        {"effect": "NoExecute", "key": f"node.kubernetes.io/{key}", "operator": "Exists", "tolerationSeconds": 300}
        for key in ("not-ready", "unreachable")
    ]
    pod["spec"]["topologySpreadConstraints"] = [
        {
            "labelSelector": {"matchLabels": {"app": "<app>"}},
            "maxSkew": 1,
            "topologyKey": "topology.kubernetes.io/zone",
            "whenUnsatisfiable": "ScheduleAnyway",
        }
    ]
    return pod


def _pod(owner_kind: str, owner: str, labels: dict[str, str]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "annotations": {"checksum/config": "<uid>", "prometheus.io/port": "8080", "prometheus.io/scrape": "true"},
            "creationTimestamp": "<time>",
            "generateName": f"{owner}-",
            "labels": labels,
            "name": "<name>",
            "namespace": "<namespace>",
            "ownerReferences": [
                {
                    "apiVersion": "apps/v1",
                    "blockOwnerDeletion": True,
                    "controller": True,
                    "kind": owner_kind,
                    "name": owner,
                    "uid": "<owner>",
                }
            ],
            "resourceVersion": "<version>",
            "uid": "<uid>",
        },
        "spec": {
            "containers": [_container("main")],
            "dnsPolicy": "ClusterFirst",
            "enableServiceLinks": True,
            "nodeName": "<node>",
            "preemptionPolicy": "PreemptLowerPriority",
            "priority": 0,
            "restartPolicy": "Always",
            "schedulerName": "default-scheduler",
            "securityContext": {"fsGroup": 1000, "runAsNonRoot": True, "runAsUser": 1000},
            "serviceAccount": "<app>",
            "serviceAccountName": "<app>",
            "terminationGracePeriodSeconds": 30,
            "volumes": [{"configMap": {"defaultMode": 420, "name": "<app>"}, "name": "config"}, _token_volume()],
        },
        "status": {
            "conditions": [
                {
                    "lastProbeTime": None,
                    "lastTransitionTime": "<time>",
                    "observedGeneration": 1,
                    "status": "<ready>",
                    "type": name,
                }
                for name in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
            ],
            "containerStatuses": [_container_status("main")],
            "hostIP": "<address>",
            "hostIPs": [{"ip": "<address>"}],
            "observedGeneration": 1,
            "phase": "<phase>",
            "podIP": "<address>",
            "podIPs": [{"ip": "<address>"}],
            "qosClass": "Burstable",
            "startTime": "<time>",
        },
    }


def _token_volume() -> dict[str, Any]:
    return {
        "name": "kube-api-access-<hash>",
        "projected": {
            "defaultMode": 420,
            "sources": [
                {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                {"configMap": {"items": [{"key": "ca.crt", "path": "ca.crt"}], "name": "kube-root-ca.crt"}},
                {
                    "downwardAPI": {
                        "items": [
                            {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}, "path": "namespace"}
                        ]
                    }
                },
            ],
        },
    }


def _container(name: str) -> dict[str, Any]:
    return {
        "args": ["--config=/etc/config/config.yaml"],
        "env": [
            {"name": "POD_NAME", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}},
            *({"name": f"SETTING_{number}", "value": f"value of setting {number} of <app>"} for number in range(1)),
        ],
        "image": f"registry.example.com/team/image-{len(name)}:v1.{len(name)}.0",
        "imagePullPolicy": "IfNotPresent",
        "name": name,
        "ports": [{"containerPort": 8080, "name": "http", "protocol": "TCP"}],
        "resources": {"limits": {"memory": "<memory>"}, "requests": {"cpu": "<cpu>", "memory": "<memory>"}},
        "securityContext": {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "volumeMounts": [
            {"mountPath": "/etc/config", "name": "config", "readOnly": True},
            {
                "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
                "name": "kube-api-access-<hash>",
                "readOnly": True,
            },
        ],
    }


def _container_status(name: str) -> dict[str, Any]:
    return {
        "allocatedResources": {"cpu": "<cpu>", "memory": "<memory>"},
        "containerID": "containerd://<uid><uid>",
        "image": f"registry.example.com/team/image-{len(name)}:v1.{len(name)}.0",
        "imageID": f"registry.example.com/team/image-{len(name)}@sha256:{len(name):064x}",
        "lastState": {},
        "name": name,
        "ready": True,
        "resources": {"limits": {"memory": "<memory>"}, "requests": {"cpu": "<cpu>", "memory": "<memory>"}},
        "restartCount": 0,
        "started": True,
        "state": {"running": {"startedAt": "<time>"}},
    }


def _managed_fields(item: dict[str, Any]) -> list[dict[str, Any]]:
    def owned(value: Any) -> Any:
        return {f"f:{key}": owned(inner) for key, inner in value.items()} if isinstance(value, dict) else {}

    return [
        {
            "apiVersion": "v1",
            "fieldsType": "FieldsV1",
            "fieldsV1": {f"f:{part}": owned(item[part])},
            "manager": manager,
            "operation": "Update",
            "time": "<time>",
        }
        for part, manager in (("spec", "kube-controller-manager"), ("status", "kubelet"))
    ]


def main() -> None:
    """The command line."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("nodes", type=int)
    arguments.add_argument("pods", type=int)
    arguments.add_argument("file", help="- for standard output")
    arguments.add_argument("--compact", action="store_true", help="without any space, as the API server answers")
    arguments.add_argument("--managed-fields", action="store_true", help="as with --show-managed-fields")
    given = arguments.parse_args()
    if given.file == "-":
        write(sys.stdout, given.nodes, given.pods, indent=not given.compact, managed_fields=given.managed_fields)
        return
    with Path(given.file).open("w", encoding="utf-8", newline="\n") as file:
        write(file, given.nodes, given.pods, indent=not given.compact, managed_fields=given.managed_fields)


if __name__ == "__main__":
    main()
