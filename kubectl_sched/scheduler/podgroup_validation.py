"""Checks before a group is tried at all (frameworkForPodGroup, since 1.37 validatePodGroup)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.config.scheduler_name import scheduler_name_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.config import Configuration
    from kubectl_sched.framework.podgroup_info import PodGroupInfo

_PREEMPTS = "PreemptLowerPriority"


def refusal(info: PodGroupInfo, configuration: Configuration, profile: str | None = None) -> str | None:
    """Return the error with which every member fails, None if the group is tried.

    `profile` is one for all members instead of their own.
    """
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
    return None if own in configuration.profiles else f'profile not found for scheduler name "{own}"'


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
