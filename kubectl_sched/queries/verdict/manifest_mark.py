"""The lines of manifests that the binding constraints of their pods come from."""

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
from kubectl_sched.sources.yaml.field_position import FieldPosition, ManifestObject, WantedField, field_positions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

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
    """A place in a manifest, a few words that stand under it, and the first way to be helped."""

    position: FieldPosition
    label: str
    help: str = ""


def manifest_marks(results: Sequence[ScheduleResult], paths: Sequence[str]) -> list[tuple[ManifestMark, ...]]:
    """Return the marks of each pod: under the field behind its verdict, and under an amount whose unit is in doubt.

    A field that the files at the paths do not set has none.
    """
    asked = [
        (number, field)
        for number, result in enumerate(results)
        for field in (deciding_field(result), doubtful_amount(result.pod))
        if field is not None
    ]
    of_pods = ((results[number].pod, [("spec", *path) for path in field.paths]) for number, field in asked)
    marks: list[dict[tuple[str, str], ManifestMark]] = [{} for _ in results]
    for (number, field), position in zip(asked, _in_pods(of_pods, paths), strict=True):
        if position is not None:
            mark = ManifestMark(position=position, label=field.label)
            marks[number].setdefault((position.file, position.field), mark)
    return [tuple(each.values()) for each in marks]


def files_of(pods: Sequence[Pod], paths: Sequence[str]) -> list[str | None]:
    """Return the file with each pod's manifest; None for standard input, and for a name that is generated."""
    positions = _in_pods(((pod, [("spec",)]) for pod in pods), paths)
    return [position.file if position is not None else None for position in positions]


def mark_of_error(error: RefusedError | UnknownFieldError, paths: Sequence[str], namespace: str) -> ManifestMark | None:
    """Return the mark under the field that the API server refuses, or what holds it; None if it is not in the files."""
    fields = [name or int(index) for name, index in _PART.findall(error.field)]
    ways = [tuple(fields[:length]) for length in range(len(fields), 1, -1)]
    shows_value = "env" not in fields
    if isinstance(error, UnknownFieldError):
        of = ManifestObject(kind=error.kind, name=error.name, namespace=error.namespace or namespace)
        label = f"Kubernetes has no such field{f'; is it {error.meant}?' if error.meant else ''}"
        (position,) = field_positions(paths, [WantedField(of=of, fields=ways, with_value=False)])
    elif isinstance(error.item, Pod):
        label = error.reason
        (position,) = _in_pods([(error.item, ways)], paths, with_value=shows_value)
    else:
        label, item = error.reason, error.item
        of = ManifestObject(kind=type(item).__name__, name=item.name, namespace=item.namespace)
        (position,) = field_positions(paths, [WantedField(of=of, fields=ways, with_value=shows_value)])
    return ManifestMark(position=position, label=label) if position is not None else None


def _in_pods(
    wanted: Iterable[tuple[Pod, Sequence[FieldPath]]], paths: Sequence[str], *, with_value: bool = True
) -> list[FieldPosition | None]:
    """Return the place of the first field that is set in each pod's manifest, or in the template of its workload's."""
    asked = [
        (number, each)
        for number, (pod, fields) in enumerate(wanted)
        for each in _in_objects(pod, fields, with_value=with_value)
    ]
    places: dict[int, FieldPosition | None] = {}
    for (number, _), position in zip(asked, field_positions(paths, [each for _, each in asked]), strict=True):
        places[number] = places.get(number) or position
    return list(places.values())


def _in_objects(pod: Pod, fields: Sequence[FieldPath], *, with_value: bool) -> Iterator[WantedField]:
    """Yield the fields in the objects that may have the pod's template: the CronJob's, if not the Job's."""
    owner, _, name = (owner_of(pod) or f"Pod/{pod.name}").partition("/")
    for kind in (owner, "CronJob") if owner == "Job" else (owner,):
        of = ManifestObject(kind=kind, name=name, namespace=pod.namespace)
        template = _TEMPLATES.get(kind, ("spec", "template"))
        yield WantedField(of=of, fields=[(*template, *path) for path in fields], with_value=with_value)


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
