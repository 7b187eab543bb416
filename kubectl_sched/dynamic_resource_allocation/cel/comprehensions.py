"""The macros over lists and maps (cel-go parser/macro, ext/comprehensions)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

from kubectl_sched.dynamic_resource_allocation.cel.activation import Frame, Step, argument, truth
from kubectl_sched.dynamic_resource_allocation.cel.cost import EvaluationEnded
from kubectl_sched.dynamic_resource_allocation.cel.values import CelError, Value, from_key, go_type, map_key

Rounds: TypeAlias = Iterator[tuple[Value, ...]]
FoldBody: TypeAlias = Callable[[Frame, Rounds, Sequence[Step], int], Value]
"""Folds the rounds by the steps of a macro's arguments; the number is what a list made by each round costs."""


def checked_range(container: Value, variables: int) -> Value:
    """Return the range of a comprehension; raise CelError, in cel-go's words, if it is neither a list nor a map."""
    if isinstance(container, list | dict):
        return container
    kind = go_type(container)
    if variables > 1:
        raise CelError(f"unsupported comprehension range type: {kind}")
    raise CelError(f"got '{kind}', expected iterable type")


def pairs(container: Value) -> Iterator[tuple[Value, Value]]:
    """Return the range of a comprehension with two variables."""
    if isinstance(container, list):
        yield from enumerate(container)
    else:
        yield from ((from_key(key), value) for key, value in container.items())


def _any_or_all(stops_at: bool, frame: Frame, rounds: Rounds, steps: Sequence[Step], _list_cost: int) -> bool:
    failure: CelError | None = None
    decided = False
    for _ in rounds:
        # not_strictly_false(@result), or of !@result, then @result || predicate
        frame.spend(2 + stops_at)
        if decided:
            break
        frame.spend(1)
        try:
            decided = truth(steps[0](frame)) is stops_at
        except EvaluationEnded:
            raise
        except CelError as wrong:
            failure = failure or wrong
    frame.spend(1)
    if failure is not None and not decided:
        raise failure
    return decided is stops_at


def _each(frame: Frame, rounds: Rounds, tests: Sequence[Step], act: Callable[[tuple[Value, ...]], None]) -> None:
    """Act on each round that passes the test, if there is one; an error ends nothing before the last round.

    After a failure a call on the result may end where it reads the result.
    """
    failure: CelError | None = None
    for values in rounds:
        try:
            if not all(truth(test(frame)) for test in tests):
                continue
            if failure is not None and frame.meter.stops_at_failure:
                frame.spend(1)
            else:
                act(values)
        except EvaluationEnded:
            raise
        except CelError as wrong:
            failure = failure or wrong
    frame.spend(1)
    if failure is not None:
        raise failure


def _exists_one(frame: Frame, rounds: Rounds, steps: Sequence[Step], _: int) -> bool:
    found: list[Value] = []

    def count(values: tuple[Value, ...]) -> None:
        frame.spend(2)
        found.append(values)

    _each(frame, rounds, steps, count)
    frame.spend(1)
    return len(found) == 1


def _filter(frame: Frame, rounds: Rounds, steps: Sequence[Step], _: int) -> list[Value]:
    kept: list[Value] = []

    def keep(values: tuple[Value, ...]) -> None:
        frame.spend(13)
        kept.append(values[0])

    _each(frame, rounds, steps, keep)
    return kept


def _map_list(frame: Frame, rounds: Rounds, steps: Sequence[Step], list_cost: int) -> list[Value]:
    made: list[Value] = []

    def add(_: tuple[Value, ...]) -> None:
        frame.spend(1)
        made.append(argument(frame, steps[-1], 1 + list_cost))

    _each(frame, rounds, steps[:-1], add)
    return made


def _map_values(frame: Frame, rounds: Rounds, steps: Sequence[Step], _: int) -> dict[Value, Value]:
    made: dict[Value, Value] = {}

    def insert(values: tuple[Value, ...]) -> None:
        frame.spend(2)
        made[map_key(values[0])] = argument(frame, steps[-1], 1)

    _each(frame, rounds, steps[:-1], insert)
    return made


def _map_entries(frame: Frame, rounds: Rounds, steps: Sequence[Step], _: int) -> dict[Value, Value]:
    entries: dict[Value, Value] = {}

    def insert(_: tuple[Value, ...]) -> None:
        frame.spend(1)
        for key, value in argument(frame, steps[-1], 1).items():
            if key in entries:
                raise CelError(f"insert failed: key {from_key(key)} already exists")
            entries[key] = value

    _each(frame, rounds, steps[:-1], insert)
    return entries


FOLDS: dict[str, FoldBody] = {
    "all": partial(_any_or_all, False),
    "exists": partial(_any_or_all, True),
    "exists_one": _exists_one,
    "existsOne": _exists_one,
    "filter": _filter,
    "map": _map_list,
    "transformList": _map_list,
    "transformMap": _map_values,
    "transformMapEntry": _map_entries,
}
