"""Go's durations in their unusual spellings."""

from __future__ import annotations

import pytest

from kubectl_sched.config.duration import InvalidDuration, parse_duration


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("1.0000000019s", 1_000_000_001),
        (f"0.{'9' * 5000}s", 999_999_999),
        (f"{'0' * 5000}1s", 1_000_000_000),
        ("1.s", 1_000_000_000),
        (".5s", 500_000_000),
        ("-0", 0),
        ("9223372036854775807ns", 2**63 - 1),
    ],
)
def test_what_go_reads(text: str, nanoseconds: int) -> None:
    assert parse_duration(text) == nanoseconds


@pytest.mark.parametrize("text", ["9223372036854775808ns", f"{'9' * 5000}s", ".s", "+-5s", ""])
def test_what_go_refuses(text: str) -> None:
    with pytest.raises(InvalidDuration):
        parse_duration(text)
