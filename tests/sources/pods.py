"""Specs of pods as people write them, most of them with a mistake that the API server refuses.

Each says which field it is refused for; that is empty where it is accepted. A spec without containers gets one.
"""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
MAIN: Json = {"name": "c", "image": "x"}


def pod_of(spec: Json) -> Json:
    """The whole Pod, in a namespace that no LimitRange has a say in."""
    about = {"name": "p", "namespace": "kube-public", "labels": {"app": "web"}}
    return {"metadata": about, "spec": {"containers": [MAIN], **spec}}


WRITTEN_PODS: tuple[tuple[str, Json], ...] = (
    ("spec.containers[0].name", {"containers": [{"name": "C_1", "image": "x"}]}),
    ("spec.containers[1].name", {"containers": [MAIN, MAIN]}),
    ("spec.containers[0].image", {"containers": [{"name": "c", "image": ""}]}),
    ("spec.containers[0].image", {"containers": [{"name": "c", "image": " x"}]}),
    ("spec.nodeName", {"nodeName": "W_1"}),
    ("", {"nodeName": "w1"}),
    ("", {"hostNetwork": True}),
    (
        "spec.containers[0].ports[0].hostPort",
        {"containers": [{**MAIN, "ports": [{"containerPort": 80, "hostPort": 81}]}], "hostNetwork": True},
    ),
    (
        "",
        {
            "containers": [
                {
                    **MAIN,
                    "ports": [
                        {"containerPort": 80, "hostPort": 80},
                        {"containerPort": 80, "hostPort": 80, "protocol": "UDP"},
                    ],
                }
            ]
        },
    ),
    ("", {"containers": [{**MAIN, "ports": [{"containerPort": 80, "hostPort": 80, "hostIP": "1.2.3"}]}]}),
    ("spec.schedulingGates[0]", {"schedulingGates": [{"name": "a b"}]}),
    ("spec.schedulingGates[1]", {"schedulingGates": [{"name": "a"}, {"name": "a"}]}),
    ("spec.schedulingGates[0]", {"schedulingGates": [{"name": ""}]}),
    (
        "spec.resourceClaims[1].name",
        {"resourceClaims": [{"name": "g", "resourceClaimName": "x"}, {"name": "g", "resourceClaimName": "y"}]},
    ),
    ("spec.resourceClaims[0]", {"resourceClaims": [{"name": "g"}]}),
    (
        "spec.resourceClaims[0]",
        {"resourceClaims": [{"name": "g", "resourceClaimName": "x", "resourceClaimTemplateName": "y"}]},
    ),
    ("spec.containers[0].resources.claims[0]", {"containers": [{**MAIN, "resources": {"claims": [{"name": "nope"}]}}]}),
    ("spec.resourceClaims[0].name", {"resourceClaims": [{"name": "G", "resourceClaimName": "x"}]}),
    ("spec.resourceClaims[0].resourceClaimName", {"resourceClaims": [{"name": "g", "resourceClaimName": "X Y"}]}),
    ("spec.volumes[1].name", {"volumes": [{"name": "v"}, {"name": "v"}]}),
    ("spec.volumes[0].name", {"volumes": [{"name": "V"}]}),
    (
        "spec.volumes[0].persistentVolumeClaim.claimName",
        {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": ""}}]},
    ),
    (
        "spec.volumes[0].persistentVolumeClaim",
        {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "a"}, "emptyDir": {}}]},
    ),
    ("spec.volumes[0].ephemeral.volumeClaimTemplate", {"volumes": [{"name": "v", "ephemeral": {}}]}),
    (
        "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.accessModes",
        {"volumes": [{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}]},
    ),
    ("spec.restartPolicy", {"restartPolicy": "Foo"}),
    ("spec.tolerations[0].operator", {"tolerations": [{"key": "a", "operator": "Equal", "value": "b c"}]}),
    ("spec.tolerations[0].operator", {"tolerations": [{"key": "a", "operator": "Lt", "value": "b"}]}),
    ("", {"tolerations": [{"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": -1}]}),
    ("spec.nodeSelector", {"nodeSelector": {"a": "b c"}}),
    ("", {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{}]}}}}),
    (
        "",
        {
            "affinity": {
                "nodeAffinity": {
                    REQUIRED: {
                        "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["x"]}]}]
                    }
                }
            }
        },
    ),
    (
        f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].values[0]",
        {
            "affinity": {
                "nodeAffinity": {
                    REQUIRED: {
                        "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "In", "values": ["x y"]}]}]
                    }
                }
            }
        },
    ),
    ("", {"affinity": {"nodeAffinity": {PREFERRED: [{"weight": 1, "preference": {}}]}}}),
    (
        "",
        {
            "affinity": {
                "nodeAffinity": {
                    PREFERRED: [
                        {
                            "weight": 1,
                            "preference": {"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["x"]}]},
                        }
                    ]
                }
            }
        },
    ),
    (
        f"spec.affinity.nodeAffinity.{PREFERRED}[0].weight",
        {
            "affinity": {
                "nodeAffinity": {
                    PREFERRED: [
                        {"weight": 101, "preference": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}}
                    ]
                }
            }
        },
    ),
    (
        f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchFields[0].values[0]",
        {
            "affinity": {
                "nodeAffinity": {
                    REQUIRED: {
                        "nodeSelectorTerms": [
                            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["A b"]}]}
                        ]
                    }
                }
            }
        },
    ),
    (
        f"spec.affinity.podAffinity.{REQUIRED}[0].topologyKey",
        {
            "affinity": {
                "podAffinity": {REQUIRED: [{"topologyKey": "a b", "labelSelector": {"matchLabels": {"app": "web"}}}]}
            }
        },
    ),
    (
        f"spec.affinity.podAffinity.{REQUIRED}[0].namespace",
        {
            "affinity": {
                "podAffinity": {
                    REQUIRED: [
                        {"topologyKey": "a", "labelSelector": {"matchLabels": {"app": "web"}}, "namespaces": ["A B"]}
                    ]
                }
            }
        },
    ),
    ("", {"affinity": {"podAffinity": {REQUIRED: [{"topologyKey": "a"}]}}}),
    (
        f"spec.affinity.podAntiAffinity.{PREFERRED}[0].weight",
        {
            "affinity": {
                "podAntiAffinity": {
                    PREFERRED: [
                        {
                            "weight": 0,
                            "podAffinityTerm": {"topologyKey": "a", "labelSelector": {"matchLabels": {"app": "web"}}},
                        }
                    ]
                }
            }
        },
    ),
    (
        f"spec.affinity.podAffinity.{REQUIRED}[0].labelSelector.matchExpressions[0].values",
        {
            "affinity": {
                "podAffinity": {
                    REQUIRED: [
                        {"topologyKey": "a", "labelSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}}
                    ]
                }
            }
        },
    ),
    (
        f"spec.affinity.podAffinity.{REQUIRED}[0].labelSelector.matchLabels",
        {
            "affinity": {
                "podAffinity": {REQUIRED: [{"topologyKey": "a", "labelSelector": {"matchLabels": {"a": "b c"}}}]}
            }
        },
    ),
    (
        f"spec.affinity.podAffinity.{REQUIRED}[0].labelSelector.matchExpressions[0].key",
        {
            "affinity": {
                "podAffinity": {
                    REQUIRED: [
                        {
                            "topologyKey": "a",
                            "labelSelector": {"matchExpressions": [{"key": "a b", "operator": "Exists"}]},
                        }
                    ]
                }
            }
        },
    ),
    (
        "",
        {
            "topologySpreadConstraints": [
                {
                    "maxSkew": 1,
                    "topologyKey": "a b",
                    "whenUnsatisfiable": "DoNotSchedule",
                    "labelSelector": {"matchLabels": {"app": "web"}},
                }
            ]
        },
    ),
    (
        "spec.topologySpreadConstraints[0].nodeAffinityPolicy",
        {
            "topologySpreadConstraints": [
                {"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule", "nodeAffinityPolicy": "Foo"}
            ]
        },
    ),
    (
        "spec.topologySpreadConstraints[0].nodeTaintsPolicy",
        {
            "topologySpreadConstraints": [
                {"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule", "nodeTaintsPolicy": "Foo"}
            ]
        },
    ),
    (
        "spec.topologySpreadConstraints[0].labelSelector.matchLabels",
        {
            "topologySpreadConstraints": [
                {
                    "maxSkew": 1,
                    "topologyKey": "a",
                    "whenUnsatisfiable": "DoNotSchedule",
                    "labelSelector": {"matchLabels": {"a": "b c"}},
                }
            ]
        },
    ),
    (
        "spec.topologySpreadConstraints[0].whenUnsatisfiable",
        {"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "a"}]},
    ),
    ("spec.containers[0].resources.requests[foo]", {"containers": [{**MAIN, "resources": {"requests": {"foo": "1"}}}]}),
    (
        "spec.containers[0].resources.limits[a b/c]",
        {"containers": [{**MAIN, "resources": {"requests": {"a b/c": "1"}, "limits": {"a b/c": "1"}}}]},
    ),
    (
        "spec.containers[0].resources.limits[example.com/x]",
        {
            "containers": [
                {**MAIN, "resources": {"requests": {"example.com/x": "1.5"}, "limits": {"example.com/x": "1.5"}}}
            ]
        },
    ),
    (
        "spec.containers[0].resources.limits[hugepages-2Mi]",
        {"containers": [{**MAIN, "resources": {"limits": {"hugepages-2Mi": "3Mi"}}}]},
    ),
    ("spec.containers[0].resources", {"containers": [{**MAIN, "resources": {"limits": {"hugepages-2Mi": "4Mi"}}}]}),
    ("", {"containers": [{**MAIN, "resources": {"limits": {"hugepages-2Mi": "4Mi", "cpu": "1"}}}]}),
    (
        "spec.containers[0].resources.requests[pods]",
        {"containers": [{**MAIN, "resources": {"requests": {"pods": "1"}}}]},
    ),
    (
        "spec.containers[0].resources.requests[storage]",
        {"containers": [{**MAIN, "resources": {"requests": {"storage": "1"}}}]},
    ),
    ("spec.resources.requests", {"resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "500m"}}}),
    (
        "spec.resources.requests[cpu]",
        {"containers": [{**MAIN, "resources": {"requests": {"cpu": "2"}}}], "resources": {"requests": {"cpu": "1"}}},
    ),
    (
        "spec.resources.requests",
        {"containers": [{**MAIN, "resources": {"limits": {"cpu": "2"}}}], "resources": {"limits": {"cpu": "1"}}},
    ),
    ("spec.resources.requests[ephemeral-storage]", {"resources": {"requests": {"ephemeral-storage": "1Gi"}}}),
    ("spec.resources.claims", {"resources": {"claims": [{"name": "x"}]}}),
    (
        "spec.resources.limits[example.com/x]",
        {"resources": {"requests": {"example.com/x": "1"}, "limits": {"example.com/x": "1"}}},
    ),
    ("", {"initContainers": [{"name": "i", "image": "x", "restartPolicy": "Never"}]}),
    ("", {"containers": [{**MAIN, "restartPolicy": "Always"}]}),
    ("spec.initContainers[0].restartPolicy", {"initContainers": [{"name": "i", "image": "x", "restartPolicy": "Foo"}]}),
    ("spec.os", {"os": {"name": "foo"}}),
    ("", {"os": {"name": "windows"}, "hostNetwork": True}),
    ("", {"schedulerName": "A B"}),
    ("", {"terminationGracePeriodSeconds": -5}),
    ("spec.activeDeadlineSeconds", {"activeDeadlineSeconds": 0}),
    ("spec.nodeName", {"schedulingGates": [{"name": "a"}], "nodeName": "w1"}),
    ("", {"workloadRef": {"name": "a", "podGroup": "b"}}),
    ("", {"schedulingGroup": {"podGroupName": "a"}}),
    ("spec.containers[0].ports[0].containerPort", {"containers": [{**MAIN, "ports": [{"containerPort": 0}]}]}),
    (
        "spec.containers[0].ports[0].containerPort",
        {"containers": [{**MAIN, "ports": [{"containerPort": 70000, "hostPort": -1, "protocol": "X"}]}]},
    ),
    (
        "spec.topologySpreadConstraints[0].maxSkew",
        {
            "topologySpreadConstraints": [
                {
                    "maxSkew": 0,
                    "topologyKey": "",
                    "whenUnsatisfiable": "X",
                    "minDomains": 0,
                    "labelSelector": {"matchLabels": {"app": "web"}},
                }
            ]
        },
    ),
    (
        "spec.topologySpreadConstraints[0].minDomains",
        {
            "topologySpreadConstraints": [
                {
                    "maxSkew": 1,
                    "topologyKey": "a",
                    "whenUnsatisfiable": "ScheduleAnyway",
                    "minDomains": 1,
                    "labelSelector": {"matchLabels": {"app": "web"}},
                }
            ]
        },
    ),
    (
        "spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}",
        {
            "topologySpreadConstraints": [
                {
                    "maxSkew": 1,
                    "topologyKey": "a",
                    "whenUnsatisfiable": "ScheduleAnyway",
                    "labelSelector": {"matchLabels": {"app": "web"}},
                },
                {
                    "maxSkew": 1,
                    "topologyKey": "a",
                    "whenUnsatisfiable": "ScheduleAnyway",
                    "labelSelector": {"matchLabels": {"app": "web"}},
                },
            ]
        },
    ),
    (
        f"spec.affinity.podAffinity.{REQUIRED}[0].labelSelector.matchExpressions[0].values",
        {
            "affinity": {
                "podAffinity": {
                    REQUIRED: [
                        {
                            "topologyKey": "a",
                            "labelSelector": {
                                "matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]
                            },
                        }
                    ]
                }
            }
        },
    ),
    (
        f"spec.affinity.podAffinity.{REQUIRED}[0].labelSelector.matchExpressions[0].operator",
        {
            "affinity": {
                "podAffinity": {
                    REQUIRED: [
                        {
                            "topologyKey": "a",
                            "labelSelector": {"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["b"]}]},
                        }
                    ]
                }
            }
        },
    ),
    (
        f"spec.affinity.podAffinity.{REQUIRED}[0].namespaceSelector.matchExpressions[0].values[0]",
        {
            "affinity": {
                "podAffinity": {
                    REQUIRED: [
                        {
                            "topologyKey": "a",
                            "namespaceSelector": {
                                "matchExpressions": [{"key": "a", "operator": "In", "values": ["b c"]}]
                            },
                        }
                    ]
                }
            }
        },
    ),
    (
        f"spec.affinity.podAffinity.{REQUIRED}[0].labelSelector.matchLabels",
        {
            "affinity": {
                "podAffinity": {REQUIRED: [{"topologyKey": "a", "labelSelector": {"matchLabels": {"a b": "c"}}}]}
            }
        },
    ),
    (
        f"spec.affinity.podAffinity.{REQUIRED}[0].topologyKey",
        {
            "affinity": {
                "podAffinity": {REQUIRED: [{"topologyKey": "", "labelSelector": {"matchLabels": {"app": "web"}}}]}
            }
        },
    ),
    (
        f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms",
        {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": []}}}},
    ),
    (
        f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].operator",
        {
            "affinity": {
                "nodeAffinity": {
                    REQUIRED: {
                        "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "X", "values": ["1"]}]}]
                    }
                }
            }
        },
    ),
    (
        f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].values",
        {
            "affinity": {
                "nodeAffinity": {
                    REQUIRED: {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["1"]}]}
                        ]
                    }
                }
            }
        },
    ),
    ("spec.os.name", {"os": {"name": ""}}),
    (
        "spec.resources.requests",
        {
            "resources": {"limits": {"cpu": "1"}},
            "initContainers": [{"name": "i", "image": "x", "resources": {"limits": {"cpu": "2"}}}],
        },
    ),
    (
        "spec.resources.requests[hugepages-2Mi]",
        {
            "containers": [{**MAIN, "resources": {"limits": {"hugepages-2Mi": "4Mi", "cpu": "1"}}}],
            "resources": {"limits": {"hugepages-2Mi": "2Mi", "cpu": "1"}},
        },
    ),
    (
        "spec.containers[0].resources.claims[1]",
        {
            "containers": [{**MAIN, "resources": {"claims": [{"name": "g"}, {"name": "g"}]}}],
            "resourceClaims": [{"name": "g", "resourceClaimName": "x"}],
        },
    ),
    (
        "spec.containers[0].resources.claims[1]",
        {
            "containers": [
                {**MAIN, "resources": {"claims": [{"name": "g", "request": "a"}, {"name": "g", "request": "a"}]}}
            ],
            "resourceClaims": [{"name": "g", "resourceClaimName": "x"}],
        },
    ),
    (
        "spec.containers[0].resources.claims[1]",
        {
            "containers": [{**MAIN, "resources": {"claims": [{"name": "g", "request": "a"}, {"name": "g"}]}}],
            "resourceClaims": [{"name": "g", "resourceClaimName": "x"}],
        },
    ),
    (
        "spec.containers[0].resources.claims[0]",
        {
            "containers": [{**MAIN, "resources": {"claims": [{"name": "h"}]}}],
            "resourceClaims": [{"name": "g", "resourceClaimName": "x"}],
        },
    ),
    (
        "spec.containers[0].resources.claims[0]",
        {
            "containers": [{**MAIN, "resources": {"claims": [{"name": ""}]}}],
            "resourceClaims": [{"name": "g", "resourceClaimName": "x"}],
        },
    ),
    ("spec.volumes[0].name", {"volumes": [{"name": ""}]}),
    (
        "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources[storage]",
        {
            "volumes": [
                {
                    "name": "v",
                    "ephemeral": {
                        "volumeClaimTemplate": {
                            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "0"}}}
                        }
                    },
                }
            ]
        },
    ),
    (
        "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.accessModes",
        {
            "volumes": [
                {
                    "name": "v",
                    "ephemeral": {
                        "volumeClaimTemplate": {
                            "spec": {"accessModes": ["RWO"], "resources": {"requests": {"storage": "1Gi"}}}
                        }
                    },
                }
            ]
        },
    ),
    (
        "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.accessModes",
        {
            "volumes": [
                {
                    "name": "v",
                    "ephemeral": {
                        "volumeClaimTemplate": {
                            "spec": {
                                "accessModes": ["ReadWriteOncePod", "ReadWriteOnce"],
                                "resources": {"requests": {"storage": "1Gi"}},
                            }
                        }
                    },
                }
            ]
        },
    ),
    (
        "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.storageClassName",
        {
            "volumes": [
                {
                    "name": "v",
                    "ephemeral": {
                        "volumeClaimTemplate": {
                            "spec": {
                                "accessModes": ["ReadWriteOnce"],
                                "volumeMode": "X",
                                "storageClassName": "A B",
                                "resources": {"requests": {"storage": "1Gi"}},
                            }
                        }
                    },
                }
            ]
        },
    ),
    (
        "spec.volumes[0].persistentVolumeClaim.claimName",
        {
            "volumes": [
                {"name": "v", "persistentVolumeClaim": {"claimName": "p-w"}},
                {
                    "name": "w",
                    "ephemeral": {
                        "volumeClaimTemplate": {
                            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
                        }
                    },
                },
            ]
        },
    ),
    ("spec.tolerations[0].operator", {"tolerations": [{"key": "a", "operator": "Lt", "value": "007"}]}),
    ("spec.tolerations[0].operator", {"tolerations": [{"key": "a", "operator": "Gt", "value": "5"}]}),
    (
        "spec.tolerations[0].operator",
        {"tolerations": [{"key": "a", "operator": "Gt", "value": "99999999999999999999"}]},
    ),
    ("", {"containers": [{**MAIN, "ports": [{"containerPort": 80}]}], "hostNetwork": True}),
    ("", {"containers": [{**MAIN, "resources": {"requests": {"cpu": "1", "ephemeral-storage": "1Gi"}}}]}),
    ("", {"containers": [{**MAIN, "resources": {"requests": {"kubernetes.io/x": "1"}}}]}),
    (
        "spec.containers[0].resources.limits[requests.example.com/x]",
        {
            "containers": [
                {
                    **MAIN,
                    "resources": {
                        "requests": {"requests.example.com/x": "1"},
                        "limits": {"requests.example.com/x": "1"},
                    },
                }
            ]
        },
    ),
    (
        "spec.containers[0].resources.limits[attachable-volumes-x]",
        {"containers": [{**MAIN, "resources": {"limits": {"attachable-volumes-x": "1"}}}]},
    ),
    (
        "spec.containers[0].resources.requests",
        {
            "containers": [
                {
                    **MAIN,
                    "resources": {"requests": {"cpu": "100m", "memory": "1"}, "limits": {"cpu": "50m", "memory": "0"}},
                }
            ]
        },
    ),
)
