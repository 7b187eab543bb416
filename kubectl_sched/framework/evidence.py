"""The numbers and objects behind one verdict or score on one node."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from msgspec import field

from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Mapping

JSON: TypeAlias = "str | int | float | bool | list[JSON] | Mapping[str, JSON] | None"


class Evidence(Record, frozen=True, kw_only=True):
    """One fact, in plain words and as data.

    `text` is a clause with names and numbers: `wants 4 nvidia.com/gpu, 2 of 8 free`. `hints` name near misses and
    misunderstandings: `the node has pool=GPU, not pool=gpu`. `distance` says how far the node is from passing, from 0
    (almost) to 1 (nothing in common), so that the closest nodes can be shown first.
    """

    text: str
    facts: Mapping[str, JSON] = field(default_factory=dict)
    hints: tuple[str, ...] = ()
    distance: float = 1.0
