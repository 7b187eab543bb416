"""Examples of a strategy outside of a test: the same seed gives the same examples."""

from typing import TypeVar

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

T = TypeVar("T")


def samples(strategy: st.SearchStrategy[T], count: int, *, seeded: int) -> list[T]:
    """Up to `count` examples; the first ones are often the simplest there are."""
    found: list[T] = []

    @seed(seeded)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(example: T) -> None:
        found.append(example)

    collect()
    return found[:count]
