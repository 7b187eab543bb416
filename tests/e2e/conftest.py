"""Control planes for tests that want one."""

from collections.abc import Iterator

import pytest

from tests.e2e.api import Api
from tests.e2e.control_plane import ADMIN_TOKEN, ControlPlane
from tests.oracle.build import GoMissingError


@pytest.fixture(scope="module")
def control_plane() -> Iterator[ControlPlane]:
    """etcd and kube-apiserver; a test may start schedulers beside them."""
    try:
        plane = ControlPlane()
        with plane:
            yield plane
    except GoMissingError as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="module")
def api(control_plane: ControlPlane) -> Iterator[Api]:
    """The administrator's connection."""
    with Api(control_plane.port, ADMIN_TOKEN) as connection:
        yield connection
