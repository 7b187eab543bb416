"""Room for a PodGroup: the group's own cycle says whether and where it fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.meta import with_spec
from kubectl_sched.config.scheduler_name import scheduler_name_of
from kubectl_sched.record import Record
from kubectl_sched.scheduler.group_membership import group_with_cycle
from kubectl_sched.scheduler.podgroup_members import explain_podgroup
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.scheduler.scheduler import Scheduler

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.config import Configuration
    from kubectl_sched.framework.podgroup_info import Group
    from kubectl_sched.snapshot import Snapshot

_MOST_DOMAINS = 8


class GroupCycle(Record, frozen=True, kw_only=True):
    """The cycle of one group or of its tree, over versions of a cluster in which its waiting pods are pending."""

    group: Group
    configuration: Configuration

    def nodes_of(self, nodes: Snapshot) -> dict[str, tuple[str, ...]] | None:
        """Return the nodes that are tied for each pod of the group, by its key; None if the group does not fit.

        Where placements are tied, too, the nodes of all of these.
        """
        result = explain_podgroup(self.group, Scheduler(self.configuration, nodes))
        if result.outcome is not Outcome.SCHEDULABLE:
            return None
        tied: dict[str, dict[str, None]] = {}
        for place in sorted(result.feasible, key=lambda each: each is not result.chosen):
            for attempt in place.assigned if place.placement.name in result.best else ():
                names = attempt.tied or ((attempt.node_name,) if attempt.node_name is not None else ())
                tied.setdefault(attempt.pod.key, {}).update(dict.fromkeys(names))
        return {key: tuple(names) for key, names in tied.items() if names}

    def in_each_domain(self, pods: Sequence[Pod], nodes: Snapshot) -> list[Sequence[Pod]]:
        """Return the pods confined to each topology domain, first that where most fit now; as they are without one."""
        result = explain_podgroup(self.group, Scheduler(self.configuration, nodes))
        key, domains = result.info.topology_key, [each for each in result.placements if each.placement.name]
        if key is None or not domains:
            return [pods]
        most_first = sorted(domains, key=lambda each: -each.fits)[:_MOST_DOMAINS]
        return [[_confined(pod, key, each.placement.name) for pod in pods] for each in most_first]


def group_cycle(
    pods: Sequence[Pod], nodes: Snapshot, configuration_of: Callable[[str], Configuration]
) -> GroupCycle | None:
    """Return the cycle of the group that waiting pods belong to; None if they are scheduled one by one."""
    keys = {pod.key for pod in pods}
    member = next((pod for pod in nodes.pending if pod.key in keys), None)
    if member is None:
        return None
    configuration = configuration_of(scheduler_name_of(member))
    group = group_with_cycle(member, Scheduler(configuration, nodes))
    return GroupCycle(group=group, configuration=configuration) if group is not None else None


def _confined(pod: Pod, key: str, value: str) -> Pod:
    return with_spec(pod, node_selector={**(pod.spec.node_selector or {}), key: value})
