"""Validation of the arguments of plugins.

Answers to pkg/scheduler/apis/config/validation/validation_pluginargs.go and, for NodeAffinity's added affinity, to
component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go and apimachinery/pkg/labels/selector.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.api.apimachinery.int64 import parse_int64
from kubectl_sched.api.apimachinery.validation import label_value_errors, quoted
from kubectl_sched.config.duration import format_duration
from kubectl_sched.config.field_errors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    invalid_structure,
    qualified_name_errors,
    required,
    structure,
    unsupported,
)
from kubectl_sched.config.types import (
    MAX_CUSTOM_PRIORITY_SCORE,
    Args,
    DefaultPreemptionArgs,
    DynamicResourcesArgs,
    InterPodAffinityArgs,
    NodeAffinityArgs,
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    PodTopologySpreadArgs,
    UtilizationShapePoint,
    VolumeBindingArgs,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.affinity import NodeSelectorRequirement, NodeSelectorTerm, TopologySpreadConstraint
    from kubectl_sched.config.features import Features
    from kubectl_sched.config.types import ScoringStrategy
    from kubectl_sched.config.versions import Release

_STRATEGIES: Final = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")
_OPERATORS: Final = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")


def validate_args(path: str, args: Args, release: Release, features: Features) -> Iterator[FieldError]:
    """Yield what kube-scheduler finds wrong with a plugin's arguments, defaults filled in; `path` may be empty."""
    at = f"{path}." if path else ""
    match args:
        case NodeResourcesFitArgs():
            yield from _node_resources_fit(at, args, release)
        case NodeResourcesBalancedAllocationArgs():
            yield from _balanced_allocation(at, args)
        case DefaultPreemptionArgs():
            yield from _default_preemption(at, args)
        case InterPodAffinityArgs():
            yield from _in_range(f"{at}hardPodAffinityWeight", args.hard_pod_affinity_weight, 100)
        case PodTopologySpreadArgs():
            yield from _pod_topology_spread(at, args, release)
        case NodeAffinityArgs():
            yield from _node_affinity(at, args, release)
        case VolumeBindingArgs():
            yield from _volume_binding(at, args, release, features)
        case DynamicResourcesArgs():
            yield from _dynamic_resources(at, args, release, features)
        case _:
            return


def _in_range(path: str, value: int, most: int) -> Iterator[FieldError]:
    if not 0 <= value <= most:
        yield invalid(path, value, f"not in valid range [0, {most}]")


def _default_preemption(at: str, args: DefaultPreemptionArgs) -> Iterator[FieldError]:
    percentage, absolute = args.min_candidate_nodes_percentage, args.min_candidate_nodes_absolute
    yield from _in_range(f"{at}minCandidateNodesPercentage", percentage, 100)
    if absolute < 0:
        yield invalid(f"{at}minCandidateNodesAbsolute", absolute, "not in valid range [0, inf)")
    if percentage == 0 and absolute == 0:
        zero = "cannot be zero at the same time as"
        yield invalid(f"{at}minCandidateNodesPercentage", percentage, f"{zero} minCandidateNodesAbsolute")
        yield invalid(f"{at}minCandidateNodesAbsolute", absolute, f"{zero} minCandidateNodesPercentage")


def _balanced_allocation(at: str, args: NodeResourcesBalancedAllocationArgs) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, resource in enumerate(args.resources):
        path = f"{at}resources[{index}]"
        if resource.name in seen:
            yield duplicate(f"{path}.name", resource.name)
        seen.add(resource.name)
        if resource.weight != 1:
            yield invalid(f"{path}.weight", resource.weight, "must be 1")


def _node_resources_fit(at: str, args: NodeResourcesFitArgs, release: Release) -> Iterator[FieldError]:
    for index, resource in enumerate(args.ignored_resources):
        path = f"{at}ignoredResources[{index}]"
        yield from (invalid(path, resource, error) for error in qualified_name_errors(resource, release))
    for index, group in enumerate(args.ignored_resource_groups):
        path = f"{at}ignoredResourceGroups[{index}]"
        if "/" in group:
            yield invalid(path, group, "resource group name can't contain '/'")
        yield from (invalid(path, group, error) for error in qualified_name_errors(group, release))
    yield from _scoring_strategy(f"{at}scoringStrategy", args.scoring_strategy, release)


def _scoring_strategy(path: str, strategy: ScoringStrategy, release: Release) -> Iterator[FieldError]:
    if strategy.type not in _STRATEGIES:
        yield unsupported(f"{path}.type", strategy.type, _STRATEGIES)
    for index, resource in enumerate(strategy.resources):
        if not 0 < resource.weight <= 100:
            detail = f"resource weight of {resource.name} not in valid range (0, 100]"
            yield invalid(f"{path}.resources[{index}].weight", resource.weight, detail)
    ratio = strategy.requested_to_capacity_ratio
    if not release.ratio_belongs_to_its_strategy:
        yield from _shape(f"{path}.shape", ratio.shape, release) if ratio else ()
    elif strategy.type == "RequestedToCapacityRatio":
        if ratio is None:
            detail = "must be specified when type is RequestedToCapacityRatio"
            yield required(f"{path}.requestedToCapacityRatio", detail)
        else:
            yield from _shape(f"{path}.requestedToCapacityRatio.shape", ratio.shape, release)
    elif ratio is not None:
        detail = "must be nil when type is not RequestedToCapacityRatio"
        yield forbidden(f"{path}.requestedToCapacityRatio", detail)


def _shape(path: str, shape: Sequence[UtilizationShapePoint], release: Release) -> Iterator[FieldError]:
    if not shape:
        yield required(path, "at least one point must be specified")
    for index in range(1, len(shape)):
        if shape[index - 1].utilization >= shape[index].utilization:
            where = f"{path}[{index}].utilization"
            yield invalid(where, shape[index].utilization, release.shape_not_sorted)
            break
    for index, point in enumerate(shape):
        yield from _in_range(f"{path}[{index}].utilization", point.utilization, 100)
        yield from _in_range(f"{path}[{index}].score", point.score, MAX_CUSTOM_PRIORITY_SCORE)


def _volume_binding(at: str, args: VolumeBindingArgs, release: Release, features: Features) -> Iterator[FieldError]:
    if args.bind_timeout_seconds < 0:
        detail = "invalid BindTimeoutSeconds, should not be a negative value"
        yield invalid(f"{at}bindTimeoutSeconds", args.bind_timeout_seconds, detail)
    gate = release.volume_scoring_gate
    if features.enabled(gate):
        yield from _shape(f"{at}shape", args.shape or (), release)
    elif args.shape is not None:
        points = [{"Utilization": point.utilization, "Score": point.score} for point in args.shape]
        go = ", ".join(
            f"config.UtilizationShapePoint{{Utilization:{point.utilization}, Score:{point.score}}}"
            for point in args.shape
        )
        shown = structure(release, points, f"[]config.UtilizationShapePoint{{{go}}}")
        detail = f"unexpected field `shape`, remove it or turn on the feature gate {gate}"
        yield invalid_structure(f"{at}shape", shown, detail)


def _dynamic_resources(
    at: str, args: DynamicResourcesArgs, release: Release, features: Features
) -> Iterator[FieldError]:
    if args.filter_timeout is not None:
        shown = quoted(format_duration(args.filter_timeout.nanoseconds))
        if not features.enabled("DRASchedulerFilterTimeout"):
            yield forbidden(f"{at}filterTimeout", "DRASchedulingFilterTimeout feature gate is disabled")
        elif args.filter_timeout.nanoseconds < 0:
            yield invalid_structure(f"{at}filterTimeout", shown, "must be zero or positive")
    if args.binding_timeout is not None and "bindingTimeout" in release.dynamic_resources_args:
        shown = quoted(format_duration(args.binding_timeout.nanoseconds))
        if not (features.enabled("DRADeviceBindingConditions") and features.enabled("DRAResourceClaimDeviceStatus")):
            detail = "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled"
            yield forbidden(f"{at}bindingTimeout", detail)
        elif args.binding_timeout.seconds < 1:
            yield invalid_structure(f"{at}bindingTimeout", shown, "must be at least 1 second")


def _pod_topology_spread(at: str, args: PodTopologySpreadArgs, release: Release) -> Iterator[FieldError]:
    if args.defaulting_type not in {"System", "List"}:
        yield unsupported(f"{at}defaultingType", args.defaulting_type, ("System", "List"))
    elif args.defaulting_type == "System" and args.default_constraints:
        yield invalid(
            f"{at}defaultingType",
            args.defaulting_type,
            "when .defaultConstraints are not empty",
            "with defaultConstraints of your own, set defaultingType: List",
        )
    for index, constraint in enumerate(args.default_constraints):
        path = f"{at}defaultConstraints[{index}]"
        yield from _default_constraint(path, constraint, release)
        same = (constraint.topology_key, constraint.when_unsatisfiable)
        if any((other.topology_key, other.when_unsatisfiable) == same for other in args.default_constraints[:index]):
            yield duplicate(path, f"{{{same[0]}, {same[1]}}}")


def _default_constraint(path: str, constraint: TopologySpreadConstraint, release: Release) -> Iterator[FieldError]:
    if constraint.max_skew <= 0:
        yield invalid(f"{path}.maxSkew", constraint.max_skew, "not in valid range (0, inf)")
    key, action = constraint.topology_key, constraint.when_unsatisfiable
    if not key:
        yield required(f"{path}.topologyKey", "can not be empty")
    else:
        yield from (invalid(f"{path}.topologyKey", key, error) for error in qualified_name_errors(key, release))
    if not action:
        yield required(f"{path}.whenUnsatisfiable", "can not be empty")
    elif action not in {"DoNotSchedule", "ScheduleAnyway"}:
        yield unsupported(f"{path}.whenUnsatisfiable", action, ("DoNotSchedule", "ScheduleAnyway"))
    if constraint.label_selector is not None:
        yield forbidden(f"{path}.labelSelector", "constraint must not define a selector, as they deduced for each pod")


def _node_affinity(at: str, args: NodeAffinityArgs, release: Release) -> Iterator[FieldError]:
    added = args.added_affinity
    if added is None:
        return
    if added.required is not None:
        path = f"{at}addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
        for index, term in enumerate(added.required.node_selector_terms):
            yield from _term(f"{path}[{index}]", term, release)
    path = f"{at}addedAffinity.preferredDuringSchedulingIgnoredDuringExecution"
    for index, preferred in enumerate(added.preferred or ()):
        if preferred.weight != 0:
            yield from _term(f"{path}[{index}]", preferred.preference, release)


def _term(path: str, term: NodeSelectorTerm, release: Release) -> Iterator[FieldError]:
    for index, requirement in enumerate(term.match_expressions):
        yield from _expression(f"{path}.matchExpressions[{index}]", requirement, release)
    for index, requirement in enumerate(term.match_fields):
        where = f"{path}.matchFields[{index}]"
        if requirement.operator not in {"In", "NotIn"}:
            yield unsupported(f"{where}.operator", requirement.operator, ("In", "NotIn"))
        elif len(requirement.values) != 1:
            yield _wrong_values(where, requirement, "must have one element", release)


def _expression(path: str, requirement: NodeSelectorRequirement, release: Release) -> Iterator[FieldError]:
    operator, values = requirement.operator, requirement.values
    if operator not in _OPERATORS:
        yield unsupported(f"{path}.operator", operator, _OPERATORS)
        return
    key_errors = qualified_name_errors(requirement.key, release)
    if key_errors:
        yield invalid(f"{path}.key", requirement.key, "; ".join(key_errors))
    yield from _values(path, requirement, release)
    for index, value in enumerate(values):
        if errors := label_value_errors(value, release.length_unit):
            yield invalid(f"{path}.values[{index}][{requirement.key}]", value, "; ".join(errors))


def _values(path: str, requirement: NodeSelectorRequirement, release: Release) -> Iterator[FieldError]:
    """Check how many values the operator takes, and that Gt and Lt have an integer."""
    operator, values = requirement.operator, requirement.values
    if operator in {"In", "NotIn"} and not values:
        yield _wrong_values(path, requirement, "for 'in', 'notin' operators, values set can't be empty", release)
    if operator in {"Exists", "DoesNotExist"} and values:
        yield _wrong_values(path, requirement, "values set must be empty for exists and does not exist", release)
    if operator in {"Gt", "Lt"}:
        if len(values) != 1:
            detail = "for 'Gt', 'Lt' operators, exactly one value is required"
            yield _wrong_values(path, requirement, detail, release)
        for index, value in enumerate(values):
            if parse_int64(value) is None:
                detail = "for 'Gt', 'Lt' operators, the value must be an integer"
                yield invalid(f"{path}.values[{index}]", value, detail)


def _wrong_values(path: str, requirement: NodeSelectorRequirement, detail: str, release: Release) -> FieldError:
    values = list(requirement.values)
    go = f"[]string{{{', '.join(map(quoted, values))}}}" if values else "[]string(nil)"
    return invalid_structure(f"{path}.values", structure(release, values or None, go), detail)
