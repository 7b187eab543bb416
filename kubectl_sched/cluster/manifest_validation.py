"""What the API server refuses in the fields of a pod that the scheduler reads.

Answers to pkg/apis/core/validation/validation.go, for these fields only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.quantity import InvalidQuantity, parse_quantity
from kubectl_sched.api.validation import (
    dns_label_errors,
    invalid,
    is_decimal_integer,
    label_key_errors,
    label_value_errors,
    not_supported,
    parse_int64,
    quoted,
    subdomain_errors,
)
from kubectl_sched.cluster.refused_manifest import refuse
from kubectl_sched.cluster.resource_validation import (
    container_resource_problems,
    overhead_problems,
    pod_resource_problems,
)
from kubectl_sched.cluster.volume_validation import resource_claim_problems, volume_problems

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from kubectl_sched.api.affinity import (
        NodeSelectorRequirement,
        NodeSelectorTerm,
        PodAffinityTerm,
        Toleration,
        TopologySpreadConstraint,
    )
    from kubectl_sched.api.containers import Container
    from kubectl_sched.api.core import ResourceList
    from kubectl_sched.api.meta import LabelSelector
    from kubectl_sched.api.pod import Pod, PodSpec

_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_NODE_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
_SELECTOR_OPERATORS = frozenset({"In", "NotIn", "Exists", "DoesNotExist"})
_OPERATORS = ("Equal", "Exists")
_COMPARISONS = ("Lt", "Gt")
_PREEMPTION_POLICIES = ("Never", "PreemptLowerPriority")
_INCLUSION_POLICIES = ("Honor", "Ignore")
_OPERATING_SYSTEMS = ("linux", "windows")
_LARGEST_PORT = 65535
_LONGEST_DEADLINE = 2**31 - 1
_DECIMAL_IS_WRONG = "must be a valid decimal integer in canonical form"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


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
    problems = []
    for position, each in enumerate(pod.spec.topology_spread_constraints):
        selector = each.label_selector
        if selector is None:
            continue
        stated = {*selector.match_labels, *(expression.key for expression in selector.match_expressions)}
        problems += [
            invalid(
                f"spec.topologySpreadConstraints[{position}][{index}]",
                key,
                "exists in both matchLabelKeys and labelSelector",
            )
            for index, key in enumerate(each.match_label_keys)
            if key in stated
        ]
    refuse(pod, problems)


def validate(pod: Pod, *, comparison: bool = False) -> None:
    """Raises RefusedError with all that is wrong, each with its field path; all amounts are quantities.

    `comparison` is the feature TaintTolerationComparisonOperators.
    """
    operators = _OPERATORS + (_COMPARISONS if comparison else ())
    tolerations = (
        problem
        for index, toleration in enumerate(pod.spec.tolerations)
        for problem in _toleration(toleration, f"spec.tolerations[{index}]", operators)
    )
    volumes = (*volume_problems(pod), *resource_claim_problems(pod))
    refuse(pod, [*_metadata(pod), *volumes, *_spec(pod), *tolerations])


def _metadata(pod: Pod) -> Iterator[str]:
    for key, value in pod.metadata.labels.items():
        yield from (invalid("metadata.labels", key, said) for said in label_key_errors(key))
        yield from (invalid("metadata.labels", value, said) for said in label_value_errors(value))


def _spec(pod: Pod) -> Iterator[str]:
    spec = pod.spec
    yield from _containers(spec)
    yield from pod_resource_problems(pod)
    if spec.host_network:
        yield from _host_ports(spec)
    if spec.restart_policy and spec.restart_policy not in _RESTART_POLICIES:
        yield not_supported("spec.restartPolicy", spec.restart_policy, _RESTART_POLICIES)
    for key, value in (spec.node_selector or {}).items():
        yield from (invalid("spec.nodeSelector", key, said) for said in label_key_errors(key))
        yield from (invalid("spec.nodeSelector", value, said) for said in label_value_errors(value))
    yield from _spread(spec.topology_spread_constraints)
    yield from _node_affinity(pod)
    yield from _pod_affinity(pod)
    yield from _gates(spec)
    if spec.node_name:
        yield from (invalid("spec.nodeName", spec.node_name, said) for said in subdomain_errors(spec.node_name))
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
        yield _number("spec.activeDeadlineSeconds", deadline, f"must be between 1 and {_LONGEST_DEADLINE}, inclusive")


def _gates(spec: PodSpec) -> Iterator[str]:
    seen: set[str] = set()
    for index, gate in enumerate(spec.scheduling_gates):
        path = f"spec.schedulingGates[{index}]"
        yield from (invalid(path, gate.name, said) for said in label_key_errors(gate.name))
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
                yield _number(path, port.host_port, "must match `containerPort` when `hostNetwork` is true")


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
            if not container.name:
                yield f"{path}.name: Required value"
            else:
                yield from (invalid(f"{path}.name", container.name, said) for said in dns_label_errors(container.name))
            if container.name and container.name in names:
                yield f"{path}.name: Duplicate value: {quoted(container.name)}"
            names.add(container.name)
            if not container.image:
                yield f"{path}.image: Required value"
            elif container.image != container.image.strip():
                yield invalid(f"{path}.image", container.image, "must not have leading or trailing whitespace")
            yield from _container(container, path, claims)
            if container.restart_policy not in {None, *_RESTART_POLICIES}:
                stated = container.restart_policy or ""
                yield not_supported(f"{path}.restartPolicy", stated, sorted(_RESTART_POLICIES))


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
            yield _number(f"{where}.containerPort", port.container_port, "must be between 1 and 65535, inclusive")
        if port.host_port and not 0 < port.host_port <= _LARGEST_PORT:
            yield _number(f"{where}.hostPort", port.host_port, "must be between 1 and 65535, inclusive")
        if port.protocol and port.protocol not in {"TCP", "UDP", "SCTP"}:
            yield not_supported(f"{where}.protocol", port.protocol, ("SCTP", "TCP", "UDP"))


def _toleration(toleration: Toleration, path: str, operators: tuple[str, ...]) -> Iterator[str]:
    if toleration.key:
        yield from (invalid(f"{path}.key", toleration.key, said) for said in label_key_errors(toleration.key))
    elif toleration.operator != "Exists":
        said = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        yield invalid(f"{path}.operator", toleration.operator, said)
    if toleration.operator in {"", "Equal"}:
        problems = label_value_errors(toleration.value)
        if problems:
            yield invalid(f"{path}.operator", toleration.value, ";".join(problems))
    if toleration.operator in _COMPARISONS and toleration.operator in operators:
        yield from _compared(toleration.value, f"{path}.value")
    if toleration.operator and toleration.operator not in operators:
        yield not_supported(f"{path}.operator", toleration.operator, operators)
    if toleration.operator == "Exists" and toleration.value:
        yield invalid(f"{path}.operator", toleration.value, "value must be empty when `operator` is 'Exists'")
    if toleration.effect and toleration.effect not in _EFFECTS:
        yield not_supported(f"{path}.effect", toleration.effect, _EFFECTS)
    if toleration.toleration_seconds is not None and toleration.effect != "NoExecute":
        yield invalid(f"{path}.effect", toleration.effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")


def _compared(value: str, path: str) -> Iterator[str]:
    """What Lt and Gt compare is a whole number of 64 bits."""
    if not is_decimal_integer(value):
        yield invalid(path, value, _DECIMAL_IS_WRONG)
    if parse_int64(value) is None:
        why = "value out of range" if is_decimal_integer(value) else "invalid syntax"
        yield invalid(path, value, f"strconv.ParseInt: parsing {quoted(value)}: {why}")


def _spread(constraints: tuple[TopologySpreadConstraint, ...]) -> Iterator[str]:
    pairs = [(each.topology_key, each.when_unsatisfiable) for each in constraints]
    for index, each in enumerate(constraints):
        path = f"spec.topologySpreadConstraints[{index}]"
        if each.max_skew <= 0:
            yield _number(f"{path}.maxSkew", each.max_skew, "must be greater than zero")
        if not each.topology_key:
            yield f"{path}.topologyKey: Required value: can not be empty"
        if each.when_unsatisfiable not in {"DoNotSchedule", "ScheduleAnyway"}:
            yield not_supported(
                f"{path}.whenUnsatisfiable", each.when_unsatisfiable, ("DoNotSchedule", "ScheduleAnyway")
            )
        pair = (each.topology_key, each.when_unsatisfiable)
        if pair in pairs[index + 1 :]:
            yield f'{path}.{{topologyKey, whenUnsatisfiable}}: Duplicate value: "{{{pair[0]}, {pair[1]}}}"'
        if each.min_domains is not None and each.min_domains <= 0:
            yield _number(f"{path}.minDomains", each.min_domains, "must be greater than zero")
        if each.min_domains is not None and each.when_unsatisfiable != "DoNotSchedule":
            said = "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway"
            yield _number(f"{path}.minDomains", each.min_domains, said)
        for field, policy in (
            ("nodeAffinityPolicy", each.node_affinity_policy),
            ("nodeTaintsPolicy", each.node_taints_policy),
        ):
            if policy is not None and policy not in _INCLUSION_POLICIES:
                yield not_supported(f"{path}.{field}", policy, _INCLUSION_POLICIES)
        yield from _label_keys(each.match_label_keys, each.label_selector, f"{path}.matchLabelKeys")
        yield from _twice_asked(each.label_selector, each.match_label_keys, path)
        yield from _selector(each.label_selector, f"{path}.labelSelector")


def _twice_asked(selector: LabelSelector | None, match_label_keys: tuple[str, ...], path: str) -> Iterator[str]:
    """Keys of matchLabelKeys that the selector, into which they are merged by now, asks for more than once."""
    if selector is None:
        return
    seen = set(selector.match_labels)
    for expression in selector.match_expressions:
        if expression.key in match_label_keys and expression.key in seen:
            index = match_label_keys.index(expression.key)
            yield invalid(f"{path}[{index}]", expression.key, "exists in both matchLabelKeys and labelSelector")
        seen.add(expression.key)


def _label_keys(keys: tuple[str, ...], selector: LabelSelector | None, path: str) -> Iterator[str]:
    if keys and selector is None:
        yield f"{path}: Forbidden: must not be specified when labelSelector is not set"
        return
    for index, key in enumerate(keys):
        yield from (invalid(f"{path}[{index}]", key, said) for said in label_key_errors(key))


def _selector(selector: LabelSelector | None, path: str) -> Iterator[str]:
    """unversionedvalidation.ValidateLabelSelector."""
    if selector is None:
        return
    for key, value in selector.match_labels.items():
        yield from (invalid(f"{path}.matchLabels", key, said) for said in label_key_errors(key))
        yield from (invalid(f"{path}.matchLabels", value, said) for said in label_value_errors(value))
    for index, expression in enumerate(selector.match_expressions):
        where = f"{path}.matchExpressions[{index}]"
        operator, values = expression.operator, expression.values
        if operator in {"In", "NotIn"} and not values:
            yield f"{where}.values: Required value: must be specified when `operator` is 'In' or 'NotIn'"
        elif operator in {"Exists", "DoesNotExist"} and values:
            yield f"{where}.values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        elif operator not in _SELECTOR_OPERATORS:
            yield invalid(f"{where}.operator", operator, "not a valid selector operator")
        yield from (invalid(f"{where}.key", expression.key, said) for said in label_key_errors(expression.key))
        for position, value in enumerate(values):
            yield from (invalid(f"{where}.values[{position}]", value, said) for said in label_value_errors(value))


def _number(path: str, number: int, detail: str) -> str:
    """A field.Invalid error about a number."""
    return f"{path}: Invalid value: {number}: {detail}"


def _node_affinity(pod: Pod) -> Iterator[str]:
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    if affinity is None:
        return
    path = "spec.affinity.nodeAffinity"
    if affinity.required is not None:
        where = f"{path}.{_REQUIRED}.nodeSelectorTerms"
        if not affinity.required.node_selector_terms:
            yield f"{where}: Required value: must have at least one node selector term"
        for index, term in enumerate(affinity.required.node_selector_terms):
            yield from _node_term(term, f"{where}[{index}]", required=True)
    for index, each in enumerate(affinity.preferred or ()):
        yield from _weight(each.weight, f"{path}.{_PREFERRED}[{index}]")
        yield from _node_term(each.preference, f"{path}.{_PREFERRED}[{index}].preference", required=False)


def _pod_affinity(pod: Pod) -> Iterator[str]:
    affinity = pod.spec.affinity
    if affinity is None:
        return
    for name, kind in (("podAffinity", affinity.pod_affinity), ("podAntiAffinity", affinity.pod_anti_affinity)):
        path = f"spec.affinity.{name}"
        for index, term in enumerate(kind.required if kind is not None else ()):
            yield from _pod_term(term, f"{path}.{_REQUIRED}[{index}]")
        for index, weighted in enumerate(kind.preferred if kind is not None else ()):
            yield from _weight(weighted.weight, f"{path}.{_PREFERRED}[{index}]")
            yield from _pod_term(weighted.pod_affinity_term, f"{path}.{_PREFERRED}[{index}].podAffinityTerm")


def _weight(weight: int, path: str) -> Iterator[str]:
    if not 1 <= weight <= 100:
        yield _number(f"{path}.weight", weight, "must be in the range 1-100")


def _pod_term(term: PodAffinityTerm, path: str) -> Iterator[str]:
    if not term.topology_key:
        yield f"{path}.topologyKey: Required value: can not be empty"
    else:
        yield from (
            invalid(f"{path}.topologyKey", term.topology_key, said) for said in label_key_errors(term.topology_key)
        )
    for name in term.namespaces:
        yield from (invalid(f"{path}.namespace", name, said) for said in dns_label_errors(name))
    yield from _label_keys(term.match_label_keys, term.label_selector, f"{path}.matchLabelKeys")
    yield from _label_keys(term.mismatch_label_keys, term.label_selector, f"{path}.mismatchLabelKeys")
    for index, key in enumerate(term.match_label_keys):
        if key in term.mismatch_label_keys:
            yield invalid(f"{path}.matchLabelKeys[{index}]", key, "exists in both matchLabelKeys and mismatchLabelKeys")
    yield from _twice_asked(term.label_selector, term.match_label_keys, path)
    yield from _selector(term.label_selector, f"{path}.labelSelector")
    yield from _selector(term.namespace_selector, f"{path}.namespaceSelector")


def _node_term(term: NodeSelectorTerm, path: str, *, required: bool) -> Iterator[str]:
    for index, expression in enumerate(term.match_expressions):
        where = f"{path}.matchExpressions[{index}]"
        yield from (invalid(f"{where}.key", expression.key, said) for said in label_key_errors(expression.key))
        yield from _values(expression, where, required=required)
    for index, expression in enumerate(term.match_fields):
        where = f"{path}.matchFields[{index}]"
        if expression.key != "metadata.name":
            yield invalid(f"{where}.key", expression.key, "not a valid field selector key")
        if expression.operator not in {"In", "NotIn"}:
            yield invalid(f"{where}.operator", expression.operator, "not a valid selector operator")
        elif len(expression.values) != 1:
            said = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
            yield f"{where}.values: Required value: {said}"
        for position, value in enumerate(expression.values if expression.key == "metadata.name" else ()):
            yield from (invalid(f"{where}.values[{position}]", value, said) for said in subdomain_errors(value))


def _values(expression: NodeSelectorRequirement, path: str, *, required: bool) -> Iterator[str]:
    """How many values each operator takes; those of preferred terms may be no label values."""
    number = len(expression.values)
    operator = expression.operator
    for index, value in enumerate(expression.values if required else ()):
        yield from (invalid(f"{path}.values[{index}]", value, said) for said in label_value_errors(value))
    if operator in {"In", "NotIn"} and not number:
        yield f"{path}.values: Required value: must be specified when `operator` is 'In' or 'NotIn'"
    elif operator in {"Exists", "DoesNotExist"} and number:
        yield f"{path}.values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
    elif operator in {"Gt", "Lt"} and number != 1:
        yield f"{path}.values: Required value: must be specified single value when `operator` is 'Lt' or 'Gt'"
    elif operator not in _NODE_OPERATORS:
        yield invalid(f"{path}.operator", operator, "not a valid selector operator")
