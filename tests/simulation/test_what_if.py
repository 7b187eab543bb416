"""`whatif` as a person runs it, over small clusters: what lands where, what is refused, and with which exit code."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kubectl_sched.queries.what_if.question import WhatIfQuestion
from kubectl_sched.queries.whatif import what_if
from kubectl_sched.simulation.workloads_to_place import Sizing
from kubectl_sched.sources.dump.reader import read
from tests import program

if TYPE_CHECKING:
    from kubectl_sched.simulation.what_if_result import WhatIfResult

FIXTURES = Path(__file__).parents[2] / "fixtures"
HERE = FIXTURES / "what-if"
SMALL = str(HERE / "small-cluster.yaml")


def run(*arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    return program.run("whatif", *arguments, stdin=stdin, folder=HERE)


def asked(*arguments: str, cluster: str = SMALL, stdin: str | None = None) -> dict[str, Any]:
    done = run("--from", cluster, "-o", "json", *arguments, stdin=stdin)
    assert done.returncode in {0, 1}, done.stderr
    data: dict[str, Any] = json.loads(done.stdout)
    return {**data, "exit": done.returncode}


def refused(*arguments: str, stdin: str | None = None) -> str:
    done = run("--from", SMALL, *arguments, stdin=stdin)
    assert done.returncode == 2
    assert done.stdout == ""
    return done.stderr


def nodes_of(answer: dict[str, Any]) -> dict[str, str | None]:
    return {each["pod"]["name"]: each["node"] for each in answer["placements"]}


def manifest(spec: dict[str, Any], namespace: str = "default", kind: str = "Pod") -> str:
    body = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "made", "namespace": namespace}, "spec": spec}
    return json.dumps(body)


def container(**resources: dict[str, str]) -> dict[str, Any]:
    return {"name": "main", "image": "x", "resources": resources}


def test_a_label_lets_the_pod_with_affinity_in() -> None:
    cluster = str(FIXTURES / "scenarios" / "affinity-without-topology-key" / "cluster.yaml")
    before = asked("--with-pending", cluster=cluster)
    after = asked("--with-pending", "--label", "worker1=meal=breakfast", cluster=cluster)
    assert (before["exit"], nodes_of(before)) == (1, {"with-pod-affinity": None})
    assert (after["exit"], nodes_of(after)) == (0, {"with-pod-affinity": "worker1"})


@pytest.mark.parametrize("version", ["v1", "v1beta2"])
def test_forty_pods_separate_by_image(version: str) -> None:
    folder = FIXTURES / "scenarios" / f"images-by-name-{version}"
    answer = asked(
        "nginx-old.yaml",
        "--replicas",
        "20",
        "--config",
        str(folder / "config.yaml"),
        cluster=str(folder / "cluster.yaml"),
    )
    assert {(each["pod"]["name"].split("-")[0], each["node"]) for each in answer["placements"]} == {
        ("old", "worker1"),
        ("new", "worker2"),
    }
    assert answer["placed"] == 40


def test_the_queue_is_by_priority_and_then_by_age() -> None:
    answer = asked("queue.yaml")
    assert list(nodes_of(answer)) == ["node-critical", "urgent", "first", "second"]


def test_the_node_with_more_free_cpu_scores_higher() -> None:
    cluster = str(FIXTURES / "scenarios" / "cpu-two-or-six-free" / "cluster.yaml")
    (placement,) = asked("--with-pending", cluster=cluster)["placements"]
    assert (placement["node"], placement["tied"], placement["tiedCount"]) == ("worker2", ["worker2"], 1)


def test_a_limit_range_gives_requests_that_fill_the_nodes() -> None:
    spec = {"containers": [container()]}
    limited = asked("-", "--replicas", "max", stdin=manifest(spec, "limited"))
    free = asked("-", "--replicas", "max", stdin=manifest(spec))
    assert (limited["placed"], free["placed"]) == (16, 16)  # by pods; 256Mi each would allow 32
    bigger = manifest({"containers": [container(requests={"memory": "600Mi"}, limits={"memory": "600Mi"})]}, "limited")
    assert asked("-", "--replicas", "max", stdin=bigger)["placed"] == 12


def test_a_limit_range_refuses_what_is_above_its_maximum() -> None:
    too_much = manifest({"containers": [container(limits={"memory": "2Gi"})]}, "limited")
    assert "maximum memory usage per Container is 1Gi, but limit is 2Gi" in refused("-", stdin=too_much)


def test_a_quota_refuses_the_third_pod() -> None:
    spec = {"containers": [container()]}
    assert asked("-", "--replicas", "2", stdin=manifest(spec, "rationed"))["placed"] == 2
    third = run("--from", SMALL, "-", "--replicas", "3", stdin=manifest(spec, "rationed"))
    assert third.returncode == 1
    first_line = third.stdout.splitlines()[0]
    assert "2 of 3 pods would be placed" in first_line
    assert "exceeded quota: two-pods, requested: pods=1, used: pods=2, limited: pods=2" in first_line


def test_no_execute_evicts_what_does_not_tolerate_it() -> None:
    answer = asked("--taint", "w1=maintenance=:NoExecute")
    assert nodes_of(answer) == {"web-1a2b-x": "w2"}
    assert any("evicted and does not come back: default/bare" in warning for warning in answer["warnings"])
    assert asked("--taint", "w2=maintenance=:NoExecute")["placements"] == []


@pytest.mark.parametrize(
    "selector", ["(zone=a)", "(zone in (a))", "(zone in (a),zone=a)", "(zone=a,zone notin (b,c),!x)"]
)
def test_the_nodes_of_an_edit_are_selected_by_sets_too(selector: str) -> None:
    assert nodes_of(asked("--taint", f"{selector}=maintenance=:NoExecute")) == {"web-1a2b-x": "w2"}


def test_a_drain_moves_pods_of_controllers_alone() -> None:
    answer = asked("--drain", "w1")
    (placement,) = answer["placements"]
    assert (placement["pod"]["name"], placement["owner"], placement["node"]) == ("web-1a2b-x", "Deployment/web", "w2")
    (lost,) = answer["drain"]["lost"]
    assert (lost["pod"]["name"], lost["why"]) == ("bare", "no controller re-creates it")


@pytest.mark.parametrize(
    ("edits", "placed"),
    [
        ([], 5),
        (["--cordon", "w1"], 3),
        (["--cordon", "w*"], 0),
        (["--cordon", "w*", "--uncordon", "(zone in (a))"], 2),
        (["--uncordon", "w1", "--cordon", "w*"], 0),
        (["--remove-node", "w2"], 1),
        (["--add-nodes", "1=w2"], 8),
        (["--add-nodes", "2=w1"], 11),
        (["--taint", "(zone=a)=x:NoSchedule"], 3),
        (["--taint", "w1=x:NoSchedule", "--taint", "w1=x-"], 5),
        (["--taint", "w1=x=y:NoSchedule", "--taint", "w1=x=y:NoSchedule-"], 5),
    ],
)
def test_edits_change_how_many_more_fit(edits: list[str], placed: int) -> None:
    answer = asked("plain.yaml", "--replicas", "max", *edits)
    own = [name for name in nodes_of(answer) if name.startswith("plain-")]
    assert (len(own), answer["exit"]) == (placed, 0)
    assert answer["stopped"]["event"].split(" nodes")[0].startswith("0/")


def test_new_nodes_get_their_daemon_pods() -> None:
    roomy = asked("plain.yaml", "--replicas", "max", "--add-nodes", "1=w1")
    assert roomy["perNode"]["w1-add-1"] == 3  # 2 cpu less the agent's 100m


def test_find_nodes_says_how_many_more_it_takes() -> None:
    answer = asked("plain.yaml", "--replicas", "12", "--find-nodes", "w2")
    assert (answer["nodesNeeded"], answer["unplaced"], answer["exit"]) == (3, 0, 0)
    assert asked("plain.yaml", "--find-nodes", "w2")["nodesNeeded"] == 0


def test_no_number_of_nodes_helps_a_pod_that_fits_on_none_of_them() -> None:
    huge = manifest({"containers": [container(requests={"cpu": "3"})]})
    answer = asked("-", "--find-nodes", "w1", stdin=huge)
    assert (answer["nodesNeeded"], answer["exit"]) == (None, 1)


def test_a_workload_of_the_cluster_gets_its_missing_pods() -> None:
    assert list(nodes_of(asked("deployment/web"))) == ["web-0"]
    assert list(nodes_of(asked("deployment/web", "--replicas", "5"))) == ["web-0", "web-1", "web-2"]


def test_a_rollout_gets_stuck_where_anti_affinity_leaves_no_node_for_the_surge() -> None:
    answer = asked("web-2.yaml")
    (rollout,) = answer["rollouts"]
    assert (rollout["strategy"], rollout["stuckAt"], len(rollout["remaining"])) == ("RollingUpdate", 1, 2)
    assert rollout["skew"] == [{"topologyKey": "kubernetes.io/hostname", "before": 0, "after": 0}]
    assert (nodes_of(answer), answer["exit"]) == ({"web-0": None}, 1)


def test_replacing_needs_no_rollout() -> None:
    answer = asked("web-2.yaml", "--replace")
    assert (sorted(str(node) for node in nodes_of(answer).values()), answer["rollouts"]) == (["w1", "w2"], [])


def test_a_pod_that_names_its_node_is_put_there_unscheduled() -> None:
    answer = asked("-", stdin=manifest({"nodeName": "w2", "containers": [container(requests={"cpu": "9"})]}))
    (placement,) = answer["placements"]
    assert (placement["node"], placement["total"]) == ("w2", None)


def test_preemption_nominates_or_happens() -> None:
    big = manifest({"priorityClassName": "high-priority", "containers": [container(requests={"cpu": "1800m"})]})
    (nominated,) = asked("-", stdin=big)["placements"]
    assert (nominated["node"], nominated["nominatedNode"], nominated["victims"]) == (None, "w1", ["default/web-1a2b-x"])
    done = asked("-", "--requeue-victims", stdin=big)
    assert nodes_of(done) == {"made": "w1", "web-1a2b-x": "w2"}


def test_the_same_seed_gives_the_same_answer() -> None:
    one, again = (asked("plain.yaml", "--replicas", "3", "--seed", "7") for _ in range(2))
    assert one == again


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"containers": []}, "spec.containers: Required value"),
        (
            {"containers": [container(requests={"cpu": "2"}, limits={"cpu": "1"})]},
            'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
        ),
        ({"containers": [container(requests={"memory": "5K"})]}, "5K"),
        (
            {"containers": [container()], "priorityClassName": "nobody"},
            "spec.priorityClassName: no PriorityClass with name nobody was found",
        ),
        ({"containers": [container()], "runtimeClassName": "gvisor"}, 'RuntimeClass "gvisor" not found'),
        (
            {"containers": [container()], "tolerations": [{"value": "x"}]},
            "spec.tolerations[0].operator: Invalid value",
        ),
        (
            {"containers": [container()], "topologySpreadConstraints": [
                {"maxSkew": 0, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
            ]},
            "spec.topologySpreadConstraints[0].maxSkew: Invalid value",
        ),
        ({"containers": [container()], "hostNetwork": "yes"}, "spec.hostNetwork: expected bool, got str"),
    ],
)  # fmt: skip
def test_what_the_api_server_would_refuse(spec: dict[str, Any], said: str) -> None:
    assert said in refused("-", stdin=manifest(spec))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "nothing to simulate: name a manifest, a workload or an edit"),
        (["--drain", "w3"], "no node matches w3"),
        (["--taint", "w1=x:Never"], "the effect is one of"),
        (["--taint", "w1=x"], "--taint w1=x: write NODE=KEY[=VALUE]:EFFECT"),
        (["--taint", "w1=x=y"], "--taint w1=x=y: write NODE=KEY[=VALUE]:EFFECT"),
        (["--label", "w1"], "write NODE=KEY=VALUE"),
        (["--label", "(zone in (a),zone=a)"], "write NODE=KEY=VALUE"),
        (["--label", "(zone=a"], "the parenthesis is not closed"),
        (["--add-nodes", "999999999999=w1"], "--add-nodes 999999999999=w1: a what-if adds at most 100,000 nodes"),
        (["plain.yaml", "--replicas", "9" * 5000], "a what-if makes at most 1,000,000 pods of a workload"),
        (["deployment/web", "--replicas", "1000001"], "a what-if makes at most 1,000,000 pods of a workload"),
        ([""], "a manifest's path is empty: name a file"),
        (["--add-nodes", "w1"], "write N=NODE"),
        (["deployment/wbe"], "near it: web"),
        (["plain.yaml", "--replicas", "some"], "neither a number nor max"),
        (["--replicas", "max", "--cordon", "w1"], "of which"),
        (["small-cluster.txt"], "no such file"),
    ],
)
def test_wrong_usage_is_one_sentence(arguments: list[str], said: str) -> None:
    assert said.lower() in refused(*arguments).lower()


@pytest.mark.parametrize("replicas", ["2", "max"])
def test_a_daemon_set_has_no_replicas(replicas: str) -> None:
    labels = {"app": "agent"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container()]}}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    made = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "made"}, "spec": spec}
    said = refused("-", "--replicas", replicas, stdin=json.dumps(made))
    assert said.startswith("error: --replicas does not apply to DaemonSet/made")


SELECTED = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {"name": "team", "annotations": {"scheduler.alpha.kubernetes.io/node-selector": "zone=a"}},
}
API_SERVER = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "kube-apiserver-w1", "namespace": "kube-system"},
    "spec": {
        "nodeName": "w1",
        "containers": [{"name": "s", "command": ["kube-apiserver", "--enable-admission-plugins=X,PodNodeSelector"]}],
    },
}


@pytest.mark.parametrize(("more", "zones"), [([API_SERVER], {"w1"}), ([], {"w2"})])
def test_a_namespaces_node_selector_counts_where_its_plugin_is_seen_to_be_on(
    tmp_path: Path, more: list[dict[str, Any]], zones: set[str]
) -> None:
    extra = tmp_path / "more.json"
    extra.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [SELECTED, *more]}))
    pod = manifest({"containers": [container()]}, namespace="team")
    answer = asked("-", "--replicas", "2", "--from", str(extra), stdin=pod)
    assert {each["node"] for each in answer["placements"]} == zones
    assert any("namespace team has annotations" in each for each in answer["warnings"]) == (not more)


@pytest.mark.parametrize(
    ("plugins", "resource", "node"),
    [
        ("ExtendedResourceToleration", "x.com/gpu", "gpu"),
        ("ExtendedResourceToleration", "cpu", None),
        ("PodNodeSelector", "x.com/gpu", None),
    ],
)
def test_pods_tolerate_the_resources_that_they_request_where_that_plugin_is_seen_to_be_on(
    tmp_path: Path, plugins: str, resource: str, node: str | None
) -> None:
    server = {"command": ["kube-apiserver"], "args": [f"--enable-admission-plugins={plugins}"], "name": "s"}
    running = {**API_SERVER, "spec": {"nodeName": "gpu", "containers": [server]}}
    tainted = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "gpu"},
        "spec": {"taints": [{"key": "x.com/gpu", "effect": "NoSchedule"}]},
        "status": {"allocatable": {"cpu": "9", "memory": "9Gi", "pods": "9", "x.com/gpu": "1"}},
    }
    cluster = tmp_path / "cluster.json"
    cluster.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [tainted, running]}))
    wanted = container(requests={resource: "1"}, limits={resource: "1"})
    assert nodes_of(asked("-", cluster=str(cluster), stdin=manifest({"containers": [wanted]}))) == {"made": node}


@pytest.mark.parametrize(("scope", "deadline", "code"), [
    ("Terminating", 30, 1), ("Terminating", None, 0), ("NotTerminating", 30, 0), ("NotTerminating", None, 1),
])  # fmt: skip
def test_a_quota_counts_only_pods_in_its_scope(tmp_path: Path, scope: str, deadline: int | None, code: int) -> None:
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "default"}}
    extra = tmp_path / "quota.json"
    extra.write_text(json.dumps({**quota, "spec": {"hard": {"pods": "0"}, "scopes": [scope]}}))
    spec = {"containers": [container()], **({"activeDeadlineSeconds": deadline} if deadline else {})}
    done = run("--from", SMALL, "--from", str(extra), "-", stdin=manifest(spec))
    assert done.returncode == code, done.stderr


def test_a_pod_that_names_a_node_which_is_not_there_runs_nowhere() -> None:
    answer = asked("-", stdin=manifest({"containers": [container()], "nodeName": "w9"}))
    (placement,) = answer["placements"]
    assert (answer["exit"], placement["outcome"], placement["node"], answer["perNode"]) == (1, "Error", None, {})
    assert any("names node w9, which does not exist" in each for each in answer["warnings"])


def daemon_set(*, surge: int | None) -> dict[str, Any]:
    rolling = {} if surge is None else {"rollingUpdate": {"maxSurge": surge, "maxUnavailable": 0}}
    template = {
        "metadata": {"labels": {"app": "agent"}},
        "spec": {"tolerations": [{"operator": "Exists"}], "containers": [{"name": "main", "image": "agent:2",
                 "ports": [{"containerPort": 9, "hostPort": 9}]}]},
    }  # fmt: skip
    selector = {"matchLabels": {"app": "agent"}}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "agent", "namespace": "kube-system"},
        "spec": {"selector": selector, "template": template, "updateStrategy": rolling},
    }


def test_a_daemon_set_is_rolled_out_node_by_node_whatever_its_pods_are_called() -> None:
    answer = asked("-", stdin=json.dumps(daemon_set(surge=None)))
    (rollout,) = answer["rollouts"]
    assert (rollout["steps"], rollout["stuckAt"], rollout["remaining"]) == (2, None, [])
    assert nodes_of(answer) == {"agent-w1": "w1", "agent-w2": "w2"}


def with_ports(tmp_path: Path) -> str:
    """The small cluster, in which the agent on w1 has the host port already."""
    text = Path(SMALL).read_text()
    path = tmp_path / "cluster.yaml"
    path.write_text(text.replace("image: agent,", "image: agent, ports: [{containerPort: 9, hostPort: 9}],"))
    return str(path)


def test_a_surge_of_daemon_pods_gets_stuck_on_a_host_port(tmp_path: Path) -> None:
    cluster = with_ports(tmp_path)
    (without,) = asked("-", cluster=cluster, stdin=json.dumps(daemon_set(surge=None)))["rollouts"]
    (surging,) = asked("-", cluster=cluster, stdin=json.dumps(daemon_set(surge=1)))["rollouts"]
    assert without["stuckAt"] is None
    assert surging["stuckAt"] is not None
    assert surging["remaining"] == ["kube-system/agent-w1"]


def stateful(name: str, image: str, replicas: int, **spec: Any) -> dict[str, Any]:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": image}]}}
    wanted = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template, **spec}
    about = {"name": name, "namespace": "default"}
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": about, "spec": wanted}


def running(count: int) -> list[dict[str, Any]]:
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "s", "controller": True}
    return [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"db-{i}", "namespace": "default", "uid": f"db-{i}", "ownerReferences": [owner]},
            "spec": {"nodeName": "w1", "containers": [{"name": "main", "image": "x"}]},
            "status": {"phase": "Running"},
        }
        for i in range(count)
    ]


@pytest.mark.parametrize(("image", "partition", "made"), [
    ("x", 0, []), ("y", 0, ["db-1", "db-0"]), ("y", 1, ["db-1"]),
])  # fmt: skip
def test_ordinals_beyond_the_replicas_go_first(tmp_path: Path, image: str, partition: int, made: list[str]) -> None:
    extra = tmp_path / "db.json"
    items = [stateful("db", "x", 4), *running(4)]
    extra.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    strategy = {"rollingUpdate": {"partition": partition}}
    wanted = stateful("db", image, 2, updateStrategy=strategy)
    answer = asked("-", "--from", str(extra), stdin=json.dumps(wanted))
    assert list(nodes_of(answer)) == made
    assert any("StatefulSet/db has 2 pods too many, which go first: db-2, db-3" in each for each in answer["warnings"])


def interrupted_after(count: int, *targets: str) -> WhatIfResult:
    """The result if Ctrl-C comes after so many placements."""
    told = 0

    def report(_done: int, _known: int) -> None:
        nonlocal told
        told += 1
        if told == count:
            raise KeyboardInterrupt

    return what_if(WhatIfQuestion(targets=targets, sizing=Sizing(replicas=3)), read([SMALL]), report=report).result


@pytest.mark.parametrize("manifest_name", ["plain.yaml", "web-2.yaml"])
def test_an_interrupt_leaves_what_is_known_until_then(manifest_name: str) -> None:
    answer = interrupted_after(1, str(HERE / manifest_name))
    assert answer.interrupted
    assert len(answer.simulated.placements) == 1
    assert answer.warnings[0].startswith("interrupted: this is what was known until then")


def on_w1(name: str, *, labels: dict[str, str] | None = None, owner: str = "", **spec: Any) -> dict[str, Any]:
    owners = [{"apiVersion": "apps/v1", "kind": owner, "name": "o", "uid": "o", "controller": True}] if owner else []
    about = {"name": name, "namespace": "default", "uid": name, "labels": labels or {}, "ownerReferences": owners}
    spec = {"nodeName": "w1", "containers": [container()], **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": about, "spec": spec, "status": {"phase": "Running"}}


def test_a_drain_lists_apart_what_blocks_it_or_does_not_come_back(tmp_path: Path) -> None:
    local = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["w1"]}
    affinity = {"required": {"nodeSelectorTerms": [{"matchExpressions": [local]}]}}
    mirror = on_w1("mirror", owner="Node")
    mirror["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
    items = [
        mirror,
        on_w1("scratch", owner="ReplicaSet", volumes=[{"name": "v", "emptyDir": {}}]),
        on_w1("data", owner="ReplicaSet", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]),
        on_w1("guarded", owner="ReplicaSet", labels={"app": "guarded"}),
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c", "namespace": "default"},
         "spec": {"volumeName": "pv"}},
        {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv"},
         "spec": {"nodeAffinity": affinity}},
        {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b", "namespace": "default"},
         "spec": {"selector": {"matchLabels": {"app": "guarded"}}}, "status": {"disruptionsAllowed": 0}},
    ]  # fmt: skip
    extra = tmp_path / "more.json"
    extra.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    answer = asked("--drain", "w1", "--from", str(extra))
    drain = answer["drain"]
    assert [(each["pod"]["name"], each["why"]) for each in drain["lost"]] == [
        ("bare", "no controller re-creates it"),
        ("scratch", "its emptyDir v is deleted"),
        ("data", "its local volume stays on w1"),
    ]
    assert [(each["pod"]["name"], each["by"]) for each in drain["blocked"]] == [
        ("guarded", "PodDisruptionBudget/default/b")
    ]
    assert [each["pod"]["name"] for each in drain["stays"]] == ["agent-w1", "mirror"]
    assert (drain["finishes"], answer["premise"]) == (False, "if w1 were drained")
    assert set(nodes_of(answer)) == {"web-1a2b-x", "scratch", "data", "guarded"}


def test_helm_and_kustomize_output_pipes_in_as_it_is() -> None:
    rendered = "\n".join(
        [
            "---",
            "# Source: chart/templates/nothing.yaml",
            "",
            "---",
            "# Source: chart/templates/account.yaml",
            "apiVersion: v1",
            "kind: ServiceAccount",
            "metadata: {name: web}",
            "---",
            json.dumps({"apiVersion": "v1", "kind": "List", "items": [stateful("db", "x", 2)]}),
            "---",
            "apiVersion: batch/v1",
            "kind: CronJob",
            "metadata: {name: nightly}",
            "spec:",
            "  jobTemplate:",
            "    spec: {parallelism: 2, completions: 5, template:",
            "      {spec: {restartPolicy: Never, containers: [{name: main, image: x}]}}}",
            "",
        ]
    )
    command = [sys.executable, "-m", "kubectl_sched", "whatif", "-", "--from", SMALL, "-o", "json"]
    done = subprocess.run(command, input=rendered, capture_output=True, text=True, check=True)
    assert set(nodes_of(json.loads(done.stdout))) == {"db-0", "db-1", "nightly-0", "nightly-1"}


@pytest.mark.parametrize(("policy", "waits"), [("OrderedReady", True), ("Parallel", False)])
def test_a_set_makes_its_pods_in_order_unless_it_says_otherwise(policy: str, waits: bool) -> None:
    wanted = stateful("db", "x", 3, podManagementPolicy=policy)
    wanted["spec"]["template"]["spec"]["nodeSelector"] = {"zone": "nowhere"}
    answer = asked("-", stdin=json.dumps(wanted))
    told = "StatefulSet/db makes its pods one after the other: db-1, db-2 are not made before db-0 runs"
    assert (told in answer["warnings"]) == waits


@pytest.mark.parametrize(("name", "outcome"), [
    ("default-scheduler", "Schedulable"), ("my-scheduler", "Schedulable"), ("nobody", "NoProfile"),
])  # fmt: skip
def test_each_pod_is_placed_by_the_scheduler_that_serves_it(name: str, outcome: str) -> None:
    cluster = str(FIXTURES / "schedulers" / "deployment.yaml")
    answer = asked("-", cluster=cluster, stdin=manifest({"containers": [container()], "schedulerName": name}))
    assert [each["outcome"] for each in answer["placements"]] == [outcome]
    found = any("profiles of Deployment kube-system/my-scheduler" in each for each in answer["warnings"])
    assert found == (name == "my-scheduler")


def workload(version: str = "apps/v1", kind: str = "Deployment", replicas: int = 1, **metadata: Any) -> dict[str, Any]:
    labels = {"app": "made"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container()]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "made", **metadata}, "spec": spec}


def listed(*items: dict[str, Any]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


@pytest.mark.parametrize("version", ["extensions/v1beta1", "apps/v1beta2", "v1"])
def test_a_version_that_no_kubernetes_serves_is_named(version: str) -> None:
    said = refused("-", stdin=listed(workload(version)))
    assert said == f"error: -: Deployment made: no supported Kubernetes has this kind in {version}: write apps/v1\n"


def test_a_version_is_needed() -> None:
    assert "Deployment made: apiVersion is not set: write apps/v1" in refused("-", stdin=listed(workload("")))


def test_a_namesake_of_another_group_is_passed_over() -> None:
    answer = asked("-", stdin=listed(workload(), workload("batch.volcano.sh/v1alpha1", "Job")))
    assert list(nodes_of(answer)) == ["made-0"]
    assert any("not applied: 1 Job" in warning for warning in answer["warnings"])


def test_a_name_that_is_no_dns_subdomain_is_refused() -> None:
    assert 'pod default/Web would be refused: metadata.name: Invalid value: "Web"' in refused(
        "-", stdin=manifest({"containers": [container()]}).replace('"made"', '"Web"')
    )


def test_a_namespace_that_does_not_exist_is_refused_unless_the_manifests_bring_it() -> None:
    inside = workload(namespace="elsewhere")
    done = run("--from", str(FIXTURES / "demo"), "-", stdin=listed(inside))
    assert (done.returncode, done.stdout) == (2, "")
    assert 'Deployment elsewhere/made would be refused: namespaces "elsewhere" not found' in done.stderr
    brought = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "elsewhere"}}
    assert asked("-", stdin=listed(inside, brought), cluster=str(FIXTURES / "demo"))["placed"] == 1


def test_a_dump_without_namespaces_says_nothing_of_them() -> None:
    assert asked("-", stdin=listed(workload(namespace="elsewhere")))["placed"] == 1


def test_of_a_workload_that_is_there_twice_the_last_counts() -> None:
    answer = asked("-", stdin=listed(workload(replicas=1), workload(replicas=2)))
    assert list(nodes_of(answer)) == ["made-0", "made-1"]
    assert (
        "the manifests hold Deployment default/made 2 times: the last one counts, as with kubectl apply"
        in (answer["warnings"])
    )


def test_a_pod_that_is_there_twice_is_refused() -> None:
    assert 'pods "plain" already exists: the manifests hold it 2 times' in refused("plain.yaml", "plain.yaml")


def test_pods_whose_names_are_generated_may_be_alike() -> None:
    pod = json.loads(manifest({"containers": [container()]}))
    pod["metadata"] = {"generateName": "made-"}
    assert list(nodes_of(asked("-", stdin=listed(pod, pod)))) == ["made-0", "made-1"]


def test_names_alone_are_on_stdout_and_what_they_rest_on_is_on_stderr() -> None:
    spec = {"containers": [container(requests={"cpu": "900"})]}
    done = run("-", "--replicas", "2", "--from", SMALL, "-o", "name", stdin=manifest(spec))
    assert (done.returncode, done.stdout) == (1, "")
    assert "warning: default profile assumed: " in done.stderr
    assert "warning: default/made-0 and 1 more pod have no node: 0/" in done.stderr
    bound = run("-", "--from", SMALL, "-o", "name", stdin=manifest({**spec, "nodeName": "nope"}))
    assert (bound.returncode, bound.stdout) == (1, "")
    assert "names node nope, which does not exist" in bound.stderr


def test_the_age_of_the_dump_is_said_in_data_too() -> None:
    answer = asked("-", cluster=str(FIXTURES / "demo"), stdin=manifest({"containers": [container()]}))
    age = r"the dump is \d+ days old \(taken no earlier than 2026-06-01 03:00\)"
    assert any(re.fullmatch(age, warning) for warning in answer["warnings"])


@pytest.mark.parametrize(
    ("workload", "placed", "unplaced"), [("deployment/api", 3, 0), ("statefulset/web", 0, 1), ("job/batch", 3, 0)]
)
def test_the_demo_holds_the_workloads_of_its_pods(workload: str, placed: int, unplaced: int) -> None:
    answer = asked(workload, "--replace", cluster=str(FIXTURES / "demo"))
    assert (answer["placed"], answer["unplaced"]) == (placed, unplaced)


def labelled(name: str, **labels: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": labels},
        "spec": {"containers": [container()]},
    }


SHOP = listed(labelled("web", app="web", tier="front"), labelled("db", app="db"), labelled("plain"))


@pytest.mark.parametrize(
    ("selector", "names"),
    [("app=web", {"web"}), ("app", {"web", "db"}), ("app!=db", {"web", "plain"}), ("app in (db),!tier", {"db"})],
)
def test_a_selector_chooses_among_the_objects_of_manifests(selector: str, names: set[str]) -> None:
    assert set(nodes_of(asked("-", "-l", selector, stdin=SHOP))) == names


def test_an_object_that_does_not_match_is_not_judged() -> None:
    misspelt = {**labelled("misspelt", app="db"), "spec": {"containers": [container()], "nodeNam": "w1"}}
    manifests = listed(labelled("web", app="web"), misspelt)
    assert set(nodes_of(asked("-", "-l", "app=web", stdin=manifests))) == {"web"}
    assert "nodeNam" in refused("-", "-l", "app", stdin=manifests)


def test_a_selector_chooses_among_pending_pods(tmp_path: Path) -> None:
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n1"},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}},
    }
    cluster = tmp_path / "cluster.json"
    cluster.write_text(listed(node, labelled("web", app="web"), labelled("db", app="db")))
    answer = asked("--with-pending", "-l", "app=web", cluster=str(cluster))
    assert nodes_of(answer) == {"web": "n1"}
    assert "1 pending pod is left aside: the labels do not match" in answer["warnings"]
    done = run("--from", str(cluster), "--with-pending", "-l", "app=none")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: no pending pod has labels that match app=none\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("-", "-l", "app=none"), "-: no object in it has labels that match app=none"),
        (("-", "-l", "app=(("), "not a selector"),
        (("deployment/web", "-l", "app=web"), "names and --selector exclude each other"),
        (("--drain", "w1", "-l", "app=web"), "--selector chooses among the objects of manifests, or pending pods"),
        (("--make-room", "deployment/web", "-l", "app=web"), "--make-room asks about the cluster as it is"),
    ],
)
def test_a_selector_that_chooses_nothing_is_refused(arguments: tuple[str, ...], said: str) -> None:
    assert said in refused(*arguments, stdin=SHOP)


def test_kube_scheduler_s_message_is_given_once(tmp_path: Path) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "huge"}}
    spec = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "640"}}}]}
    (tmp_path / "pod.json").write_text(json.dumps({**pod, "spec": spec}))
    demo = Path(__file__).parents[2] / "fixtures/demo"
    done = program.run("whatif", "pod.json", "--from", str(demo), folder=tmp_path)
    assert done.stdout.count("nodes are available: 1 node(s) had untolerated taint(s)") == 1


@pytest.mark.parametrize(
    ("edits", "told"),
    [
        (["--uncordon", "general-1"], "If general-1 were uncordoned: nothing would change, as that is so already."),
        (["--label", "general-1=pool=general"], "nothing would change, as that is so already."),
        (["--cordon", "general-1"], "no pod would have to move; 5 pending pods are not tried (--with-pending)."),
        (["--uncordon", "general-1", "--cordon", "general-1"], "no pod would have to move"),
    ],
)
def test_edits_that_move_no_pod_say_whether_they_change_anything(edits: list[str], told: str) -> None:
    done = program.run("whatif", *edits, "--from", "fixtures/demo")
    assert done.returncode == 0
    assert told in " ".join(done.stdout.split())
