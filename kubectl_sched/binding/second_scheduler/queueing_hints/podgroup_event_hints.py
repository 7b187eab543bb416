"""Hints of GangScheduling: a pod or a group has come, or a gang needs fewer pods (plugins/gangscheduling)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.pod import Pod
from kubectl_sched.api.scheduling import CompositePodGroup, PodGroup, Workload
from kubectl_sched.framework.podgroup_info import root_of

if TYPE_CHECKING:
    from kubectl_sched.binding.second_scheduler.queueing_hints.hint_question import HintQuestion
    from kubectl_sched.framework.podgroup_info import Group


def pod_of_group(question: HintQuestion) -> bool:
    """A pod of the same group, or of the same tree of groups, has come."""
    _, new = question.after(Pod)
    if new.spec.workload_ref is not None:
        return new.spec.workload_ref == question.pod.spec.workload_ref and new.namespace == question.pod.namespace
    theirs = new.spec.scheduling_group
    return theirs is not None and _is_near(question, PodGroup, theirs.pod_group_name or "", new.namespace)


def pod_group(question: HintQuestion) -> bool:
    """The pod's group, or one of its tree, has come or, since 1.37, needs fewer pods."""
    old, new = question.after(PodGroup)
    if old is not None:
        before, now = (each.spec.scheduling_policy.gang for each in (old, new))
        if not question.release.groups_are_queued or before is None or now is None or now.min_count >= before.min_count:
            return False
    return _is_near(question, PodGroup, new.name, new.namespace)


def composite_pod_group(question: HintQuestion) -> bool:
    """A CompositePodGroup of the pod's tree has come or, since 1.38, needs fewer groups."""
    old, new = question.after(CompositePodGroup)
    if old is not None:
        before, now = (each.spec.scheduling_policy.gang for each in (old, new))
        if not question.release.smaller_trees_wake or before is None or now is None:
            return False
        if now.min_group_count >= before.min_group_count:
            return False
    return _is_near(question, CompositePodGroup, new.name, new.namespace)


def workload(question: HintQuestion) -> bool:
    """The pod's Workload has come, in 1.35."""
    old, new = question.after(Workload)
    part = question.pod.spec.workload_ref
    return old is None and part is not None and (part.name, question.pod.namespace) == (new.name, new.namespace)


def _is_near(question: HintQuestion, kind: type[Group], name: str, namespace: str) -> bool:
    """Report whether that group is the pod's, or in the same tree (areSameHierarchy)."""
    pod = question.pod
    own = pod.group_name
    if own is None or pod.namespace != namespace:
        return False
    if not question.features.enabled("CompositePodGroup"):
        return kind is PodGroup and own == name
    objects = question.cluster().objects
    mine, other = objects.get(PodGroup, own, namespace), objects.get(kind, name, namespace)
    roots = [root_of(each, objects, question.features, question.budget) for each in (mine, other) if each is not None]
    return len(roots) == 2 and None not in roots and roots[0] == roots[1]
