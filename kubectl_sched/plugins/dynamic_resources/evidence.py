"""The evidence against a node's devices, one by one: its holder, or the selector that it fails."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec.structs import replace

from kubectl_sched.api.resource import DeviceClass, ResourceClaim
from kubectl_sched.dynamic_resource_allocation.allocation_errors import AllocationFailed
from kubectl_sched.framework.clauses import counted, first_few
from kubectl_sched.framework.confusable_texts import nearest
from kubectl_sched.framework.cycle_budget import BudgetEnded, CycleBudget, CycleLimits
from kubectl_sched.framework.evidence import Evidence
from kubectl_sched.plugins.dynamic_resources.allocator.counters import CounterLedger
from kubectl_sched.plugins.dynamic_resources.allocator.device_refusals import refusal_of, users_of
from kubectl_sched.plugins.dynamic_resources.allocator.device_search import allocate
from kubectl_sched.plugins.dynamic_resources.claims import SPECIAL_NAME
from kubectl_sched.plugins.dynamic_resources.extended_resources import claim_on_node

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.core import Node
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.api.resource import DeviceRequest, ExactDeviceRequest
    from kubectl_sched.dynamic_resource_allocation.devices import SliceDevice
    from kubectl_sched.framework.evidence import JSON
    from kubectl_sched.plugins.dynamic_resources.allocator.allocator import Allocator
    from kubectl_sched.plugins.dynamic_resources.allocator.pools import Pool
    from kubectl_sched.plugins.dynamic_resources.filtering import Filtering
    from kubectl_sched.plugins.dynamic_resources.state import NodeOutcome, PreFilterState
    from kubectl_sched.snapshot import NodeInfo, Snapshot

_MOST_DEVICES = 16
_LIMITS: Final = CycleLimits(steps=300_000, memory=64 << 20)
"""The work of one trial: about a third of a second."""


def of_pod(pod: Pod, nodes: Snapshot, filtering: Filtering, budget: CycleBudget) -> tuple[Evidence, ...]:
    """Return why the pod's claims cannot be used anywhere."""
    status, _ = filtering.prepare(pod, nodes, budget)
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
        found = _not_allocated(state, state.allocator, pod, node, filtering)
    if not found:
        found = [Evidence(text="; ".join(reasons), facts={"pod": pod.key})]
    return tuple(found)


def _not_allocated(
    state: PreFilterState, allocator: Allocator, pod: Pod, node: NodeInfo, filtering: Filtering
) -> list[Evidence]:
    """Return the requests that no device serves, else what keeps them from being served together."""
    try:
        pools = allocator.pools(node.node)
    except AllocationFailed:
        pools = []
    wanted = _Wanted(state, _claims_on(state, pod, node, filtering))
    found = [
        evidence
        for claim in wanted.claims
        for request in claim.spec.devices.requests
        for evidence in _request(allocator, wanted, claim, request, pools, node.node)
    ]
    if found:
        return found
    clauses = _together(allocator, node.node, wanted.claims)
    devices = sum(len(one.devices) for pool in pools for one in pool.slices)
    text = f"{clauses} ({devices} {'device' if devices == 1 else 'devices'} within reach)"
    return [Evidence(text=text, facts={"devices": _device_names(pools)}, distance=0.3)]


class _Wanted(NamedTuple):
    """The claims of a pod as they are for one node, with the one that is made for extended resources."""

    state: PreFilterState
    claims: Sequence[ResourceClaim]

    def subject(self, claim: ResourceClaim, request: str, device_class: str) -> str:
        """Name the request: `claim default/gpus, request gpu`, or the extended resource that it stands for."""
        extended = self.state.extended
        if extended is not None and claim.metadata.name == SPECIAL_NAME:
            names = (name for name in extended.amounts if extended.classes.get(name) == device_class)
            return f"extended resource {next(names, '')}".rstrip()
        return f"claim {claim.key}, request {request}"


def _claims_on(state: PreFilterState, pod: Pod, node: NodeInfo, filtering: Filtering) -> list[ResourceClaim]:
    made: object = None
    if state.extended is not None:
        made = claim_on_node(state.extended, pod, node, filtering.rules, other_claims=state.claims.user_owned > 0)
    return [
        made if claim is state.claims.extended and isinstance(made, ResourceClaim) else claim
        for claim in state.claims.to_allocate
    ]


def _is_served_alone(allocator: Allocator, node: Node, claim: ResourceClaim, request: DeviceRequest) -> bool | None:
    """Report whether the node has the devices for the request if nothing else is asked for; None if it is not known."""
    devices = replace(claim.spec.devices, requests=(request,), constraints=())
    return _served(allocator, node, [replace(claim, spec=replace(claim.spec, devices=devices))])


def _together(allocator: Allocator, node: Node, claims: Sequence[ResourceClaim]) -> str:
    """Return the clause about requests that are not served together, though no device refuses any of them."""
    requests = [(claim, request) for claim in claims for request in claim.spec.devices.requests]
    constraints = [
        constraint.match_attribute or constraint.distinct_attribute
        for claim in claims
        for constraint in claim.spec.devices.constraints
    ]
    named = [name for name in constraints if name]
    free = [
        replace(claim, spec=replace(claim.spec, devices=replace(claim.spec.devices, constraints=())))
        for claim in claims
    ]
    if named and _served(allocator, node, free):
        return f"there are devices for {_all(len(requests))}, but none that meet the constraint on {first_few(named)}"
    if len(requests) > 1 and all(_is_served_alone(allocator, node, *each) for each in requests):
        with_it = f" with the constraint on {first_few(named)}" if named else ""
        return f"each of the {len(requests)} requests alone could be served, but not all together{with_it}"
    return f"the devices do not serve {_all(len(requests))}"


def _all(requests: int) -> str:
    return "the request" if requests == 1 else f"all {requests} requests"


def _served(allocator: Allocator, node: Node, claims: Sequence[ResourceClaim]) -> bool | None:
    ledger = CounterLedger(allocator.allocated, allocator.rules)
    trial = replace(allocator, budget=CycleBudget(_LIMITS), ledger=ledger, timeout=None)
    try:
        return allocate(trial, node, claims) is not None
    except (AllocationFailed, BudgetEnded):
        return None
    finally:
        allocator.budget.spend(trial.budget.steps)


def _device_names(pools: Sequence[Pool]) -> list[JSON]:
    names: list[JSON] = [str(device.id) for pool in pools for one in pool.slices for device in one.devices]
    return names[:_MOST_DEVICES]


def _unavailable(claim: ResourceClaim, filtering: Filtering) -> Evidence:
    allocation = claim.status.allocation
    devices = [str(f"{one.driver}/{one.pool}/{one.device}") for one in allocation.devices.results] if allocation else []
    facts: dict[str, JSON] = {"claim": claim.key, "devices": list(devices), "reservedFor": users_of(claim)}
    blocked = filtering.blocks_binding(claim)
    if blocked is not None:
        return Evidence(text=f"claim {claim.key} cannot be used: {blocked}", facts=facts)
    where = ""
    if allocation is not None and allocation.node_selector is not None:
        terms = allocation.node_selector.node_selector_terms
        names = [value for term in terms for one in term.match_fields for value in one.values]
        where = f", which only node {first_few(names)} reaches" if names else ", which this node does not reach"
    return Evidence(text=f"claim {claim.key} has {first_few(devices) or 'devices'}{where}", facts=facts)


def _request(
    allocator: Allocator,
    wanted: _Wanted,
    claim: ResourceClaim,
    request: DeviceRequest,
    pools: Sequence[Pool],
    node: Node,
) -> Iterator[Evidence]:
    """Evidence for a request that too few devices could serve."""
    alternatives: Sequence[tuple[str, ExactDeviceRequest]] = (
        [(f"{request.name}/{one.name}", one) for one in request.first_available]
        if request.first_available
        else [(request.name, request.exact)]
        if request.exact is not None
        else []
    )
    made = [_alternative(allocator, wanted, claim, name, exact, pools) for name, exact in alternatives]
    if made and all(one is not None for one in made):
        yield from (one for one in made if one is not None)
    elif alternatives and _is_served_alone(allocator, node, claim, request) is False:
        name, exact = alternatives[-1]
        yield _not_even_alone(allocator, wanted, claim, name, exact, pools)


def _not_even_alone(
    allocator: Allocator,
    wanted: _Wanted,
    claim: ResourceClaim,
    name: str,
    exact: ExactDeviceRequest,
    pools: Sequence[Pool],
) -> Evidence:
    """State that devices would do one by one, and not as many at once as the request wants."""
    candidates = [
        (pool, device) for pool, device in _devices(pools) if refusal_of(allocator, claim, exact, pool, device) is None
    ]
    sets = {one.counter_set for _, device in candidates for one in device.device.consumes_counters}
    shared = f", as they draw on the same counters of {first_few(sorted(sets))}" if sets else ""
    subject, what = wanted.subject(claim, name, exact.device_class_name), _what(exact)
    text = (
        f"{subject}: wants {what} of class {exact.device_class_name}; {len(candidates)} can be allocated one by one, "
    )
    text += f"but not as many at once{shared}"
    facts: dict[str, JSON] = {
        "claim": claim.key,
        "request": name,
        "deviceClass": exact.device_class_name,
        "wanted": exact.count if exact.allocation_mode == "ExactCount" else len(_devices(pools)),
        "fitting": len(candidates),
        "counterSets": ", ".join(sorted(sets)),
    }
    return Evidence(text=text, facts=facts, distance=0.3)


def _devices(pools: Sequence[Pool]) -> list[tuple[Pool, SliceDevice]]:
    return [(pool, device) for pool in pools if _usable(pool) for one in pool.slices for device in one.devices]


def _what(exact: ExactDeviceRequest) -> str:
    if exact.allocation_mode != "ExactCount":
        return "all devices"
    return f"{exact.count} device{'s' if exact.count != 1 else ''}"


def _alternative(
    allocator: Allocator,
    wanted: _Wanted,
    claim: ResourceClaim,
    name: str,
    exact: ExactDeviceRequest,
    pools: Sequence[Pool],
) -> Evidence | None:
    devices = _devices(pools)
    refusals = [
        refusal
        for pool, device in devices
        if (refusal := refusal_of(allocator, claim, exact, pool, device)) is not None
    ]
    left = len(devices) - len(refusals)
    number = exact.count if exact.allocation_mode == "ExactCount" else len(devices) or 1
    if exact.allocation_mode == "ExactCount" and left >= number:
        return None
    if exact.allocation_mode != "ExactCount" and devices and not refusals:
        return None
    outside = sum(refusal.is_of_another_class for refusal in refusals)
    clauses = Counter(refusal.clause for refusal in refusals)
    why = [counted(count, clause) for clause, count in clauses.most_common()]
    why += [_pool_problem(pool) for pool in pools if not _usable(pool)]
    if not devices and not why:
        why = ["the node reaches no device"]
    subject = wanted.subject(claim, name, exact.device_class_name)
    text = f"{subject}: wants {_what(exact)} of class {exact.device_class_name}; "
    if devices:
        text += f"{left} of {len(devices)} can be allocated"
        text += f" ({len(devices) - outside} are of the class)" if outside else ""
        text += ": " if why else ""
    text += "; ".join(why)
    facts: dict[str, JSON] = {
        "claim": claim.key,
        "request": name,
        "deviceClass": exact.device_class_name,
        "wanted": number,
        "fitting": left,
        "ofClass": len(devices) - outside,
        "devices": [{"device": str(one.device.id), **one.facts} for one in refusals[:_MOST_DEVICES]],
    }
    return Evidence(text=text, facts=facts, distance=min(1.0, max(0.1, (number - left) / max(number, 1))))


def _usable(pool: Pool) -> bool:
    return not pool.is_incomplete and pool.invalid_reason is None


def _pool_problem(pool: Pool) -> str:
    if pool.is_incomplete:
        return f"pool {pool.id} is being updated ({pool.missing} slices are there)"
    return f"pool {pool.id} is invalid: {pool.invalid_reason}"


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
