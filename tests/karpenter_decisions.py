"""Replays a request of the Karpenter oracle, and says where its answer and ours differ."""

from typing import Any

import msgspec

from kubectl_sched.api.affinity import NodeSelectorRequirement, TopologySpreadConstraint
from kubectl_sched.api.apimachinery.quantity import parse_resource_list
from kubectl_sched.api.meta import KubernetesObject
from kubectl_sched.api.resource import ResourceSlice, ResourceSliceSpec
from kubectl_sched.dynamic_resource_allocation.devices import PoolSlice
from kubectl_sched.node_provisioning.karpenter.cloudprovider.instance_type import InstanceType, Offering
from kubectl_sched.node_provisioning.karpenter.cluster import Cluster
from kubectl_sched.node_provisioning.karpenter.karpenter_release import release_of
from kubectl_sched.node_provisioning.karpenter.operator_options import Options
from kubectl_sched.node_provisioning.karpenter.outcome import Outcome, PlannedNodeClaim, selectors
from kubectl_sched.node_provisioning.karpenter.provisioner import NO_NODE_POOLS, provision
from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import Requirements, selector_requirements
from kubectl_sched.sources.kinds import kind_of

Json = dict[str, Any]

NOW = "2026-11-01T00:00:00Z"
"""A time after all of a request."""

_TEXTS = ("errors", "ignored")


def options_of(request: Json) -> Options:
    """Karpenter's settings of a request."""
    return Options(
        release=release_of(request.get("release", "1.14.1")),
        respects_preferences=request["preferencePolicy"] != "Ignore",
        relaxes_min_values=request["minValuesPolicy"] == "BestEffort",
        reserves_capacity=not request["noReservedCapacity"],
        applies_overlays=request.get("nodeOverlay", False),
        ignores_devices=not request.get("allocatesDevices", False),
        replaces_spot_by_spot=request.get("spotToSpotConsolidation", False),
        well_known=frozenset(request["wellKnownLabels"]),
        reservation_label=request["reservationIDLabel"],
        max_instance_types=request["maxInstanceTypes"],
        default_constraints=_default_constraints(request),
    )


def _default_constraints(request: Json) -> tuple[TopologySpreadConstraint, ...]:
    """The default constraints of the request's SCHEDULER_CONFIG, which releases before 1.15 do not read."""
    stated = msgspec.yaml.decode(request.get("schedulerConfig") or "{}").get("podTopologySpread", {})
    found = msgspec.convert(stated.get("defaultConstraints", []), tuple[TopologySpreadConstraint, ...])
    return found if release_of(request.get("release", "1.14.1")).spreads_by_default else ()


def replay(request: Json) -> Outcome:
    """Our answer to a request."""
    objects = objects_of(request)
    types = {pool: tuple(map(instance_type, stated["types"])) for pool, stated in request["instanceTypes"].items()}
    pools = [each.name for each in objects if type(each).__name__ == "NodePool"]
    return provision(Cluster(objects, NOW), {pool: types.get(pool, types[""]) for pool in pools}, options_of(request))


def as_answer(outcome: Outcome, options: Options) -> Json:
    """An outcome in the words of the oracle."""
    errors = {} if set(outcome.errors.values()) == {NO_NODE_POOLS} else dict(outcome.errors)
    return {
        "claims": [_claim(each, options) for each in outcome.claims],
        "existing": {name: list(pods) for name, pods in outcome.existing.items()},
        "errors": errors,
        "ignored": dict(outcome.ignored),
    }


def differences(results: list[Json], ours: Json) -> list[str]:
    """The aspects in which no run of Karpenter is ours; of a pod's texts any run's will do."""
    compared = [comparable(result, ours) for result in results]
    wrong = [[key for key in ("claims", "existing") if result[key] != ours[key]] for result in compared]
    fewest = min(wrong, key=len)
    for aspect in _TEXTS:
        texts = [result[aspect] for result, differing in zip(compared, wrong, strict=True) if differing == fewest]
        said = all(any(each.get(pod) == text for each in texts) for pod, text in ours[aspect].items())
        if not said or all(each.keys() != ours[aspect].keys() for each in texts):
            fewest = [*fewest, aspect]
    return fewest


def instance_type(stated: Json) -> InstanceType:
    """An instance type of a request."""
    offerings = tuple(
        Offering(
            _requirements(each["requirements"]),
            each["price"],
            available=each["available"],
            reservation_capacity=each.get("reservationCapacity", 0),
            capacity_override=parse_resource_list(each.get("capacityOverride") or {}),
        )
        for each in stated["offerings"] or ()
    )
    return InstanceType(
        stated["name"],
        _requirements(stated["requirements"]),
        offerings,
        parse_resource_list(stated["capacity"]),
        parse_resource_list(stated.get("overhead") or {}),
        stated.get("volumeLimits"),
        tuple(_slice(each) for each in stated.get("resourceSlices") or ()),
    )


def _slice(stated: Json) -> PoolSlice:
    """Devices that a driver is expected to publish."""
    return PoolSlice(published=ResourceSlice(spec=msgspec.convert(stated, ResourceSliceSpec)))


def objects_of(request: Json) -> list[KubernetesObject]:
    """The objects of a request."""
    return [_object(each) for each in request["objects"]]


def _object(stated: Json) -> KubernetesObject:
    kind = kind_of(stated["apiVersion"], stated["kind"])
    assert kind is not None
    return msgspec.convert(stated, kind.type)


def _requirements(stated: list[Json] | None) -> Requirements:
    return selector_requirements(msgspec.convert(stated or [], tuple[NodeSelectorRequirement, ...]))


def _claim(claim: PlannedNodeClaim, options: Options) -> Json:
    labels, requirements = claim.created(options.max_instance_types)
    return {
        "nodePool": claim.node_pool,
        "pods": list(claim.pods),
        "instanceTypes": claim.instance_types,
        "requirements": selectors(claim.requirements.values()),
        "requests": {name: str(amount) for name, amount in claim.requests.items()},
        "minValuesRelaxed": "true" if claim.min_values_relaxed else "false",
        "nodeClaim": {"labels": labels, "requirements": requirements},
    }


def comparable(result: Json, ours: Json) -> Json:
    """Karpenter's result without the labels to which it gives a random one of several values."""
    claims = [dict(each) for each in result["claims"] or ()]
    for claim, own in zip(claims, ours["claims"], strict=False):
        known = own["nodeClaim"]["labels"]
        labels = {key: value for key, value in claim["nodeClaim"]["labels"].items() if key in known}
        claim["nodeClaim"] = {"labels": labels, "requirements": claim["nodeClaim"]["requirements"]}
    return {**result, "claims": claims}
