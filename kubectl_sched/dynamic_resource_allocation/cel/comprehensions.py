"""What the macros over lists and maps do (cel-go parser/macro, ext/comprehensions)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

from kubectl_sched.dynamic_resource_allocation.cel.activation import Frame, Step, decided, operands, truth
from kubectl_sched.dynamic_resource_allocation.cel.library.arguments import no_overload
from kubectl_sched.dynamic_resource_allocation.cel.values import CelError, Value, from_key, map_key

Rounds: TypeAlias = Iterator[tuple[Value, ...]]
FoldBody: TypeAlias = Callable[[Sequence[Step]], Callable[[Frame, Rounds], Value]]


def pairs(container: Value) -> Iterator[tuple[Value, Value]]:
    """What a comprehension with two variables goes over."""
    if isinstance(container, list):
        yield from enumerate(container)
    elif isinstance(container, dict):
        yield from ((from_key(key), value) for key, value in container.items())
    else:
        raise no_overload()


def _any_or_all(stops_at: bool) -> FoldBody:
    def of(steps: Sequence[Step]) -> Callable[[Frame, Rounds], Value]:
        def body(frame: Frame, rounds: Rounds) -> bool:
            return decided(stops_at, (partial(decided, stops_at, operands(frame, steps)) for _ in rounds))

        return body

    return of


def _exists_one(steps: Sequence[Step]) -> Callable[[Frame, Rounds], Value]:
    return lambda frame, rounds: sum(truth(steps[0](frame)) for _ in rounds) == 1


def _filter(steps: Sequence[Step]) -> Callable[[Frame, Rounds], Value]:
    return lambda frame, rounds: [values[0] for values in rounds if truth(steps[0](frame))]


def _map_list(steps: Sequence[Step]) -> Callable[[Frame, Rounds], Value]:
    return lambda frame, rounds: [steps[-1](frame) for _ in rounds if len(steps) == 1 or truth(steps[0](frame))]


def _map_values(steps: Sequence[Step]) -> Callable[[Frame, Rounds], Value]:
    return lambda frame, rounds: {
        map_key(values[0]): steps[-1](frame) for values in rounds if len(steps) == 1 or truth(steps[0](frame))
    }


def _map_entries(steps: Sequence[Step]) -> Callable[[Frame, Rounds], Value]:
    def body(frame: Frame, rounds: Rounds) -> dict[Value, Value]:
        entries: dict[Value, Value] = {}
        for _ in rounds:
            if len(steps) > 1 and not truth(steps[0](frame)):
                continue
            for key, value in steps[-1](frame).items():
                if key in entries:
                    raise CelError(f"insert failed: key {from_key(key)} already exists")
                entries[key] = value
        return entries

    return body


FOLDS: dict[str, FoldBody] = {
    "all": _any_or_all(stops_at=False),
    "exists": _any_or_all(stops_at=True),
    "exists_one": _exists_one,
    "existsOne": _exists_one,
    "filter": _filter,
    "map": _map_list,
    "transformList": _map_list,
    "transformMap": _map_values,
    "transformMapEntry": _map_entries,
}
