"""Fields of a manifest that Kubernetes does not know: misspelt, or in the wrong place.

kubectl has the API server refuse them (fieldValidation=Strict); without that they are dropped in silence, and the pod
lacks what they were to say.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kubectl_sched.api.apimachinery.validation import child
from kubectl_sched.apiserver.what_if_size_limits import few
from kubectl_sched.data_lines import data_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Types = Mapping[str, Mapping[str, str]]

_TABLE = Path(__file__).with_name("fields.txt")


class UnknownField(NamedTuple):
    """The path of an unknown field, and the name or path that was probably meant."""

    path: str
    meant: str | None = None


class _Place(NamedTuple):
    """A part of the manifest, of a type of the table."""

    path: str
    kind: str


def about_unknown_fields(document: Mapping[str, Any]) -> Iterator[str]:
    """A sentence where the manifest of a workload or a Pod has any."""
    found = list(unknown_fields(document))
    if not found:
        return
    metadata = document.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    told = few([f'"{each.path}"' + (f" (is it {each.meant}?)" if each.meant else "") for each in found], _SHOWN)
    has = f"{document.get('kind')} {name or 'without a name'} has"
    if len(found) == 1:
        one = f"a field that Kubernetes does not know: {told}"
        yield f"{has} {one}; kubectl apply refuses it"
    else:
        many = f"{len(found)} fields that Kubernetes does not know"
        yield f"{has} {many}: {told}; kubectl apply refuses them"


def unknown_fields(document: Mapping[str, Any]) -> Iterator[UnknownField]:
    """Unknown fields of a document whose kind is in the table, in its order."""
    kind = str(document.get("kind"))
    if kind in types_known():
        yield from _in(document, (_Place("", kind),))


def _in(value: object, places: Sequence[_Place]) -> Iterator[UnknownField]:
    """`places` are this part and those around it, the whole first."""
    path, kind = places[-1]
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _in(item, (*places[:-1], _Place(f"{path}[{index}]", kind)))
    if not isinstance(value, dict):
        return
    fields = types_known()[kind]
    for name, item in value.items():
        where = child(path, str(name))
        of_field = fields.get(str(name))
        if of_field is None:
            yield UnknownField(where, _meant(str(name), places))
        elif of_field:
            yield from _in(item, (*places, _Place(where, of_field)))


def _meant(name: str, places: Sequence[_Place]) -> str | None:
    """The field of nearly that name, else where one of exactly that name belongs: just below, or around here."""
    return _near(name, places[-1], _ALL_BUT_THE_SAME) or _elsewhere(name, places) or _near(name, places[-1], _SIMILAR)


def _near(name: str, place: _Place, similarity: float) -> str | None:
    from difflib import get_close_matches

    by_small_letters = {each.lower(): each for each in types_known()[place.kind]}
    near = get_close_matches(name.lower(), by_small_letters, n=1, cutoff=similarity)
    return by_small_letters[near[0]] if near else None


def _elsewhere(name: str, places: Sequence[_Place]) -> str | None:
    types = types_known()
    below = [places[-1]]
    for _ in range(_DEPTH):
        below = [
            _Place(child(place.path, field), held)
            for place in below
            for field, held in types[place.kind].items()
            if held
        ]
        found = next((place for place in below if name in types[place.kind]), None)
        if found is not None:
            return child(found.path, name)
    return next((child(each.path, name) for each in reversed(places[:-1]) if name in types[each.kind]), None)


_ALL_BUT_THE_SAME, _SIMILAR = 0.85, 0.7
_DEPTH = 2
_SHOWN = 8


@cache
def types_known() -> Types:
    """Read the table: by type each field, with the type that it holds, empty if that is not in the table."""
    found: dict[str, dict[str, str]] = {}
    for line in "\n".join(data_lines(_TABLE)).replace("\n ", " ").splitlines():
        name, _, fields = line.partition(":")
        pairs = (field.partition("=") for field in fields.split())
        found[name] = {field: held for field, _, held in pairs}
    return found
