"""Shapes of pods: those that `--shape` describes, and those of the pods that a cluster has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import structs

from kubectl_sched.api.apimachinery.quantity import InvalidQuantity, parse_quantity
from kubectl_sched.api.apimachinery.validation import label_key_errors
from kubectl_sched.api.component_helpers.resource_names import is_counted_resource_name
from kubectl_sched.api.containers import Container, ResourceRequirements
from kubectl_sched.api.meta import ObjectMeta
from kubectl_sched.api.pod import Pod, PodSpec, PodStatus
from kubectl_sched.config.types import DEFAULT_SCHEDULER_NAME
from kubectl_sched.errors import SchedError
from kubectl_sched.record import Record
from kubectl_sched.simulation.queue_simulation import owner_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from kubectl_sched.api.pod_volumes import Volume

SHOWN: Final = 12
"""The number of shapes of running pods that are replayed where nobody names one, the largest first."""

_FORM: Final = "NAME=cpu=4,memory=16Gi, or the same without NAME="


class Shape(Record, frozen=True, kw_only=True):
    """A pod as there may be more of it, and how many of the cluster's pods have the shape."""

    name: str
    pod: Pod
    source: str = "flag"
    """`pending`, `running` or `flag`."""

    own: Pod | None = None
    """A pending pod of the workload as it is, with its claims; None for others."""

    running: int = 0
    pending: int = 0
    workloads: int = 0
    left_aside: tuple[str, ...] = ()
    """The parts of its pods that one more would have for itself, which are not replayed."""


def parse_shape(text: str, namespace: str) -> Shape:
    """Return the shape that a `--shape` describes: requests alone, and nothing tolerated.

    Raises SchedError for text that cannot be read.
    """
    requests: dict[str, str | int | float] = {}
    head, equals, rest = text.partition("=")
    named = equals and "=" in rest.partition(",")[0]
    name, pairs = (head, rest) if named else (text, text)
    for pair in pairs.split(","):
        resource, equals, amount = pair.partition("=")
        if not (name and resource and equals and amount):
            raise SchedError(f"--shape {text}: write {_FORM}")
        if label_key_errors(resource) or not is_counted_resource_name(resource):
            raise SchedError(
                f"--shape {text}: {resource} is no name of a resource, such as cpu, memory or nvidia.com/gpu"
            )
        if resource in requests:
            raise SchedError(f"--shape {text}: {resource} is given twice")
        requests[resource] = _quantity(amount, text, resource)
    spec = PodSpec(
        scheduler_name=DEFAULT_SCHEDULER_NAME,
        priority=0,
        preemption_policy="Never",
        containers=(Container(name="main", resources=ResourceRequirements(requests=requests, limits=requests)),),
    )
    return Shape(
        name=name, pod=Pod(metadata=ObjectMeta(name="shape", namespace=namespace, uid=f"shape/{text}"), spec=spec)
    )


def _quantity(amount: str, text: str, resource: str) -> str:
    try:
        negative = parse_quantity(amount).value() < 0
    except InvalidQuantity as error:
        raise error.within(f"--shape {text}: {resource}") from None
    if negative:
        raise SchedError(f"--shape {text}: {resource} is less than 0")
    return amount


def shapes_of(pods: Iterable[Pod]) -> list[Shape]:
    """Return the shapes of the pods: those with most pending pods first, then those with most pods.

    DaemonSets' and static pods are left out: each belongs to a node. Pods have one shape if no plugin can tell them
    apart, labels aside where they neither spread nor keep apart.
    """
    by_shape: dict[bytes, tuple[Pod, list[Sequence[Pod]]]] = {}
    for of_owner in _by_owner(pods).values():
        blueprint = _blueprint(of_owner[0])
        by_shape.setdefault(msgspec.json.encode(blueprint), (blueprint, []))[1].append(of_owner)
    shapes = [_shape(blueprint, owners) for blueprint, owners in by_shape.values()]
    return sorted(shapes, key=lambda shape: (-shape.pending, -shape.running, shape.name))


def pending_shapes(pods: Iterable[Pod]) -> list[Shape]:
    """Return a shape for each workload with pending pods, those with most of them first.

    A workload is told apart by namespace, kind and name; a pod that nothing manages stands for itself.
    """
    shapes = []
    for of_owner in _by_owner(pods).values():
        waiting = [pod for pod in of_owner if pod.is_pending]
        if waiting:
            shape = _shape(_blueprint(waiting[0]), [of_owner], waiting[0])
            shapes.append(structs.replace(shape, source="pending", own=_without_gates(waiting[0])))
    return sorted(shapes, key=lambda shape: (-shape.pending, shape.name))


def _by_owner(pods: Iterable[Pod]) -> dict[Hashable, list[Pod]]:
    by_owner: dict[Hashable, list[Pod]] = {}
    for pod in pods:
        if pod.has_ended or pod.metadata.deletion_timestamp is not None or pod.is_daemon or pod.is_static:
            continue
        owner = owner_of(pod)
        by_owner.setdefault((pod.namespace, owner or pod.name, owner is None), []).append(pod)
    return by_owner


def _without_gates(pod: Pod) -> Pod:
    return structs.replace(pod, spec=structs.replace(pod.spec, scheduling_gates=()))


def _shape(blueprint: Pod, owners: Sequence[Sequence[Pod]], first: Pod | None = None) -> Shape:
    """Return the shape of all pods of the owners, named after the `first`, else after the owner that has most."""
    first = first or max(owners, key=len)[0]
    every = [pod for pods in owners for pod in pods]
    pending = sum(not pod.spec.node_name for pod in every)
    metadata = structs.replace(
        blueprint.metadata,
        name=first.name,
        namespace=first.namespace,
        uid=f"shape/{first.key}",
        labels=first.metadata.labels,
        owner_references=first.metadata.owner_references,
    )
    return Shape(
        name=f"{first.namespace}/{owner_of(first) or f'Pod/{first.name}'}",
        pod=structs.replace(blueprint, metadata=metadata),
        source="running",
        running=len(every) - pending,
        pending=pending,
        workloads=len(owners),
        left_aside=tuple(_left_aside(first)),
    )


def _blueprint(pod: Pod) -> Pod:
    """The pod without what it has for itself alone: equal for pods of one shape."""
    metadata, spec = ObjectMeta(namespace=pod.namespace, labels=pod.metadata.labels), pod.spec
    if not _looks_at_others(spec):
        metadata, spec = ObjectMeta(), structs.replace(spec, topology_spread_constraints=())
        if spec.affinity is not None:
            affinity = structs.replace(spec.affinity, pod_affinity=None, pod_anti_affinity=None)
            spec = structs.replace(spec, affinity=affinity)
    containers = tuple(_of_container(each) for each in spec.containers)
    return Pod(
        metadata=metadata,
        spec=structs.replace(
            spec,
            node_name="",
            volumes=tuple(each for each in spec.volumes if _is_shared(each, pod)),
            resource_claims=(),
            scheduling_group=None,
            workload_ref=None,
            scheduling_gates=(),
            preemption_policy="Never",
            containers=containers,
            init_containers=tuple(_of_container(each) for each in spec.init_containers),
            ephemeral_containers=(),
        ),
        status=PodStatus(),
    )


def _looks_at_others(spec: PodSpec) -> bool:
    """Report whether other pods decide where such a pod fits; what it only prefers changes no number."""
    affinity = spec.affinity
    required = affinity is not None and any(
        each is not None and each.required for each in (affinity.pod_affinity, affinity.pod_anti_affinity)
    )
    return required or any(each.when_unsatisfiable == "DoNotSchedule" for each in spec.topology_spread_constraints)


def _of_container(container: Container) -> Container:
    resources = structs.replace(container.resources, claims=())
    return structs.replace(container, name="", image="", resources=resources)


def _is_shared(volume: Volume, pod: Pod) -> bool:
    """Report whether one more of the pods would name the claim, too: a StatefulSet makes one for each of its pods."""
    claim = volume.persistent_volume_claim
    return claim is not None and not claim.claim_name.endswith(f"-{pod.name}")


def _left_aside(pod: Pod) -> Iterator[str]:
    claimed = (each for each in pod.spec.volumes if each.persistent_volume_claim or each.ephemeral)
    if any(not _is_shared(each, pod) for each in claimed):
        yield "its claims of volumes"
    if pod.spec.resource_claims:
        yield "its claims of devices"
    if pod.spec.scheduling_group is not None or pod.spec.workload_ref is not None:
        yield "its group"
    if pod.spec.scheduling_gates:
        yield "its scheduling gates"
