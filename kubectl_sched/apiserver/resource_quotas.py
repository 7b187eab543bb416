"""ResourceQuotas: how many more pods a namespace admits (plugin/pkg/admission/resourcequota)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.admission import ResourceQuota
from kubectl_sched.api.apimachinery.quantity import ZERO, Quantity, parse_quantity, parse_resource_list
from kubectl_sched.api.component_helpers.container_resources import PodResourcesOptions
from kubectl_sched.api.component_helpers.pod_requests import is_pod_level_resources_set, pod_limits, pod_requests
from kubectl_sched.api.pod import Pod
from kubectl_sched.apiserver.refused_manifest import RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kubectl_sched.api.admission import ScopeSelectorRequirement
    from kubectl_sched.snapshot import Objects

_ONE = parse_quantity(1)
_MUST_BE_SAID = ("cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory")


class Quotas:
    """The usage of each quota, by the pods of the cluster and by those admitted since."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._used: dict[str, dict[str, Quantity]] = {}

    def limits(self, namespace: str) -> bool:
        """Report whether the namespace has quotas."""
        return bool(self._objects.in_namespace(ResourceQuota, namespace))

    def take(self, pod: Pod) -> None:
        """Count one more pod. Raises RefusedError in the plugin's words where some quota does not admit it."""
        charged = self._charged(pod)
        usage = _usage(pod) if charged else {}
        for quota in charged:
            _check_requests(pod, quota)
        for quota in charged:
            self._check(pod, quota, usage)
        for quota in charged:
            used = self._used_of(quota)
            for name, amount in usage.items():
                if name in used:
                    used[name] += amount

    def give_back(self, pod: Pod) -> None:
        """Count one pod of the cluster less, which is gone or makes room for another."""
        charged = self._charged(pod)
        usage = _usage(pod) if charged else {}
        for quota in charged:
            used = self._used_of(quota)
            for name, amount in usage.items():
                if name in used:
                    used[name] = max(ZERO, used[name] - amount)

    def _charged(self, pod: Pod) -> list[ResourceQuota]:
        return [
            quota
            for quota in self._objects.in_namespace(ResourceQuota, pod.namespace)
            if all(_in_scope(pod, scope) for scope in _scopes(quota))
        ]

    def _used_of(self, quota: ResourceQuota) -> dict[str, Quantity]:
        if quota.key not in self._used:
            stored = parse_resource_list(quota.status.used)
            self._used[quota.key] = {name: stored.get(name, ZERO) for name in _hard(quota)}
            uncounted = [name for name in _hard(quota) if name not in stored]
            if uncounted:
                self._count(quota, uncounted)
        return self._used[quota.key]

    def _count(self, quota: ResourceQuota, names: Sequence[str]) -> None:
        """Count these resources from the pods, as the quota controller will once it has seen the quota's new limits."""
        for pod in self._objects.in_namespace(Pod, quota.namespace):
            if not pod.has_ended and quota in self._charged(pod):
                for name, amount in _usage(pod).items():
                    if name in names:
                        self._used[quota.key][name] += amount

    def _check(self, pod: Pod, quota: ResourceQuota, usage: dict[str, Quantity]) -> None:
        hard, used = _hard(quota), self._used_of(quota)
        more = {name: amount for name, amount in usage.items() if amount != ZERO}
        over = sorted(name for name in hard if name in more and used[name] + more[name] > hard[name])
        if over:
            told = [
                f"{what}: {','.join(f'{name}={amounts[name]}' for name in over)}"
                for what, amounts in (("requested", usage), ("used", used), ("limited", hard))
            ]
            raise RefusedError(pod, "", f"exceeded quota: {quota.name}, {', '.join(told)}")


def _check_requests(pod: Pod, quota: ResourceQuota) -> None:
    """Raises RefusedError if a container does not state what the quota limits; with pod-level resources none has to."""
    if is_pod_level_resources_set(pod):
        return
    lacking = ((name, _containers(pod, name)) for name in sorted(_hard(quota)) if name in _MUST_BE_SAID)
    wanted = "; ".join(f"{name} for: {containers}" for name, containers in lacking if containers)
    if wanted:
        raise RefusedError(pod, "", f"failed quota: {quota.name}: must specify {wanted}")


def _hard(quota: ResourceQuota) -> Mapping[str, Quantity]:
    return parse_resource_list(quota.status.hard or quota.spec.hard)


def _usage(pod: Pod) -> dict[str, Quantity]:
    """PodUsageFunc: one pod, and its requests and limits under the names that quotas have for them."""
    options = PodResourcesOptions()
    usage: dict[str, Quantity] = {"pods": _ONE, "count/pods": _ONE}
    for name, amount in pod_requests(pod, options).items():
        usage[f"requests.{name}"] = amount
        if name in {"cpu", "memory", "ephemeral-storage"} or name.startswith("hugepages-"):
            usage[name] = amount
    for name, amount in pod_limits(pod, options).items():
        usage[f"limits.{name}"] = amount
    return usage


def _containers(pod: Pod, name: str) -> str:
    kind, _, resource = name.rpartition(".")
    lacking = [
        container.name
        for container in (*pod.spec.containers, *pod.spec.init_containers)
        if resource not in (container.resources.limits if kind == "limits" else container.resources.requests)
    ]
    return ",".join(sorted(lacking))


def _scopes(quota: ResourceQuota) -> list[ScopeSelectorRequirement]:
    from kubectl_sched.api.admission import ScopeSelectorRequirement

    named = [ScopeSelectorRequirement(scope_name=name, operator="Exists") for name in quota.spec.scopes]
    selector = quota.spec.scope_selector
    return [*named, *(selector.match_expressions if selector is not None else ())]


def _in_scope(pod: Pod, scope: ScopeSelectorRequirement) -> bool:
    """podMatchesScopeFunc; a scope that is not of pods (VolumeAttributesClass) has none of them."""
    if scope.scope_name == "PriorityClass":
        return _has_priority_class(pod, scope)
    matches = _SCOPES.get(scope.scope_name)
    return matches is not None and matches(pod)


def _has_priority_class(pod: Pod, scope: ScopeSelectorRequirement) -> bool:
    name = pod.spec.priority_class_name
    match scope.operator:
        case "In":
            return name in scope.values
        case "NotIn":
            return name not in scope.values
        case "DoesNotExist":
            return not name
        case _:
            return bool(name)


def _looks_into_other_namespaces(pod: Pod) -> bool:
    affinity = pod.spec.affinity
    terms = affinity.pod_terms if affinity is not None else ()
    return any(term.namespaces or term.namespace_selector is not None for term in terms)


def _is_best_effort(pod: Pod) -> bool:
    from kubectl_sched.api.component_helpers.pod_qos import pod_qos  # few quotas ask for it

    return pod_qos(pod) == "BestEffort"


_SCOPES: Mapping[str, Callable[[Pod], bool]] = {
    "Terminating": lambda pod: pod.spec.active_deadline_seconds is not None,
    "NotTerminating": lambda pod: pod.spec.active_deadline_seconds is None,
    "BestEffort": _is_best_effort,
    "NotBestEffort": lambda pod: not _is_best_effort(pod),
    "CrossNamespacePodAffinity": _looks_into_other_namespaces,
}
