"""Fields that Kueue sets on the pods of a workload when it starts them (sigs.k8s.io/kueue/pkg/podset/podset.go)."""

from __future__ import annotations

from itertools import islice, product
from typing import TYPE_CHECKING

from kubectl_sched.api.kueue import PodSetAssignment, ResourceFlavor
from kubectl_sched.diagnostics.gates.gate import Injection, bounded
from kubectl_sched.diagnostics.gates.kueue_chain import POD_SET
from kubectl_sched.diagnostics.gates.kueue_quotas import wanted_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_sched.api.kueue import KueuePodSet, PodSetUpdate, QueuedWorkload, TopologyAssignment
    from kubectl_sched.diagnostics.gates.kueue_chain import KueueChain, KueueObjects

_MOST_CHOICES = 16


def injections(chain: KueueChain, objects: KueueObjects) -> tuple[Injection, ...]:
    """Return the assigned flavors' fields for each topology domain, or while none are assigned those of each choice."""
    return tuple(islice(_injections(chain, objects), _MOST_CHOICES))


def _injections(chain: KueueChain, objects: KueueObjects) -> Iterator[Injection]:
    workload = chain.workload
    pod_set = pod_set_of(chain)
    admission = workload.status.admission if workload is not None else None
    if workload is None or admission is None:
        for choice in _choices(chain, pod_set):
            yield _of_flavors(choice, objects, _updates(workload, pod_set))
        return
    named = pod_set.name if pod_set is not None else ""
    assigned = [each for each in admission.pod_set_assignments if each.name == named] or [PodSetAssignment()]
    flavors = tuple(dict.fromkeys(flavor for _, flavor in sorted(assigned[0].flavors.items())))
    for domain in _domains(assigned[0].topology_assignment):
        yield _of_flavors(flavors, objects, _updates(workload, pod_set), domain, assigned=True)


def pod_set_of(chain: KueueChain) -> KueuePodSet | None:
    """Return the set of pods that the pod belongs to, None if it is not known."""
    pod_sets = chain.workload.spec.pod_sets if chain.workload is not None else ()
    meta = chain.held.metadata
    names = {meta.labels.get(POD_SET), meta.annotations.kueue_role_hash}
    named = next((each for each in pod_sets if each.name in names), None)
    return named or (pod_sets[0] if len(pod_sets) == 1 else None)


def _choices(chain: KueueChain, pod_set: KueuePodSet | None) -> Iterable[tuple[str, ...]]:
    """The flavors of each resource group that the pods need something of, in the order in which Kueue tries them."""
    queue = chain.cluster_queue
    if queue is None:
        return [()]
    wanted = set(wanted_by(chain, pod_set))
    groups = [
        [flavor.name for flavor in group.flavors]
        for group in queue.spec.resource_groups
        if group.flavors and (not wanted or wanted.intersection(group.covered_resources))
    ]
    return (tuple(dict.fromkeys(choice)) for choice in product(*groups))


def _updates(workload: QueuedWorkload | None, pod_set: KueuePodSet | None) -> list[PodSetUpdate]:
    """The updates by admission checks; all that there are if the set of the pod is not known."""
    checks = workload.status.admission_checks if workload is not None else ()
    return [each for check in checks for each in check.pod_set_updates if pod_set is None or each.name == pod_set.name]


def _of_flavors(
    names: tuple[str, ...],
    objects: KueueObjects,
    updates: Sequence[PodSetUpdate],
    domain: dict[str, str] | None = None,
    *,
    assigned: bool = False,
) -> Injection:
    found = [(name, objects.named(ResourceFlavor, name)) for name in names]
    flavors = [flavor.spec for _, flavor in found if flavor is not None]
    selectors = [*(each.node_labels for each in flavors), *(each.node_selector for each in updates), domain or {}]
    tolerations = [*(each.tolerations for each in flavors), *(each.tolerations for each in updates)]
    return Injection(
        flavors=bounded(names),
        assigned=assigned,
        labels={key: value for each in updates for key, value in each.labels.items()},
        node_selector={key: value for each in selectors for key, value in each.items()},
        tolerations=tuple(each for some in tolerations for each in some),
        domain=domain or {},
        unknown=bounded(tuple(f"the ResourceFlavor {name} is not known" for name, flavor in found if flavor is None)),
    )


def _domains(assignment: TopologyAssignment) -> Iterator[dict[str, str]]:
    """The labels of each topology domain that is assigned; nothing if none is."""
    levels = assignment.levels
    if not (assignment.domains or assignment.slices):
        yield {}
    for domain in assignment.domains:
        yield dict(zip(levels, domain.values, strict=False))
    for part in assignment.slices:
        for index in range(min(part.domain_count, _MOST_CHOICES)):
            yield dict(zip(levels, (each.value(index) for each in part.values_per_level), strict=False))
