"""Quotas of ClusterQueues and cohorts, by flavor and resource, as their specs and statuses tell."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from kubectl_sched.api.apimachinery.quantity import ZERO, InvalidQuantity, parse_quantity
from kubectl_sched.api.component_helpers.pod_requests import pod_requests
from kubectl_sched.api.kueue import ClusterQueue
from kubectl_sched.api.pod import Pod
from kubectl_sched.diagnostics.gates.gate import Quota

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_sched.api.apimachinery.quantity import Quantity
    from kubectl_sched.api.core import RawQuantity
    from kubectl_sched.api.kueue import FlavorUsage, KueuePodSet, KueueResourceGroup
    from kubectl_sched.diagnostics.gates.kueue_chain import KueueChain

K = TypeVar("K")


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
    return _sums(
        each for name, resources in counted if pod_set is None or name == pod_set.name for each in resources.items()
    )


def _requests(pod_set: KueuePodSet) -> dict[str, RawQuantity]:
    try:
        requests = pod_requests(Pod(spec=pod_set.template.spec))
        return {name: str(quantity * pod_set.count) for name, quantity in requests.items()}
    except InvalidQuantity:
        return {}


def quotas(chain: KueueChain) -> tuple[Quota, ...]:
    """Return the quotas of the ClusterQueue for what the workload wants; all of them if that is not known."""
    queue, wanted = chain.cluster_queue, wanted_by(chain)
    return tuple(_of_queue(queue, wanted)) if queue is not None else ()


def cohort_quotas(chain: KueueChain) -> tuple[Quota, ...]:
    """Return the sums over the uppermost cohort: of its ClusterQueues, and of what Cohorts themselves add."""
    wanted = wanted_by(chain)
    queues = [each for each in chain.shared if isinstance(each, ClusterQueue)]
    nominal = _sums((key, amount) for each in chain.shared for key, amount, *_ in _nominal(each.spec.resource_groups))
    reserved, used = (
        _sums((key, total) for usage in usages for key, (total, _) in _usage(usage).items())
        for usages in (
            [each.status.flavors_reservation for each in queues],
            [each.status.flavors_usage for each in queues],
        )
    )
    return tuple(
        Quota(
            flavor=key[0],
            resource=key[1],
            nominal=amount,
            reserved=reserved.get(key, "0"),
            used=used.get(key, "0"),
            wanted=wanted.get(key[1]),
        )
        for key, amount in nominal.items()
        if not wanted or key[1] in wanted
    )


def _of_queue(queue: ClusterQueue, wanted: dict[str, str]) -> Iterator[Quota]:
    reserved, used = _usage(queue.status.flavors_reservation), _usage(queue.status.flavors_usage)
    for key, nominal, borrowing, lending in _nominal(queue.spec.resource_groups):
        flavor, resource = key
        if wanted and resource not in wanted:
            continue
        yield Quota(
            flavor=flavor,
            resource=resource,
            nominal=str(nominal),
            reserved=str(reserved[key][0]) if key in reserved else None,
            used=str(used[key][0]) if key in used else None,
            borrowed=str(reserved[key][1]) if key in reserved else None,
            borrowing_limit=str(borrowing) if borrowing is not None else None,
            lending_limit=str(lending) if lending is not None else None,
            wanted=wanted.get(resource),
        )


def _nominal(
    groups: Sequence[KueueResourceGroup],
) -> Iterator[tuple[tuple[str, str], RawQuantity, RawQuantity | None, RawQuantity | None]]:
    for group in groups:
        for flavor in group.flavors:
            for each in flavor.resources:
                yield (flavor.name, each.name), each.nominal_quota, each.borrowing_limit, each.lending_limit


def _usage(flavors: Sequence[FlavorUsage]) -> dict[tuple[str, str], tuple[RawQuantity, RawQuantity]]:
    return {(flavor.name, each.name): (each.total, each.borrowed) for flavor in flavors for each in flavor.resources}


def _sums(amounts: Iterable[tuple[K, RawQuantity]]) -> dict[K, str]:
    """Add amounts up by key; one that is no quantity counts as nothing."""
    found: dict[K, Quantity] = {}
    for key, amount in amounts:
        total = found.setdefault(key, ZERO)
        with suppress(InvalidQuantity):
            found[key] = total + parse_quantity(amount)
    return {key: str(total) for key, total in found.items()}
