"""The explanation of a group as plain data. The JSON schema is stable: fields are added, never renamed or dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubectl_sched.diagnostics.podgroup_warnings import podgroup_warnings
from kubectl_sched.record import plain
from kubectl_sched.render.sentences.podgroup_headline import podgroup_headline
from kubectl_sched.safe_output import API_VERSION

if TYPE_CHECKING:
    from kubectl_sched.render.schemas import podgroup as schema
    from kubectl_sched.render.schemas.common import PostFilter
    from kubectl_sched.scheduler.podgroup_result import Member, PodGroupResult


def podgroup_data(result: PodGroupResult) -> dict[str, Any]:
    """All that `explain podgroup` says."""
    return dict(_group(result))


def _group(result: PodGroupResult) -> schema.PodGroupExplanation:
    group = result.info.group
    return {
        "apiVersion": API_VERSION,
        "kind": "PodGroupExplanation",
        "podGroup": {"namespace": group.metadata.namespace, "name": group.metadata.name},
        "kubernetesVersion": result.kubernetes_version,
        "kubernetesPatch": result.kubernetes_patch,
        "outcome": result.outcome.value,
        "summary": podgroup_headline(result),
        "minCount": result.info.min_count,
        "scheduled": [pod.key for pod in result.info.scheduled],
        "members": members_data(result),
        "placements": _placements(result),
        "best": list(result.best) if result.info.topology_key is not None else [],
        "children": [_group(child) for child in result.children],
        "postFilter": _post_filter(result),
        "condition": plain(result.condition),
        "event": None,
        "suggestions": [],
        "warnings": list(podgroup_warnings(result)),
        "unknown": plain(result.unknown),
    }


def members_data(result: PodGroupResult) -> list[schema.Member]:
    """The members in the order of the cycle."""
    return [_member(each) for each in result.members]


def _post_filter(result: PodGroupResult) -> PostFilter | None:
    """Preemption for the group as a whole; where members preempt by themselves, what they find together."""
    found = result.post_filter
    if found is not None:
        status, victims = found.status, found.victims
        return {
            "code": status.code.value,
            "message": status.message,
            "victims": [pod.key for pod in victims],
        }
    own = [each.result.post_filter for each in result.members if each.result and each.result.post_filter is not None]
    if not own:
        return None
    decisive = next((each.status for each in own if not each.status.is_success), own[0].status)
    return {
        "code": decisive.code.value,
        "message": decisive.message,
        "victims": [pod.key for pod in result.victims],
    }


def _own_post_filter(member: Member) -> PostFilter | None:
    """Preemption for the member by itself."""
    found = member.result.post_filter if member.result is not None else None
    if found is None:
        return None
    return {
        "code": found.status.code.value,
        "message": found.status.message,
        "nominatedNode": found.nominated_node or None,
        "victims": [pod.key for pod in found.victims],
    }


def _member(member: Member) -> schema.Member:
    return {
        "pod": {"namespace": member.pod.metadata.namespace, "name": member.pod.metadata.name},
        "node": member.node_name,
        "tied": list(member.tied),
        "outcome": member.outcome.value,
        "nominatedNode": member.nominated_node or None,
        "postFilter": _own_post_filter(member),
        "event": member.event,
    }


def _placements(result: PodGroupResult) -> list[schema.DomainPlacement]:
    key = result.info.topology_key
    if key is None:
        return []
    totals = dict(zip([each.placement.name for each in result.feasible], result.totals or (), strict=False))
    return [
        {
            "domain": {"key": key, "value": each.placement.name},
            "nodes": len(each.placement.rows),
            "fits": each.fits,
            "feasible": each in result.feasible,
            "total": totals.get(each.placement.name),
            "lacks": each.next_lacks,
        }
        for each in result.placements
    ]
