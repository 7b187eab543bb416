"""What a claim's allocation says for the drivers, release by release."""

from __future__ import annotations

import pytest

from kubectl_sched.config.versions import RELEASES, KubeVersion
from kubectl_sched.dynamic_resource_allocation.device_configs import device_configs
from kubectl_sched.framework.reserved_object import DevicesOfClass

CLAIM = {"spec": {"devices": {"requests": [{"name": "a"}, {"name": "b"}]}}}
CLASSES = {"gpu": {"spec": {"config": [{"opaque": {"driver": "gpu.example.com"}}]}}}
CHOSEN = [DevicesOfClass(request="a", class_name="gpu"), DevicesOfClass(request="b", class_name="gpu")]
OPAQUE = {"source": "FromClass", "opaque": {"driver": "gpu.example.com"}}


@pytest.mark.parametrize(
    ("version", "configs"),
    [
        ("1.33.5", [OPAQUE, OPAQUE]),
        ("1.33.6", [OPAQUE | {"requests": ["a", "b"]}]),
        ("1.34.1", [OPAQUE, OPAQUE]),
        ("1.34.2", [OPAQUE | {"requests": ["a", "b"]}]),
        ("1.36", [OPAQUE | {"requests": ["a", "b"]}]),
        ("1.37", [OPAQUE]),
    ],
)
def test_a_class_of_two_requests(version: str, configs: list[dict[str, object]]) -> None:
    rules = RELEASES[KubeVersion.parse(version)].devices
    assert device_configs(CLAIM, CLASSES, CHOSEN, rules) == configs
