"""The outcome of Karpenter's simulation: the NodeClaims it would create, the nodes it would await, and its errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubectl_sched.node_provisioning.karpenter.cloudprovider.instance_type_order import (
    has_equal_prices,
    min_values_text,
    ordered_by_price,
    too_few_values,
)
from kubectl_sched.node_provisioning.karpenter.karpenter_labels import (
    CAPACITY_TYPE,
    INSTANCE_TYPE,
    RESTRICTED,
    SIMULATION_KEYS,
)
from kubectl_sched.node_provisioning.karpenter.scheduling.requirement import IN, Requirement, requirement
from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import is_compatible, merged, of_key
from kubectl_sched.record import CachingRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kubectl_sched.api.component_helpers.container_resources import Resources
    from kubectl_sched.node_provisioning.karpenter.existing_node import ExistingNode
    from kubectl_sched.node_provisioning.karpenter.node_claim import NewNodeClaim
    from kubectl_sched.node_provisioning.karpenter.node_claim_template import NodeClaimTemplate
    from kubectl_sched.node_provisioning.karpenter.operator_options import Options
    from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import Requirements
    from kubectl_sched.node_provisioning.karpenter.solver import Solver
    from kubectl_sched.node_provisioning.karpenter.topology.ties import Ties


class PlannedNodeClaim(CachingRecord, frozen=True, kw_only=True):
    """A NodeClaim that would be created, its instance types cheapest first."""

    template: NodeClaimTemplate
    pods: tuple[str, ...]
    rows: tuple[int, ...]
    requirements: Requirements
    requests: Resources
    min_values_relaxed: bool

    @property
    def node_pool(self) -> str:
        """The NodePool that it belongs to."""
        return self.template.node_pool

    @property
    def instance_types(self) -> list[str]:
        """The names of the instance types that the cloud may choose from."""
        return [self.template.table.types[row].name for row in self.rows]

    def created(self, max_instance_types: int) -> tuple[dict[str, str], list[dict[str, Any]]]:
        """The labels and requirements of the NodeClaim (ToNodeClaim); a label of several values is left out."""
        requirements = _with_choices(self, max_instance_types)
        labels = dict(self.template.labels)
        left_out = self.template.table.well_known | RESTRICTED | SIMULATION_KEYS
        for key, each in requirements.items():
            if key not in left_out and each.only_value:
                labels[key] = each.only_value
        return labels, selectors(each for key, each in requirements.items() if key not in SIMULATION_KEYS)


class Outcome(CachingRecord, frozen=True, kw_only=True):
    """One round of Karpenter. Pods are named namespace/name, errors are Karpenter's texts."""

    claims: tuple[PlannedNodeClaim, ...] = ()
    existing: Mapping[str, tuple[str, ...]] = {}
    """The pods that a node that is there or on its way would take, by its name."""

    errors: Mapping[str, str] = {}
    errors_by_pool: Mapping[str, Mapping[str, str]] = {}
    """The reason of each NodePool that was tried for a pod, by the pod and the NodePool."""

    ignored: Mapping[str, str] = {}
    """The reasons why Karpenter does not look at a pod."""

    ties: frozenset[str] = frozenset()
    """The decisions that another run might take differently."""


def outcome_of(
    solver: Solver, nodes: Iterable[ExistingNode], ignored: Mapping[str, str], options: Options, ties: Ties
) -> Outcome:
    """Return the result of a simulation, its NodeClaims cut to as many types as are sent (TruncateInstanceTypes)."""
    errors = {key: each.text() for key, each in solver.errors.items()}
    claims = []
    for claim in solver.claims:
        planned, wrong = _truncated(claim, options, ties)
        if wrong:
            errors |= dict.fromkeys(planned.pods, wrong)
        else:
            claims.append(planned)
    return Outcome(
        claims=tuple(claims),
        existing={each.state.name: tuple(pod.key for pod in each.pods) for each in nodes if each.pods},
        errors=errors,
        errors_by_pool={
            key: {pool: reason.text() for pool, reason in each.of_pools} for key, each in solver.errors.items()
        },
        ignored=ignored,
        ties=frozenset(ties.choices),
    )


def selectors(requirements: Iterable[Requirement]) -> list[dict[str, Any]]:
    """Requirements as a NodeClaim holds them, by label."""
    made = [each for requirement in requirements for each in requirement.as_selector()]
    return sorted(made, key=lambda each: (each["key"], each["operator"]))


def _truncated(claim: NewNodeClaim, options: Options, ties: Ties) -> tuple[PlannedNodeClaim, str]:
    """A NodeClaim with its cheapest instance types, and why these do not do."""
    table, requirements = claim.template.table, claim.requirements
    if _is_order_open(claim):
        ties.mark("instance types")
    if _is_overhead_open(claim):
        ties.mark("daemon overhead")
    ordered = ordered_by_price(table, claim.rows, requirements)[: options.max_instance_types]
    planned = PlannedNodeClaim(
        template=claim.template,
        pods=tuple(pod.key for pod in claim.pods),
        rows=tuple(ordered),
        requirements=requirements,
        requests=claim.requests,
        min_values_relaxed=claim.min_values_relaxed,
    )
    if options.relaxes_min_values:
        return planned, ""
    short = too_few_values([table.types[row] for row in ordered], requirements, table.release)
    if not short:
        return planned, ""
    return planned, (
        "pod didn’t schedule because NodePool couldn’t meet minValues requirements, validating minValues, "  # noqa: RUF001
        f"{min_values_text(short)} (NodePool={claim.template.node_pool})"
    )


def _is_order_open(claim: NewNodeClaim) -> bool:
    """Report whether types of one price come from groups whose order is left to chance."""
    return len(claim.groups_left) > 1 and has_equal_prices(claim.template.table, claim.rows, claim.requirements)


def _is_overhead_open(claim: NewNodeClaim) -> bool:
    """Report whether the daemons that its requests count are left to chance (addDaemonRequests).

    Upstream takes the least of all groups, but begins anew after one without daemons, in whatever order they come.
    """
    overheads = [bool(group.overhead) for group in claim.groups_left]
    return any(overheads) and not all(overheads)


def _with_choices(claim: PlannedNodeClaim, max_instance_types: int) -> Requirements:
    """The requirements with the instance types and the capacity types that they leave."""
    table = claim.template.table
    ordered = ordered_by_price(table, claim.rows, claim.requirements)[:max_instance_types]
    names = [table.types[row].name for row in ordered]
    min_values = of_key(claim.requirements, INSTANCE_TYPE).min_values
    chosen = merged(claim.requirements.values(), [requirement(INSTANCE_TYPE, IN, names, min_values)])
    capacity_types = _capacity_types(claim, ordered, chosen)
    return merged(chosen.values(), [requirement(CAPACITY_TYPE, IN, capacity_types)]) if capacity_types else chosen


def _capacity_types(claim: PlannedNodeClaim, rows: Sequence[int], requirements: Requirements) -> set[str]:
    table = claim.template.table
    return {
        offering.capacity_type
        for row in rows
        for offering in table.types[row].offerings
        if offering.is_launchable(table.release)
        and is_compatible(requirements, offering.requirements, table.well_known)
    }
