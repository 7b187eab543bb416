"""`bind podgroup NAME` against a real control plane whose gates for groups are on, and which has no scheduler."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING

import pytest

from tests.e2e.api import Api, ApiError
from tests.e2e.binding_cluster import (
    CLAIMS,
    PODS,
    SELECTED_NODE,
    Program,
    claim,
    events,
    node,
    node_of,
    pod,
    provisioner,
    versions,
)
from tests.e2e.control_plane import ADMIN_TOKEN, ControlPlane
from tests.e2e.patience import until
from tests.oracle.build import GoMissingError
from tests.render.schema_checks import check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.api import Json

pytestmark = pytest.mark.e2e

GATES = "GenericWorkload=true,GangScheduling=true,TopologyAwareWorkloadScheduling=true"
GROUPS = "/apis/scheduling.k8s.io/v1alpha2/namespaces/default/podgroups"
STORAGE_CLASSES = "/apis/storage.k8s.io/v1/storageclasses"


@pytest.fixture(scope="module")
def control_plane() -> Iterator[ControlPlane]:
    served = ("--runtime-config=scheduling.k8s.io/v1alpha2=true",)
    try:
        with ControlPlane(controller_manager=True, feature_gates=GATES, extra_apiserver_flags=served) as plane:
            with Api(plane.port, ADMIN_TOKEN) as api:
                for name in ("n1", "n2", "n3"):
                    node(api, name)
                made = {"provisioner": "made.example.com", "volumeBindingMode": "WaitForFirstConsumer"}
                api.create(STORAGE_CLASSES, {"metadata": {"name": "made"}} | made)
            yield plane
    except GoMissingError as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="module")
def program(control_plane: ControlPlane) -> Program:
    return Program(control_plane, "podgroup")


def gang(api: Api, name: str, size: int, cpu: str, **spec: object) -> list[str]:
    """A gang that takes all of its pods, and their names."""
    body = {"metadata": {"name": name}, "spec": {"schedulingPolicy": {"gang": {"minCount": size}}}}
    api.create(GROUPS, body)
    names = [f"{name}-{index}" for index in range(size)]
    for each in names:
        claims = (each,) if "claims" in spec else ()
        if claims:
            claim(api, each, "made")
        pod(api, each, cpu, claims=claims, schedulerName="default-scheduler", schedulingGroup={"podGroupName": name})
    return names


def condition(api: Api, name: str) -> Json:
    """The group's only condition, without its time; it is about the group as it is."""
    group = api.get(f"{GROUPS}/{name}")
    (found,) = group["status"]["conditions"]
    assert found.pop("observedGeneration", 0) == group["metadata"].get("generation", 0)
    return {key: value for key, value in found.items() if key != "lastTransitionTime"}


def nodes(api: Api, names: list[str]) -> list[str]:
    return [node_of(api, name) for name in names]


def test_a_gang_is_bound_as_a_whole_with_its_condition_and_events(api: Api, program: Program) -> None:
    names = gang(api, "whole", 3, "1500m")
    before = versions(api)
    planned = program.run("whole", "--feature-gates", GATES, "--dry-run=client")
    checked = program.run("whole", "--feature-gates", GATES, "--dry-run=server")
    unasked = program.run("whole", "--feature-gates", GATES)
    assert (planned.returncode, checked.returncode, unasked.returncode) == (0, 0, 2)
    assert "would bind 3 pods of podgroup default/whole to " in planned.stdout
    named = program.run("whole", "--feature-gates", GATES, "--dry-run=client", "-o", "name")
    assert [line.partition(" ")[0] for line in named.stdout.splitlines()] == [f"pod/{name}" for name in names]
    assert named.stderr.startswith("warning: default profile assumed: ")
    assert versions(api) == before
    answer = program.bind("whole", "--feature-gates", GATES)
    assert answer["outcome"] == "Bound"
    assert nodes(api, names) == [each["boundTo"] for each in answer["members"]]
    assert condition(api, "whole") == {
        "type": "PodGroupScheduled",
        "status": "True",
        "reason": "Scheduled",
        "message": "",
    }
    notes = [event["note"] for name in names for event in events(api, name, "Scheduled")]
    assert notes == [f"Successfully assigned default/{name} to {node_of(api, name)}" for name in names]
    again = program.run("whole", "--feature-gates", GATES, "--yes")
    assert (again.returncode, again.stderr) == (1, "error: podgroup whole waits: it has no pending pods\n")


def test_a_gang_that_does_not_fit_gets_no_node_and_is_told_so(api: Api, program: Program) -> None:
    names = gang(api, "large", 4, "3")
    done = program.run("large", "--feature-gates", GATES, "--yes", "-o", "json")
    assert (done.returncode, nodes(api, names)) == (1, [""] * 4)
    answer = json.loads(done.stdout)
    assert (check(answer), answer["outcome"]) == ("PodGroupBinding", "Unschedulable")
    said = answer["explanation"]["condition"]
    assert condition(api, "large") == said
    assert said["status"] == "False"
    told = [event["note"] for name in names for event in events(api, name, "FailedScheduling")]
    assert sorted(told) == sorted(each["event"] for each in answer["explanation"]["members"])
    for name in names:
        api.delete(f"{PODS}/{name}", grace_seconds=0)


def test_what_a_killed_run_leaves_half_bound_is_finished_by_the_next(
    api: Api, control_plane: ControlPlane, program: Program
) -> None:
    names = gang(api, "half", 3, "100m", claims=True)
    first = [names[0]]
    with program.started("half", "--feature-gates", GATES, "--yes") as run:
        # The provisioner serves the first pod's claim alone, so that the second one's binding waits for its volume.
        with provisioner(control_plane, only=first[0]):
            until(lambda: any(nodes(api, names)), lambda: "no pod is bound")
        run.send_signal(signal.SIGKILL)
        run.wait()
    assert nodes(api, names).count("") == 2
    with provisioner(control_plane):
        answer = program.bind("half", "--feature-gates", GATES)
    assert answer["explanation"]["scheduled"] == [f"default/{name}" for name in first]
    assert all(nodes(api, names))
    assert condition(api, "half")["status"] == "True"


def test_an_interrupt_takes_back_what_is_under_way_and_leaves_what_is_bound(
    api: Api, control_plane: ControlPlane, program: Program
) -> None:
    names = gang(api, "stopped", 2, "100m", claims=True)
    with program.started("stopped", "--feature-gates", GATES, "--yes") as run:
        with provisioner(control_plane, only=names[0]):
            until(lambda: bool(node_of(api, names[0])), lambda: "no pod is bound")
        path = f"{CLAIMS}/{names[1]}"
        until(lambda: SELECTED_NODE in api.get(path)["metadata"].get("annotations", {}), lambda: "no node is selected")
        run.send_signal(signal.SIGINT)
        _, told = run.communicate(timeout=60)
    assert run.returncode == 130
    assert "bound already: default/stopped-0 (the next run goes on from there)" in told
    assert node_of(api, names[1]) == ""
    assert SELECTED_NODE not in api.get(path)["metadata"].get("annotations", {})
    assert api.get(f"{PODS}/{names[1]}")["status"].get("nominatedNodeName") is None


def test_nothing_is_bound_where_the_server_would_not_bind_one_of_them(api: Api, program: Program) -> None:
    names = gang(api, "kept", 3, "100m")
    guard(api, names[-1])
    done = program.run("kept", "--feature-gates", GATES, "--yes")
    assert (done.returncode, nodes(api, names)) == (3, [""] * 3)
    assert "so none was bound" in done.stderr


def guard(api: Api, name: str) -> None:
    """Have the server refuse the binding of one pod."""
    group = "/apis/admissionregistration.k8s.io/v1"
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods/binding"]}]
    spec = {
        "matchConstraints": {"resourceRules": rules},
        "validations": [{"expression": f"object.metadata.name != '{name}'", "message": "not this one"}],
    }
    api.create(f"{group}/validatingadmissionpolicies", {"metadata": {"name": "guard"}, "spec": spec})
    binding = {"policyName": "guard", "validationActions": ["Deny"]}
    api.create(f"{group}/validatingadmissionpolicybindings", {"metadata": {"name": "guard"}, "spec": binding})
    pod(api, "probe")
    path = f"{PODS}/{name}/binding?dryRun=All"
    body = {"metadata": {"name": name}, "target": {"kind": "Node", "name": "n1"}}

    def refuses() -> bool:
        try:
            api.create(path, body)
        except ApiError as error:
            return "not this one" in str(error)
        return False

    until(refuses, lambda: "the policy is not in force")
