"""The answer about a pod of a manifest: what changes the pod is written there, whether or not it is applied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.queries.verdict.manifest_mark import doubtful_amount, file_of, manifest_mark
from kubectl_sched.suggestions.change import Kind, Manual
from kubectl_sched.suggestions.commands import patches, recreates_pods, steps
from kubectl_sched.suggestions.trial import Trial

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.suggestions.change import Suggestion


def with_manifests(found: Explanation, pod: Pod, paths: Sequence[str]) -> Explanation:
    """Add the mark in the pod's manifest and a warning of a unit in doubt; let the suggestions change the file."""
    doubtful = doubtful_amount(pod)
    file = (file_of(pod, paths) if found.suggestions else None) or "the manifest"
    return replace(
        found,
        mark=manifest_mark(found.result, paths),
        changing=(*found.changing, *((doubtful.label,) if doubtful is not None else ())),
        suggestions=tuple(_in_manifest(each, found.shown, file) for each in found.suggestions),
    )


def _in_manifest(suggestion: Suggestion, result: ScheduleResult, file: str) -> Suggestion:
    """Return the suggestion with a change of the manifest in place of commands that would patch or re-create the pod.

    `result` is the cycle of the pod as the manifest has it. Commands about nodes and other pods stay.
    """
    changes = suggestion.changes
    others = tuple(change for change in changes if change.pod is None or change.kind is Kind.WAIT)
    if others == changes:
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
