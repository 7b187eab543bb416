"""Every text of every kind is a marker: a snapshot holds those of the fields that are listed, and no others."""

from __future__ import annotations

import json
import re
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any, get_args, get_origin

import msgspec
import pytest
from msgspec.structs import fields

from kubectl_sched.api.core import ConfigMap, Event
from kubectl_sched.diagnostics.messages.scheduler_reasons import own_reasons
from kubectl_sched.sources import Dump
from kubectl_sched.sources.export.anonymizer import anonymized
from kubectl_sched.sources.export.exported_fields import treatment
from kubectl_sched.sources.export.snapshot_file import EVENT_REASONS, encoded
from kubectl_sched.sources.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.meta import KubernetesObject

SHAPES = {
    "a name": "secret-{}x",
    "a path": "/mnt/secret-{}x/file",
    "a sentence": "the plugin said secret-{}x is wrong",
    "a header": "Authorization: token secret-{}x",
    "a flag": "run --password secret-{}x",
    "an invalid label": "secret-{}x/with blank",
}
MARKER = re.compile(r"secret-(\d+)x")


class Marked:
    """Makes objects with a marker in every text, and remembers the field of each."""

    def __init__(self, shape: str) -> None:
        self._shape = shape
        self._numbers = count()
        self.fields: dict[int, tuple[type, str]] = {}

    def struct(self, kind: type[msgspec.Struct], **given: Any) -> Any:
        made = {field.name: self._value(kind, field.name, field.type) for field in fields(kind)}
        return kind(**{**made, **given})

    def _marker(self, kind: type, field: str) -> str:
        number = next(self._numbers)
        self.fields[number] = kind, field
        return self._shape.format(number)

    def _value(self, kind: type, field: str, of: Any) -> Any:
        arguments = get_args(of)
        if isinstance(of, type) and issubclass(of, msgspec.Struct):
            return self.struct(of)
        if get_origin(of) is tuple:
            return (self._value(kind, field, arguments[0]),)
        if get_origin(of) is dict:
            return {self._marker(kind, field): self._value(kind, field, arguments[1])}
        if of is str or str in arguments:
            return self._marker(kind, field)
        others = [each for each in arguments if isinstance(each, type) and each is not type(None)]
        if others or (arguments and get_origin(arguments[0]) in {tuple, dict}):
            return self._value(kind, field, arguments[0])
        return {bool: True, int: 1, float: 1.0}.get(of, 1)


@cache
def marked(shape: str) -> tuple[Marked, tuple[KubernetesObject, ...]]:
    maker = Marked(SHAPES[shape])
    objects: list[KubernetesObject] = []
    for kind in KINDS:
        if kind.type is Event:
            objects += [maker.struct(Event, reason=reason) for reason in sorted(EVENT_REASONS)]
        elif kind.type is not ConfigMap:
            objects.append(maker.struct(kind.type))
    objects.append(maker.struct(ConfigMap))
    return maker, tuple(objects)


def found_in(data: bytes, maker: Marked) -> Iterator[tuple[str, str | None]]:
    """Yield the fields whose markers are in the snapshot, with their treatments."""
    json.loads(data)
    for number in {int(each) for each in MARKER.findall(data.decode())}:
        kind, field = maker.fields[number]
        yield f"{kind.__name__}.{field}", treatment(kind, field)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_snapshot_holds_the_fields_that_are_listed(shape: str) -> None:
    """No message is anybody's own, and what programs write as a word is one."""
    maker, objects = marked(shape)
    found = dict(found_in(encoded(Dump(objects=objects), own_reasons), maker))
    left_out = {None, "message", "configuration", "flags", "never"} | (set() if shape == "a name" else {"word"})
    assert {field for field, section in found.items() if section in left_out} == set()
    assert "ObjectMeta.name" in found


@pytest.mark.parametrize("shape", SHAPES)
def test_an_anonymized_one_holds_only_words_that_say_nothing_of_whose_cluster_it_is(shape: str) -> None:
    """A name may stay where it is a driver's, a resource's or a word of Kubernetes."""
    maker, objects = marked(shape)
    data = encoded(anonymized(Dump(objects=objects)), own_reasons)
    found = dict(found_in(data, maker))
    words = (
        {"kept", "word", "resource", "resources", "names as values", "names as keys"} if shape == "a name" else set()
    )
    left = {field for field, section in found.items() if section not in words}
    assert left == ({"ObjectMeta.name"} if shape == "a name" else set())  # a CSIDriver's, which is the driver's
    assert b'"expression"' in data
