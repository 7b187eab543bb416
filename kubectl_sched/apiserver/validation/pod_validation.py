"""Validation of the pod fields that the scheduler reads.

Answers to pkg/apis/core/validation/validation.go, for these fields only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.apimachinery.quantity import InvalidQuantity, parse_quantity
from kubectl_sched.api.apimachinery.validation import (
    choice_problems,
    invalid,
    label_key_errors,
    label_problems,
    not_supported,
    quoted,
    subdomain_errors,
    text_problems,
    unique_name_problems,
)
from kubectl_sched.apiserver.refused_manifest import refuse
from kubectl_sched.apiserver.validation.affinity_validation import (
    affinity_problems,
    doubled_label_key_problems,
    spread_constraint_problems,
    toleration_problems,
)
from kubectl_sched.apiserver.validation.resource_validation import (
    container_resource_problems,
    overhead_problems,
    pod_resource_problems,
)
from kubectl_sched.apiserver.validation.volume_validation import resource_claim_problems, volume_problems

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from kubectl_sched.api.containers import Container
    from kubectl_sched.api.core import ResourceList
    from kubectl_sched.api.pod import Pod, PodSpec

_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_PREEMPTION_POLICIES = ("Never", "PreemptLowerPriority")
_OPERATING_SYSTEMS = ("linux", "windows")
_LARGEST_PORT = 65535
_LONGEST_DEADLINE = 2**31 - 1


def check_quantities(pod: Pod) -> None:
    """Raises RefusedError for an amount that is no quantity: the API server cannot even read such a pod."""
    spec = pod.spec
    lists = [("spec.overhead", spec.overhead)]
    if spec.resources is not None:
        lists += [
            ("spec.resources.limits", spec.resources.limits),
            ("spec.resources.requests", spec.resources.requests),
        ]
    for field, containers in (("containers", spec.containers), ("initContainers", spec.init_containers)):
        for index, container in enumerate(containers):
            path = f"spec.{field}[{index}].resources"
            lists += [
                (f"{path}.limits", container.resources.limits),
                (f"{path}.requests", container.resources.requests),
            ]
    refuse(pod, [problem for path, resources in lists for problem in _unreadable(resources, path)])


def _unreadable(resources: ResourceList, path: str) -> Iterator[str]:
    for name, raw in resources.items():
        try:
            parse_quantity(raw)
        except InvalidQuantity as error:
            yield f"{path}[{name}]: {error}"


def check_label_keys(pod: Pod) -> None:
    """Raises RefusedError where a spread constraint names a key twice, for versions that do not merge them."""
    refuse(pod, [*doubled_label_key_problems(pod.spec.topology_spread_constraints)])


def validate(pod: Pod, *, comparison: bool) -> None:
    """Raises RefusedError with all that is wrong, each with its field path; all amounts are quantities.

    `comparison` is the feature TaintTolerationComparisonOperators.
    """
    labels = label_problems("metadata.labels", pod.metadata.labels)
    volumes = (*volume_problems(pod), *resource_claim_problems(pod))
    tolerations = toleration_problems(pod.spec.tolerations, comparison=comparison)
    refuse(pod, [*labels, *volumes, *_spec(pod), *tolerations])


def _spec(pod: Pod) -> Iterator[str]:
    spec = pod.spec
    yield from _containers(spec)
    yield from pod_resource_problems(pod)
    if spec.host_network:
        yield from _host_ports(spec)
    yield from choice_problems("spec.restartPolicy", spec.restart_policy, _RESTART_POLICIES)
    yield from label_problems("spec.nodeSelector", spec.node_selector or {})
    yield from spread_constraint_problems(spec.topology_spread_constraints)
    yield from affinity_problems(spec.affinity)
    yield from _gates(spec)
    if spec.node_name:
        yield from text_problems("spec.nodeName", spec.node_name, subdomain_errors)
    policy = spec.preemption_policy
    if policy is not None and policy not in _PREEMPTION_POLICIES:
        yield not_supported("spec.preemptionPolicy", policy, _PREEMPTION_POLICIES)
    yield from overhead_problems(spec.overhead, "spec.overhead")
    if spec.os is not None and not spec.os.name:
        yield "spec.os.name: Required value"
    elif spec.os is not None and spec.os.name not in _OPERATING_SYSTEMS:
        yield not_supported("spec.os", spec.os.name, _OPERATING_SYSTEMS)
    deadline = spec.active_deadline_seconds
    if deadline is not None and not 1 <= deadline <= _LONGEST_DEADLINE:
        yield invalid("spec.activeDeadlineSeconds", deadline, f"must be between 1 and {_LONGEST_DEADLINE}, inclusive")


def _gates(spec: PodSpec) -> Iterator[str]:
    seen: set[str] = set()
    for index, gate in enumerate(spec.scheduling_gates):
        path = f"spec.schedulingGates[{index}]"
        yield from text_problems(path, gate.name, label_key_errors)
        if gate.name in seen:
            yield f"{path}: Duplicate value: {quoted(gate.name)}"
        seen.add(gate.name)
    if spec.scheduling_gates and spec.node_name:
        yield "spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared"


def _host_ports(spec: PodSpec) -> Iterator[str]:
    """On the host's network a container's port is the host's."""
    for number, container in enumerate(spec.containers):
        for index, port in enumerate(container.ports):
            if port.host_port != port.container_port:
                path = f"spec.containers[{number}].ports[{index}].hostPort"
                yield invalid(path, port.host_port, "must match `containerPort` when `hostNetwork` is true")


def _containers(spec: PodSpec) -> Iterator[str]:
    if not spec.containers:
        yield "spec.containers: Required value"
    names: set[str] = set()
    claims = [claim.name for claim in spec.resource_claims]
    for field, containers in (("containers", spec.containers), ("initContainers", spec.init_containers)):
        taken: set[str] = set()
        for index, container in enumerate(containers):
            path = f"spec.{field}[{index}]"
            yield from _taken_ports(container, path, taken if field == "containers" else set())
            yield from unique_name_problems(container.name, f"{path}.name", names)
            names.add(container.name)
            yield from _image(container.image, f"{path}.image")
            yield from _container(container, path, claims)
            if container.restart_policy not in {None, *_RESTART_POLICIES}:
                stated = container.restart_policy or ""
                yield not_supported(f"{path}.restartPolicy", stated, sorted(_RESTART_POLICIES))


def _image(image: str, path: str) -> Iterator[str]:
    if not image:
        yield f"{path}: Required value"
    elif image != image.strip():
        yield invalid(path, image, "must not have leading or trailing whitespace")


def _taken_ports(container: Container, path: str, taken: set[str]) -> Iterator[str]:
    """Host ports that stand twice, which the containers of a pod may not have; init containers run one by one."""
    for index, port in enumerate(container.ports):
        text = f"{port.protocol}/{port.host_ip}/{port.host_port}"
        if port.host_port and text in taken:
            yield f'{path}.ports[{index}].hostPort: Duplicate value: "{text}"'
        taken.add(text)


def _container(container: Container, path: str, pod_claims: Collection[str]) -> Iterator[str]:
    yield from container_resource_problems(container.resources, f"{path}.resources", pod_claims)
    for index, port in enumerate(container.ports):
        where = f"{path}.ports[{index}]"
        if not port.container_port:
            yield f"{where}.containerPort: Required value"
        elif not 0 < port.container_port <= _LARGEST_PORT:
            yield invalid(f"{where}.containerPort", port.container_port, "must be between 1 and 65535, inclusive")
        if port.host_port and not 0 < port.host_port <= _LARGEST_PORT:
            yield invalid(f"{where}.hostPort", port.host_port, "must be between 1 and 65535, inclusive")
        yield from choice_problems(f"{where}.protocol", port.protocol, ("SCTP", "TCP", "UDP"))
