"""A minute of the soak that `python -m tests.e2e.soak` runs at length."""

import pytest

from tests.e2e.soak import soak
from tests.oracle.build import GoMissingError

pytestmark = pytest.mark.e2e


def test_nothing_is_lost_doubled_or_overcommitted_while_everything_fails() -> None:
    try:
        report = soak(pods=600, seconds=60.0)
    except GoMissingError as missing:
        pytest.skip(str(missing))
    print(report.text())
    assert report.bound == report.created == 600
    assert not report.lost
    assert not report.doubled
    assert not report.by_others
    assert not report.own_overcommitted
    assert report.kills >= 2
    assert report.restarts
