"""Changes to a NodePool with which Karpenter would make a node of it for a pod."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_sched.api.affinity import Toleration
from kubectl_sched.api.apimachinery.quantity import parse_resource_list
from kubectl_sched.api.karpenter import NodeSelectorRequirementWithMinValues
from kubectl_sched.framework.clauses import first_few
from kubectl_sched.node_provisioning.karpenter.karpenter_labels import NORMALIZED
from kubectl_sched.node_provisioning.karpenter.node_claim_template import pool_requirements, template_requirements
from kubectl_sched.node_provisioning.karpenter.node_pool_obstacles import certain_obstacle
from kubectl_sched.node_provisioning.karpenter.scheduling.requirement import IN
from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import pod_requirements
from kubectl_sched.node_provisioning.karpenter.scheduling.untolerated_taints import tolerates_all
from kubectl_sched.queries.provisioning.provisioner_advice import NODE_POOL, ProvisionerAdvice
from kubectl_sched.record import CachingRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kubectl_sched.api.karpenter import NodePool
    from kubectl_sched.api.meta import Condition
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.node_provisioning.karpenter.operator_options import Options
    from kubectl_sched.node_provisioning.karpenter.scheduling.requirement import Requirement
    from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import Requirements

    WouldMake = Callable[[NodePool, Pod], bool | None]

_CHANGED: Final = 2
"""The most labels of a NodePool that one advice changes."""

_VOLUMES_TRIED: Final = 4
_KUBERNETES_DOMAINS: Final = ("kubernetes.io", "k8s.io")
_TYPO: Final = "(typo of "
_TAINTS: Final = "spec.template.spec.taints"
_OF_THE_SYSTEM: Final = "CriticalAddonsOnly"
_UNSEEN: Final = " (no machine there is known here)"


class LimitUse(CachingRecord, frozen=True, kw_only=True):
    """A limit of a NodePool: what its nodes use, what is left, and what one more machine for the pod would count.

    The amounts are quantities; `needed` is None where no instance type tells it.
    """

    resource: str
    limit: str
    used: str
    left: str
    needed: str | None = None


def higher_limits(pool: NodePool, limits: Sequence[LimitUse]) -> Iterator[ProvisionerAdvice]:
    """Yield for each limit in the way what is used of it, and how much more would do."""
    for each in limits:
        wanted = ""
        at_least = ""
        if each.needed is not None:
            amounts = parse_resource_list({"used": each.used, "needed": each.needed})
            wanted = str(amounts["used"] + amounts["needed"])
            at_least = f" to {wanted} or more"
        machine = f", and the smallest machine for the pod has {each.needed}" if each.needed is not None else ""
        yield ProvisionerAdvice(
            kind=NODE_POOL,
            name=pool.name,
            field=f"spec.limits.{each.resource}",
            value=wanted,
            sentence=(
                f"NodePool {pool.name} has used {each.used} of its limit of {each.limit} {each.resource}, "
                f"{each.left} left{machine}: raise spec.limits.{each.resource}{at_least}"
            ),
        )


def more_replicas(pool: NodePool, replicas: int) -> ProvisionerAdvice:
    """Advise one node more of a NodePool that has a fixed number of them."""
    return ProvisionerAdvice(
        kind=NODE_POOL,
        name=pool.name,
        field="spec.replicas",
        value=str(replicas + 1),
        sentence=(
            f"NodePool {pool.name} has a fixed number of nodes ({replicas}), and the pod fits on one of them: raise "
            f"spec.replicas to {replicas + 1}, or have a NodePool without it"
        ),
    )


def made_ready(pool: NodePool, lacking: Condition) -> ProvisionerAdvice:
    """Advise to mend what a condition of a NodePool says: its NodeClass, else the NodePool itself."""
    node_class = pool.spec.template.spec.node_class_ref
    is_of_class = lacking.type == "NodeClassReady" and node_class.name
    kind, name = (node_class.kind, node_class.name) if is_of_class else ("NodePool", pool.name)
    said = lacking.message or lacking.reason or f"condition {lacking.type} is {lacking.status or 'not set'}"
    return ProvisionerAdvice(
        kind=NODE_POOL,
        name=pool.name,
        field="spec.template.spec.nodeClassRef" if is_of_class else "status.conditions",
        sentence=(
            f"NodePool {pool.name} is not ready, so Karpenter makes no node of it ({lacking.type}: {said}): mend "
            f"{kind} {name} (kubectl describe {kind.lower()} {name})"
        ),
    )


def changed_pool(
    pool: NodePool, pod: Pod, options: Options, volumes: Sequence[Requirements], would_make: WouldMake
) -> Iterator[ProvisionerAdvice]:
    """Yield what keeps a pod out of a NodePool whatever its machines: its taints, else labels that it could have.

    Nothing is said of a label that may be misspelt, or where more than the change is needed.
    """
    taints = [each for each in pool.spec.template.spec.taints if each.effect != "PreferNoSchedule"]
    lacking = [each for each in taints if not tolerates_all([each], pod.spec.tolerations)]
    if lacking:
        added = (Toleration(key=each.key, operator="Equal", value=each.value, effect=each.effect) for each in lacking)
        tolerant = replace(pod, spec=replace(pod.spec, tolerations=(*pod.spec.tolerations, *added)))
        if not certain_obstacle(pool, tolerant, {}, options, volumes) and would_make(pool, tolerant) is not False:
            yield _tolerated(pool, [str(each) for each in lacking])
        return
    for of_volumes in (volumes or ({},))[:_VOLUMES_TRIED]:
        wanted = pod_requirements(pod, strict=True)
        changes = _changes(pool, {**of_volumes, **wanted}, options)
        if not 0 < len(changes) <= _CHANGED or _TYPO in certain_obstacle(pool, pod, {}, options, volumes):
            continue
        changed = _with(pool, changes)
        makes = would_make(changed, pod)
        if makes is False or certain_obstacle(changed, pod, {}, options, volumes):
            continue
        unseen = _UNSEEN if makes is None and not any(_is_new(pool, each) for each in changes) else ""
        for each in changes:
            yield _with_label(pool, each, wanted.get(each.key) is None, unseen)
        return


def in_order(
    of_pools: Sequence[ProvisionerAdvice], others: Sequence[ProvisionerAdvice], *, is_certain: bool
) -> list[ProvisionerAdvice]:
    """Return what would help: limits first; labels only where no NodePool makes a node, taints where nothing else."""
    limits = [each for each in of_pools if each.field.startswith("spec.limits.")]
    rest = [each for each in of_pools if each not in limits] if is_certain else []
    labels = [each for each in rest if each.field != _TAINTS]
    return [*limits, *labels, *others] or rest


def _tolerated(pool: NodePool, taints: Sequence[str]) -> ProvisionerAdvice:
    listed = " and ".join(taints)
    is_of_system = any(each.startswith(_OF_THE_SYSTEM) for each in taints)
    or_tolerate = "" if is_of_system else ", or tolerate it where the pod belongs on such nodes"
    return ProvisionerAdvice(
        kind=NODE_POOL,
        name=pool.name,
        field=_TAINTS,
        sentence=(
            f"NodePool {pool.name} keeps off what does not tolerate {listed}: have a NodePool without the taint"
            f"{or_tolerate}"
        ),
    )


def _changes(pool: NodePool, wanted: Requirements, options: Options) -> list[Requirement]:
    """Return the requirements, of some values each, that the NodePool contradicts or whose label it does not have."""
    have = template_requirements(pool)
    found = []
    for key, want in sorted(wanted.items()):
        known = have.get(key)
        is_lacking = known is None and key not in options.well_known and not want.is_negative
        if not is_lacking and (known is None or not known.excludes(want)):
            continue
        if want.complement or not want.values or key in pool.spec.template.metadata.labels or _is_reserved(key):
            return []
        found.append(want)
    return found


def _is_reserved(key: str) -> bool:
    """Report whether NodePools may not set the label, unless the cloud does: the domains of Kubernetes."""
    domain = key.partition("/")[0] if "/" in key else ""
    return (
        any(domain.endswith(each) for each in _KUBERNETES_DOMAINS)
        and not domain.startswith(("topology.", "node.kubernetes.io", "node-restriction."))
        and key not in {"kubernetes.io/arch", "kubernetes.io/os"}
    )


def _is_new(pool: NodePool, change: Requirement) -> bool:
    return change.key not in pool_requirements(pool)


def _with(pool: NodePool, changes: Sequence[Requirement]) -> NodePool:
    """Return the NodePool with these requirements in place of its own on the labels."""
    keys = {each.key for each in changes}
    spec = pool.spec.template.spec
    kept = tuple(each for each in spec.requirements if NORMALIZED.get(each.key, each.key) not in keys)
    added = (
        NodeSelectorRequirementWithMinValues(key=each.key, operator=IN, values=tuple(sorted(each.values)))
        for each in changes
    )
    template = replace(pool.spec.template, spec=replace(spec, requirements=(*kept, *added)))
    return replace(pool, spec=replace(pool.spec, template=template))


def _with_label(pool: NodePool, change: Requirement, is_of_volume: bool, unseen: str) -> ProvisionerAdvice:
    value = min(change.values)
    subject = "its volume" if is_of_volume else "the pod"
    if _is_new(pool, change):
        field = "spec.template.metadata.labels"
        sentence = (
            f"NodePool {pool.name} gives its nodes no label {change.key}, which {subject} needs: add "
            f"{change.key}: {value} to {field}, there or in a NodePool of its own"
        )
    else:
        field = "spec.template.spec.requirements"
        stated = pool_requirements(pool)[change.key]
        values = first_few(sorted(stated.values))
        sentence = (
            f"NodePool {pool.name} allows {change.key} {f'not {values}' if stated.complement else values}, and "
            f"{subject} needs {value}: allow that in {field}, there or in a NodePool of its own{unseen}"
        )
    return ProvisionerAdvice(
        kind=NODE_POOL, name=pool.name, field=field, value=f"{change.key}: {value}", sentence=sentence
    )
