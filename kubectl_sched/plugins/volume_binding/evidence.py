"""Evidence about the claim that keeps a pod off a node, and the volume, class or capacity behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.api.apimachinery.quantity import bytes_text
from kubectl_sched.api.component_helpers.volume_claims import NOT_SUPPORTED_PROVISIONER, claim_uses, class_of_claim
from kubectl_sched.api.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from kubectl_sched.framework.clauses import about_several, missing_key_hints
from kubectl_sched.framework.cycle_state import PluginError
from kubectl_sched.framework.evidence import Evidence
from kubectl_sched.plugins.volume_binding.binder import as_driver_knows, selected_node
from kubectl_sched.plugins.volume_binding.claims import refusal
from kubectl_sched.plugins.volume_binding.provisioning import capacities_of, topology_of, volume_limit
from kubectl_sched.plugins.volume_binding.static_matching import (
    VolumesOfNode,
    affinity_of,
    can_be_reached,
    requested_storage,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kubectl_sched.api.apimachinery.labels import Selector
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.evidence import JSON
    from kubectl_sched.plugins.volume_binding.binder import Binder
    from kubectl_sched.plugins.volume_binding.claims import PodVolumeClaims
    from kubectl_sched.plugins.volume_binding.provisioning import Provisioner
    from kubectl_sched.plugins.volume_binding.scoring import StorageResource
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.objects import Objects

_HOSTNAME: Final = "kubernetes.io/hostname"
_VOLUMES_NAMED: Final = 3


def refused_claims(pod: Pod, objects: Objects) -> tuple[Evidence, ...]:
    """The claims with which the pod cannot run anywhere."""
    found = []
    for use in claim_uses(pod):
        reason = refusal(pod, use, objects)
        if reason is not None:
            if not objects.all(PersistentVolumeClaim):
                reason = f"claim {use.claim_name} {objects.absence(PersistentVolumeClaim)}"
            facts = {"volume": use.volume, "claim": use.claim_name, "namespace": pod.namespace}
            found.append(Evidence(text=f"volume {use.volume}: {reason}", facts=facts))
    return tuple(found)


def immediate_claims(claims: PodVolumeClaims, objects: Objects) -> tuple[Evidence, ...]:
    """The claims that should have had a volume before the pod came, and what that hangs on."""
    return tuple(_immediate(claim, objects) for claim in claims.immediate)


def _immediate(claim: PersistentVolumeClaim, objects: Objects) -> Evidence:
    name = class_of_claim(claim)
    storage_class = objects.get(StorageClass, name) if name else None
    facts: dict[str, JSON] = {"claim": claim.name, "namespace": claim.namespace, "storageClass": name or None}
    if claim.spec.volume_name:
        facts["persistentVolume"] = claim.spec.volume_name
        why = f"names volume {claim.spec.volume_name} and is not bound to it yet"
        if objects.get(PersistentVolume, claim.spec.volume_name) is None:
            why = f"names volume {claim.spec.volume_name}, which {objects.absence(PersistentVolume)}"
    elif not name:
        why = "has no storage class, so it waits for a volume without one"
    elif storage_class is None:
        why = f"has no volume, and its storage class {name} {objects.absence(StorageClass)}"
    elif storage_class.provisioner in {"", NOT_SUPPORTED_PROVISIONER}:
        facts["provisioner"] = storage_class.provisioner
        why = f"has no volume yet, and class {name} makes none"
    else:
        facts["provisioner"] = storage_class.provisioner
        why = f"has no volume yet; {storage_class.provisioner}, the provisioner of class {name}, makes it"
    return Evidence(text=f"claim {claim.key} {why}", facts=facts)


def bound_elsewhere(
    binder: Binder, nodes: Snapshot, labels: Mapping[str, str], migrated: frozenset[str]
) -> list[Evidence]:
    """The bound claims whose volume the node does not reach, or whose volume is gone."""
    found = (_bound_elsewhere(claim, nodes, labels, migrated) for claim in binder.claims.bound)
    return [evidence for evidence in found if evidence is not None]


def _bound_elsewhere(
    claim: PersistentVolumeClaim, nodes: Snapshot, labels: Mapping[str, str], migrated: frozenset[str]
) -> Evidence | None:
    name = claim.spec.volume_name
    facts: dict[str, JSON] = {"claim": claim.name, "namespace": claim.namespace, "persistentVolume": name}
    volume = nodes.objects.get(PersistentVolume, name)
    if volume is None:
        absence = nodes.objects.absence(PersistentVolume)
        return Evidence(text=f"claim {claim.name} is bound to volume {name}, which {absence}", facts=facts)
    try:
        affinity = affinity_of(as_driver_knows(volume, migrated))
    except PluginError:
        return None
    if affinity is None or can_be_reached(affinity, labels):
        return None
    selectors = [term.labels for term in affinity.terms]
    facts["wanted"] = [str(selector) for selector in selectors]
    facts["labels"] = _labels_of(selectors, labels)
    facts["unmet"] = list(_unmet(selectors, labels))
    reached = f"only where {_where(selectors)}" if affinity.error is None and selectors else "nowhere"
    text = f"{_node_has(selectors, labels)}; volume {name} of claim {claim.name} is reached {reached}"
    if affinity.error is not None:
        text += f" ({affinity.error})"
    return Evidence(text=text, facts=facts, hints=(*_local_hint(selectors, name), *_key_hints(selectors, nodes)))


def unbound(binder: Binder, nodes: Snapshot, labels: Mapping[str, str], node_name: str) -> list[Evidence]:
    """The claims for which the node has neither a volume nor a way to get one."""
    elsewhere = [claim for claim in binder.claims.delayed if selected_node(claim) not in {None, node_name}]
    if elsewhere:
        return [_selected_elsewhere(claim) for claim in elsewhere]
    found: list[Evidence] = []
    taken: dict[str, str] = {}
    volumes = VolumesOfNode(labels)
    for claim in (*(each for each in binder.claims.delayed if selected_node(each) is not None), *binder.to_match):
        volume = volumes.take_best(binder.candidates(claim)) if selected_node(claim) is None else None
        if volume is not None:
            taken[volume.name] = claim.name
            continue
        evidence = _not_provisioned(binder, claim, nodes, labels, taken)
        if evidence is not None:
            found.append(evidence)
    return found


def _selected_elsewhere(claim: PersistentVolumeClaim) -> Evidence:
    node = selected_node(claim)
    return Evidence(
        text=f"is not {node}, which an earlier cycle chose for the volume of claim {claim.name}",
        facts={"claim": claim.name, "namespace": claim.namespace, "selectedNode": node},
        hints=(
            "the annotation volume.kubernetes.io/selected-node says so until the provisioner gives up on that node",
        ),
    )


def _not_provisioned(
    binder: Binder, claim: PersistentVolumeClaim, nodes: Snapshot, labels: Mapping[str, str], taken: Mapping[str, str]
) -> Evidence | None:
    """State the reason for which no volume can be provisioned for the claim there; None if one can."""
    provisioner = binder.provisioner(claim)
    name, size = class_of_claim(claim), str(requested_storage(claim))
    facts: dict[str, JSON] = {"claim": claim.name, "namespace": claim.namespace, "storageClass": name, "wanted": size}
    existing = _existing_volumes(binder, claim, taken)
    if not provisioner.can_provision:
        facts["volumes"] = existing
        return Evidence(
            text=f"has no volume of class {name} for claim {claim.name} ({size}): {_listed(existing)}", facts=facts
        )
    if not provisioner.is_allowed(labels):
        selectors = provisioner.topologies or []
        facts["allowedTopologies"] = [str(selector) for selector in selectors]
        where = _where(selectors) or "nothing matches"
        text = f"{_node_has(selectors, labels)}; class {name} of claim {claim.name} makes volumes only where {where}"
        return Evidence(text=text, facts=facts, hints=_key_hints(selectors, nodes))
    if provisioner.tracks_capacity and provisioner.offer(labels) is None:
        return _too_little(provisioner, nodes.objects, labels, facts)
    return None


def _too_little(
    provisioner: Provisioner, objects: Objects, labels: Mapping[str, str], facts: Mapping[str, JSON]
) -> Evidence:
    here = [
        (limit.value(), capacity.key)
        for capacity in capacities_of(provisioner.storage_class, objects)
        if (selector := topology_of(capacity)) is not None
        and selector.matches(labels)
        and (limit := volume_limit(capacity)) is not None
    ]
    claim = f"claim {facts['claim']} wants {facts['wanted']} of class {facts['storageClass']}"
    facts = {**facts, "driver": provisioner.storage_class.provisioner if provisioner.storage_class else None}
    if not here:
        text = f"{_no_capacity(provisioner, objects, labels)}; {claim}"
        return Evidence(text=text, facts={**facts, "largest": None})
    largest, name = max(here)
    return Evidence(
        text=f"has at most {bytes_text(largest)} for a volume ({name}); {claim}",
        facts={**facts, "largest": largest, "csiStorageCapacity": name},
        distance=0.5,
    )


def _no_capacity(provisioner: Provisioner, objects: Objects, labels: Mapping[str, str]) -> str:
    """Return why no capacity counts on the node: none is of the class, none is for its topology, or they are empty."""
    storage_class = provisioner.storage_class
    of_class = capacities_of(storage_class, objects)
    name = storage_class.name if storage_class is not None else ""
    if not of_class:
        return f"has no CSIStorageCapacity, as the driver has published none of class {name}"
    here = [each for each in of_class if (topology := topology_of(each)) is not None and topology.matches(labels)]
    if here:
        return f"has no CSIStorageCapacity with storage: {here[0].key} says no amount"
    count = f"the {len(of_class)} of class {name} are" if len(of_class) > 1 else f"that of class {name} is"
    return f"has no CSIStorageCapacity: {count} for other nodes"


def _existing_volumes(binder: Binder, claim: PersistentVolumeClaim, taken: Mapping[str, str]) -> dict[str, JSON]:
    """State for each volume of the claim's class the reason for which it does not fit on the node."""
    requirements = binder.requirements(claim)
    found: dict[str, JSON] = {}
    for volume in binder.volumes.of_class(class_of_claim(claim)):
        reason = f"is taken for claim {taken[volume.name]}" if volume.name in taken else None
        found[volume.name] = requirements.objection(volume) or reason or "is not reached from the node"
    return found


def _listed(volumes: Mapping[str, JSON]) -> str:
    if not volumes:
        return "there is none"
    named = [f"{name} {reason}" for name, reason in list(volumes.items())[:_VOLUMES_NAMED]]
    more = len(volumes) - len(named)
    return ", ".join([*named, f"{more} more"] if more else named)


def _where(selectors: Sequence[Selector]) -> str:
    return " or ".join(str(selector) for selector in selectors)


def _keys(selectors: Iterable[Selector]) -> list[str]:
    return list(dict.fromkeys(each.key for selector in selectors for each in selector.requirements))


def _labels_of(selectors: Iterable[Selector], labels: Mapping[str, str]) -> dict[str, JSON]:
    return {key: labels.get(key) for key in _keys(selectors)}


def _unmet(selectors: Sequence[Selector], labels: Mapping[str, str]) -> list[str]:
    """Return the keys that the labels fail, of the selector that they come closest to."""
    failed = (
        list(dict.fromkeys(each.key for each in selector.requirements if not each.matches(labels)))
        for selector in selectors
    )
    return min(failed, key=len, default=[])


def _node_has(selectors: Sequence[Selector], labels: Mapping[str, str]) -> str:
    """Return `has zone=a` and `label zone is missing`, for each label that is not as wanted by itself."""
    unmet = _unmet(selectors, labels)
    told = [f"has {key}={labels[key]}" for key in unmet if key in labels]
    missing = [key for key in unmet if key not in labels]
    if missing:
        told.append(f"has no label {' and no label '.join(missing)}")
    return " and ".join(told) or "is not among its nodes"


def _key_hints(selectors: Iterable[Selector], nodes: Snapshot) -> tuple[str, ...]:
    """Labels that are asked for and that no node has at all."""
    return tuple(hint for key in _keys(selectors) for hint in missing_key_hints(nodes, key))


def _local_hint(selectors: Sequence[Selector], volume: str) -> tuple[str, ...]:
    hosts = {value for each in selectors for one in each.requirements if one.key == _HOSTNAME for value in one.values}
    if not hosts or any(_HOSTNAME not in _keys([selector]) for selector in selectors):
        return ()
    return (f"{volume} is on {', '.join(sorted(hosts))} alone: the pod can run nowhere else while it keeps the claim",)


def common_clause(found: Sequence[Sequence[Evidence]]) -> str | None:
    """Return the clause that holds for several nodes alike, given the evidence of each; None if they differ."""
    if not found or not all(found):
        return None
    first = [evidence[0] for evidence in found]
    facts = first[0].facts
    if len({evidence.text for evidence in first}) == 1:
        return about_several(first[0].text) or f"are of no use: {first[0].text}"
    if all((each.facts.get("persistentVolume"), each.facts.get("claim")) == _volume_and_claim(facts) for each in first):
        wanted = facts.get("wanted")
        where = f", which is only where {' or '.join(map(str, wanted))}" if isinstance(wanted, list) else ""
        volume, claim = _volume_and_claim(facts)
        return f"do not reach volume {volume} of claim {claim}{where}" if volume is not None else None
    return None


def _volume_and_claim(facts: Mapping[str, JSON]) -> tuple[JSON, JSON]:
    return facts.get("persistentVolume"), facts.get("claim")


def storage_evidence(resources: Mapping[str, StorageResource], score: int) -> tuple[Evidence, ...]:
    """State the share of each class's capacity that would be used."""
    return tuple(
        Evidence(
            text=f"{score} points: {bytes_text(resource.requested)} of {bytes_text(resource.capacity)} "
            f"of class {name or '(none)'} would be used ({resource.utilization}%)",
            facts={
                "storageClass": name,
                "requested": resource.requested,
                "capacity": resource.capacity,
                "utilization": resource.utilization,
            },
        )
        for name, resource in resources.items()
    )
