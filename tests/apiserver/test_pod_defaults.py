"""What the API server fills in where a pod says nothing; tests/e2e/apiserver/test_manifests.py asks the real one."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kubectl_sched.api.admission import LimitRange
from kubectl_sched.api.containers import ResourceRequirements
from kubectl_sched.api.pod import Pod
from kubectl_sched.apiserver.pod_admission import Admission
from kubectl_sched.apiserver.pod_defaults import defaulted
from kubectl_sched.config import Features, KubeVersion
from kubectl_sched.snapshot import Objects

CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}


def pod(*volumes: dict[str, Any]) -> Pod:
    return msgspec.convert({"metadata": {"name": "p"}, "spec": {"volumes": volumes}}, Pod)


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ({"rbd": {"image": "i"}}, {"rbd": {"image": "i", "pool": "rbd"}}),
        ({"rbd": {"image": "i", "pool": "fast"}}, {"rbd": {"image": "i", "pool": "fast"}}),
        ({"azureDisk": {"diskName": "d"}}, {"azureDisk": {"diskName": "d", "kind": "Shared", "readOnly": False}}),
        ({"image": {"reference": "files"}}, {"image": {"reference": "files", "pullPolicy": "Always"}}),
        ({"image": {"reference": "files:1"}}, {"image": {"reference": "files:1", "pullPolicy": "IfNotPresent"}}),
        (
            {"ephemeral": {"volumeClaimTemplate": {"spec": CLAIM}}},
            {"ephemeral": {"volumeClaimTemplate": {"spec": {**CLAIM, "volumeMode": "Filesystem"}}}},
        ),
        ({"emptyDir": {}}, {"emptyDir": {}}),
    ],
)
def test_volumes_are_as_the_api_server_stores_them(written: dict[str, Any], stored: dict[str, Any]) -> None:
    assert defaulted(pod(written), lambda _: True).spec.volumes == pod(stored).spec.volumes


def test_images_are_left_alone_where_they_are_no_volumes() -> None:
    written = pod({"image": {"reference": "files"}})
    assert defaulted(written, lambda _: False).spec.volumes == written.spec.volumes


LIMITS = {"type": "Container", "defaultRequest": {"memory": "64Mi"}}
AS_A_WHOLE = {"limits": {"memory": "128Mi"}}
LIMITED = {"limits": {"cpu": "1"}}
LESS = {"requests": {"cpu": "100m"}, "limits": {"cpu": "1"}}


@pytest.mark.parametrize(
    ("version", "whole", "containers", "stored"),
    [
        ("1.33", AS_A_WHOLE, [{}], None),
        ("1.36", AS_A_WHOLE, [{}], {"requests": {"memory": "128Mi"}, "limits": {"memory": "128Mi"}}),
        ("1.37", AS_A_WHOLE, [{}], {"requests": {"memory": "64Mi"}, "limits": {"memory": "128Mi"}}),
        ("1.36", {"requests": {"memory": "1Gi"}}, [LIMITED], {"requests": {"memory": "1Gi"}}),
        (
            "1.37",
            {"requests": {"memory": "1Gi"}},
            [LIMITED],
            {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1"}},
        ),
        (
            "1.37",
            {"requests": {"cpu": "3"}},
            [LIMITED],
            {"requests": {"cpu": "3", "memory": "64Mi"}, "limits": {"cpu": "3"}},
        ),
        ("1.37", {"requests": {"memory": "1Gi"}}, [LESS, {}], {"requests": {"cpu": "100m", "memory": "1Gi"}}),
    ],
)
def test_pods_have_as_a_whole_what_their_containers_have(
    version: str, whole: dict[str, Any], containers: list[dict[str, Any]], stored: dict[str, Any] | None
) -> None:
    about = {"name": "limits", "namespace": "default"}
    limits = msgspec.convert({"metadata": about, "spec": {"limits": [LIMITS]}}, LimitRange)
    features = Features.for_version(KubeVersion.parse(version), {})
    admission = Admission(objects=Objects([limits]), enabled=features.enabled)
    named = [{"name": f"c{number}", "image": "x", "resources": each} for number, each in enumerate(containers)]
    written = {"metadata": {"name": "p", "namespace": "default"}, "spec": {"containers": named, "resources": whole}}
    expected = None if stored is None else msgspec.convert(stored, ResourceRequirements)
    assert admission.admitted(msgspec.convert(written, Pod)).spec.resources == expected
