"""The field of a pod that the binding constraint comes from, and a few words to put under it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.api.apimachinery.quantity import parse_resource_list
from kubectl_sched.framework.clauses import agreeing
from kubectl_sched.queries.verdict.constraint import shared_by_all
from kubectl_sched.queries.verdict.narrowing import NAMED, RESOURCE, SELECTOR, SIZE, TAINT, narrowed
from kubectl_sched.queries.verdict.phrases import phrase_of
from kubectl_sched.queries.verdict.rejections import (
    CORDONED,
    FIT,
    NOMINATED,
    TAINTS,
    Rejection,
    counted_sets,
    set_by_controller,
)
from kubectl_sched.queries.verdict.resource_words import absent, resource_absent_from, resource_too_large, too_small
from kubectl_sched.queries.verdict.selector_words import key_without_node, of_names, of_selector
from kubectl_sched.record import Record
from kubectl_sched.scheduler.result import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.evidence import JSON
    from kubectl_sched.queries.verdict.narrowing import Narrowing
    from kubectl_sched.scheduler.result import ScheduleResult

    Path = tuple[str | int, ...]

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"


class DecidingField(Record, frozen=True, kw_only=True):
    """Fields of the pod's spec, of which the first that a manifest sets is the one; and what is wrong with it."""

    paths: tuple[Path, ...]
    label: str


def deciding_field(result: ScheduleResult) -> DecidingField | None:
    """Return the field behind the verdict; None where no field of the pod is, as for nodes that are cordoned."""
    pod = result.pod
    if result.outcome is Outcome.NO_PROFILE:
        return DecidingField(paths=(("schedulerName",),), label="no profile of this configuration has this name")
    if result.outcome is Outcome.GATED:
        return _gated(result)
    if result.outcome is not Outcome.UNSCHEDULABLE or result.unknown or result.verdict is None:
        return None
    if not result.pre_filter.is_success:
        facts = next((each.facts for each in result.pre_filter_evidence), {})
        return _field(result.pre_filter.plugin or "", pod, facts, result.pre_filter.message)
    found = narrowed(result)
    return _of_step(result, found) or _of_rejection(result, found) if found.rows else None


def _gated(result: ScheduleResult) -> DecidingField | None:
    """Return the first gate, or the claim that PreEnqueue waits for."""
    pod, status = result.pod, result.pre_enqueue
    if pod.spec.scheduling_gates:
        label = "kube-scheduler leaves the pod alone until this gate is lifted"
        return DecidingField(paths=(("schedulingGates", 0),), label=label)
    names = (each.resource_claim_name for each in pod.spec.resource_claims)
    claim = next((name for name in names if name and f'"{pod.namespace}/{name}"' in status.message), None)
    return _field(status.plugin or "", pod, {"claim": claim}, status.message)


def _of_step(result: ScheduleResult, found: Narrowing) -> DecidingField | None:
    """Return the field behind a step that folds all nodes that are left."""
    rows = found.rows
    match found.folds_all:
        case step if step in {SELECTOR, NAMED}:
            label = (of_selector if step == SELECTOR else of_names)(result)[-1]
            facts = next((each.facts for each in result.filter_evidence("NodeAffinity", rows[0])), {})
            keys = (key_without_node(result), *_unmet_keys(facts))
            own = (path for key in keys if key for path in _selecting(result.pod, key))
            otherwise = (("nodeName",), ("affinity", "nodeAffinity", _REQUIRED), ("nodeSelector",))
            paths = (*own, *otherwise)
            return DecidingField(paths=paths, label=label)
        case step if step == RESOURCE:
            return _asking(result.pod, resource_absent_from(result, rows), absent(result, rows))
        case step if step == SIZE:
            whole = too_small(result, rows, is_whole_cluster=len(rows) == len(result.nodes))
            return _asking(result.pod, resource_too_large(result, rows), whole.partition("; ")[2])
        case step if step == TAINT:
            taint = next(each.what for each in found.rejections[rows[0]] if each.plugin == TAINTS)
            return _tolerating(result.pod, taint)
        case _:
            return None


def _of_rejection(result: ScheduleResult, found: Narrowing) -> DecidingField | None:
    """Return the field behind what all nodes that could take the pod have against it, else the largest set of them."""
    sets = counted_sets(found.rejections, found.rows)
    shared = shared_by_all(result, found)
    largest, rows = next(iter(sets.items()), ((), found.rows))
    first, of = (shared[0], found.rows) if shared else (largest[0] if largest else Rejection("", ""), rows)
    if first.plugin == CORDONED or first.what == NOMINATED:
        return None
    if first.plugin == TAINTS:
        return _tolerating(result.pod, first.what)
    phrase = phrase_of(result, first, of)
    label = phrase.detail
    if not label:
        nodes = f"{len(of):,} {'node' if len(of) == 1 else 'nodes'}"
        label = f"{nodes} {agreeing(len(of), phrase.several)}"
    if first.plugin == FIT:
        return _asking(result.pod, first.what, label)
    facts = next((each.facts for each in result.filter_evidence(first.plugin, of[0])), {})
    return _field(first.plugin, result.pod, facts, label)


def _field(plugin: str, pod: Pod, facts: Mapping[str, JSON], label: str) -> DecidingField | None:
    paths = tuple(_BY_PLUGIN[plugin](pod, facts)) if plugin in _BY_PLUGIN else ()
    return DecidingField(paths=paths, label=label) if paths else None


def _asking(pod: Pod, resource: str, label: str) -> DecidingField | None:
    """Return the requests of the resource, those of the container that asks for most first."""
    amounts: dict[Path, float] = {}
    for field, containers in (("containers", pod.spec.containers), ("initContainers", pod.spec.init_containers)):
        for index, each in enumerate(containers):
            asked = parse_resource_list(each.resources.requests or each.resources.limits).get(resource)
            if asked is not None:
                amounts[field, index, "resources"] = float(asked.value())
    places: list[Path] = [("resources",), *sorted(amounts, key=lambda place: -amounts[place])]
    paths = tuple((*place, kind, resource) for place in places for kind in ("requests", "limits"))
    return DecidingField(paths=paths, label=label) if resource != "pods" else None


def _tolerating(pod: Pod, taint: str) -> DecidingField | None:
    """Return the toleration of the taint's key that does not match, else the list of tolerations, else the spec.

    None for a taint that a controller sets and removes: the pod is not to tolerate it.
    """
    key = taint.partition(":")[0].partition("=")[0]
    if set_by_controller(key):
        return None
    near = (("tolerations", index) for index, each in enumerate(pod.spec.tolerations) if each.key == key)
    return DecidingField(paths=(*near, ("tolerations",), ()), label=f"taint {taint} is not tolerated")


def _unmet_keys(facts: Mapping[str, JSON]) -> Iterator[str]:
    terms = facts.get("terms")
    for term in terms if isinstance(terms, list) else ():
        unmet = term.get("unmet") if isinstance(term, dict) else None
        for each in unmet if isinstance(unmet, list) else ():
            if isinstance(each, dict):
                yield str(each.get("key"))


def _selecting(pod: Pod, key: str) -> Iterator[Path]:
    """Yield the selector, and the expressions of required affinity, that ask for the label."""
    if key in (pod.spec.node_selector or {}):
        yield "nodeSelector", key
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    required = affinity.required if affinity is not None else None
    for number, term in enumerate(required.node_selector_terms if required is not None else ()):
        start = ("affinity", "nodeAffinity", _REQUIRED, "nodeSelectorTerms", number)
        for kind, asked in (("matchExpressions", term.match_expressions), ("matchFields", term.match_fields)):
            yield from ((*start, kind, index) for index, each in enumerate(asked) if each.key == key)


def _of_affinity(pod: Pod, facts: Mapping[str, JSON]) -> Iterator[Path]:
    for key in _unmet_keys(facts):
        yield from _selecting(pod, key)


def _of_spread(pod: Pod, facts: Mapping[str, JSON]) -> Iterator[Path]:
    is_label = "missingLabel" in facts
    for index, each in enumerate(pod.spec.topology_spread_constraints):
        if each.topology_key == facts.get("topologyKey") and each.when_unsatisfiable != "ScheduleAnyway":
            needs_more = _is_more(each.min_domains, facts.get("domainCount")) and facts.get("minimum") == 0
            field = "topologyKey" if is_label else "minDomains" if needs_more else "maxSkew"
            yield "topologySpreadConstraints", index, field


def _is_more(wanted: int | None, there: JSON) -> bool:
    return wanted is not None and isinstance(there, int) and wanted > there


def _of_neighbours(pod: Pod, facts: Mapping[str, JSON]) -> Iterator[Path]:
    """Yield the terms over the topology key; the anti-affinity of other pods is no field of this one."""
    field = {"affinity": "podAffinity", "antiAffinity": "podAntiAffinity"}.get(str(facts.get("rule")))
    own = pod.spec.affinity
    if field is None or own is None:
        return
    terms = own.pod_affinity if field == "podAffinity" else own.pod_anti_affinity
    for index, each in enumerate(terms.required if terms is not None else ()):
        if each.topology_key == facts.get("topologyKey"):
            yield "affinity", field, _REQUIRED, index, "topologyKey"


def _of_ports(pod: Pod, facts: Mapping[str, JSON]) -> Iterator[Path]:
    for number, container in enumerate(pod.spec.containers):
        for index, each in enumerate(container.ports):
            if each.host_port == facts.get("port"):
                yield "containers", number, "ports", index, "hostPort"
                yield "containers", number, "ports", index, "containerPort"  # hostNetwork makes it the host's


def _of_volumes(pod: Pod, facts: Mapping[str, JSON]) -> Iterator[Path]:
    for index, each in enumerate(pod.spec.volumes):
        claim = each.persistent_volume_claim
        if claim is not None and claim.claim_name == facts.get("claim"):
            yield "volumes", index, "persistentVolumeClaim", "claimName"


def _of_claims(pod: Pod, facts: Mapping[str, JSON]) -> Iterator[Path]:
    """Yield the claim that the facts name, or the only one; a template's claim begins with the pod's name."""
    named, claims = str(facts.get("claim", "")).rpartition("/")[2], pod.spec.resource_claims
    for index, each in enumerate(claims):
        is_made = each.resource_claim_template_name and named.startswith(f"{pod.name}-{each.name}")
        if len(claims) == 1 or each.resource_claim_name == named or is_made:
            yield "resourceClaims", index


def _of_name(_pod: Pod, _facts: Mapping[str, JSON]) -> Iterator[Path]:
    yield ("nodeName",)


_BY_PLUGIN: Final[Mapping[str, Callable[[Pod, Mapping[str, JSON]], Iterator[Path]]]] = {
    "NodeAffinity": _of_affinity,
    "NodeName": _of_name,
    "PodTopologySpread": _of_spread,
    "InterPodAffinity": _of_neighbours,
    "NodePorts": _of_ports,
    "VolumeBinding": _of_volumes,
    "VolumeZone": _of_volumes,
    "VolumeRestrictions": _of_volumes,
    "NodeVolumeLimits": _of_volumes,
    "DynamicResources": _of_claims,
}
