"""The oracle of each wanted version, once for the whole run."""

import os
from collections.abc import Iterator

import pytest

from tests.oracle.build import VERSIONS, GoMissingError, Oracle


def wanted_versions() -> list[str]:
    """$ORACLE_VERSIONS, as "1.33,1.36" or "all"; 1.36 where it is not set."""
    said = os.environ.get("ORACLE_VERSIONS", "1.36")
    return list(VERSIONS) if said == "all" else said.split(",")


@pytest.fixture(scope="session", params=wanted_versions())
def oracle(request: pytest.FixtureRequest) -> Iterator[Oracle]:
    """A running oracle; without Go the test is skipped with a sentence that says what to do."""
    try:
        running = Oracle(request.param)
    except GoMissingError as missing:
        pytest.skip(str(missing))
    with running:
        yield running


@pytest.fixture(scope="session")
def gates(oracle: Oracle) -> frozenset[str]:
    """The feature gates that this version knows."""
    return frozenset(oracle.defaults()["featureGates"])
