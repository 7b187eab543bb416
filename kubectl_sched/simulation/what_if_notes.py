"""Sentences about what a what-if cannot show in its placements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.apiserver.what_if_size_limits import few

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from kubectl_sched.api.apps import Deployment
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.controllers.pod_creation import Workload
    from kubectl_sched.simulation.placements import Placement


def about_order(placements: Sequence[Placement], turns: Mapping[str, Pod]) -> Iterator[str]:
    """Sets whose pods are made one after the other, where one of them has no node.

    `turns` is what `predecessors` gives.
    """
    waiting: dict[str, list[Placement]] = {}
    for each in placements:
        if each.reason is not None and each.pod.metadata.uid in turns:
            waiting.setdefault(each.owner or "", []).append(each)
    for owner, of_owner in waiting.items():
        first = turns[of_owner[0].pod.metadata.uid].name
        names = few([each.pod.name for each in of_owner])
        are = "is" if len(of_owner) == 1 else "are"
        yield f"{owner} makes its pods one after the other: {names} {are} not made before {first} runs"


def about_batching(placements: Sequence[Placement]) -> Iterator[str]:
    """Pods that go elsewhere than scores alone would have them (opportunistic batching)."""
    batched = [each for each in placements if each.instead_of is not None]
    if batched:
        first = batched[0]
        yield (
            f"{few([each.pod.name for each in batched])}: placed by the node order that kube-scheduler keeps for equal "
            "pods for half a second (OpportunisticBatching); scored anew, "
            f"{first.pod.name} would go to {first.instead_of}"
        )


def about_pending(pods: Sequence[Pod]) -> Iterator[str]:
    """Pods of the cluster that wait for a node and are left aside."""
    if pods:
        are = "pod is" if len(pods) == 1 else "pods are"
        it = "it" if len(pods) == 1 else "them"
        named = few(sorted(pod.key for pod in pods))
        yield f"{len(pods):,} {are} pending in the cluster and left aside: {named} (--with-pending places {it}, too)"


def about_unmatched(pods: int) -> Iterator[str]:
    """Say how many pending pods are left aside because their labels do not match."""
    if pods:
        yield f"{pods:,} pending {'pod is' if pods == 1 else 'pods are'} left aside: the labels do not match"


def about_unknown_nodes(workloads: list[Workload], nodes: Collection[str]) -> Iterator[str]:
    """Pods that name a node which is not there."""
    for workload in workloads:
        named = {pod.spec.node_name for pod in workload.pods} - {"", *nodes}
        for name in sorted(named):
            what = workload.replicas.owner or f"pod {workload.replicas.source.key}"
            yield f"{what} names node {name}, which does not exist: no scheduler looks at it, and no kubelet runs it"


def about_paused(item: Deployment, *, is_running: bool) -> str:
    """Say what a paused Deployment does not do."""
    what = "rolls nothing out, and only the number of its pods changes," if is_running else "makes no pods"
    return f"Deployment/{item.name} is paused: it {what} before it is resumed (kubectl rollout resume)"
