"""`bind pod NAME` against a real control plane: it writes what kube-scheduler writes, and nothing is half done."""

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.api import Api, Json
from tests.e2e.binding_cluster import (
    CLAIMS,
    DEVICES,
    OURS,
    PODS,
    RESOURCE_CLAIMS,
    SELECTED_NODE,
    TWIN,
    VOLUMES,
    Program,
    audited,
    claim,
    events,
    fill,
    node,
    node_of,
    pod,
    provisioner,
    resource_claim,
    uses,
    versions,
    volume,
)
from tests.e2e.control_plane import ADMIN_TOKEN, ControlPlane
from tests.e2e.patience import until
from tests.e2e.priority_classes import priority_class
from tests.oracle.build import GoMissingError
from tests.render.schema_checks import check

pytestmark = pytest.mark.e2e

DOCUMENTATION = Path(__file__).parents[3] / "docs" / "bind.md"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"


@pytest.fixture(scope="module")
def audit_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("audit") / "audit.log"


@pytest.fixture(scope="module")
def control_plane(audit_log: Path) -> Iterator[ControlPlane]:
    """The real kube-scheduler serves one schedulerName, and nobody any other."""
    policy = audit_log.with_name("policy.yaml")
    policy.write_text("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n")
    flags = (f"--audit-policy-file={policy}", f"--audit-log-path={audit_log}", "--audit-log-mode=blocking-strict")
    try:
        with ControlPlane(controller_manager=True, extra_apiserver_flags=flags) as plane:
            plane.start_scheduler(config={"profiles": [impatient(TWIN)]})
            with Api(plane.port, ADMIN_TOKEN) as api:
                fill(api)
            yield plane
    except GoMissingError as missing:
        pytest.skip(str(missing))


def impatient(name: str) -> Json:
    """A profile that waits two seconds for volumes."""
    args = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "VolumeBindingArgs",
        "bindTimeoutSeconds": 2,
    }
    return {"schedulerName": name, "pluginConfig": [{"name": "VolumeBinding", "args": args}]}


@pytest.fixture(scope="module")
def program(control_plane: ControlPlane) -> Program:
    return Program(control_plane)


DRAWN = {"uid", "resourceVersion", "creationTimestamp", "managedFields", "generateName", "generation"}
TIMES = {"lastTransitionTime", "eventTime", "allocationTimestamp"}


def scrubbed(value: Any, names: tuple[str, ...]) -> Any:
    """Without what is drawn, timed, or the pod's own name."""
    if isinstance(value, dict):
        return {key: scrubbed(each, names) for key, each in value.items() if key not in DRAWN | TIMES}
    if isinstance(value, list):
        return [scrubbed(each, names) for each in value]
    if isinstance(value, str):
        for name in names:
            value = value.replace(name, "NAME")
        return re.sub(r"NAME\.[0-9a-f]{16}", "NAME.TIME", value)
    return value


def test_a_pod_its_condition_and_its_event_are_as_the_real_scheduler_leaves_them(api: Api, program: Program) -> None:
    pod(api, "plain-ours", nodeSelector={"kubernetes.io/hostname": "n3"})
    pod(api, "plain-twin", nodeSelector={"kubernetes.io/hostname": "n3"}, schedulerName=TWIN)
    answer = program.bind("plain-ours")
    assert (check(answer), answer["node"], answer["boundTo"], answer["dryRun"]) == ("Binding", "n3", "n3", "none")
    assert answer["explanation"]["kind"] == "Explanation"
    until(lambda: events(api, "plain-twin", "Scheduled"))
    both = [
        [
            scrubbed(each, (f"plain-{who}", OURS, TWIN))
            for each in (api.get(f"{PODS}/plain-{who}"), *events(api, f"plain-{who}", "Scheduled"))
        ]
        for who in ("ours", "twin")
    ]
    assert len(both[0]) == 2
    assert both[0] == both[1]
    event = events(api, "plain-ours", "Scheduled")[0]
    assert event["note"] == "Successfully assigned default/plain-ours to n3"
    assert event["reportingController"] == OURS


def test_the_event_of_a_pod_with_a_long_name_is_written(api: Api, program: Program) -> None:
    name = "p" * 250
    spec = {"schedulerName": OURS, "containers": [{"name": "c", "image": "nginx"}]}
    api.create(PODS, {"metadata": {"name": name}, "spec": spec})
    assert not any("event" in warning for warning in program.bind(name)["warnings"])
    assert len(events(api, name, "Scheduled")) == 1


def test_what_is_said_of_a_pod_that_does_not_fit_is_what_the_real_scheduler_says(api: Api, program: Program) -> None:
    pod(api, "big-ours", "64")
    pod(api, "big-twin", "64", schedulerName=TWIN)
    done = program.run("big-ours", "--yes")
    assert (done.returncode, "fits on none of 4 nodes" in done.stderr) == (1, True)
    until(lambda: events(api, "big-twin", "FailedScheduling"))
    until(lambda: api.get(f"{PODS}/big-twin")["status"].get("conditions"))
    ours, twin = (
        [
            scrubbed(each, (f"big-{who}", OURS, TWIN))
            for each in (api.get(f"{PODS}/big-{who}")["status"], events(api, f"big-{who}", "FailedScheduling")[0])
        ]
        for who in ("ours", "twin")
    )
    assert ours == twin
    condition = api.get(f"{PODS}/big-ours")["status"]["conditions"][0]
    assert (condition["reason"], condition["observedGeneration"]) == ("Unschedulable", 1)
    api.delete(f"{PODS}/big-twin")


def told(api: Api, name: str, said: str) -> Json:
    """What says so of the pod; kube-scheduler may first have tried it before it knew of the claim."""
    conditions = api.get(f"{PODS}/{name}")["status"].get("conditions", [])
    notes = [each for each in events(api, name, "FailedScheduling") if each["note"] == said]
    found = {"conditions": [each for each in conditions if each["message"] == said], "events": notes}
    return {part: scrubbed(each, (name, OURS, TWIN)) for part, each in found.items()}


def test_a_volume_that_does_not_come_in_time_is_said_as_the_real_scheduler_says_it(
    api: Api, program: Program, tmp_path: Path
) -> None:
    for who, scheduler in (("ours", OURS), ("twin", TWIN)):
        claim(api, f"late-{who}", "made")
        pod(api, f"late-{who}", claims=(f"late-{who}",), schedulerName=scheduler)
    path = tmp_path / "scheduler.yaml"
    kind = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    path.write_text(json.dumps({**kind, "profiles": [impatient(OURS)]}))
    done = program.run("late-ours", "--yes", "--config", str(path))
    assert done.returncode == 3
    said = 'running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded'
    assert said in done.stderr
    ours = told(api, "late-ours", said)
    assert (len(ours["conditions"]), len(ours["events"])) == (1, 1)
    until(lambda: told(api, "late-twin", said) == ours, lambda: f"{told(api, 'late-twin', said)} is not {ours}")
    assert selected(api, "late-ours") is None
    assert "nominatedNodeName" not in api.get(f"{PODS}/late-ours")["status"]
    api.delete(f"{PODS}/late-twin")


def test_without_a_terminal_and_without_yes_nothing_is_written(api: Api, program: Program) -> None:
    pod(api, "unasked")
    before = versions(api)
    done = program.run("unasked")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (
        2,
        "error: bind asks before it writes, and there is no terminal to ask at: give --yes, or --dry-run=client",
    )
    assert versions(api) == before


@pytest.mark.parametrize("how", ["client", "server"])
def test_dry_runs_change_nothing(api: Api, program: Program, how: str) -> None:
    name = f"dry-{how}"
    claim(api, name, "made")
    resource_claim(api, name)
    extended = {"limits": {"x.io/gpu": "1"}}
    pod(api, name, claims=(name,), **uses(name))
    container = {"name": "c", "image": "nginx", "resources": extended}
    pod(api, f"{name}-extended", containers=[container])
    for each in (name, f"{name}-extended"):
        before = versions(api)
        answer = program.bind(each, f"--dry-run={how}")
        assert answer["outcome"] == "Planned"
        assert {"PATCH", "POST"} == {request["method"] for request in answer["requests"]}
        assert versions(api) == before


def test_gated_bound_and_unknown_pods_are_refused(api: Api, program: Program) -> None:
    pod(api, "gated", schedulingGates=[{"name": "example.com/wait"}])
    done = program.run("gated", "--yes", "--take-over", "--node", "n1", "--ignore-filters")
    assert done.returncode == 1
    assert "example.com/wait" in done.stderr
    pod(api, "placed", nodeName="n4")
    done = program.run("placed", "--yes")
    assert (done.returncode, "is on node n4 already" in done.stderr) == (1, True)
    assert program.run("nobody", "--yes").returncode == 2
    assert program.run("gated", "--node", "n9", "--yes").returncode == 2


def test_a_pod_whose_scheduler_renews_its_lease_is_taken_over_only_on_demand(api: Api, program: Program) -> None:
    pod(api, "served", schedulerName="leased")
    now = "2099-01-01T00:00:00.000000Z"
    spec = {"holderIdentity": "host_1", "leaseDurationSeconds": 15, "renewTime": now, "acquireTime": now}
    api.create(LEASE, {"metadata": {"name": "leased"}, "spec": spec})
    done = program.run("served", "--yes")
    assert (done.returncode, node_of(api, "served")) == (1, "")
    assert "host_1 holds the Lease kube-system/leased and renews it" in done.stderr
    assert program.bind("served", "--take-over", "--node", "n2")["boundTo"] == "n2"


def test_a_node_that_the_filters_reject_takes_the_pod_only_when_they_are_ignored(api: Api, program: Program) -> None:
    api.merge("/api/v1/nodes/n4", {"spec": {"unschedulable": True}})
    pod(api, "stubborn")
    done = program.run("stubborn", "--yes", "--node", "n4")
    assert done.returncode == 1
    assert "the filters reject node n4 (NodeUnschedulable: node(s) were unschedulable)" in done.stderr
    assert program.bind("stubborn", "--node", "n4", "--ignore-filters")["boundTo"] == "n4"
    api.merge("/api/v1/nodes/n4", {"spec": {"unschedulable": None}})


def test_a_volume_is_set_aside_and_waited_for(api: Api, program: Program) -> None:
    api.create(VOLUMES, volume("disk", "n2"))
    claim(api, "data", "local")
    pod(api, "stored", claims=("data",))
    answer = program.bind("stored")
    assert [request["path"] for request in answer["requests"]] == [
        f"{PODS}/stored/status",
        f"{VOLUMES}/disk",
        f"{PODS}/stored/binding",
        "/apis/events.k8s.io/v1/namespaces/default/events",
    ]
    assert node_of(api, "stored") == "n2"
    bound, disk = api.get(f"{CLAIMS}/data"), api.get(f"{VOLUMES}/disk")
    assert (bound["spec"]["volumeName"], bound["status"]["phase"]) == ("disk", "Bound")
    assert disk["spec"]["claimRef"]["uid"] == bound["metadata"]["uid"]
    assert disk["metadata"]["annotations"]["pv.kubernetes.io/bound-by-controller"] == "yes"


def test_a_node_is_selected_for_a_claim_and_its_volume_waited_for(
    api: Api, program: Program, control_plane: ControlPlane
) -> None:
    claim(api, "fresh", "made")
    pod(api, "provisioned", claims=("fresh",))
    with provisioner(control_plane):
        chosen = program.bind("provisioned")["boundTo"]
    bound = api.get(f"{CLAIMS}/fresh")
    assert bound["metadata"]["annotations"][SELECTED_NODE] == chosen
    assert bound["status"]["phase"] == "Bound"
    assert "nominatedNodeName" not in api.get(f"{PODS}/provisioned")["status"]


def test_ctrl_c_while_a_volume_is_waited_for_takes_everything_back(api: Api, program: Program) -> None:
    claim(api, "never", "made")
    resource_claim(api, "idle")
    pod(api, "patient", claims=("never",), **uses("idle"))
    with program.started("patient", "--yes") as process:
        until(lambda: api.get(f"{RESOURCE_CLAIMS}/idle").get("status", {}).get("reservedFor"))
        until(lambda: selected(api, "never"))
        error = interrupted(process)
    assert process.returncode == 130
    assert "interrupted: pod default/patient has no node, and nothing is left of the attempt" in error
    left = api.get(f"{PODS}/patient")
    assert ("nodeName" in left["spec"], "nominatedNodeName" in left["status"]) == (False, False)
    assert selected(api, "never") is None
    idle = api.get(f"{RESOURCE_CLAIMS}/idle")
    assert (idle.get("status"), "finalizers" in idle["metadata"]) == ({}, False)


def selected(api: Api, name: str) -> Any:
    return api.get(f"{CLAIMS}/{name}")["metadata"].get("annotations", {}).get(SELECTED_NODE)


def interrupted(process: subprocess.Popen[str]) -> str:
    """What it says on Ctrl-C."""
    process.send_signal(signal.SIGINT)
    return process.communicate(timeout=60)[1]


def test_a_claim_that_was_made_for_extended_resources_is_removed_again(api: Api, program: Program) -> None:
    """On Ctrl-C by whoever made it, after kill -9 by the next run, since no node fits beside it."""
    claim(api, "never-either", "made")
    container = {"name": "c", "image": "nginx", "resources": {"limits": {"x.io/gpu": "1"}}}
    pod(api, "unlucky", claims=("never-either",), containers=[container])
    with program.started("unlucky", "--yes") as process:
        until(lambda: api.get(f"{PODS}/unlucky")["status"].get("extendedResourceClaimStatus"))
        interrupted(process)
    assert made_for(api, "unlucky") == []
    assert "extendedResourceClaimStatus" not in api.get(f"{PODS}/unlucky")["status"]
    with program.started("unlucky", "--yes"):
        until(lambda: api.get(f"{PODS}/unlucky")["status"].get("extendedResourceClaimStatus"))
    before = made_for(api, "unlucky")
    assert len(before) == 1
    assert "would remove what an earlier attempt left" in program.bind("unlucky", "--dry-run=client")["message"]
    with program.started("unlucky", "--yes") as process:
        until(lambda: made_for(api, "unlucky") not in ([], before))
        interrupted(process)
    assert made_for(api, "unlucky") == []


def made_for(api: Api, name: str) -> list[str]:
    items = api.get(RESOURCE_CLAIMS)["items"]
    return [item["metadata"]["name"] for item in items if item["metadata"]["name"].startswith(f"{name}-extended-")]


def test_after_kill_9_the_next_run_names_what_is_left_and_goes_on_from_there(
    api: Api, program: Program, control_plane: ControlPlane
) -> None:
    claim(api, "orphan", "made")
    resource_claim(api, "kept")
    pod(api, "killed", claims=("orphan",), **uses("kept"))
    with program.started("killed", "--yes"):
        until(lambda: api.get(f"{RESOURCE_CLAIMS}/kept").get("status", {}).get("reservedFor"))
        chosen = until(lambda: selected(api, "orphan"))
    assert node_of(api, "killed") == ""
    planned = program.bind("killed", "--dry-run=client")
    with provisioner(control_plane):
        answer = program.bind("killed")
    assert (planned["node"], answer["boundTo"]) == (chosen, chosen)
    assert planned["leftovers"] == [
        f"it is nominated to node {chosen}",
        f"claim default/orphan has node {chosen} selected",
        "ResourceClaim default/kept is reserved for it",
    ]


def test_devices_are_taken_and_their_drivers_told(api: Api, program: Program) -> None:
    resource_claim(api, "gpu-a")
    pod(api, "computing", **uses("gpu-a"))
    chosen = program.bind("computing")["boundTo"]
    status = api.get(f"{RESOURCE_CLAIMS}/gpu-a")["status"]
    assert status["reservedFor"][0]["name"] == "computing"
    assert status["allocation"]["devices"]["results"][0]["pool"] == chosen
    assert status["allocation"]["devices"]["config"][0]["opaque"]["parameters"] == {"mode": "fast"}


def test_devices_that_have_to_be_made_ready_are_waited_for(api: Api, program: Program) -> None:
    device = {"name": "f-0", "bindingConditions": ["attached"], "bindingFailureConditions": ["broken"]}
    pool = {"name": "fabric", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "fabric.example.com", "pool": pool, "nodeName": "n3", "devices": [device]}
    api.create(f"{DEVICES}/resourceslices", {"metadata": {"name": "fabric"}, "spec": spec})
    selector = {"cel": {"expression": 'device.driver == "fabric.example.com"'}}
    api.create(f"{DEVICES}/deviceclasses", {"metadata": {"name": "fabric"}, "spec": {"selectors": [selector]}})
    resource_claim(api, "attachable", "fabric")
    pod(api, "attached", **uses("attachable"))
    with program.started("attached", "--yes", "-o", "name") as process:
        until(lambda: events(api, "attached", "BindingConditionsPending"))
        assert node_of(api, "attached") == ""
        condition = {"type": "attached", "status": "True", "reason": "r", "message": "", "lastTransitionTime": NOW}
        status = {"driver": "fabric.example.com", "pool": "fabric", "device": "f-0", "conditions": [condition]}
        api.merge(f"{RESOURCE_CLAIMS}/attachable/status", {"status": {"devices": [status]}})
        assert process.communicate(timeout=60)[0] == "pod/attached node/n3\n"
    note = events(api, "attached", "BindingConditionsPending")[0]["note"]
    assert note == "waiting for binding conditions for device on node n3"


def test_a_claim_is_made_for_extended_resources(api: Api, program: Program) -> None:
    container = {"name": "c", "image": "nginx", "resources": {"limits": {"x.io/gpu": "1"}}}
    pod(api, "extended", containers=[container])
    program.bind("extended")
    told = api.get(f"{PODS}/extended")["status"]["extendedResourceClaimStatus"]
    made = api.get(f"{RESOURCE_CLAIMS}/{told['resourceClaimName']}")
    assert made["metadata"]["ownerReferences"][0]["name"] == "extended"
    assert made["status"]["reservedFor"][0]["name"] == "extended"
    assert told["requestMappings"][0]["resourceName"] == "x.io/gpu"


def test_of_ten_that_bind_one_pod_one_wins_and_nine_say_who_has_it(api: Api, program: Program) -> None:
    pod(api, "wanted")
    processes = [program.start("wanted", "--yes", "-o", "name") for _ in range(10)]
    outcomes = [(process.communicate(timeout=120), process.returncode) for process in processes]
    has_it = node_of(api, "wanted")
    winners = [out for (out, _), code in outcomes if code == 0]
    losers = [error for (_, error), code in outcomes if code == 1]
    assert (len(winners), len(losers)) == (1, 9), outcomes
    assert winners == [f"pod/wanted node/{has_it}\n"]
    assert all(re.search(rf"default/wanted (is on|was bound to) node {has_it}", error) for error in losers)
    assert len(events(api, "wanted", "Scheduled")) == 1


def test_victims_go_as_kube_schedulers_do_although_a_budget_is_violated(api: Api, program: Program) -> None:
    node(api, "small", "1")
    priority_class(api, "high", 1000)
    pod(api, "victim", "900m", nodeName="small")
    api.merge(f"{PODS}/victim", {"metadata": {"finalizers": ["example.com/look"]}})
    pod(api, "urgent", "900m", priorityClassName="high", nodeSelector={"kubernetes.io/hostname": "small"})
    budget = {"minAvailable": 1, "selector": {"matchLabels": {"app": "victim"}}}
    path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
    api.merge(f"{PODS}/victim/status", {"status": {"phase": "Running", "conditions": [READY]}})
    api.create(path, {"metadata": {"name": "b"}, "spec": budget})
    until(lambda: api.get(f"{path}/b")["status"].get("currentHealthy"))
    done = program.run("urgent", "--yes")
    assert (done.returncode, "--preempt makes room for it" in done.stderr) == (1, True)
    assert "nominatedNodeName" not in api.get(f"{PODS}/urgent")["status"]
    planned = program.run("urgent", "--dry-run=client", "--preempt")
    assert "preemption violates PodDisruptionBudget" in " ".join(planned.stdout.split())
    process = program.start("urgent", "--yes", "--preempt", "-o", "name")
    until(lambda: "deletionTimestamp" in api.get(f"{PODS}/victim")["metadata"])
    going: Json = api.get(f"{PODS}/victim")
    (condition,) = [each for each in going["status"]["conditions"] if each["type"] == "DisruptionTarget"]
    assert (condition["status"], condition["reason"], condition["message"]) == (
        "True",
        "PreemptionByScheduler",
        f"{OURS}: preempting to accommodate a higher priority pod",
    )
    assert api.get(f"{PODS}/urgent")["status"]["nominatedNodeName"] == "small"
    api.merge(f"{PODS}/victim", {"metadata": {"finalizers": None}})
    out, error = process.communicate(timeout=120)
    assert (process.returncode, out) == (0, "pod/urgent node/small\n"), error
    urgent = api.get(f"{PODS}/urgent")["metadata"]["uid"]
    assert events(api, "victim", "Preempted")[0]["note"] == f"Preempted by pod {urgent} on node small"


def test_ctrl_c_while_a_victim_goes_takes_condition_and_nomination_back(api: Api, program: Program) -> None:
    node(api, "tiny", "1")
    priority_class(api, "urgent", 1000)
    pod(api, "slow", "900m", nodeName="tiny")
    api.merge(f"{PODS}/slow", {"metadata": {"finalizers": ["example.com/look"]}})
    pod(api, "hasty", "900m", priorityClassName="urgent", nodeSelector={"kubernetes.io/hostname": "tiny"})
    before = api.get(f"{PODS}/hasty")["status"]
    with program.started("hasty", "--yes", "--preempt") as process:
        until(lambda: "deletionTimestamp" in api.get(f"{PODS}/slow")["metadata"])
        assert api.get(f"{PODS}/hasty")["status"]["nominatedNodeName"] == "tiny"
        error = interrupted(process)
    assert process.returncode == 130
    assert "left: pod default/slow was deleted to make room" in error
    assert "interrupted: pod default/hasty has no node" in error
    assert api.get(f"{PODS}/hasty")["status"] == before
    api.merge(f"{PODS}/slow", {"metadata": {"finalizers": None}})


def test_the_json_of_a_refusal_says_why(api: Api, program: Program) -> None:
    pod(api, "gated-json", schedulingGates=[{"name": "example.com/wait"}])
    done = program.run("gated-json", "--yes", "-o", "json")
    answer = json.loads(done.stdout)
    assert (check(answer), answer["outcome"], answer["boundTo"]) == ("Binding", "Refused", None)
    assert done.returncode == 1
    assert "example.com/wait" in answer["message"]


NOW = "2026-01-01T00:00:00Z"
READY: Json = {"type": "Ready", "status": "True"}


def test_every_write_is_documented_and_no_other_is_made(
    program: Program, audit_log: Path, api: Api, request: pytest.FixtureRequest
) -> None:
    """Over all tests of this file, which is why it stands last."""
    pod(api, "last")
    program.bind("last")
    wrote = {
        (event["verb"], event["requestURI"].partition("?")[0])
        for event in audited(audit_log)
        if event["verb"] not in {"get", "list", "watch"}
    }
    documented = documented_writes(DOCUMENTATION.read_text())
    unknown = [
        each for each in wrote if not any(verb == each[0] and path.fullmatch(each[1]) for verb, path in documented)
    ]
    assert unknown == []
    run = {getattr(item, "originalname", None) for item in request.session.items}
    if run >= {name for name in globals() if name.startswith("test_")}:
        unused = [path.pattern for _, path in documented if not any(path.fullmatch(each) for _, each in wrote)]
        assert [each for each in unused if "podgroups" not in each] == []


VERBS = {"POST": "create", "PATCH": "patch", "DELETE": "delete"}


def documented_writes(text: str) -> list[tuple[str, re.Pattern[str]]]:
    """The rows `| POST | `/path/{name}` | ... |` of the page."""
    rows = re.findall(r"^\| (POST|PATCH|DELETE) \| `([^`]+)` \|", text, re.MULTILINE)
    return [(VERBS[method], re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path)))) for method, path in rows]
