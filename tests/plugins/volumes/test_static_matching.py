"""The existing volume for a claim is the one that a walk over all volumes finds, whatever others have taken."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kubectl_sched.api.component_helpers.volume_claims import is_bound_to
from kubectl_sched.plugins.volume_binding.static_matching import (
    Candidates,
    ClaimRequirements,
    VolumeIndex,
    VolumesOfNode,
    affinity_of,
    can_be_reached,
    capacity_of,
)
from tests.examples import examples
from tests.plugins.storage_objects import ZONE, claim, volume

if TYPE_CHECKING:
    from kubectl_sched.api.storage import PersistentVolume, PersistentVolumeClaim

HOST = "kubernetes.io/hostname"
VALUES = {ZONE: ["a", "b"], HOST: ["n0", "n1", "n2"]}
NAMES = ("web-0", "web-1", "web-2")


def random_claim(random: Random, name: str) -> Any:
    spec: dict[str, Any] = {"storageClassName": random.choice(["slow", "slow", "fast"])}
    if random.random() < 0.3:
        spec["selector"] = {"matchLabels": {"tier": random.choice("xy")}}
    return claim(name, size=random.choice(["1Gi", "4Gi"]), metadata={"uid": name}, **spec)


def random_volume(random: Random, number: int) -> Any:
    spec: dict[str, Any] = {
        "storageClassName": random.choice(["slow", "slow", "fast"]),
        "capacity": {"storage": f"{random.randint(1, 6)}Gi"},
    }
    if random.random() < 0.8:
        terms = [{"matchExpressions": [expression(random) for _ in range(random.choice([1, 1, 2]))]}
                 for _ in range(random.choice([1, 1, 2]))]  # fmt: skip
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
    if random.random() < 0.1:
        spec["claimRef"] = {"namespace": "default", "name": random.choice(NAMES), "uid": random.choice(["", "old"])}
    labels = {"tier": random.choice("xy")}
    return volume(
        f"pv-{number}", metadata={"labels": labels}, phase=random.choice(["Available"] * 9 + ["Failed"]), **spec
    )


def expression(random: Random) -> dict[str, Any]:
    key = random.choice([ZONE, HOST, HOST])
    values = random.sample(VALUES[key], random.choice([1, 1, 2]))
    return {
        "key": key,
        "operator": random.choice(["In", "In", "In", "NotIn"]),
        "values": random.choice([values, values, ["no value"]]),
    }


def walked(of: PersistentVolumeClaim, volumes: list[PersistentVolume], labels: dict[str, str]) -> str | None:
    """FindMatchingVolume, volume by volume."""
    requirements, smallest = ClaimRequirements(of, has_classes=True), None
    for each in volumes:
        if each.spec.storage_class_name != of.spec.storage_class_name or requirements.objection(each) is not None:
            continue
        is_reached = can_be_reached(affinity_of(each), labels)
        if is_bound_to(each, of):
            return each.name if is_reached else None
        if is_reached and (smallest is None or capacity_of(each) < capacity_of(smallest)):
            smallest = each
    return None if smallest is None else smallest.name


@settings(max_examples=examples(600), deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_volume_for_a_claim_is_the_one_that_a_walk_over_all_volumes_finds(seed: int) -> None:
    random = Random(seed)  # noqa: S311 - a test case, not a secret
    volumes: list[Any] = [random_volume(random, number) for number in range(random.randint(0, 12))]
    index = VolumeIndex(volumes)
    claims = [random_claim(random, name) for name in NAMES]
    candidates = [Candidates(each, index, has_classes=True) for each in claims]
    left = [list(volumes) for _ in claims]
    for _ in range(8):
        labels = {key: random.choice(values) for key, values in VALUES.items() if random.random() < 0.8}
        for of, found, its in zip(claims, candidates, left, strict=True):
            best = VolumesOfNode(labels).take_best(found)
            assert (None if best is None else best.name) == walked(of, its, labels)
            if best is not None and best.spec.claim_ref is None and random.random() < 0.5:
                found.leave_out(best)
                its.remove(best)


@settings(max_examples=examples(600), deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_claims_of_one_pod_take_volumes_one_after_the_other(seed: int) -> None:
    random = Random(seed)  # noqa: S311 - a test case, not a secret
    volumes: list[Any] = [random_volume(random, number) for number in range(random.randint(0, 12))]
    index = VolumeIndex(volumes)
    claims = [random_claim(random, name) for name in (*NAMES, *NAMES)]
    labels = {key: random.choice(values) for key, values in VALUES.items() if random.random() < 0.8}
    on_node, left = VolumesOfNode(labels), list(volumes)
    for each in claims:
        best = on_node.take_best(Candidates(each, index, has_classes=True))
        assert (None if best is None else best.name) == walked(each, left, labels)
        left = [other for other in left if best is None or other.name != best.name]
