"""What the API server fills in where a pod says nothing; tests/e2e/apiserver/test_manifests.py asks the real one."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kubectl_sched.api.admission import LimitRange
from kubectl_sched.api.containers import ResourceRequirements
from kubectl_sched.api.pod import Pod
from kubectl_sched.apiserver.limit_ranges import outside_limits
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


BOUNDS = {
    "type": "Container",
    "min": {"memory": "1m"},
    "max": {"memory": "2500u"},
}


@pytest.mark.parametrize(
    ("requests", "limits", "rounded", "exact"),
    [
        ("500u", "2m", None, "minimum memory usage per Container is 1m, but request is 500u"),
        ("1m", "2600u", None, "maximum memory usage per Container is 2500u, but limit is 2600u"),
        ("1m", "4m", *["maximum memory usage per Container is 2500u, but limit is 4m"] * 2),
    ],
)
def test_limit_ranges_round_up_to_1_37(requests: str, limits: str, rounded: str | None, exact: str | None) -> None:
    about = {"name": "limits", "namespace": "default"}
    ranges = [msgspec.convert({"metadata": about, "spec": {"limits": [BOUNDS]}}, LimitRange)]
    asked = {"requests": {"memory": requests}, "limits": {"memory": limits}}
    pod = msgspec.convert({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "resources": asked}]}}, Pod)
    assert outside_limits(pod, ranges, is_exact=False) == rounded
    assert outside_limits(pod, ranges, is_exact=True) == exact


@pytest.mark.parametrize("is_exact", [False, True])
@pytest.mark.parametrize(("limit", "ratio"), [("3", None), ("3001m", "1.500500")])
def test_the_ratio_of_a_limit_to_its_request(limit: str, ratio: str | None, is_exact: bool) -> None:
    bounds = {"type": "Container", "maxLimitRequestRatio": {"cpu": "1.5"}}
    ranges = [msgspec.convert({"metadata": {"name": "limits"}, "spec": {"limits": [bounds]}}, LimitRange)]
    asked = {"requests": {"cpu": "2"}, "limits": {"cpu": limit}}
    pod = msgspec.convert({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "resources": asked}]}}, Pod)
    refused = ratio and f"cpu max limit to request ratio per Container is 1500m, but provided ratio is {ratio}"
    assert outside_limits(pod, ranges, is_exact=is_exact) == refused
