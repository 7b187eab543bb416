"""The evidence against a node's devices, one by one: its holder, or the selector that it fails."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kubectl_sched.api.resource import DeviceClass, ResourceClaim
from kubectl_sched.config.allocator_versions import DEVICE_TAINTS
from kubectl_sched.dynamic_resource_allocation.allocation_errors import AllocationFailed
from kubectl_sched.framework.clauses import first_few
from kubectl_sched.framework.confusable_texts import nearest
from kubectl_sched.framework.cycle_budget import CycleBudget
from kubectl_sched.framework.evidence import Evidence
from kubectl_sched.plugins.dynamic_resources.device_allocation import untolerated
from kubectl_sched.plugins.dynamic_resources.pools import Pool
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.api.resource import DeviceRequest, DeviceSelector, ExactDeviceRequest
    from kubectl_sched.dynamic_resource_allocation.devices import SliceDevice
    from kubectl_sched.framework.evidence import JSON
    from kubectl_sched.plugins.dynamic_resources.allocator import Allocator
    from kubectl_sched.plugins.dynamic_resources.filtering import Filtering
    from kubectl_sched.plugins.dynamic_resources.pools import Pool
    from kubectl_sched.plugins.dynamic_resources.state import NodeOutcome, PreFilterState
    from kubectl_sched.snapshot import NodeInfo, Snapshot

_MOST_DEVICES = 16


class _Refusal(Record, frozen=True, kw_only=True):
    """The reason why one device does not serve a request: a short clause that groups devices, and the facts."""

    device: SliceDevice
    clause: str
    facts: dict[str, JSON]


def of_pod(pod: Pod, nodes: Snapshot, filtering: Filtering) -> tuple[Evidence, ...]:
    """Return why the pod's claims cannot be used anywhere."""
    status, _ = filtering.prepare(pod, nodes, CycleBudget())
    if status.is_success or not status.reasons:
        return ()
    reason = status.reasons[0]
    names = [one.name for one in nodes.objects.all(DeviceClass)]
    hints: list[str] = []
    for reference in pod.spec.resource_claims:
        wanted = reference.resource_claim_name
        present = [one.name for one in nodes.objects.in_namespace(ResourceClaim, pod.metadata.namespace)]
        if wanted is not None and wanted not in present and (meant := nearest(wanted, tuple(present))):
            hints.append(f"there is a claim `{meant}` in the namespace")
    word = reason.partition("device class ")[2].partition(" ")[0]
    if word and word not in names:
        meant = nearest(word, tuple(names))
        hints.append(
            f"there is a device class `{meant}`" if meant else f"device classes are {first_few(names) or 'none'}"
        )
    return (Evidence(text=reason, facts={"deviceClasses": list(names)}, hints=tuple(hints)),)


def of_node(
    state: PreFilterState, pod: Pod, node: NodeInfo, outcome: NodeOutcome, filtering: Filtering
) -> tuple[Evidence, ...]:
    """Return why the node cannot serve the claims."""
    reasons = outcome.status.reasons
    found: list[Evidence] = []
    if reasons == ("resourceclaim not available on the node",):
        found = [_unavailable(claim, filtering) for claim in outcome.unavailable]
    if not found and state.allocator is not None and reasons == ("cannot allocate all claims",):
        try:
            pools = state.allocator.pools(node.node)
        except AllocationFailed:
            pools = []
        for claim in state.claims.to_allocate:
            for request in claim.spec.devices.requests:
                found += _request(state.allocator, claim, request, pools)
        if not found:
            found = [Evidence(text=_together(state, pools), facts={"devices": _device_names(pools)}, distance=0.3)]
    if not found:
        found = [Evidence(text="; ".join(reasons), facts={"pod": pod.key})]
    return tuple(found)


def _together(state: PreFilterState, pools: Sequence[Pool]) -> str:
    count = sum(len(one.devices) for pool in pools for one in pool.slices)
    constraints = [
        constraint.match_attribute or constraint.distinct_attribute
        for claim in state.claims.to_allocate
        for constraint in claim.spec.devices.constraints
    ]
    text = f"each request alone could be served by the {count} devices within reach, but not all together"
    named = [name for name in constraints if name]
    return f"{text} with the constraint on {first_few(named)}" if named else text


def _device_names(pools: Sequence[Pool]) -> list[JSON]:
    names: list[JSON] = [str(device.id) for pool in pools for one in pool.slices for device in one.devices]
    return names[:_MOST_DEVICES]


def _unavailable(claim: ResourceClaim, filtering: Filtering) -> Evidence:
    allocation = claim.status.allocation
    devices = [str(f"{one.driver}/{one.pool}/{one.device}") for one in allocation.devices.results] if allocation else []
    facts: dict[str, JSON] = {"claim": claim.key, "devices": list(devices), "reservedFor": _users(claim)}
    blocked = filtering.blocks_binding(claim)
    if blocked is not None:
        return Evidence(text=f"claim {claim.key} cannot be used: {blocked}", facts=facts)
    where = ""
    if allocation is not None and allocation.node_selector is not None:
        terms = allocation.node_selector.node_selector_terms
        names = [value for term in terms for one in term.match_fields for value in one.values]
        where = f", which only node {first_few(names)} reaches" if names else ", which this node does not reach"
    return Evidence(text=f"claim {claim.key} has {first_few(devices) or 'devices'}{where}", facts=facts)


def _users(claim: ResourceClaim) -> list[JSON]:
    return [f"{one.resource}/{one.name}" for one in claim.status.reserved_for]


def _request(
    allocator: Allocator, claim: ResourceClaim, request: DeviceRequest, pools: Sequence[Pool]
) -> Iterator[Evidence]:
    """Evidence for a request that too few devices could serve."""
    alternatives: Sequence[tuple[str, ExactDeviceRequest]] = (
        [(f"{request.name}/{one.name}", one) for one in request.first_available]
        if request.first_available
        else [(request.name, request.exact)]
        if request.exact is not None
        else []
    )
    made = [_alternative(allocator, claim, name, exact, pools) for name, exact in alternatives]
    if made and all(one is not None for one in made):
        yield from (one for one in made if one is not None)


def _alternative(
    allocator: Allocator, claim: ResourceClaim, name: str, exact: ExactDeviceRequest, pools: Sequence[Pool]
) -> Evidence | None:
    devices = [device for pool in pools if _usable(pool) for one in pool.slices for device in one.devices]
    refusals = [refusal for device in devices if (refusal := _refusal(allocator, claim, exact, device)) is not None]
    left = len(devices) - len(refusals)
    wanted = exact.count if exact.allocation_mode == "ExactCount" else len(devices) or 1
    if exact.allocation_mode == "ExactCount" and left >= wanted:
        return None
    if exact.allocation_mode != "ExactCount" and devices and not refusals:
        return None
    counted = Counter(refusal.clause for refusal in refusals)
    why = [f"{count} {clause}" for clause, count in counted.most_common()]
    why += [_pool_problem(pool) for pool in pools if not _usable(pool)]
    if not devices and not why:
        why = ["the node reaches no device"]
    what = f"{wanted} device{'s' if wanted != 1 else ''}" if exact.allocation_mode == "ExactCount" else "all devices"
    text = f"claim {claim.key}, request {name}: wants {what} of class {exact.device_class_name}; "
    text += f"{left} of {len(devices)} would do: {'; '.join(why)}" if devices else "; ".join(why)
    facts: dict[str, JSON] = {
        "claim": claim.key,
        "request": name,
        "deviceClass": exact.device_class_name,
        "wanted": wanted,
        "fitting": left,
        "devices": [{"device": str(one.device.id), **one.facts} for one in refusals[:_MOST_DEVICES]],
    }
    return Evidence(text=text, facts=facts, distance=min(1.0, max(0.1, (wanted - left) / max(wanted, 1))))


def _usable(pool: Pool) -> bool:
    return not pool.is_incomplete and pool.invalid_reason is None


def _pool_problem(pool: Pool) -> str:
    if pool.is_incomplete:
        return f"pool {pool.id} is being updated ({pool.missing} slices are there)"
    return f"pool {pool.id} is invalid: {pool.invalid_reason}"


def _refusal(
    allocator: Allocator, claim: ResourceClaim, exact: ExactDeviceRequest, device: SliceDevice
) -> _Refusal | None:
    """The first thing that keeps the device from the request, as far as it does not depend on other requests."""
    of_class = allocator.classes(exact.device_class_name)
    for owner, selectors in (
        (f"class {exact.device_class_name}", of_class.spec.selectors if of_class is not None else ()),
        (f"claim {claim.key}", exact.selectors),
    ):
        failed = _failed_selector(allocator, owner, selectors, device)
        if failed is not None:
            return failed
    if not exact.admin_access and device.id in allocator.allocated.devices:
        holders = allocator.allocated.holders.get(device.id, [])
        return _Refusal(device=device, clause=f"{_verb(holders)}", facts=_holding(holders))
    if DEVICE_TAINTS in allocator.features:
        taint = untolerated(device.device.taints, exact, allocator.rules)
        if taint is not None:
            return _Refusal(
                device=device,
                clause=f"tainted {taint}, which the request does not tolerate",
                facts={"taint": str(taint)},
            )
    return None


def _verb(holders: Sequence[ResourceClaim]) -> str:
    named = [f"{one.key}{_for(one)}" for one in holders]
    return f"in use by claim {first_few(named)}" if named else "in use"


def _for(claim: ResourceClaim) -> str:
    users = [one.name for one in claim.status.reserved_for]
    return f" (pod {first_few(users)})" if users else ""


def _holding(holders: Sequence[ResourceClaim]) -> dict[str, JSON]:
    return {"heldBy": [{"claim": one.key, "reservedFor": _users(one)} for one in holders]}


def _failed_selector(
    allocator: Allocator, owner: str, selectors: Sequence[DeviceSelector], device: SliceDevice
) -> _Refusal | None:
    for selector in selectors:
        if selector.cel is None:
            continue
        expression = selector.cel.expression
        answer = allocator.selectors.ask(expression, device)
        if answer.matches:
            continue
        actual = allocator.selectors.actual_values(expression, device)
        shown = ", ".join(f"{name} is {value}" for name, value in actual.items())
        problem = answer.error or answer.compile_error
        clause = f"fail {owner}: {expression}"
        if problem:
            clause += f" ({problem})"
        elif shown:
            clause += f" ({shown})"
        facts: dict[str, JSON] = {"owner": owner, "expression": expression, "attributes": dict(actual)}
        if problem:
            facts["error"] = problem
        return _Refusal(device=device, clause=clause, facts=facts)
    return None


def of_score(outcome: NodeOutcome) -> tuple[Evidence, ...]:
    """The devices that the claims would get."""
    return tuple(
        Evidence(
            text=f"claim {one.claim.key} would get "
            + first_few([f"{device.device.id} for {device.request.full_name}" for device in one.devices]),
            facts={
                "claim": one.claim.key,
                "devices": [
                    {"request": device.request.full_name, "device": str(device.device.id)} for device in one.devices
                ],
            },
        )
        for one in outcome.allocations
    )
