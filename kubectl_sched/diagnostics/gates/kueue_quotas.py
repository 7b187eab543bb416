"""Quotas of ClusterQueues and cohorts, by flavor and resource, as their specs and statuses tell."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from kubectl_sched.api.apimachinery.quantity import ZERO, InvalidQuantity, parse_quantity
from kubectl_sched.api.component_helpers.pod_requests import pod_requests
from kubectl_sched.api.pod import Pod
from kubectl_sched.diagnostics.gates.gate import Quota, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.core import RawQuantity
    from kubectl_sched.api.kueue import ClusterQueue, FlavorUsage, KueuePodSet, KueueResourceGroup
    from kubectl_sched.diagnostics.gates.kueue_chain import KueueChain

_MOST = 64


def wanted_by(chain: KueueChain, pod_set: KueuePodSet | None = None) -> dict[str, str]:
    """Return the amounts that the workload asks for, or one set of its pods: as Kueue counts them, else by requests."""
    workload = chain.workload
    if workload is None:
        return {}
    admission = workload.status.admission
    counted = [
        (each.name, each.resource_usage) for each in (admission.pod_set_assignments if admission is not None else ())
    ] or [(each.name, each.resources) for each in workload.status.resource_requests]
    if not counted:
        counted = [(each.name, _requests(each)) for each in workload.spec.pod_sets]
    amounts: dict[str, list[RawQuantity]] = {}
    for name, resources in counted:
        for resource, amount in resources.items() if pod_set is None or name == pod_set.name else ():
            amounts.setdefault(resource, []).append(amount)
    return {resource: _sum(each) for resource, each in amounts.items()}


def _requests(pod_set: KueuePodSet) -> dict[str, RawQuantity]:
    try:
        requests = pod_requests(Pod(spec=pod_set.template.spec))
        return {name: str(quantity * pod_set.count) for name, quantity in requests.items()}
    except InvalidQuantity:
        return {}


def quotas(chain: KueueChain) -> tuple[Quota, ...]:
    """Return the quotas of the ClusterQueue for what the workload wants; all of them if that is not known."""
    queue, wanted = chain.cluster_queue, wanted_by(chain)
    return tuple(_of_queue(queue, wanted))[:_MOST] if queue is not None else ()


def cohort_quotas(chain: KueueChain) -> tuple[Quota, ...]:
    """Return the sums over the ClusterQueues of the cohort, with what the Cohort itself adds."""
    wanted = wanted_by(chain)
    nominal: dict[tuple[str, str], list[RawQuantity]] = {}
    reserved: dict[tuple[str, str], list[RawQuantity]] = {}
    own = chain.cohort.spec.resource_groups if chain.cohort is not None else ()
    for groups in (own, *(each.spec.resource_groups for each in chain.queues_of_cohort)):
        for flavor, resource, amount, *_ in _nominal(groups):
            nominal.setdefault((flavor, resource), []).append(amount)
    for queue in chain.queues_of_cohort:
        for key, (total, _) in _usage(queue.status.flavors_reservation).items():
            reserved.setdefault(key, []).append(total)
    return tuple(
        Quota(
            flavor=flavor, resource=resource, nominal=_sum(amounts), reserved=_sum(reserved.get((flavor, resource), ()))
        )
        for (flavor, resource), amounts in nominal.items()
        if not wanted or resource in wanted
    )[:_MOST]


def _of_queue(queue: ClusterQueue, wanted: dict[str, str]) -> Iterator[Quota]:
    reserved, used = _usage(queue.status.flavors_reservation), _usage(queue.status.flavors_usage)
    for flavor, resource, nominal, borrowing, lending in _nominal(queue.spec.resource_groups):
        if wanted and resource not in wanted:
            continue
        key = flavor, resource
        yield Quota(
            flavor=flavor,
            resource=resource,
            nominal=_text(nominal),
            reserved=_text(reserved[key][0]) if key in reserved else None,
            used=_text(used[key][0]) if key in used else None,
            borrowed=_text(reserved[key][1]) if key in reserved else None,
            borrowing_limit=_text(borrowing) if borrowing is not None else None,
            lending_limit=_text(lending) if lending is not None else None,
            wanted=wanted.get(resource),
        )


def _nominal(
    groups: Sequence[KueueResourceGroup],
) -> Iterator[tuple[str, str, RawQuantity, RawQuantity | None, RawQuantity | None]]:
    for group in groups:
        for flavor in group.flavors:
            for each in flavor.resources:
                yield flavor.name, each.name, each.nominal_quota, each.borrowing_limit, each.lending_limit


def _usage(flavors: Sequence[FlavorUsage]) -> dict[tuple[str, str], tuple[RawQuantity, RawQuantity]]:
    return {(flavor.name, each.name): (each.total, each.borrowed) for flavor in flavors for each in flavor.resources}


def _text(amount: RawQuantity) -> str:
    return quoted(str(amount))


def _sum(amounts: Sequence[RawQuantity]) -> str:
    """Add amounts up; one that is no quantity counts as nothing."""
    total = ZERO
    for each in amounts:
        with suppress(InvalidQuantity):
            total += parse_quantity(each)
    return str(total)
