"""Mutates a value of JSON: fields and items dropped, doubled, retyped, exchanged, or made hostile."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from tests.fuzz.hostile import TEXTS, VALUES

if TYPE_CHECKING:
    from random import Random

SYNTAX = "\u24c9syntax"
"""Begins a text that an encoder replaces by a token of its syntax."""
AGAIN = "\u24b6again"
"""Ends the key of a field that stands in its object a second time."""

_MOST_PLACES = 1000
_EXTREMES = (
    "0",
    "-1",
    "1",
    "9223372036854775807",
    "1e30",
    "0.0000000001",
    "1Ei",
    "1n",
    "+5",
    "",
    "1.5.",
    "999999999999",
)


def mutated(value: Any, chance: Random, most: int = 6) -> Any:
    """The value, itself changed, with 1 to `most` mutations, and more often few. It may be another one."""
    holder = [value]
    places = _places(holder)
    for _ in range(min(chance.randint(1, most), chance.randint(1, most))):
        _mutate(places, chance)
    return holder[0] if holder else None


def hostile_value(chance: Random) -> Any:
    kind = chance.random()
    if kind < 0.45:
        return chance.choice(TEXTS)
    if kind < 0.75:
        return copy.deepcopy(chance.choice(VALUES))
    return token(chance)


def token(chance: Random) -> str:
    return f"{SYNTAX}{chance.randrange(10_000)}"


def _places(value: Any) -> list[tuple[Any, Any]]:
    """The fields and items at any depth, as their container and key; of a large value the first ones."""
    found: list[tuple[Any, Any]] = []
    queue = [value]
    while queue and len(found) < _MOST_PLACES:
        container = queue.pop()
        entries = container.items() if isinstance(container, dict) else enumerate(container)
        for key, below in entries:
            found.append((container, key))
            if isinstance(below, dict | list):
                queue.append(below)
    return found


def _mutate(places: list[tuple[Any, Any]], chance: Random) -> None:
    # A mutation before may have taken a place away. The first place is the whole value, which is replaced rarely.
    container, key = places[0] if chance.random() < 0.005 else places[chance.randrange(len(places))]
    if key not in range(len(container)) if isinstance(container, list) else key not in container:
        return
    how = chance.choice(_WAYS)
    how(container, key, places, chance)


def _drop(container: Any, key: Any, _places: list[tuple[Any, Any]], _chance: Random) -> None:
    del container[key]


def _double(container: Any, key: Any, _places: list[tuple[Any, Any]], chance: Random) -> None:
    again = copy.deepcopy(container[key])
    if isinstance(container, list):
        container[key:key] = [again] * (500 if chance.random() < 0.003 else chance.choice([1, 1, 1, 3, 30]))
    elif isinstance(key, str):
        container[f"{key}{AGAIN}"] = hostile_value(chance) if chance.random() < 0.5 else again


def _retype(container: Any, key: Any, _places: list[tuple[Any, Any]], chance: Random) -> None:
    container[key] = hostile_value(chance)


def _make_hostile(container: Any, key: Any, _places: list[tuple[Any, Any]], chance: Random) -> None:
    value, text = container[key], chance.choice(TEXTS)
    if isinstance(value, str):
        at = chance.randint(0, len(value))
        container[key] = chance.choice([text, value + text, text + value, value[:at] + text + value[at:]])
    else:
        container[key] = text


def _make_extreme(container: Any, key: Any, _places: list[tuple[Any, Any]], chance: Random) -> None:
    value = chance.choice(_EXTREMES)
    container[key] = value if isinstance(container[key], str) or not value.lstrip("-").isdigit() else int(value)


def _rename(container: Any, key: Any, places: list[tuple[Any, Any]], chance: Random) -> None:
    if isinstance(container, dict):
        other = chance.choice(TEXTS) if chance.random() < 0.5 else str(chance.choice(places)[1])
        container[other] = container.pop(key)


def _swap(container: Any, key: Any, places: list[tuple[Any, Any]], chance: Random) -> None:
    """Put a copy of what stands elsewhere here."""
    other, there = chance.choice(places)
    if there in range(len(other)) if isinstance(other, list) else there in other:
        container[key] = copy.deepcopy(other[there])


def _wrap(container: Any, key: Any, _places: list[tuple[Any, Any]], chance: Random) -> None:
    container[key] = [container[key]] if chance.random() < 0.5 else {"a": container[key]}


def _same_texts(container: Any, key: Any, places: list[tuple[Any, Any]], chance: Random) -> None:
    """Replace a text wherever it stands, so that what refers to it still does."""
    value, text = container[key], chance.choice(TEXTS)
    if isinstance(value, str):
        for other, there in places:
            if isinstance(other, dict) and other.get(there) == value:
                other[there] = text


_WAYS = (
    _drop,
    _drop,
    _double,
    _retype,
    _retype,
    _make_hostile,
    _make_hostile,
    _make_extreme,
    _rename,
    _swap,
    _swap,
    _wrap,
    _same_texts,
)
