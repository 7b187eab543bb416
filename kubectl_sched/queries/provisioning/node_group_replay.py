"""The replay of a pod on the templates of node groups, as cluster-autoscaler judges it before it lets one grow."""

from __future__ import annotations

from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec.structs import replace

from kubectl_sched.api.apimachinery.quantity import ZERO
from kubectl_sched.api.apps import DaemonSet
from kubectl_sched.api.component_helpers.pod_requests import pod_requests
from kubectl_sched.api.core import ZONE, Node
from kubectl_sched.api.pod import Pod
from kubectl_sched.controllers.daemon_set import daemon_pods
from kubectl_sched.framework.cycle_state import CycleState
from kubectl_sched.framework.status import unresolvable
from kubectl_sched.node_provisioning.cluster_autoscaler.node_groups import (
    NodeGroup,
    gke_pool,
    gke_zone,
)
from kubectl_sched.node_provisioning.cluster_autoscaler.similar_groups import Template
from kubectl_sched.node_provisioning.cluster_autoscaler.template_node import (
    example_node,
    is_added,
    is_of_daemon_set,
    is_ready,
    pod_of_template,
    staying_pods,
    template_node,
)
from kubectl_sched.queries.provisioning.node_group_advice import (
    another_zone,
    at_zero,
    balance_sentences,
    in_zone,
    missing_startup_taint,
    unlike_its_template,
    wanted_zones,
)
from kubectl_sched.queries.provisioning.provisioner_advice import (
    ProvisionerAdvice,  # noqa: TC001 - the JSON Schema is made from the types
)
from kubectl_sched.record import CachingRecord
from kubectl_sched.scheduler.scheduler import Scheduler
from kubectl_sched.simulation.edited_cluster import slices_of_copy
from kubectl_sched.sources.discovery.replay_setup import snapshot_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_sched.api.apimachinery.quantity import Quantity
    from kubectl_sched.config import Configuration
    from kubectl_sched.framework.status import Status
    from kubectl_sched.node_provisioning.cluster_autoscaler.autoscaler_options import AutoscalerOptions
    from kubectl_sched.node_provisioning.cluster_autoscaler.status_config_map import GroupStatus
    from kubectl_sched.sources.discovery.cluster_autoscalers import FoundAutoscaler
    from kubectl_sched.sources.dump.dump import Dump

CREATED, IN_FLIGHT, IMPOSSIBLE, UNKNOWN = "Created", "InFlight", "Impossible", "Unknown"
_ZONES_TRIED = 8
_TEMPLATE_PREFIX = "template-node-for-"
_NO_TEMPLATE = "none of its nodes is there; --node-template FILE gives one"


class GroupVerdict(CachingRecord, frozen=True, kw_only=True):
    """The verdict on one node group: Created if it may grow for the pod, InFlight if it is doing so already."""

    name: str
    verdict: str
    reason: str
    size: int | None = None
    min: int | None = None
    max: int | None = None
    template: str | None = None
    """The node that the template was made of."""

    advice: tuple[ProvisionerAdvice, ...] = ()
    grown_in_vain: bool = False
    """The group grew for the pod, and its nodes do not take it."""


class Said(NamedTuple):
    """The autoscaler's own events about the pod: a reason that it counts for all groups, and its last scale-up."""

    of_all: str
    grown: str


class NodeGroupReplay:
    """The pod on each template, over the pods that the autoscaler counts."""

    def __init__(
        self,
        pod: Pod,
        dump: Dump,
        found: FoundAutoscaler,
        groups: Sequence[NodeGroup],
        configuration: Configuration,
        said: Said,
    ) -> None:
        self._pod = pod
        self._objects = dump.objects
        self._said = said
        self._zones_of_groups = frozenset(map(gke_zone, groups))
        self._options = options = found.options
        self._serves_requests = found.serves_requests
        self._configuration = configuration
        objects = [item for item in dump.objects if not isinstance(item, Pod) or not options.is_expendable(item)]
        self._pods = [item for item in objects if isinstance(item, Pod) and not item.has_ended]
        self._daemon_sets = [item for item in objects if isinstance(item, DaemonSet)]
        ready = sum(isinstance(item, Node) and is_ready(item, options) for item in objects)
        self._is_full = 0 < options.max_nodes_total <= ready
        self._examples = {group.name: example for group in groups if (example := _example(group, options)) is not None}
        self._examples |= dict(_of_siblings(groups, self._examples))
        slices = [
            each
            for name, example in self._examples.items()
            for each in slices_of_copy(example.name, _TEMPLATE_PREFIX + name, objects)
        ]
        nodes, _ = snapshot_of([*objects, *slices], configuration)
        self._nodes = nodes.remove_pod(pod.namespace, pod.name)

    def verdict(self, group: NodeGroup) -> GroupVerdict:
        """Judge one group."""
        status, example = group.status, self._examples.get(group.name)
        verdict, reason = self._judged(group, example)
        is_refused = verdict in {IMPOSSIBLE, UNKNOWN} and not self._pod_problem
        unlike = tuple(self._unlike_its_template(group, example)) if is_refused else ()
        return GroupVerdict(
            name=group.name,
            verdict=verdict,
            reason=reason,
            size=status.size if status is not None else None,
            min=status.min if status is not None else None,
            max=status.max if status is not None else None,
            template=example.name if example is not None else None,
            advice=unlike or (self._advice(group, example) if is_refused else ()),
            grown_in_vain=bool(unlike),
        )

    def balance(self, growing: Sequence[NodeGroup]) -> Iterator[str]:
        """Yield what is said of the balance of groups that could grow."""
        found = {group.name: self._template(group) for group in growing if group.name in self._examples}
        yield from balance_sentences(found, self._options, [each for each in self._objects if isinstance(each, Node)])

    def _template(self, group: NodeGroup) -> Template:
        example = self._examples[group.name]
        template = template_node(example, _TEMPLATE_PREFIX + group.name, self._options)
        requested: dict[str, Quantity] = {}
        for pod in self._fresh_pods(template, example, from_file=not group.nodes):
            for name, amount in pod_requests(pod).items():
                requested[name] = requested.get(name, ZERO) + amount
        return Template(template, requested)

    def _unlike_its_template(self, group: NodeGroup, example: Node | None) -> Iterator[ProvisionerAdvice]:
        """Yield what the template lacked when the group grew for the pod; nothing where its nodes would take it."""
        if example is None or not self._said.grown or self._rejection(group, example) is None:
            return
        nodes = (each for each in self._objects if isinstance(each, Node))
        yield from unlike_its_template(group, self._pod, self._said.grown, nodes, self._options)

    def _advice(self, group: NodeGroup, example: Node | None) -> tuple[ProvisionerAdvice, ...]:
        """Return what the group could be given, none for a pod that no group grows for."""
        if example is None:
            return tuple(at_zero(group, self._pod, (each for each in self._objects if isinstance(each, Node))))
        if self._rejection(group, example) is None:
            return ()
        passing = missing_startup_taint(
            group, self._pod, self._options, lambda node: self._rejection(group, node) is None
        )
        found = next(passing, None)
        if found is not None:
            return (found,)
        own = example.metadata.labels.get(ZONE)
        zones = (zone for zone in wanted_zones(self._pod, self._objects)[:_ZONES_TRIED] if zone != own)
        fitting = (
            zone
            for zone in zones
            if zone not in self._zones_of_groups and self._rejection(group, in_zone(example, zone)) is None
        )
        return tuple(another_zone(group.name, example, zone) for zone in islice(fitting, 1))

    def _judged(self, group: NodeGroup, example: Node | None) -> tuple[str, str]:
        """Return the verdict and its reason: nodes on their way come first, then limits, then the template."""
        if self._pod_problem:
            return IMPOSSIBLE, self._pod_problem
        rejection = self._rejection(group, example) if example is not None else None
        fits, status = example is not None and rejection is None, group.status
        if fits and status is not None and self._has_upcoming(status):
            return IN_FLIGHT, f"{status.upcoming} of its nodes {'is' if status.upcoming == 1 else 'are'} starting"
        skipped = "max total nodes in cluster reached" if self._is_full else _skipped(status)
        if skipped:
            return IMPOSSIBLE, skipped
        if rejection is not None:
            return IMPOSSIBLE, ", ".join(rejection.reasons) or f"{rejection.plugin} leaves the node out"
        if fits:
            return CREATED, "the pod fits on its template"
        return (IMPOSSIBLE, self._said.of_all) if self._said.of_all else (UNKNOWN, _NO_TEMPLATE)

    @cached_property
    def _pod_problem(self) -> str:
        """The reason why no group grows for the pod (core/podlistprocessor); empty if one may."""
        pod, release, cutoff = self._pod, self._configuration.release, self._options.expendable_below
        nominated = pod.status.nominated_node_name
        if pod.spec.scheduling_gates:
            return "the pod is gated: kube-scheduler has not tried it, and the autoscaler helps only pods that it has"
        if self._options.is_expendable(pod):
            return f"the pod's priority {pod.spec.priority} is below {cutoff}, the cutoff"
        if pod.provisioning_request and self._serves_requests:
            return f"the pod consumes ProvisioningRequest {pod.provisioning_request}, for which room is made instead"
        if nominated and (release.autoscaler_skips_all_nominated or nominated in self._nodes.row_of):
            return f"the pod is nominated to {nominated}"
        return "a pod of a DaemonSet needs the node that it is for" if is_of_daemon_set(pod) else ""

    def _has_upcoming(self, status: GroupStatus) -> bool:
        """Report whether nodes are on their way (GetUpcomingNodes)."""
        needs_scale_up = self._configuration.release.upcoming_nodes_need_scale_up
        return status.upcoming > 0 and (status.scale_up == "InProgress" or not needs_scale_up)

    def _rejection(self, group: NodeGroup, example: Node) -> Status | None:
        """Return the first rejection of the pod on the group's template; None if it fits there (CheckPredicates)."""
        template = template_node(example, _TEMPLATE_PREFIX + group.name, self._options)
        nodes = self._nodes.add_node(template)
        row = len(nodes) - 1
        for pod in self._fresh_pods(template, example, from_file=not group.nodes):
            nodes = nodes.assume(pod_of_template(pod, template.name), row)
        nodes = Scheduler(self._configuration, nodes).nodes.take(np.array([row]))
        framework = Scheduler(self._configuration, nodes).framework(next(iter(self._configuration.profiles)))
        assert framework is not None  # noqa: S101 - the profile is the configuration's own
        state = CycleState()
        first = framework.run_pre_filter(state, self._pod, nodes)
        if not first.status.is_success:
            return first.status
        verdict = framework.run_filters(state, self._pod, nodes)[0]
        if verdict.is_success and first.node_names is not None and template.name not in first.node_names:
            return unresolvable().by(", ".join(sorted(first.narrowed_by)))
        return None if verdict.is_success else verdict

    def _fresh_pods(self, template: Node, example: Node, *, from_file: bool) -> Iterator[Pod]:
        """The pods that a fresh node would have (podsExpectedOnFreshNode)."""
        options = replace(self._options, forces_daemon_sets=True) if from_file else self._options
        there = [] if from_file else staying_pods(pod for pod in self._pods if pod.spec.node_name == example.name)
        yield from there
        owners = [pod.metadata.controller for pod in there]
        running = {owner.uid or owner.name for owner in owners if owner is not None}
        for item in self._daemon_sets:
            if (item.metadata.uid or item.name) not in running:
                yield from (pod for pod in daemon_pods(item, [template]) if is_added(pod, options))


def _of_siblings(groups: Sequence[NodeGroup], examples: Mapping[str, Node]) -> Iterator[tuple[str, Node]]:
    """Yield for instance groups without nodes the node of a sibling: those of one GKE pool differ in their zone."""
    pools = {pool: examples[group.name] for group in groups if group.name in examples and (pool := gke_pool(group))}
    for group in groups:
        sibling = pools.get(gke_pool(group)) if group.name not in examples else None
        zone = gke_zone(group)
        if sibling is not None and zone:
            yield group.name, in_zone(sibling, zone)


def _example(group: NodeGroup, options: AutoscalerOptions) -> Node | None:
    return example_node(group.nodes, options) or next(iter(group.templates), None)


def _skipped(status: GroupStatus | None) -> str:
    """The reason, in the autoscaler's words, why a group may not grow now; empty if it may."""
    if status is None:
        return ""
    if status.health == "Unhealthy":
        return "not ready for scale-up"
    if status.scale_up == "Backoff":
        return "in backoff after failed scale-up" + (f" ({status.error_code})" if status.error_code else "")
    return "max node group size reached" if status.size >= status.max else ""
