"""The claims of a pod (resourceclaim/resourceclaim.go, claims.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.resource import ResourceClaim
from kubectl_sched.api.scheduling import PodGroup
from kubectl_sched.framework.status import Status, error, unresolvable
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.pod import Pod, PodResourceClaim
    from kubectl_sched.config.allocator_versions import DeviceRules
    from kubectl_sched.snapshot import Snapshot

SPECIAL_NAME = "<extended-resources>"
"""The claim for extended resources is called so until it is made (specialClaimInMemName)."""

_UNSUPPORTED = "none of the supported fields are set"


class ClaimProblem(Exception):  # noqa: N818 - an expected "not yet" of the whole pod
    """The reason why a pod's claims cannot be used, in upstream's words."""


class ClaimStore(Record, frozen=True, kw_only=True):
    """All claims of the pod, the one for its extended resources last."""

    claims: tuple[ResourceClaim, ...] = ()
    user_owned: int = 0
    names: tuple[str, ...] = ()
    """By which name the pod knows each of its own claims."""

    @property
    def extended(self) -> ResourceClaim | None:
        """The claim for extended resources."""
        return self.claims[self.user_owned] if self.user_owned < len(self.claims) else None

    @property
    def to_allocate(self) -> tuple[ResourceClaim, ...]:
        """Claims that have no devices yet."""
        return tuple(claim for claim in self.claims if claim.status.allocation is None)


def pod_claims(
    pod: Pod, nodes: Snapshot, rules: DeviceRules, *, groups_own: bool
) -> Iterator[tuple[str, ResourceClaim]]:
    """The pod's names for its claims, and the claims; raises ClaimProblem (foreachPodResourceClaim)."""
    for reference in pod.spec.resource_claims:
        name, made_for_pod = claim_name(pod, reference)
        if name is None:
            continue  # Whoever made the claims decided that none is needed.
        claim = nodes.objects.get(ResourceClaim, name, pod.metadata.namespace)
        if claim is None:
            raise ClaimProblem(f'could not find ResourceClaim "{pod.metadata.namespace}/{name}"')
        if claim.metadata.deletion_timestamp is not None:
            raise ClaimProblem(f'resourceclaim "{claim.name}" is being deleted')
        if made_for_pod:
            _check_owner(pod, claim, rules, groups_own)
        yield reference.name, claim


def claim_name(pod: Pod, reference: PodResourceClaim) -> tuple[str | None, bool]:
    """The claim's name, and whether it was made for the pod; raises ClaimProblem (Name)."""
    if reference.resource_claim_name is not None:
        return reference.resource_claim_name, False
    where = f'pod "{pod.metadata.namespace}/{pod.metadata.name}"'
    if reference.resource_claim_template_name is None:
        raise ClaimProblem(f'{where}, spec.resourceClaim "{reference.name}": {_UNSUPPORTED}')
    for status in pod.status.resource_claim_statuses:
        if status.name == reference.name:
            return status.resource_claim_name, True
    raise ClaimProblem(f"{where}: ResourceClaim not created yet")


def _check_owner(pod: Pod, claim: ResourceClaim, rules: DeviceRules, groups_own: bool) -> None:
    controller = claim.metadata.controller
    if controller is not None and controller.uid == pod.metadata.uid:
        return
    word = "pod" if rules.owner_text_is_lowercase else "Pod"
    text = f"ResourceClaim {claim.key} was not created for {word} {pod.key} "
    if not groups_own:
        raise ClaimProblem(f"{text}({word} is not owner)")
    group = pod.group_name
    if (
        controller is None
        or controller.name != group
        or controller.kind != "PodGroup"
        or not controller.api_version.startswith("scheduling.k8s.io/")
    ):
        if group is None:
            raise ClaimProblem(f"{text}(neither Pod nor PodGroup is the owner)")
        raise ClaimProblem(f"{text}(neither Pod nor PodGroup {group} is the owner)")


def check_bindings(pod: Pod, nodes: Snapshot) -> None:
    """Check that each claim is clearly reserved for the pod or its group. Raises ClaimProblem (BindTo) if not."""
    name = pod.group_name
    group = None
    if name is not None:
        group = nodes.objects.get(PodGroup, name, pod.metadata.namespace)
        if group is None:
            raise ClaimProblem(f'podgroup.scheduling.k8s.io "{name}" not found')
    for reference in pod.spec.resource_claims:
        if reference.resource_claim_name is None and reference.resource_claim_template_name is None:
            raise ClaimProblem(f"Pod {pod.key} claim {reference.name}: {_UNSUPPORTED}")
        for shared in group.spec.resource_claims if group is not None else ():
            if shared.resource_claim_name is None and shared.resource_claim_template_name is None:
                raise ClaimProblem(f"PodGroup {group.key if group else ''} claim {shared.name}: {_UNSUPPORTED}")
            if shared == reference:
                break


def is_reserved_for(pod: Pod, claim: ResourceClaim, *, groups_reserve: bool) -> bool:
    """Report whether the pod, or its group, is among those that the claim is reserved for (IsReservedForPod)."""
    group = pod.group_name
    return any(
        consumer.uid == pod.metadata.uid
        or (
            groups_reserve
            and group is not None
            and consumer.api_group == "scheduling.k8s.io"
            and consumer.resource == "podgroups"
            and consumer.name == group
        )
        for consumer in claim.status.reserved_for
    )


def is_pending(claim: ResourceClaim, nodes: Snapshot) -> bool:
    """Report whether the claim got its devices in the present cycle of a group, so that nothing has written them."""
    if nodes.before_group is None or claim.status.allocation is None:
        return False
    before = nodes.before_group.objects.get(ResourceClaim, claim.name, claim.namespace)
    return before is None or before.status.allocation is None


def unreserved_for_group(pod: Pod, nodes: Snapshot) -> Status | None:
    """PostFilter's answer where a claim is no longer reserved for the pod's group, none of whose pods has a node.

    What the present cycle of the group gave to other members does not count.
    """
    nodes = nodes.before_group or nodes
    name, namespace = pod.group_name, pod.metadata.namespace
    if name is None or any(
        other.group_name == name and other.metadata.namespace == namespace
        for other in (*nodes.whole.existing_pods.pods, *nodes.whole.stranded)
    ):
        return None
    group = nodes.objects.get(PodGroup, name, namespace)
    if group is None:
        return error(f'podgroup.scheduling.k8s.io "{name}" not found')
    for reference in group.spec.resource_claims:
        try:
            claim_called, made_for_group = _group_claim_name(group, reference)
        except ClaimProblem as problem:
            return error(str(problem))
        if claim_called is None:
            continue
        claim = nodes.objects.get(ResourceClaim, claim_called, namespace)
        if claim is None:
            return error(f'could not find ResourceClaim "{namespace}/{claim_called}"')
        owner = claim.metadata.controller
        if made_for_group and (owner is None or owner.uid != group.metadata.uid):
            continue
        if claim.status.allocation is not None and is_reserved_for(pod, claim, groups_reserve=True):
            return unresolvable("ResourceClaim unreserved for PodGroup")
    return None


def _group_claim_name(group: PodGroup, reference: PodResourceClaim) -> tuple[str | None, bool]:
    """The claim's name, and whether it was made for the group; raises ClaimProblem (NameFromPodGroup)."""
    if reference.resource_claim_name is not None:
        return reference.resource_claim_name, False
    if reference.resource_claim_template_name is None:
        raise ClaimProblem(f"PodGroup {group.key}, spec.resourceClaim {reference.name}: {_UNSUPPORTED}")
    for status in group.status.resource_claim_statuses:
        if status.name == reference.name:
            return status.resource_claim_name, True
    raise ClaimProblem(f"PodGroup {group.key}: ResourceClaim not created yet")
