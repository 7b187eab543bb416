"""Leader election as functions of what was seen and when: never two leaders, and never none for long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_sched.binding.second_scheduler.election_rules import (
    LeaseSpec,
    Observed,
    Terms,
    leads,
    may_take,
    observe,
    released,
    taken,
)

TERMS = Terms(identity="a", lease_duration=5.0, renew_deadline=3.0, retry_period=1.0)
OTHER = Terms(identity="b", lease_duration=5.0, renew_deadline=3.0, retry_period=1.0)


def test_a_lease_that_is_not_there_is_taken() -> None:
    assert may_take(Observed(record=None, since=0.0), TERMS, 0.0)
    assert taken(None, TERMS, "t0") == LeaseSpec("a", 5, "t0", "t0", 0)


def test_the_holder_keeps_since_when_it_holds_it_and_another_counts_one_transition_more() -> None:
    held = LeaseSpec("a", 5, "t0", "t1", 3)
    assert taken(held, TERMS, "t2") == LeaseSpec("a", 5, "t0", "t2", 3)
    assert taken(held, OTHER, "t2") == LeaseSpec("b", 5, "t2", "t2", 4)


def test_only_a_record_that_stays_as_it_is_for_its_whole_duration_is_taken_from_its_holder() -> None:
    first = observe(Observed(), LeaseSpec("a", 5, "t0", "t0", 0), 100.0)
    assert not may_take(first, OTHER, 105.0)
    assert may_take(first, OTHER, 105.1)
    renewed = observe(first, LeaseSpec("a", 5, "t0", "t1", 0), 104.0)
    assert not may_take(renewed, OTHER, 108.9)
    assert observe(renewed, LeaseSpec("a", 5, "t0", "t1", 0), 107.0) == renewed


def test_a_clock_that_is_years_off_changes_nothing() -> None:
    seen = observe(Observed(), LeaseSpec("a", 5, "1999-01-01T00:00:00Z", "1999-01-01T00:00:00Z", 0), 100.0)
    assert not may_take(seen, OTHER, 101.0)


def test_what_was_given_up_is_anybodys_at_once() -> None:
    given_up = released(LeaseSpec("a", 5, "t0", "t0", 2), "t9")
    assert given_up == LeaseSpec("", 1, "t9", "t9", 2)
    assert may_take(Observed(record=given_up, since=100.0), OTHER, 100.0)


@pytest.mark.parametrize(("now", "expected"), [(10.0, True), (12.9, True), (13.0, False)])
def test_who_cannot_renew_stops_before_anybody_else_may_begin(now: float, expected: bool) -> None:
    assert leads(10.0, TERMS, now) is expected


@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from("abc"), st.sampled_from([0.1, 0.5, 1.0, 2.9, 4.0, 6.0]), st.sampled_from([0.0, 0.3, 2.0])
        ),
        max_size=40,
    )
)
def test_there_are_never_two_leaders_however_slow_each_is(steps: list[tuple[str, float, float]]) -> None:
    """Each step one of three candidates reads the Lease and, some time after, writes it if nobody has meanwhile."""
    now = 0.0
    lease: tuple[int, LeaseSpec | None] = (0, None)
    seen = dict.fromkeys("abc", Observed())
    renewed: dict[str, float | None] = dict.fromkeys("abc")
    for name, pause, delay in steps:
        now += pause
        terms = Terms(identity=name, lease_duration=5.0, renew_deadline=3.0, retry_period=1.0)
        began, (version, record) = now, lease
        seen[name] = observe(seen[name], record, began)
        if may_take(seen[name], terms, began):
            now += delay
            assert lease[0] == version  # nobody else has a turn during this one, so the write succeeds
            written = taken(record, terms, f"{now}")
            lease = (version + 1, written)
            seen[name] = Observed(record=written, since=began)
            renewed[name] = began
        leaders = [each for each in "abc" if leads(renewed[each], terms, now)]
        assert len(leaders) <= 1, (steps, leaders)


@given(st.lists(st.floats(min_value=1.0, max_value=2.2), min_size=8, max_size=20))
def test_who_waits_takes_over_within_the_lease_and_five_retries(pauses: list[float]) -> None:
    """The leader dies right after a renewal that the other has not seen yet."""
    record = LeaseSpec("a", 5, "t0", "t1", 0)
    seen = observe(Observed(), LeaseSpec("a", 5, "t0", "t0", 0), -0.1)
    now = 0.0
    for pause in pauses:
        now += pause
        seen = observe(seen, record, now)
        if may_take(seen, OTHER, now):
            break
    assert now <= OTHER.lease_duration + 5 * OTHER.retry_period
