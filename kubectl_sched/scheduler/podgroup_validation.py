"""Checks before a group is tried at all (frameworkForPodGroup, since 1.37 validatePodGroup, since 1.38 its tree)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_sched.config.scheduler_name import scheduler_name_of
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.config import Configuration
    from kubectl_sched.framework.podgroup_info import PodGroupInfo

_PREEMPTS: Final = "PreemptLowerPriority"
_DEEPEST: Final = 4
"""WorkloadMaxTreeDepth: how many levels a tree of groups may have."""


class Refusal(NamedTuple):
    """The error with which every member fails, and whether the group itself is at fault, as its condition says."""

    text: str
    is_invalid: bool = False


def refusal(info: PodGroupInfo, configuration: Configuration, profile: str | None = None) -> Refusal | None:
    """Return why the group is not tried, None if it is.

    `profile` is one for all members instead of their own.
    """
    if configuration.release.group_trees_are_validated:
        own = profile or scheduler_name_of(info.pods[0])
        fault = next(_Tree(root=info, first=info.pods[0], profile=profile).faults(info, None, 1), None)
        if fault is not None:
            return Refusal(fault, is_invalid=True)
        return None if own in configuration.profiles else Refusal(_no_profile(own))
    why = _wrong_pod(info, configuration, profile)
    return None if why is None else Refusal(why)


def _no_profile(name: str) -> str:
    return f'profile not found for scheduler name "{name}"'


class _Tree(Record, frozen=True, kw_only=True):
    """The checks of 1.38, for all groups of a tree and all of their pods."""

    root: PodGroupInfo
    first: Pod
    profile: str | None

    def faults(self, info: PodGroupInfo, above: PodGroupInfo | None, depth: int) -> Iterator[str]:
        if info.is_tree and depth == _DEEPEST:
            yield f"hierarchy depth exceeds maximum allowed depth {_DEEPEST} at {_key(info)}"
        if above is not None:
            yield from self._of_group(info, above)
        for child in info.children:
            yield from self.faults(child, info, depth + 1)
        if not info.is_tree:
            for pod in (*info.pods, *info.scheduled):
                yield from self._of_pod(pod)

    @property
    def _policy(self) -> str:
        return self.root.group.spec.preemption_policy or self.first.spec.preemption_policy or _PREEMPTS

    def _of_group(self, info: PodGroupInfo, above: PodGroupInfo) -> Iterator[str]:
        root, group = self.root, info.group.spec
        names = [_workload(each) for each in (info, root)]
        if names[0] != names[1]:
            yield (
                f'pod group workload does not match root workload, got: "{names[0]}" ({_key(info)}) and '
                f'"{names[1]}" ({_key(root)})'
            )
        if info.priority != root.priority:
            yield (
                "all pod groups in a hierarchy should have the same priority as the root pod group's priority, got "
                f"{info.priority} ({_key(info)}) and {root.priority} ({_key(root)})"
            )
        if group.preemption_policy and group.preemption_policy != self._policy:
            yield (
                "all pod groups in a hierarchy should have the same preemption policy, got "
                f"{group.preemption_policy} ({_key(info)}) and {self._policy}"
            )
        if above.group.spec.scheduling_policy.gang is not None and group.scheduling_policy.basic is not None:
            yield f"gang parent {_key(above)} cannot have basic child {_key(info)}"
        if _mode(above, "all") and _mode(info, "single"):
            yield (
                f"parent {_key(above)} with All disruption mode cannot have child {_key(info)} with Single disruption "
                "mode"
            )

    def _of_pod(self, pod: Pod) -> Iterator[str]:
        root, name = self.root, f'("{pod.metadata.name}")'
        served = [self.profile or scheduler_name_of(each) for each in (pod, self.first)]
        if served[0] != served[1]:
            yield (
                "all pods in a pod group hierarchy should have the same .spec.schedulerName set, got: "
                f'"{served[0]}" {name} and "{served[1]}" ("{self.first.metadata.name}")'
            )
        if pod.priority != root.priority:
            yield (
                "all pods in a pod group hierarchy should have the same priority as the root pod group's priority, "
                f"got {pod.priority} {name} and {root.priority} ({_key(root)})"
            )
        policy = pod.spec.preemption_policy or _PREEMPTS
        if policy != self._policy:
            yield (
                "all pods in a pod group hierarchy should have the same preemption policy, got "
                f"{policy} {name} and {self._policy}"
            )


def _key(info: PodGroupInfo) -> str:
    return f'"{info.kind.lower()}/{info.group.namespace}/{info.group.name}"'


def _workload(info: PodGroupInfo) -> str:
    reference = info.group.spec.workload_ref
    return reference.workload_name if reference is not None else ""


def _mode(info: PodGroupInfo, name: str) -> bool:
    mode = info.group.spec.disruption_mode
    return mode is not None and not isinstance(mode, str) and getattr(mode, name) is not None


def _wrong_pod(info: PodGroupInfo, configuration: Configuration, profile: str | None) -> str | None:
    """The checks up to 1.37, which compare pods with each other and with the topmost group."""
    by_policy = configuration.release.groups_have_placement_feasible
    pods = (*info.pods, *info.scheduled) if by_policy else info.pods
    own = profile or scheduler_name_of(info.pods[0])
    policies = _policies(info, pods, configuration) if by_policy else iter([None] * len(pods))
    for pod, policy in zip(pods, policies, strict=True):
        name = profile or scheduler_name_of(pod)
        if name != own:
            return (
                "all pods in a single pod group should have the same .spec.schedulerName set, got: "
                f'"{name}" and "{own}"'
            )
        priority = info.priority
        if by_policy and pod.priority != priority:
            return (
                "all pods in a single pod group should have the same priority as the pod group's priority, got "
                f"{pod.priority} and {priority}"
            )
        if policy is not None:
            return policy
    return None if own in configuration.profiles else _no_profile(own)


def _policies(info: PodGroupInfo, pods: tuple[Pod, ...], configuration: Configuration) -> Iterator[str | None]:
    """For each pod, what is wrong with its preemption policy."""
    of_group = configuration.features.enabled("PodGroupPreemptionPolicy")
    wanted = (info.group.spec.preemption_policy or _PREEMPTS) if of_group else None
    for pod in pods:
        policy = pod.spec.preemption_policy or _PREEMPTS
        wanted = wanted or policy
        suffix = " as the pod group's preemption policy" if of_group else ""
        yield (
            None
            if policy == wanted
            else f"all pods in a single pod group should have the same preemption policy{suffix}, got {policy} and "
            f"{wanted}"
        )
