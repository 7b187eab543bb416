"""PersistentVolumeClaims that a pod names and that are not there: a near name, or one to create."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.meta import with_spec
from kubectl_sched.api.storage import PersistentVolumeClaim
from kubectl_sched.near_names import near_names
from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.suggestions.change import Change, Kind
from kubectl_sched.suggestions.suggestion import Promise
from kubectl_sched.suggestions.trial import Trial
from kubectl_sched.suggestions.verified import stated, verified

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.suggestions.suggestion import Suggestion


def missing_claims(result: ScheduleResult) -> Iterator[Suggestion]:
    """Yield for each claim that is missing the one with a near name, and to create it."""
    pod, objects = result.pod, result.nodes.objects
    present = [claim.name for claim in objects.in_namespace(PersistentVolumeClaim, pod.namespace)]
    named = (volume.persistent_volume_claim for volume in pod.spec.volumes)
    for name in dict.fromkeys(claim.claim_name for claim in named if claim is not None):
        if name in present:
            continue
        meant = next(iter(near_names(name, present)), None)
        if meant is not None and isinstance(result, CycleResult):
            yield from _meaning(result, name, meant)
        like = f"; {meant} is there" if meant is not None else ""
        text = f"Create PersistentVolumeClaim {pod.namespace}/{name}: the pod names it, and it does not exist{like}"
        yield stated(Change(kind=Kind.PROVIDE, text=text))


def _meaning(result: CycleResult, name: str, meant: str) -> Iterator[Suggestion]:
    change = Change(
        kind=Kind.CORRECT,
        text=f"if its volume named claim {meant} instead of {name}",
        step=f"name claim {meant} in its volume instead of {name}",
        pod=partial(_with_claim, name=name, meant=meant),
    )
    suggestion = verified(Trial.of(result), (change,), None, frozenset(Promise))
    if suggestion is not None:
        yield suggestion


def _with_claim(pod: Pod, name: str, meant: str) -> Pod:
    volumes = tuple(
        replace(volume, persistent_volume_claim=replace(claim, claim_name=meant))
        if (claim := volume.persistent_volume_claim) is not None and claim.claim_name == name
        else volume
        for volume in pod.spec.volumes
    )
    return with_spec(pod, volumes=volumes)
