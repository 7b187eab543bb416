"""The harm that a suggestion does: the pods that lose their place, what is lost with them, and who forbids it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kubectl_sched.controllers.claims_after_deletion import recreated
from kubectl_sched.framework.clauses import first_few
from kubectl_sched.simulation.eviction_budgets import EvictionBudgets
from kubectl_sched.suggestions.suggestion import Loss
from kubectl_sched.suggestions.workload import maker_in_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.snapshot import Objects
    from kubectl_sched.suggestions.trial import Trial

_NAMED = 2
_FOLLOWED = 8
"""The most pods whose successors are placed again, a cycle each."""


def is_protected(pod: Pod, objects: Objects) -> bool:
    """Report whether a PodDisruptionBudget forbids to evict the pod now."""
    return not EvictionBudgets.of(objects).allow([pod])


def losses(pods: Sequence[Pod]) -> Iterator[Loss]:
    """Yield what no controller brings back: bare pods, data on the node, and the time without a StatefulSet's pod."""
    for pod in pods:
        controller = pod.metadata.controller
        if controller is None:
            yield Loss(pod=pod.key, why="nothing re-creates it")
        elif controller.kind == "StatefulSet":
            yield Loss(pod=pod.key, why=f"nothing serves as {pod.name} until it has a place again")
        for volume in pod.spec.volumes:
            if volume.empty_dir is not None:
                yield Loss(pod=pod.key, why=f"the data in its emptyDir {volume.name}")


def whom_to_ask(own: str, pods: Sequence[Pod], objects: Objects) -> tuple[str, ...]:
    """Return sentences about who has to agree before these pods go, none if nobody but the owner of namespace `own`."""
    found = [f"PodDisruptionBudget {key} forbids it now" for key in EvictionBudgets.of(objects).forbidding(pods)]
    foreign = [pod for pod in pods if pod.namespace != own]
    if foreign:
        names = first_few([f"{pod.key} ({maker_in_words(pod)})" for pod in foreign])
        found.append(f"ask the owners of {names}: no command is given for another namespace")
    return tuple(found)


class _Successor(NamedTuple):
    """A pod that its controller re-creates, and where that lands: None for nowhere."""

    pod: Pod
    node: str | None


def aftermath(trial: Trial, node: str, pods: Sequence[Pod]) -> Iterator[str]:
    """Yield clauses about the pods that controllers re-create: where they land once the trial's pod has its node.

    The trial is the one without the evicted pods. Each successor is placed after those before it.
    """
    daemons = [pod for pod in pods if pod.is_daemon]
    if daemons:
        names = first_few([f"{pod.key} for {pod.spec.node_name}" for pod in daemons])
        yield f"{maker_in_words(daemons[0])} re-creates {names} alone, where it stays pending"
    successors = list(_successors(trial, node, pods))
    if len(successors) <= _NAMED:
        for each in successors:
            where = f"on {each.node}" if each.node is not None else "which then fits nowhere and waits"
            yield f"{maker_in_words(each.pod)} re-creates {each.pod.name}, {where}"
        return
    waiting = [each.pod.key for each in successors if each.node is None]
    number = "all" if len(successors) == len(pods) else str(len(successors))
    yield f"their controllers re-create {number} of them" + (
        f", of which {len(waiting)} then fit nowhere and wait ({first_few(waiting)})" if waiting else ", elsewhere"
    )


def _successors(trial: Trial, node: str, pods: Sequence[Pod]) -> Iterator[_Successor]:
    nodes = trial.nodes.assume(trial.pod, trial.nodes.row_of[node])
    for pod in pods[:_FOLLOWED]:
        if pod.metadata.controller is None or pod.is_static or pod.is_daemon:
            continue
        if pod.spec.scheduler_name != trial.pod.spec.scheduler_name:
            continue  # another profile may place it otherwise
        again = recreated(pod)
        result = trial.of_another(again, nodes).run()
        lands = result.best[0] if result.best else None
        if lands is not None:
            nodes = nodes.assume(again, nodes.row_of[lands])
        yield _Successor(pod, lands)
