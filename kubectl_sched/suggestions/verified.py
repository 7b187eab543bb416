"""The only place where suggestions are made: out of a replay that shows what is promised."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.framework.clauses import first_few
from kubectl_sched.suggestions.change import Change, Kind
from kubectl_sched.suggestions.commands import patches, recreates_pods, scope_of, steps
from kubectl_sched.suggestions.harm import aftermath, losses, whom_to_ask
from kubectl_sched.suggestions.suggestion import Manual, Promise, Scope, Suggestion
from kubectl_sched.suggestions.workload import is_of_the_same_workload

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.suggestions.change import Way
    from kubectl_sched.suggestions.trial import Trial


def verified(base: Trial, way: Way, row: int | None, wanted: Collection[Promise]) -> Suggestion | None:
    """Replay the pod with the changes; None if it does not fit, on the row's node if there is one.

    None, too, if none of the wanted promises holds for that node, if the API server would refuse the pod, or if scoring
    then fails. A failure of scoring does no harm while one node is feasible, but does as soon as there are two.
    """
    trial = base.changed(way)
    if trial.pod is not base.pod and _is_refused(base, trial):
        return None
    if row is not None and not trial.fits_on(row):
        return None
    result = trial.run()
    if not result.fits or not result.best or result.score_error is not None:
        return None
    lands = (result.nominated_first,) if result.nominated_first else result.best
    node = lands[0] if row is None else result.nodes.names[row]
    promise = Promise.FITS
    if node in lands:
        promise = Promise.WINS if len(lands) == 1 else Promise.TIES
    if promise not in wanted:
        return None
    commands, manual = steps(base, trial, way)
    evicted = tuple(victim for change in way for victim in change.ends)
    return Suggestion(
        changes=way,
        commands=commands,
        manual=manual,
        patches=patches(base, trial, way),
        promise=promise,
        node=node,
        nodes=lands,
        feasible_count=len(result.feasible),
        scope=scope_of(base, trial, way),
        recreates_pods=recreates_pods(base, trial, way),
        asked=row is not None,
        stays_on=None if trial.pod is not base.pod else base.bound_to,
        ends=tuple(pod.key for pod in evicted),
        lost=tuple(losses(evicted)),
        aftermath=(*_lost_in_words(evicted), *aftermath(trial, node, evicted)),
    )


def _lost_in_words(evicted: Sequence[Pod]) -> Iterator[str]:
    """Yield one clause for each thing that is lost, with the pods that lose it."""
    by_loss: dict[str, list[str]] = {}
    for loss in losses(evicted):
        by_loss.setdefault(loss.why, []).append(loss.pod)
    yield from (f"lost: {first_few(pods)} ({why})" for why, pods in by_loss.items())


def stated(change: Change, manual: tuple[Manual, ...] = ()) -> Suggestion:
    """Return a suggestion that nothing was replayed for: its sentence names the fact that it rests on."""
    return Suggestion(
        changes=(change,),
        commands=(),
        manual=manual,
        patches=(),
        promise=Promise.STATED,
        node="",
        nodes=(),
        feasible_count=0,
        scope=Scope.CLUSTER,
        recreates_pods=False,
    )


def _is_refused(base: Trial, trial: Trial) -> bool:
    """Report whether the API server would not take the resources of the changed pod, though those of the pod as it is.

    The reason of a LimitRange, which may be newer than the pod, always counts: a pod that is re-created is gone then.
    """
    from kubectl_sched.api.admission import LimitRange
    from kubectl_sched.apiserver.validation.resource_validation import resource_problems

    limits = trial.nodes.objects.in_namespace(LimitRange, trial.pod.namespace)
    if limits:
        from kubectl_sched.apiserver.limit_ranges import outside_limits

        is_exact = trial.framework.handle.release.limit_ranges_are_exact
        if outside_limits(trial.pod, limits, is_exact=is_exact) is not None:
            return recreates_pods(base, trial, ())
    return any(resource_problems(trial.pod)) and not any(resource_problems(base.pod))


def verified_preemption(
    base: Trial, change: Change, row: int | None, result: ScheduleResult | None = None
) -> Suggestion | None:
    """Return the change that lets the pod preempt: the dry run must nominate a node, the row's if any.

    `result` is the replay with the change, if there is one already.
    """
    trial = base.changed((change,))
    result = result or trial.run(preempting=True)
    post_filter = result.post_filter
    node = post_filter.nominated_node if post_filter is not None else None
    if trial.pod is not base.pod and _is_refused(base, trial):
        return None
    if post_filter is None or not node or (row is not None and node != result.nodes.names[row]):
        return None
    if any(is_of_the_same_workload(base.pod, victim) or victim.is_static for victim in post_filter.victims):
        return None  # the room of a static pod never gets free
    commands, manual = steps(base, trial, (change,))
    waits = change.kind is Kind.WAIT
    asks = () if waits else whom_to_ask(base.pod.namespace, post_filter.victims, base.nodes.objects)
    if asks:
        commands, manual = (), tuple(Manual(instruction=each) for each in asks)
    return Suggestion(
        changes=(change,),
        commands=commands,
        manual=manual,
        patches=patches(base, trial, (change,)),
        promise=Promise.PREEMPTS,
        node=node,
        nodes=(node,),
        feasible_count=0,
        scope=scope_of(base, trial, (change,)),
        recreates_pods=True,
        victims=tuple(sorted(victim.key for victim in post_filter.victims)),
        asked=row is not None,
        ends=tuple(sorted(victim.key for victim in post_filter.victims)),
        lost=tuple(losses(post_filter.victims)),
        aftermath=(
            *_lost_in_words(post_filter.victims),
            *aftermath(_once_preempted(trial, post_filter.victims), node, post_filter.victims),
        ),
    )


def _once_preempted(trial: Trial, victims: Sequence[Pod]) -> Trial:
    gone = Change(kind=Kind.WAIT, text="once they are gone", evicts=tuple(victims))
    return trial.changed((gone,))
