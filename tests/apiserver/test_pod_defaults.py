"""What the API server fills in where a pod says nothing; tests/e2e/apiserver/test_manifests.py asks the real one."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kubectl_sched.api.pod import Pod
from kubectl_sched.apiserver.pod_defaults import defaulted

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
