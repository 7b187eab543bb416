"""Defaulting and admission of a pod that is created, by the plugins that are on by default.

Answers to pkg/registry/core/pod/strategy.go and plugin/pkg/admission.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from kubectl_sched.api.admission import LimitRange, RuntimeClass
from kubectl_sched.api.affinity import PodAffinity, Toleration
from kubectl_sched.api.apimachinery.quantity import parse_resource_list
from kubectl_sched.api.component_helpers.resource_names import is_extended_resource_name
from kubectl_sched.api.core import Namespace
from kubectl_sched.api.meta import LabelSelectorRequirement, with_spec
from kubectl_sched.api.policy import PriorityClass
from kubectl_sched.apiserver.limit_ranges import outside_limits, with_limit_defaults
from kubectl_sched.apiserver.namespace_admission import (
    POD_NODE_SELECTOR,
    POD_TOLERATION_RESTRICTION,
    check_tolerations,
    with_namespace_selector,
    with_namespace_tolerations,
)
from kubectl_sched.apiserver.pod_defaults import defaulted, with_pod_level_defaults
from kubectl_sched.apiserver.refused_manifest import RefusedError
from kubectl_sched.apiserver.validation.pod_validation import check_label_keys, check_quantities, validate
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.api.affinity import PodAffinityTerm, TopologySpreadConstraint
    from kubectl_sched.api.meta import Labels, LabelSelector
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.snapshot import Objects

_SYSTEM_CLASSES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
_TOLERATED_SECONDS = 300
_PREEMPT_LOWER = "PreemptLowerPriority"


class Admission(Record, frozen=True, kw_only=True):
    """The API server of one cluster: its objects, the feature gates that it has on, and which kinds are known."""

    objects: Objects
    enabled: Callable[[str], bool]
    present: frozenset[str] = frozenset()
    plugins: frozenset[str] = frozenset()
    """The admission plugins that are off by default and known to be on here."""

    jobs_choose_groups: bool = False
    """Jobs say in `spec.scheduling` what group they want (1.37)."""

    limit_ranges_are_exact: bool = False
    """LimitRanges are compared without rounding (1.38)."""

    def admitted(self, pod: Pod) -> Pod:
        """The pod as it would be stored. Raises RefusedError with the reason why it would not be."""
        check_quantities(pod)
        if not self.enabled("MatchLabelKeysInPodTopologySpreadSelectorMerge"):
            check_label_keys(pod)
        pod = self._with_label_keys_merged(self.defaulted(pod))
        limits = self.objects.in_namespace(LimitRange, pod.metadata.namespace)
        # What is stored is defaulted once more when it is read, by then with what the LimitRanges gave.
        pod = self.defaulted(with_limit_defaults(pod, limits))
        namespace = self.objects.get(Namespace, pod.namespace) or Namespace()
        if POD_NODE_SELECTOR in self.plugins:
            pod = with_namespace_selector(pod, namespace)
        pod = self._with_priority(pod)
        pod = _with_eviction_tolerations(pod)
        if POD_TOLERATION_RESTRICTION in self.plugins:
            pod = with_namespace_tolerations(pod, namespace)
        if "ExtendedResourceToleration" in self.plugins:
            pod = _with_extended_resource_tolerations(pod)
        pod = self._with_runtime_class(pod)
        if self.enabled("PodLevelResourcesFixDefaulting"):
            pod = with_pod_level_defaults(pod, after_admission=True)
        validate(pod, comparison=self.enabled("TaintTolerationComparisonOperators"))
        problem = outside_limits(pod, limits, is_exact=self.limit_ranges_are_exact)
        if problem is not None:
            raise RefusedError(pod, "", f"pods is forbidden: {problem}")
        if POD_TOLERATION_RESTRICTION in self.plugins:
            check_tolerations(pod, namespace)
        return pod

    def defaulted(self, pod: Pod) -> Pod:
        """With the defaults that every pod gets, whoever makes it."""
        return defaulted(pod, self.enabled)

    def _with_label_keys_merged(self, pod: Pod) -> Pod:
        """(mis)matchLabelKeys become part of the selectors when a pod is created."""
        labels, spec = pod.metadata.labels, pod.spec
        if self.enabled("MatchLabelKeysInPodAffinity") and spec.affinity is not None:
            affinity = structs.replace(
                spec.affinity,
                pod_affinity=_merged_affinity(spec.affinity.pod_affinity, labels),
                pod_anti_affinity=_merged_affinity(spec.affinity.pod_anti_affinity, labels),
            )
            spec = structs.replace(spec, affinity=affinity)
        if self.enabled("MatchLabelKeysInPodTopologySpread") and self.enabled(
            "MatchLabelKeysInPodTopologySpreadSelectorMerge"
        ):
            merged = tuple(_merged_constraint(each, labels) for each in spec.topology_spread_constraints)
            spec = structs.replace(spec, topology_spread_constraints=merged)
        return structs.replace(pod, spec=spec)

    def _with_priority(self, pod: Pod) -> Pod:
        """The Priority plugin; what the manifest says already is kept."""
        spec = pod.spec
        value, policy, name = self._priority_class(pod)
        return structs.replace(
            pod,
            spec=structs.replace(
                spec,
                priority=value if spec.priority is None else spec.priority,
                preemption_policy=spec.preemption_policy or policy,
                priority_class_name=name,
            ),
        )

    def _priority_class(self, pod: Pod) -> tuple[int, str, str]:
        name = pod.spec.priority_class_name
        if not name:
            defaults = [each for each in self.objects.all(PriorityClass) if each.global_default]
            if not defaults:
                return 0, _PREEMPT_LOWER, ""
            lowest = min(defaults, key=lambda each: each.value)
            return lowest.value, lowest.preemption_policy or _PREEMPT_LOWER, lowest.name
        found = self.objects.get(PriorityClass, name)
        if found is not None:
            return found.value, found.preemption_policy or _PREEMPT_LOWER, name
        if name in _SYSTEM_CLASSES:
            return _SYSTEM_CLASSES[name], _PREEMPT_LOWER, name
        if pod.spec.priority is None:
            listed = "" if "PriorityClass" in self.present else "; the cluster's PriorityClasses are not known here"
            raise RefusedError(pod, "spec.priorityClassName", f"no PriorityClass with name {name} was found{listed}")
        return pod.spec.priority, _PREEMPT_LOWER, name

    def _with_runtime_class(self, pod: Pod) -> Pod:
        """The RuntimeClass plugin: overhead, node selector and tolerations."""
        name, spec = pod.spec.runtime_class_name, pod.spec
        if name is None:
            if spec.overhead:
                raise RefusedError(
                    pod, "spec.overhead", "Pod Overhead set without corresponding RuntimeClass defined Overhead"
                )
            return pod
        found = self.objects.get(RuntimeClass, name)
        if found is None:
            raise RefusedError(pod, "spec.runtimeClassName", f'RuntimeClass "{name}" not found')
        overhead = found.overhead.pod_fixed if found.overhead is not None else {}
        if spec.overhead and parse_resource_list(overhead) != parse_resource_list(spec.overhead):
            raise RefusedError(pod, "spec.overhead", "Pod's Overhead doesn't match RuntimeClass's defined Overhead")
        spec = structs.replace(spec, overhead=overhead)
        if found.scheduling is None:
            return structs.replace(pod, spec=spec)
        selector = dict(spec.node_selector or {})
        for key, value in found.scheduling.node_selector.items():
            if selector.setdefault(key, value) != value:
                raise RefusedError(
                    pod, "spec.nodeSelector", f"conflict: RuntimeClass {name} wants {key}={value}, not {selector[key]}"
                )
        from kubectl_sched.apiserver.tolerations import merged_tolerations

        tolerations = merged_tolerations((*spec.tolerations, *found.scheduling.tolerations))
        return structs.replace(
            pod, spec=structs.replace(spec, node_selector=selector or spec.node_selector, tolerations=tolerations)
        )


def _merged_affinity(affinity: PodAffinity | None, labels: Labels) -> PodAffinity | None:
    if affinity is None:
        return None
    return PodAffinity(
        required=tuple(_merged_term(term, labels) for term in affinity.required),
        preferred=tuple(
            structs.replace(each, pod_affinity_term=_merged_term(each.pod_affinity_term, labels))
            for each in affinity.preferred
        ),
    )


def _merged_term(term: PodAffinityTerm, labels: Labels) -> PodAffinityTerm:
    if term.label_selector is None or not (term.match_label_keys or term.mismatch_label_keys):
        return term
    selector = _with_keys(term.label_selector, term.match_label_keys, "In", labels)
    return structs.replace(term, label_selector=_with_keys(selector, term.mismatch_label_keys, "NotIn", labels))


def _merged_constraint(constraint: TopologySpreadConstraint, labels: Labels) -> TopologySpreadConstraint:
    if constraint.label_selector is None or not constraint.match_label_keys:
        return constraint
    selector = _with_keys(constraint.label_selector, constraint.match_label_keys, "In", labels)
    return structs.replace(constraint, label_selector=selector)


def _with_keys(selector: LabelSelector, keys: tuple[str, ...], operator: str, labels: Labels) -> LabelSelector:
    added = tuple(
        LabelSelectorRequirement(key=key, operator=operator, values=(labels[key],)) for key in keys if key in labels
    )
    return structs.replace(selector, match_expressions=(*selector.match_expressions, *added))


def _with_eviction_tolerations(pod: Pod) -> Pod:
    """The DefaultTolerationSeconds plugin: five minutes on a node that is not ready or cannot be reached."""
    tolerations = pod.spec.tolerations
    added = tuple(
        Toleration(key=key, operator="Exists", effect="NoExecute", toleration_seconds=_TOLERATED_SECONDS)
        for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
        if not any(each.key in {"", key} and each.effect in {"", "NoExecute"} for each in tolerations)
    )
    return with_spec(pod, tolerations=(*tolerations, *added))


def _with_extended_resource_tolerations(pod: Pod) -> Pod:
    """The ExtendedResourceToleration plugin: nodes with a resource that is requested may be tainted with its name."""
    spec = pod.spec
    requested = {name for each in (*spec.containers, *spec.init_containers) for name in each.resources.requests}
    tolerations = spec.tolerations
    for name in sorted(filter(is_extended_resource_name, requested)):
        added = Toleration(key=name, operator="Exists", effect="NoSchedule")
        if added not in tolerations:
            tolerations = (*tolerations, added)
    return with_spec(pod, tolerations=tolerations)
