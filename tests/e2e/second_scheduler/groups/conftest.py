"""A control plane with the gates for groups on, and the rights that the manifests give a second scheduler of groups."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.e2e.api import Api
from tests.e2e.control_plane import ADMIN_TOKEN, ControlPlane
from tests.e2e.group_planes import PLANES, GroupPlane
from tests.e2e.second_scheduler.test_watch_manifests import GROUPS_ROLE, NAME, PATHS, manifest
from tests.e2e.watchers import audited_plane
from tests.oracle.build import GoMissingError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def audit_log(tmp_path: Path) -> Path:
    return tmp_path / "audit.log"


@pytest.fixture(params=PLANES)
def groups(request: pytest.FixtureRequest) -> GroupPlane:
    """The gates and the API of a minor."""
    return PLANES[request.param]


@pytest.fixture
def control_plane(audit_log: Path, groups: GroupPlane) -> Iterator[ControlPlane]:
    flags = (groups.served,)
    try:
        with audited_plane(audit_log, feature_gates=groups.gates, more_flags=flags, minor=groups.minor) as plane:
            yield plane
    except GoMissingError as missing:
        pytest.skip(str(missing))


@pytest.fixture
def api(control_plane: ControlPlane) -> Iterator[Api]:
    with Api(control_plane.port, ADMIN_TOKEN) as connection:
        yield connection


@pytest.fixture
def kubeconfig(control_plane: ControlPlane, api: Api) -> Path:
    """The one of the ServiceAccount of the manifests, with the role for groups."""
    for each in manifest():
        if each["kind"] in {"ServiceAccount", "ClusterRole", "ClusterRoleBinding"}:
            api.create(PATHS[each["kind"]], each)
    subjects = [{"kind": "ServiceAccount", "name": NAME, "namespace": "kube-system"}]
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": GROUPS_ROLE}
    about = {"name": f"{NAME}-groups"}
    api.create(PATHS["ClusterRoleBinding"], {"metadata": about, "roleRef": role, "subjects": subjects})
    path = f"{PATHS['ServiceAccount']}/{NAME}/token"
    token = api.create(path, {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})
    given = control_plane.kubeconfig_for("service-account")
    given.write_text(given.read_text().replace('"service-account"', json.dumps(token["status"]["token"])))
    return given
