"""Hints about devices: their claims and classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.component_helpers.pod_requests import pod_requests
from kubectl_sched.api.core import Node
from kubectl_sched.api.resource import DEVICE_CLASS_RESOURCE_PREFIX, DeviceClass, ResourceClaim
from kubectl_sched.plugins.dynamic_resources.claims import ClaimProblem, pod_claims
from kubectl_sched.plugins.node_resources.insufficient import steps_to_sum

if TYPE_CHECKING:
    from kubectl_sched.binding.second_scheduler.queueing_hints.hint_question import HintQuestion

_STEPS_A_CLAIM = 10


def node(question: HintQuestion) -> bool:
    """Any new node or label; since 1.34 also what the node can allocate."""
    old, new = question.after(Node)
    return old is None or question.release.allocatable_wakes_claims or old.metadata.labels != new.metadata.labels


def resource_claim(question: HintQuestion) -> bool:
    """A claim has given its devices back, or is one of the pod's and has another status."""
    old, new = question.both(ResourceClaim)
    if new is None:
        return question.release.claim_deletion_wakes and old is not None and old.status.allocation is not None
    uids = _claim_uids(question)
    if uids is None:
        return False
    if old is not None and old.status.allocation is not None and new.status.allocation is None:
        return True
    return new.metadata.uid in uids and (old is None or old.status != new.status)


def own_claims(question: HintQuestion) -> bool:
    """All claims of the pod are there now."""
    return _claim_uids(question) is not None


def _claim_uids(question: HintQuestion) -> frozenset[str] | None:
    """The pod's claims; None if any of them cannot be used yet."""
    question.budget.spend(_STEPS_A_CLAIM * len(question.pod.spec.resource_claims))
    groups_own = question.features.enabled("DRAWorkloadResourceClaims")
    claims = pod_claims(question.pod, question.cluster(), question.release.devices, groups_own=groups_own)
    try:
        return frozenset(claim.metadata.uid for _, claim in claims)
    except ClaimProblem:
        return None


def device_class(question: HintQuestion) -> bool:
    """For NodeResourcesFit: a class offers an extended resource that the pod asks for."""
    if not (question.release.device_class_wakes_fit and question.features.enabled("DRAExtendedResource")):
        return False
    old, new = question.after(DeviceClass)
    offered = new.spec.extended_resource_name
    if old is not None and (old.spec.extended_resource_name or "") == (offered or ""):
        return False
    question.budget.spend(steps_to_sum(question.pod))
    requests = pod_requests(question.pod)
    return (old is None and DEVICE_CLASS_RESOURCE_PREFIX + new.name in requests) or offered in requests
