from __future__ import annotations

import msgspec
import pytest

from kubectl_sched.api.core import Node
from kubectl_sched.api.pod import Pod
from kubectl_sched.sources.dump.collection import Collection
from kubectl_sched.sources.pod_surroundings import bound_at
from tests.apiserver.manifests import obj


def test_a_collection_knows_what_was_taken_in() -> None:
    collection = Collection()
    pod = msgspec.convert(obj("Pod", "web", "shop"), Pod)
    assert pod not in collection
    collection.add([pod], "dump.json")
    assert msgspec.convert(obj("Pod", "web", "shop", spec={"priority": 1}), Pod) in collection
    assert msgspec.convert(obj("Pod", "web", "other"), Pod) not in collection
    assert msgspec.convert(obj("Node", "web", ""), Node) not in collection


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize(("status", "time"), [("True", "2026-01-02T00:00:00Z"), ("False", "2026-01-01T00:00:00Z")])
def test_a_pod_is_bound_when_its_condition_says_so_wherever_that_stands(place: int, status: str, time: str) -> None:
    conditions = [{"type": name, "lastTransitionTime": "2026-01-03T00:00:00Z"} for name in ("Initialized", "Ready")]
    scheduled = {"type": "PodScheduled", "status": status, "lastTransitionTime": "2026-01-02T00:00:00Z"}
    conditions.insert(place, scheduled)
    metadata = {"creationTimestamp": "2026-01-01T00:00:00Z"}
    pod = obj("Pod", "web", "shop", metadata=metadata, status={"conditions": conditions})
    assert bound_at(msgspec.convert(pod, Pod)) == time
