"""Requirements by label, what they have in common, and why they have nothing (pkg/scheduling/requirements.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from kubectl_sched.api.apimachinery.validation import quoted
from kubectl_sched.api.component_helpers.node_affinity import with_node_affinity
from kubectl_sched.framework.go_sort import go_sort
from kubectl_sched.node_provisioning.karpenter.karpenter_labels import RESTRICTED
from kubectl_sched.node_provisioning.karpenter.scheduling.requirement import EXISTS, IN, Requirement, requirement

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubectl_sched.api.affinity import NodeSelectorRequirement, PreferredSchedulingTerm
    from kubectl_sched.api.pod import Pod

Requirements: TypeAlias = dict[str, Requirement]
"""By label. Never changed once it is passed on."""


def merged(*parts: Iterable[Requirement]) -> Requirements:
    """All requirements together, those of one label intersected (Add)."""
    result: Requirements = {}
    for part in parts:
        for each in part:
            known = result.get(each.key)
            result[each.key] = each if known is None else each.intersection(known)
    return result


def label_requirements(labels: Mapping[str, str]) -> Requirements:
    """Exactly these labels (NewLabelRequirements)."""
    return merged(requirement(key, IN, (value,)) for key, value in labels.items())


def selector_requirements(expressions: Iterable[NodeSelectorRequirement]) -> Requirements:
    """The requirements of a node selector's term (NewNodeSelectorRequirements)."""
    return merged(requirement(each.key, each.operator, each.values) for each in expressions)


def of_key(requirements: Requirements, key: str) -> Requirement:
    """The requirement on a label: any value if there is none (Get)."""
    return requirements.get(key) or requirement(key, EXISTS)


def pod_requirements(pod: Pod, *, strict: bool) -> Requirements:
    """A pod's node selector and its first required term; its heaviest preference too, unless `strict`."""
    selected = label_requirements(pod.spec.node_selector or {})
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    if affinity is None:
        return selected
    parts = [selected]
    if affinity.preferred and not strict:
        heaviest = sorted_preferences(affinity.preferred)[0]
        parts.append(selector_requirements(heaviest.preference.match_expressions))
    if affinity.required is not None and affinity.required.node_selector_terms:
        parts.append(selector_requirements(affinity.required.node_selector_terms[0].match_expressions))
    return merged(*(part.values() for part in parts))


def sorted_preferences(terms: tuple[PreferredSchedulingTerm, ...]) -> tuple[PreferredSchedulingTerm, ...]:
    """The heaviest preference first, as sort.Slice leaves them."""
    return tuple(go_sort(list(terms), lambda left, right: left.weight > right.weight))


def with_sorted_preferences(pod: Pod) -> Pod:
    """The pod after NewPodRequirements, which sorts its preferences in place."""
    affinity = pod.spec.affinity
    if affinity is None or affinity.node_affinity is None or not affinity.node_affinity.preferred:
        return pod
    preferred = sorted_preferences(affinity.node_affinity.preferred)
    return with_node_affinity(pod, replace(affinity.node_affinity, preferred=preferred))


def intersects(existing: Requirements, incoming: Requirements) -> bool:
    """Report whether no label that both name is contradicted (Intersects)."""
    for key, want in incoming.items():
        have = existing.get(key)
        if have is not None and have is not want and have.excludes(want):
            return False
    return True


def is_compatible(existing: Requirements, incoming: Requirements, undefined: frozenset[str] = frozenset()) -> bool:
    """Report whether the incoming can be met; a missing label is denied unless it is in `undefined` (Compatible)."""
    for key, want in incoming.items():
        have = existing.get(key)
        if have is None:
            if key not in undefined and not want.is_negative:
                return False
        elif have is not want and have.excludes(want):
            return False
    return True


def incompatibility(existing: Requirements, incoming: Requirements, undefined: frozenset[str]) -> str:
    """Karpenter's words for why the incoming cannot be met; of several unknown labels the first by name."""
    for key in sorted(incoming):
        if key not in undefined and key not in existing and not incoming[key].is_negative:
            return f"label {quoted(key)} does not have known values{_hint(existing, key, undefined)}"
    return "; ".join(
        f"key {key}, {incoming[key]} not in {existing[key]}"
        for key in sorted(existing.keys() & incoming.keys())
        if existing[key].excludes(incoming[key])
    )


def requirements_text(requirements: Requirements) -> str:
    """All requirements but those on the host name, as error texts have them (String)."""
    return ", ".join(sorted(str(each) for each in requirements.values() if each.key not in RESTRICTED))


def _hint(existing: Requirements, key: str, undefined: frozenset[str]) -> str:
    """Return what the label may be a misspelling of (labelHint): of several the first by name."""
    suffix = key.partition("/")[2] if "/" in key else key
    for known in (*sorted(undefined), *sorted(existing)):
        if key in known or known.endswith(suffix):
            return f" (typo of {quoted(known)}?)"
    return ""
