"""Schedules and budgets of NodePools, as Karpenter's cron library reads them."""

from datetime import UTC, datetime

import pytest

from kubectl_sched.api.karpenter import DisruptionBudget
from kubectl_sched.node_provisioning.karpenter.disruption.cron_schedule import InvalidSchedule, cron_schedule
from kubectl_sched.node_provisioning.karpenter.disruption.disruption_budgets import InvalidBudget, is_active, scaled


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("schedule", "after", "begins"),
    [
        ("@daily", "2026-11-06T00:00:00", "2026-11-07T00:00:00"),
        ("@hourly", "2026-11-06T09:59:59", "2026-11-06T10:00:00"),
        ("0 9 * * mon-fri", "2026-11-06T09:00:00", "2026-11-09T09:00:00"),
        ("*/15 8-9 * * *", "2026-11-06T09:46:00", "2026-11-07T08:00:00"),
        ("0 0 1 * 5", "2026-11-02T00:00:00", "2026-11-06T00:00:00"),  # both fields of days: either will do
        ("0 0 */2 * 5", "2026-11-02T00:00:00", "2026-11-03T00:00:00"),
        ("0 0 29 2 ?", "2026-11-02T00:00:00", "2028-02-29T00:00:00"),
        ("5/20 * * NOV *", "2026-11-02T00:05:00", "2026-11-02T00:25:00"),
    ],
)
def test_a_schedule_begins_when_its_fields_say(schedule: str, after: str, begins: str) -> None:
    assert cron_schedule(schedule).next_after(at(after)) == at(begins)


def test_a_day_that_never_comes_has_no_minute() -> None:
    assert cron_schedule("0 0 31 2 *").next_after(at("2026-11-02T00:00:00")) is None


@pytest.mark.parametrize(
    "schedule", ["", "* * * *", "60 * * * *", "0 24 * * *", "0 0 0 * *", "0 0 * * 7", "0 0 * 13 *", "5-1 * * * *",
                 "*/0 * * * *", "1-2-3 * * * *", "* * * * noday", "@never", "TZ=UTC 0 0 * * *", "-1 * * * *"],
)  # fmt: skip
def test_other_texts_are_no_schedule(schedule: str) -> None:
    with pytest.raises(InvalidSchedule):
        cron_schedule(schedule)


@pytest.mark.parametrize(
    ("duration", "now", "active"),
    [
        ("8h", "2026-11-06T08:59:59Z", False),
        ("8h", "2026-11-06T09:00:00Z", True),
        ("8h", "2026-11-06T16:59:59Z", True),
        ("8h", "2026-11-06T17:00:00Z", False),
        ("8h", None, None),
    ],
)
def test_a_budget_holds_from_its_schedule_for_its_duration(
    duration: str, now: str | None, *, active: bool | None
) -> None:
    assert is_active(DisruptionBudget(schedule="0 9 * * *", duration=duration), now) is active


def test_a_budget_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(InvalidBudget):
        is_active(DisruptionBudget(duration="8h"), "2026-11-06T09:00:00Z")


@pytest.mark.parametrize(
    ("text", "nodes", "limit"), [("0", 9, 0), ("3", 9, 3), ("10%", 9, 1), ("34%", 10, 4), ("0%", 9, 0)]
)
def test_shares_are_rounded_up(text: str, nodes: int, limit: int) -> None:
    assert scaled(text, nodes) == limit
