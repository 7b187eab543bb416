"""The answers about pods of manifests: what changes a pod is written there, whether or not it is applied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.diagnostics.pod_lifecycle import Stage
from kubectl_sched.queries.explanation import Explanation
from kubectl_sched.queries.verdict.manifest_mark import doubtful_amount, files_of, manifest_marks
from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.scheduler.result import Outcome, ScheduleResult
from kubectl_sched.simulation.queue_simulation import owner_of
from kubectl_sched.suggestions.change import Kind
from kubectl_sched.suggestions.commands import patches, recreates_pods, steps
from kubectl_sched.suggestions.suggestion import Manual
from kubectl_sched.suggestions.trial import Trial

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.queries.verdict.manifest_mark import ManifestMark
    from kubectl_sched.queries.whatif import AppliedManifests
    from kubectl_sched.scheduler.scheduler import Scheduler
    from kubectl_sched.simulation.placements import Placement
    from kubectl_sched.suggestions.suggestion import Suggestion


def with_manifests(found: Sequence[Explanation], paths: Sequence[str]) -> list[Explanation]:
    """Add the marks in the pods' manifests and warnings of units in doubt; let the suggestions change the files."""
    marks = manifest_marks([each.result for each in found], paths)
    helped = [each.pod for each in found if each.suggestions]
    files = dict(zip((pod.key for pod in helped), files_of(helped, paths), strict=True)) if helped else {}
    return [
        _with_manifest(each, marked, files.get(each.pod.key) or "the manifest")
        for each, marked in zip(found, marks, strict=True)
    ]


def _with_manifest(found: Explanation, marks: tuple[ManifestMark, ...], file: str) -> Explanation:
    doubtful = doubtful_amount(found.pod)
    suggestions = tuple(_in_manifest(each, found.shown, file) for each in found.suggestions)
    if suggestions:
        helping = suggestions[0].advice.partition(": fits on ")[0]  # the ladder says where
        marks = (*(replace(each, help=helping) for each in marks[:1]), *marks[1:])
    return replace(
        found,
        marks=marks,
        changing=(*found.changing, *((doubtful.label,) if doubtful is not None else ())),
        suggestions=suggestions,
    )


def unadmitted(applied: AppliedManifests, scheduler: Scheduler) -> Iterator[Explanation]:
    """Yield the answer about one pod of each workload of which a ResourceQuota admits none."""
    admitted, release = set(map(_workload, applied.pods)), scheduler.configuration.release
    for workload, refused in _refused_pods(applied).items():
        if workload not in admitted:
            result = ScheduleResult(
                pod=refused[0].pod,
                nodes=scheduler.nodes,
                outcome=Outcome.ERROR,
                error=refused[0].reason,
                kubernetes_version=str(release.version),
                kubernetes_patch=release.patch_name,
            )
            yield Explanation(result=result, stage=Stage(name="NotCreated", evidence=(refused[0].reason or "",)))


def about_unadmitted(applied: AppliedManifests) -> Iterator[str]:
    """Yield a sentence for each workload of which a ResourceQuota admits some pods and not all."""
    admitted = set(map(_workload, applied.pods))
    for workload, refused in _refused_pods(applied).items():
        if workload in admitted:
            pods = f"{len(refused):,} {'pod' if len(refused) == 1 else 'pods'} of {workload}"
            yield f"{pods} would never be created: {refused[0].reason}"


def _refused_pods(applied: AppliedManifests) -> dict[str, list[Placement]]:
    refused: dict[str, list[Placement]] = {}
    for each in applied.refused:
        refused.setdefault(_workload(each.pod), []).append(each)
    return refused


def _workload(pod: Pod) -> str:
    """Return `Deployment shop/web`, or `Pod shop/web-0` for a bare pod."""
    kind, _, name = (owner_of(pod) or f"Pod/{pod.name}").partition("/")
    return f"{kind} {pod.namespace}/{name}"


def _in_manifest(suggestion: Suggestion, result: ScheduleResult, file: str) -> Suggestion:
    """Return the suggestion with a change of the manifest in place of commands that would patch or re-create the pod.

    `result` is the cycle of the pod as the manifest has it. Commands about nodes and other pods stay.
    """
    changes = suggestion.changes
    others = tuple(change for change in changes if change.pod is None or change.kind is Kind.WAIT)
    if others == changes or not isinstance(result, CycleResult):
        return suggestion
    own = Manual(instruction=f"change this in {file}, then apply it")
    alone = replace(suggestion, commands=(), manual=(own,), patches=(), recreates_pods=False)
    if not others:
        return alone
    base = Trial.of(result)
    _, of_all = steps(base, base.changed(changes), changes)
    after = base.changed(others)
    commands, by_hand = steps(base, after, others)
    return replace(
        alone,
        commands=commands,
        manual=(*(each for each in suggestion.manual if each not in of_all), *by_hand, own),
        patches=patches(base, after, others),
        recreates_pods=recreates_pods(base, after, others),
    )
