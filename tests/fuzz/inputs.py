"""Sound inputs, small and with something of everything: what the mutations begin with."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from random import Random

Json = dict[str, Any]


def _object(kind: str, name: str, api_version: str = "v1", namespace: str = "", **fields: Any) -> Json:
    metadata: Json = {"name": name, "uid": f"uid-{name}", "creationTimestamp": "2026-01-01T00:00:00Z"}
    if namespace:
        metadata["namespace"] = namespace
    metadata |= fields.pop("metadata", {})
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def _node(name: str, zone: str, **spec: Any) -> Json:
    amounts = {"cpu": "4", "memory": "8Gi", "pods": "20", "ephemeral-storage": "50Gi", "nvidia.com/gpu": "2"}
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone, "disk": "ssd"}
    return _object(
        "Node",
        name,
        metadata={"labels": labels, "annotations": {"note": "none"}},
        spec=spec,
        status={
            "capacity": amounts,
            "allocatable": amounts,
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "posting"}],
            "images": [{"names": ["registry.example.com/web:1"], "sizeBytes": 123456789}],
            "nodeInfo": {"kubeletVersion": "v1.36.0", "operatingSystem": "linux", "architecture": "amd64"},
            "declaredFeatures": ["A"],
        },
    )


def _pod(name: str, cpu: str = "1", owner: Json | None = None, **spec: Any) -> Json:
    container = {
        "name": "c",
        "image": "registry.example.com/web:1",
        "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}, "limits": {"memory": "2Gi"}},
        "ports": [{"containerPort": 80, "hostPort": 8080, "protocol": "TCP"}],
    }
    status: Json = {"phase": "Running"} if "nodeName" in spec else {"phase": "Pending"}
    if "nodeName" not in spec:
        message = "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint(s)."
        status["conditions"] = [
            {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
        ]
    metadata: Json = {"labels": {"app": "web"}}
    if owner is not None:
        metadata["ownerReferences"] = [owner]
    body = {"containers": [container], "schedulerName": "default-scheduler", "priority": 10, **spec}
    return _object("Pod", name, namespace="shop", metadata=metadata, spec=body, status=status)


_OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-5d", "uid": "uid-web-5d", "controller": True}

_TERM = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "kubernetes.io/hostname"}

_PICKY: Json = {
    "nodeSelector": {"disk": "nvme"},
    "affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [
                    {"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a"]}]}
                ]
            },
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 5, "preference": {"matchExpressions": [{"key": "disk", "operator": "Exists"}]}}
            ],
        },
        "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_TERM]},
        "podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 9, "podAffinityTerm": _TERM}]},
    },
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "topologyKey": "topology.kubernetes.io/zone",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "web"}},
            "minDomains": 2,
        }
    ],
    "tolerations": [{"key": "dedicated", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}],
}

_STORED: Json = {
    "volumes": [
        {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
        {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {"storageClassName": "local"}}}},
        {"name": "disk", "awsElasticBlockStore": {"volumeID": "vol-1"}},
    ],
    "resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}],
}

_CONFIGURATION = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
    plugins: {score: {enabled: [{name: ImageLocality, weight: 3}]}}
"""

_TEMPLATE = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "web:1"}]}}

OBJECTS: list[Json] = [
    _node("w1", "a"),
    _node("w2", "b", taints=[{"key": "dedicated", "value": "db", "effect": "NoSchedule"}]),
    _node("w3", "b", unschedulable=True),
    _pod("web-0", owner=_OWNER),
    _pod("web-1", owner=_OWNER, **_PICKY),
    _pod("huge", cpu="64"),
    _pod("stored-0", **_STORED),
    _pod("gated", schedulingGates=[{"name": "example.com/quota"}]),
    _pod("other", schedulerName="volcano"),
    _pod("bound-1", nodeName="w1"),
    _pod("bound-2", nodeName="w2", priority=0),
    _object(
        "Pod",
        "kube-scheduler-w1",
        namespace="kube-system",
        spec={
            "nodeName": "w1",
            "containers": [
                {
                    "name": "kube-scheduler",
                    "image": "registry.k8s.io/kube-scheduler:v1.36.0",
                    "command": ["kube-scheduler", "--config=/etc/kubernetes/scheduler.yaml"],
                    "volumeMounts": [{"name": "config", "mountPath": "/etc/kubernetes"}],
                }
            ],
            "volumes": [{"name": "config", "configMap": {"name": "scheduler"}}],
        },
        status={"phase": "Running"},
    ),
    _object("ConfigMap", "scheduler", namespace="kube-system", data={"scheduler.yaml": _CONFIGURATION}),
    _object("Namespace", "shop", metadata={"labels": {"team": "shop"}}),
    _object("ReplicaSet", "web-5d", "apps/v1", "shop", spec={"replicas": 2, "template": _TEMPLATE}),
    _object(
        "Deployment",
        "web",
        "apps/v1",
        "shop",
        spec={"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": _TEMPLATE},
    ),
    _object("StatefulSet", "db", "apps/v1", "shop", spec={"replicas": 1, "serviceName": "db", "template": _TEMPLATE}),
    _object(
        "PodDisruptionBudget",
        "web",
        "policy/v1",
        "shop",
        spec={"minAvailable": "50%", "selector": {"matchLabels": {"app": "web"}}},
        status={"disruptionsAllowed": 0},
    ),
    _object("PriorityClass", "high", "scheduling.k8s.io/v1", value=1000, preemptionPolicy="PreemptLowerPriority"),
    _object(
        "StorageClass",
        "local",
        "storage.k8s.io/v1",
        provisioner="kubernetes.io/no-provisioner",
        volumeBindingMode="WaitForFirstConsumer",
    ),
    _object(
        "PersistentVolumeClaim",
        "data",
        namespace="shop",
        spec={
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "local",
            "resources": {"requests": {"storage": "1Gi"}},
        },
        status={"phase": "Pending"},
    ),
    _object(
        "PersistentVolume",
        "disk-1",
        spec={
            "capacity": {"storage": "2Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "local",
            "local": {"path": "/mnt"},
            "nodeAffinity": {
                "required": {
                    "nodeSelectorTerms": [
                        {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["w1"]}]}
                    ]
                }
            },
        },
        status={"phase": "Available"},
    ),
    _object(
        "DeviceClass",
        "gpu",
        "resource.k8s.io/v1",
        spec={"selectors": [{"cel": {"expression": 'device.driver == "gpu.example.com"'}}]},
    ),
    _object(
        "ResourceSlice",
        "w1-gpus",
        "resource.k8s.io/v1",
        spec={
            "driver": "gpu.example.com",
            "nodeName": "w1",
            "pool": {"name": "w1", "generation": 1, "resourceSliceCount": 1},
            "devices": [
                {"name": "gpu-0", "attributes": {"model": {"string": "a100"}}, "capacity": {"mem": {"value": "40Gi"}}}
            ],
        },
    ),
    _object(
        "ResourceClaim",
        "gpu",
        "resource.k8s.io/v1",
        "shop",
        spec={
            "devices": {
                "requests": [
                    {
                        "name": "r",
                        "exactly": {
                            "deviceClassName": "gpu",
                            "selectors": [
                                {
                                    "cel": {
                                        "expression": 'device.attributes["gpu.example.com"].model.matches("^a[0-9]+$")'
                                    }
                                }
                            ],
                        },
                    }
                ]
            }
        },
    ),
    _object(
        "Event",
        "web-0.1",
        namespace="shop",
        involvedObject={"kind": "Pod", "name": "web-0", "namespace": "shop", "uid": "uid-web-0"},
        reason="FailedScheduling",
        message="0/3 nodes are available: 3 Insufficient cpu. no new claims to deallocate",
        source={"component": "default-scheduler"},
        count=3,
        lastTimestamp="2026-01-01T00:10:00Z",
    ),
]

MANIFESTS: list[Json] = [
    _object("Pod", "new", namespace="shop", spec={"containers": [{"name": "c", "image": "web:1"}], **_PICKY}),
    _object(
        "Deployment",
        "new",
        "apps/v1",
        "shop",
        spec={
            "replicas": 3,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {
                    "containers": [
                        {"name": "c", "image": "web:1", "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}}}
                    ]
                },
            },
        },
    ),
    _object("Job", "new", "batch/v1", "shop", spec={"completions": 2, "parallelism": 2, "template": _TEMPLATE}),
    _object(
        "CronJob",
        "new",
        "batch/v1",
        "shop",
        spec={"schedule": "0 3 * * *", "jobTemplate": {"spec": {"template": _TEMPLATE}}},
    ),
    _object("StatefulSet", "db", "apps/v1", "shop", spec={"replicas": 2, "serviceName": "db", "template": _TEMPLATE}),
]

CONFIGURATION: Json = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "parallelism": 16,
    "percentageOfNodesToScore": 0,
    "podInitialBackoffSeconds": 1,
    "podMaxBackoffSeconds": 10,
    "leaderElection": {"leaderElect": True, "leaseDuration": "15s", "resourceName": "kube-scheduler"},
    "clientConnection": {"qps": 50, "burst": 100},
    "profiles": [
        {
            "schedulerName": "default-scheduler",
            "percentageOfNodesToScore": 50,
            "plugins": {
                "multiPoint": {"enabled": [{"name": "NodeResourcesFit", "weight": 2}], "disabled": []},
                "score": {"disabled": [{"name": "*"}], "enabled": [{"name": "ImageLocality", "weight": 3}]},
            },
            "pluginConfig": [
                {
                    "name": "NodeResourcesFit",
                    "args": {
                        "scoringStrategy": {
                            "type": "RequestedToCapacityRatio",
                            "resources": [{"name": "cpu", "weight": 1}],
                            "requestedToCapacityRatio": {
                                "shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
                            },
                        },
                        "ignoredResources": ["example.com/foo"],
                    },
                },
                {
                    "name": "PodTopologySpread",
                    "args": {
                        "defaultingType": "List",
                        "defaultConstraints": [
                            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}
                        ],
                    },
                },
                {"name": "DefaultPreemption", "args": {"minCandidateNodesPercentage": 10}},
                {"name": "VolumeBinding", "args": {"bindTimeoutSeconds": 600}},
                {"name": "InterPodAffinity", "args": {"hardPodAffinityWeight": 5}},
            ],
        }
    ],
    "extenders": [
        {
            "urlPrefix": "https://user:secret@extender.example.com/x",
            "filterVerb": "filter",
            "weight": 1,
            "httpTimeout": "5s",
            "managedResources": [{"name": "example.com/foo", "ignoredByScheduler": True}],
        }
    ],
}

KUBECONFIG: Json = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "test",
    "clusters": [
        {"name": "test", "cluster": {"server": "http://api.example.com:8080", "tls-server-name": "api"}},
        {
            "name": "proxied",
            "cluster": {
                "server": "https://api.example.com:6443",
                "insecure-skip-tls-verify": True,
                "proxy-url": "http://ann:secret@proxy.example.com:3128",
            },
        },
        {"name": "unsound", "cluster": {"server": "https://[::1]", "certificate-authority-data": "LS0tLS1CRUdJTg=="}},
    ],
    "users": [
        {"name": "test", "user": {"token": "not-a-token", "as": "ann", "as-groups": ["dev"]}},
        {
            "name": "plugin",
            "user": {
                "exec": {
                    "apiVersion": "client.authentication.k8s.io/v1",
                    "command": "credentials",
                    "args": ["get"],
                    "env": [{"name": "A", "value": "b"}],
                    "interactiveMode": "Never",
                    "installHint": "ask for it",
                }
            },
        },
        {"name": "certificate", "user": {"client-certificate": "client.crt", "client-key-data": "LS0tLS0="}},
        {"name": "basic", "user": {"username": "ann", "password": "not-a-password"}},
        {"name": "provider", "user": {"auth-provider": {"name": "oidc", "config": {"id-token": "a.b.c"}}}},
    ],
    "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test", "namespace": "shop"}}],
}

MESSAGES = """\
0/5 nodes are available: 1 Insufficient cpu, 2 Insufficient memory, 2 node(s) had untolerated taint {a: b}.
0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector. preemption: 0/3 nodes are available: 3 \
Preemption is not helpful for scheduling.
0/9 nodes are available: persistentvolumeclaim "data" not found. preemption: 0/9 nodes are available: 9 No preemption \
victims found for incoming pod.
0/12 nodes are available: 1 node(s) were unschedulable, 3 node(s) had volume node affinity conflict, 8 node(s) didn't \
match pod topology spread constraints (missing required label).
running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded
0/4 nodes are available: 4 cannot allocate all claims. still not schedulable, preemption: 0/4 nodes are available: 4 \
Preemption is not helpful for scheduling.
""".splitlines()


def some_objects(random: Random) -> list[Json]:
    """A part of the cluster, with a node and a pending pod in it at least."""
    others = random.sample(OBJECTS[4:], k=random.randint(0, 9))
    return copy.deepcopy([*random.sample(OBJECTS[:3], k=random.randint(1, 3)), OBJECTS[3], *others])
