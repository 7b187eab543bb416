"""The line of a manifest that the binding constraint of its pod comes from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from kubectl_sched.api.apimachinery.quantity import parse_resource_list
from kubectl_sched.api.pod import Pod
from kubectl_sched.apiserver.refused_manifest import UnknownFieldError
from kubectl_sched.queries.verdict.deciding_field import DecidingField, deciding_field
from kubectl_sched.queries.verdict.wording import amounts
from kubectl_sched.record import Record
from kubectl_sched.simulation.queue_simulation import owner_of
from kubectl_sched.sources.yaml.field_position import FieldPosition, ManifestObject, field_position

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.apiserver.refused_manifest import RefusedError
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources.yaml.field_position import FieldPath

_TEMPLATES: Final = {"Pod": (), "CronJob": ("spec", "jobTemplate", "spec", "template")}
"""The place of a pod in the objects that have it somewhere else than in spec.template."""


_PART: Final = re.compile(r"([^.\[\]]+)(?![^\[\]]*\])|\[(\d+)\]")
"""A name, or a position in a list, of `spec.containers[0].name`."""


_LARGE: Final = re.compile(r"([1-9]\d{5,11})(Mi|M)|([1-9]\d{4,11})(Gi|G)")
"""From 100,000 mebibytes and 10,000 gibibytes on."""

_SMALLER: Final = {"Mi": "Ki", "M": "k", "Gi": "Mi", "G": "M"}


class ManifestMark(Record, frozen=True, kw_only=True):
    """A place in a manifest, and a few words that stand under it."""

    position: FieldPosition
    label: str


def manifest_mark(result: ScheduleResult, paths: Sequence[str]) -> ManifestMark | None:
    """Return the mark under the field behind the verdict, else under an amount whose unit is in doubt.

    None where the files at the paths set no such field.
    """
    field = deciding_field(result) or doubtful_amount(result.pod)
    if field is None:
        return None
    position = _in_pod(result.pod, paths, [("spec", *path) for path in field.paths])
    return ManifestMark(position=position, label=field.label) if position is not None else None


def file_of(pod: Pod, paths: Sequence[str]) -> str | None:
    """Return the file that has the pod's manifest; None for standard input, and for a name that is generated."""
    position = _in_pod(pod, paths, [("spec",)])
    return position.file if position is not None else None


def mark_of_error(error: RefusedError | UnknownFieldError, paths: Sequence[str], namespace: str) -> ManifestMark | None:
    """Return the mark under the field that the API server refuses, or what holds it; None if it is not in the files."""
    fields = [name or int(index) for name, index in _PART.findall(error.field)]
    ways = [tuple(fields[:length]) for length in range(len(fields), 1, -1)]
    if isinstance(error, UnknownFieldError):
        of = ManifestObject(kind=error.kind, name=error.name, namespace=error.namespace or namespace)
        label = f"Kubernetes has no such field{f'; is it {error.meant}?' if error.meant else ''}"
        position = field_position(paths, of, ways, with_value=False)
    elif isinstance(error.item, Pod):
        label, position = error.reason, _in_pod(error.item, paths, ways, with_value="env" not in fields)
    else:
        item = error.item
        of = ManifestObject(kind=type(item).__name__, name=item.name, namespace=item.namespace)
        label, position = error.reason, field_position(paths, of, ways, with_value="env" not in fields)
    return ManifestMark(position=position, label=label) if position is not None else None


def _in_pod(
    pod: Pod, paths: Sequence[str], fields: Sequence[FieldPath], *, with_value: bool = True
) -> FieldPosition | None:
    """Return the place of the first field that is set in the pod's manifest, or in the template of its workload's."""
    owner, _, name = (owner_of(pod) or f"Pod/{pod.name}").partition("/")
    for kind in (owner, "CronJob") if owner == "Job" else (owner,):
        of = ManifestObject(kind=kind, name=name, namespace=pod.namespace)
        template = _TEMPLATES.get(kind, ("spec", "template"))
        within = [(*template, *path) for path in fields]
        position = field_position(paths, of, within, with_value=with_value)
        if position is not None:
            return position
    return None


def doubtful_amount(pod: Pod) -> DecidingField | None:
    """Return the first amount of memory or storage whose unit is probably not meant, as `512000Mi`; None if none is."""
    for number, container in enumerate(pod.spec.containers):
        for asked in (container.resources.requests, container.resources.limits):
            for resource in ("memory", "ephemeral-storage"):
                text = str((asked or {}).get(resource, ""))
                found = _LARGE.fullmatch(text)
                if found is not None:
                    size = amounts(resource, parse_resource_list({resource: text})[resource].value())[0]
                    meant = f"{found[1] or found[3]}{_SMALLER[found[2] or found[4]]}"
                    start = ("containers", number, "resources")
                    # A request that is not written is the limit.
                    paths = ((*start, "requests", resource), (*start, "limits", resource))
                    return DecidingField(paths=paths, label=f"{text} {resource} is {size}; is {meant} meant?")
    return None
