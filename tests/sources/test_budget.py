from __future__ import annotations

import sys
import typing
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from kubectl_sched.sources.budget import BYTES_OF_AN_OBJECT, MOST_OBJECTS_OF_A_BYTE, Budget
from kubectl_sched.sources.dump_errors import BombError
from kubectl_sched.sources.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

PIECE = memoryview(bytes(3 << 20))


def structs(described: Any, seen: set[Any]) -> Iterator[type[msgspec.Struct]]:
    """Everything that is decoded as a part of a type."""
    if isinstance(described, type) and issubclass(described, msgspec.Struct) and described not in seen:
        seen.add(described)
        yield described
        for field in msgspec.structs.fields(described):
            yield from structs(field.type, seen)
    for argument in typing.get_args(described):
        yield from structs(argument, seen)


def test_no_empty_object_of_an_array_makes_more_objects_than_its_bytes_are_charged_for() -> None:
    seen: set[Any] = set()
    parts = [part for kind in KINDS for part in structs(kind.type, seen)]
    made = {
        part: 1 + sum(field.default_factory is not msgspec.NODEFAULT for field in msgspec.structs.fields(part))
        for part in parts
    }
    assert len(made) > 200
    assert max(made.values()) <= MOST_OBJECTS_OF_A_BYTE * len("{},")


def test_objects_are_not_counted_while_the_text_cannot_have_made_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    budget, before = Budget(), sys.getallocatedblocks()
    counted: list[int] = []

    def count() -> int:
        counted.append(before)
        return before

    monkeypatch.setattr(sys, "getallocatedblocks", count)
    for _ in range(300):
        budget.take_in(2 * len(PIECE), PIECE, "large.json")
    assert 0 < len(counted) < 100


def test_objects_are_refused_with_the_piece_that_makes_them_too_many() -> None:
    budget = Budget()
    kept: list[list[int]] = []
    for _ in range(2):
        budget.take_in(len(PIECE), PIECE, "first.json")
    allowed = len(PIECE) // BYTES_OF_AN_OBJECT
    kept += [[] for _ in range(4_000_000 + 2 * allowed)]
    budget.take_in(len(PIECE), PIECE, "first.json")
    kept += [[] for _ in range(2 * allowed + 100_000)]
    with pytest.raises(BombError, match="more values than any dump"):
        budget.take_in(len(PIECE), PIECE, "first.json")
    assert kept
