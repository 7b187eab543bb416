"""`explain --new-nodes` with cluster-autoscaler: groups, templates, sizes, and what its events say."""

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_sched.api.pod import Pod
from kubectl_sched.diagnostics.messages.scale_up_text import scale_up_reasons
from kubectl_sched.errors import SchedError
from kubectl_sched.node_provisioning.cluster_autoscaler.status_config_map import GroupStatus
from kubectl_sched.queries.explain import ExplainAnswer, ExplainQuestion, explain
from kubectl_sched.queries.provisioning.cluster_autoscaler_replay import NodeGroupFlags
from kubectl_sched.queries.provisioning.new_nodes import NewNodesFlags
from kubectl_sched.render.answers.explanation_data import explanation_data
from kubectl_sched.render.display import Display
from kubectl_sched.render.sentences.new_nodes_sentences import verdict_sentences
from kubectl_sched.simulation.node_edits import node_of_manifest
from kubectl_sched.sources.discovery.cluster_autoscalers import groups_of_status
from kubectl_sched.sources.dump.reader import read
from kubectl_sched.sources.export.anonymizer import anonymized
from kubectl_sched.sources.export.snapshot_file import encoded
from kubectl_sched.sources.pod_selection import Selection
from tests.render.worlds import page_of, text_of

Json = dict[str, Any]

STATUSES = Path("fixtures/cluster_autoscaler")
"""ConfigMaps that cluster-autoscaler's own code wrote, of both formats (tests/oracle/README.md)."""

VERSIONS = ("1.29.5", "1.36.1")
EKS = "eks.amazonaws.com/nodegroup"
ZONE = "topology.kubernetes.io/zone"


def status(version: str = "1.36.1") -> Json:
    found: Json = json.loads((STATUSES / f"status-{version}.json").read_text())
    return found


def node(name: str, group: str = "", cpu: str = "2", **spec: Any) -> Json:
    labels = {EKS: group, "kubernetes.io/hostname": name} if group else {"kubernetes.io/hostname": name}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": spec,
            "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "20"},
                       "conditions": [{"type": "Ready", "status": "True"}]}}  # fmt: skip


def pod(name: str = "web", cpu: str = "1500m", on: str = "", **spec: Any) -> Json:
    container = {"name": "main", "resources": {"requests": {"cpu": cpu}}}
    placed = {"nodeName": on} if on else {}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}"},
            "spec": {"containers": [container], **placed, **spec},
            "status": {"phase": "Running" if on else "Pending"}}  # fmt: skip


def of_daemon_set(owned: Json, name: str = "agent") -> Json:
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": name, "uid": name, "controller": True}
    return {**owned, "metadata": {**owned["metadata"], "ownerReferences": [owner]}}


def autoscaler(*args: str, tag: str = "v1.35.2") -> Json:
    image = f"registry.k8s.io/autoscaling/cluster-autoscaler:{tag}"
    made = pod("cluster-autoscaler", "100m", "elsewhere")
    container = {**made["spec"]["containers"][0], "image": image, "command": ["./cluster-autoscaler", *args]}
    return {**made, "spec": {**made["spec"], "containers": [container]}}


def asked(
    folder: Path, *objects: Json, flags: NodeGroupFlags | None = None, full: bool = True, hidden: bool = False
) -> ExplainAnswer:
    """The answer about the pod `web`; `hidden`: of the anonymized snapshot of the cluster."""
    path = folder / "cluster.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))
    dump, name = read([str(path)]), "web"
    if hidden:
        path.write_bytes(encoded(anonymized(dump), lambda text: text))
        dump = read([str(path)])
        name = next(each.name for each in dump.objects if isinstance(each, Pod) and not each.spec.node_name)
    new_nodes = NewNodesFlags(groups=flags or NodeGroupFlags()) if full else None
    return explain(ExplainQuestion(selection=Selection(targets=("pod", name)), new_nodes=new_nodes), dump)[0]


def answered(folder: Path, *objects: Json, **how: Any) -> Json:
    """The `clusterAutoscaler` of the answer."""
    found: Json = explanation_data(asked(folder, *objects, **how).explanations[0], "")["newNodes"]
    return {**found["clusterAutoscaler"], "assumed": found["assumed"]}


def groups(folder: Path, *objects: Json, **how: Any) -> dict[str, Json]:
    return {each["name"]: each for each in answered(folder, *objects, **how)["groups"]}


FULL = pod("full", "1900m", "n1")


@pytest.mark.parametrize("version", VERSIONS)
def test_a_status_that_the_autoscaler_wrote_is_read_in_each_format(version: str) -> None:
    read_groups = groups_of_status(status(version)["data"]["status"])
    found = {each.name.removeprefix("eks-").partition("-")[0]: each for each in read_groups}
    assert found["web"] == GroupStatus(
        name="eks-web-1ac2b3d4-5e6f-4711-8a9b-0c1d2e3f4a5b",
        size=3,
        min=1,
        max=5,
        upcoming=0,
        health="Healthy",
        scale_up="NoActivity",
        scale_down="NoCandidates",
    )
    assert (found["grow"].upcoming, found["grow"].scale_up) == (2, "InProgress")
    assert (found["sick"].health, found["spot"].scale_up) == ("Unhealthy", "Backoff")
    assert found["spot"].error_code == ("InsufficientInstanceCapacity" if version == "1.36.1" else "")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("group", "verdict", "reason"),
    [
        ("web", "Created", "the pod fits on its template"),
        ("gpu", "Impossible", "max node group size reached"),
        ("spot", "Impossible", "in backoff after failed scale-up"),
        ("sick", "Impossible", "not ready for scale-up"),
        ("grow", "InFlight", "2 of its nodes are starting"),
        ("other", "Created", "the pod fits on its template"),
    ],
)
def test_a_group_is_judged_by_its_status_and_its_template(
    tmp_path: Path, version: str, group: str, verdict: str, reason: str
) -> None:
    found = groups(tmp_path, status(version), node("n1", group), FULL, pod())[group]
    assert found["verdict"] == verdict
    assert found["reason"].startswith(reason)
    assert found["template"] == "n1"
    assert (found["size"] is None) == (group == "other")


def test_a_group_that_has_no_node_is_unknown_until_a_template_is_given(tmp_path: Path) -> None:
    name = "eks-empty-6fc2b3d4-5e6f-4711-8a9b-0c1d2e3f4a5b"
    found = groups(tmp_path, status(), node("n1", "web"), pod())[name]
    assert (found["verdict"], found["template"], found["max"]) == ("Unknown", None, 4)
    small = node_of_manifest(node("like-empty", "empty", cpu="1"), "template.yaml")
    given = groups(tmp_path, status(), node("n1", "web"), pod(), flags=NodeGroupFlags(templates=(small,)))
    assert name not in given
    assert (given["empty"]["verdict"], given["empty"]["reason"]) == ("Impossible", "Insufficient cpu")
    assert given["empty"]["max"] == 4


def test_daemons_and_mirror_pods_stay_on_a_template_and_other_pods_go(tmp_path: Path) -> None:
    daemon = of_daemon_set(pod("agent-1", "200m", "n1"))
    mirror = pod("static-n1", "200m", "n1")
    mirror["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
    cluster = (node("n1", "web"), pod("other", "1100m", "n1"), daemon, mirror, status())
    assert groups(tmp_path, *cluster, pod(cpu="1600m"))["web"]["verdict"] == "Created"
    assert groups(tmp_path, *cluster, pod(cpu="1601m"))["web"]["reason"] == "Insufficient cpu"


def test_a_daemon_that_is_missing_counts_only_if_it_is_critical_or_forced(tmp_path: Path) -> None:
    def daemon_set(**spec: Any) -> Json:
        template = {"metadata": {"labels": {"app": "x"}}, "spec": {**pod(cpu="1")["spec"], **spec}}
        return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "d", "namespace": "default"},
                "spec": {"selector": {"matchLabels": {"app": "x"}}, "template": template}}  # fmt: skip

    cluster = (node("n1", "web"), node("elsewhere"), FULL, pod("elsewhere-full", "1900m", "elsewhere"), pod(), status())
    assert groups(tmp_path, *cluster, daemon_set())["web"]["verdict"] == "Created"
    critical = daemon_set(priorityClassName="system-node-critical")
    assert groups(tmp_path, *cluster, critical)["web"]["verdict"] == "Impossible"
    for flag, verdict in {"": "Impossible", "=1": "Impossible", "=T": "Impossible", "=0": "Created"}.items():
        assert groups(tmp_path, *cluster, daemon_set(), autoscaler(f"--force-ds{flag}"))["web"]["verdict"] == verdict


@pytest.mark.parametrize(
    ("key", "args", "verdict"),
    [
        ("team", (), "Impossible"),
        ("team", ("--startup-taint=team",), "Created"),
        ("team", ("--ignore-taint", "team"), "Created"),
        ("team", ("--status-taint=team",), "Created"),
        ("startup-taint.cluster-autoscaler.kubernetes.io/x", (), "Created"),
        ("ToBeDeletedByClusterAutoscaler", (), "Created"),
        ("node.kubernetes.io/memory-pressure", (), "Created"),
    ],
)
def test_taints_that_pass_are_not_on_a_template(tmp_path: Path, key: str, args: tuple[str, ...], verdict: str) -> None:
    tainted = node("n1", "web", taints=[{"key": key, "effect": "NoSchedule"}])
    assert groups(tmp_path, tainted, status(), autoscaler(*args), pod())["web"]["verdict"] == verdict


def test_a_ready_node_is_a_better_template_than_one_that_is_cordoned(tmp_path: Path) -> None:
    found = groups(tmp_path, node("a", "web", unschedulable=True), node("b", "web"), status(), FULL, pod())["web"]
    assert (found["template"], found["verdict"]) == ("b", "Created")


def test_the_scheduler_is_that_of_the_autoscalers_release(tmp_path: Path) -> None:
    cluster = (node("n1", "web"), status(), FULL, pod())
    found = answered(tmp_path, *cluster, autoscaler(tag="v1.33.4"))
    assert found["version"] == "1.33"
    assert not any("cluster's own version" in each for each in found["assumed"])
    assert any("cluster's own version" in each for each in answered(tmp_path, *cluster)["assumed"])


def test_no_node_is_added_for_an_expendable_pod_or_above_the_limit(tmp_path: Path) -> None:
    cluster = (node("n1", "web"), status(), FULL)
    assert "-11 is below -10" in groups(tmp_path, *cluster, pod(priority=-11))["web"]["reason"]
    low = groups(tmp_path, *cluster, pod(priority=-11), autoscaler("--expendable-pods-priority-cutoff=-20"))
    assert low["web"]["verdict"] == "Created"
    most = groups(tmp_path, *cluster, pod(), autoscaler("--max-nodes-total=1"))
    assert most["web"]["reason"] == "max total nodes in cluster reached"


def test_groups_that_refuse_for_one_reason_are_named_together(tmp_path: Path) -> None:
    cluster = (node("n1", "web"), FULL, autoscaler("--max-nodes-total=1"), status(), pod())
    found = asked(tmp_path, *cluster).explanations[0].new_nodes
    assert found is not None
    (sentence,) = verdict_sentences(found)
    assert sentence.count("max total nodes in cluster reached") == 1
    assert sentence.endswith(" others: max total nodes in cluster reached.")


@pytest.mark.parametrize(
    "spec", [{"unschedulable": True}, {"taints": [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]}]
)
def test_only_ready_nodes_count_against_the_limit_on_all_nodes(tmp_path: Path, spec: Json) -> None:
    limited = autoscaler("--max-nodes-total=2")
    cluster = (node("n1", "web"), status(), FULL, limited, pod(), node("n2", cpu="1"))
    assert groups(tmp_path, *cluster)["web"]["reason"] == "max total nodes in cluster reached"
    assert groups(tmp_path, *cluster[:-1], node("n2", **spec))["web"]["verdict"] == "Created"


@pytest.mark.parametrize(
    ("tag", "scale_up", "verdict", "reason"),
    [
        ("v1.35.2", "Backoff", "InFlight", "2 of its nodes are starting"),
        ("v1.36.1", "Backoff", "Impossible", "in backoff after failed scale-up"),
        ("v1.36.1", "NoActivity", "Created", "the pod fits on its template"),
        ("v1.36.1", "InProgress", "InFlight", "2 of its nodes are starting"),
    ],
)
def test_since_1_36_nodes_are_on_their_way_only_while_a_scale_up_is_under_way(
    tmp_path: Path, tag: str, scale_up: str, verdict: str, reason: str
) -> None:
    changed = status()
    before = "name: eks-grow-5ec2b3d4-5e6f-4711-8a9b-0c1d2e3f4a5b"
    head, tail = changed["data"]["status"].split(before)
    changed["data"]["status"] = head + before + tail.replace("status: InProgress", f"status: {scale_up}", 1)
    found = groups(tmp_path, changed, node("n1", "grow"), FULL, autoscaler(tag=tag), pod())["grow"]
    assert (found["verdict"], found["reason"]) == (verdict, reason)


@pytest.mark.parametrize(
    ("node_name", "tag", "verdict"),
    [("n1", "v1.35.2", "Impossible"), ("gone", "v1.35.2", "Created"), ("gone", "v1.36.1", "Impossible")],
)
def test_no_node_is_added_for_a_pod_that_waits_for_preemption(
    tmp_path: Path, node_name: str, tag: str, verdict: str
) -> None:
    waiting = pod()
    waiting["status"]["nominatedNodeName"] = node_name
    found = groups(tmp_path, node("n1", "web"), status(), FULL, autoscaler(tag=tag), waiting)["web"]
    assert found["verdict"] == verdict
    assert (found["reason"] == f"the pod is nominated to {node_name}") == (verdict == "Impossible")


def test_no_node_is_added_for_a_pod_of_which_preemption_is_still_to_come(tmp_path: Path) -> None:
    lower = FULL | {"spec": FULL["spec"] | {"priority": 0}}
    found = groups(tmp_path, node("n1", "web"), status(), lower, pod(priority=1))["web"]
    assert (found["verdict"], found["reason"]) == ("Impossible", "the pod is nominated to n1")


@pytest.mark.parametrize("is_marked", [False, True])
def test_no_node_is_added_for_a_pod_of_a_daemon_set(tmp_path: Path, *, is_marked: bool) -> None:
    daemon = pod() if is_marked else of_daemon_set(pod())
    if is_marked:
        daemon["metadata"]["annotations"] = {"cluster-autoscaler.kubernetes.io/daemonset-pod": "true"}
    found = groups(tmp_path, node("n1", "web"), status(), FULL, daemon)["web"]
    assert (found["verdict"], found["reason"]) == ("Impossible", "a pod of a DaemonSet needs the node that it is for")


@pytest.mark.parametrize(
    ("labels", "meta", "spec", "joined"),
    [
        ({"cloud.google.com/gke-nodepool": "pool-1", ZONE: "europe-west1-b"}, {}, {}, "gke-main-pool-1-0a1b2c3d-grp"),
        ({"cloud.google.com/gke-nodepool": "pool-1", ZONE: "europe-west1-c"}, {}, {}, None),
        (
            {"kubernetes.azure.com/agentpool": "nodepool1"},
            {},
            {"providerID": "azure:///subscriptions/s/virtualMachineScaleSets/AKS-nodepool1-12345678-vmss/0"},
            "aks-nodepool1-12345678-vmss",
        ),
        ({"kubernetes.azure.com/agentpool": "nodepool1"}, {}, {}, "aks-nodepool1-12345678-vmss"),
        ({"kubernetes.azure.com/agentpool": "nodepool"}, {}, {}, None),
        ({"kops.k8s.io/instancegroup": "nodes-eu-west-1a"}, {}, {}, "nodes-eu-west-1a.kops.example.com"),
        (
            {},
            {"cluster.x-k8s.io/owner-name": "workers-x7k2p", "cluster.x-k8s.io/cluster-namespace": "capi"},
            {},
            "MachineDeployment/capi/workers",
        ),
        (
            {},
            {"cluster.x-k8s.io/owner-name": "workers-x7k2p", "cluster.x-k8s.io/cluster-namespace": "other"},
            {},
            None,
        ),
    ],
)
def test_each_provider_joins_its_groups_by_its_rule(
    tmp_path: Path, labels: Json, meta: Json, spec: Json, joined: str | None
) -> None:
    made = node("gke-main-pool-1-0a1b2c3d-x9z8", **spec)
    made["metadata"] |= {"labels": {**made["metadata"]["labels"], **labels}, "annotations": meta}
    found = groups(tmp_path, made, status(), pod(cpu="1"), pod("full", "1900m", made["metadata"]["name"]))
    own = [each for each in found.values() if each["template"] is not None]
    assert len(own) == 1
    assert (own[0]["max"] is not None) == (joined is not None)
    assert not any(name.endswith(joined or "?") and found[name]["template"] is None for name in found)


def test_a_control_plane_of_the_cluster_api_is_no_node_group(tmp_path: Path) -> None:
    made = node("cp-1")
    made["metadata"]["annotations"] = {"cluster.x-k8s.io/owner-name": "cp"}
    assert "cp" in groups(tmp_path, made, status(), pod(cpu="64"))
    made["metadata"]["annotations"]["cluster.x-k8s.io/owner-kind"] = "KubeadmControlPlane"
    assert "cp" not in groups(tmp_path, made, status(), pod(cpu="64"))


def test_a_label_of_ones_own_names_the_groups(tmp_path: Path) -> None:
    made = node("n1")
    made["metadata"]["labels"]["team/pool"] = "aks-nodepool1-12345678-vmss"
    with pytest.raises(SchedError, match="--node-group-label"):
        asked(tmp_path, made, pod())
    found = groups(tmp_path, made, pod(), FULL, flags=NodeGroupFlags(label="team/pool"))
    assert found["aks-nodepool1-12345678-vmss"]["verdict"] == "Created"


def test_the_first_screen_has_one_line_and_full_answers_have_a_table_in_every_output(tmp_path: Path) -> None:
    cluster = (node("n1", "web"), node("n2", "gpu"), FULL, pod("more", "1900m", "n2"), status(), pod())
    sentence = "cluster-autoscaler would add a node for it to node group web."
    lines = text_of(asked(tmp_path, *cluster, full=False), Display(), 100).splitlines()
    assert sentence in lines
    assert not any("would it add a node?" in line for line in lines)
    answer = asked(tmp_path, *cluster)
    for shown in (
        text_of(answer, Display(), 100),
        page_of(answer, Display(output="markdown")),
        page_of(answer, Display(output="html")),
    ):
        assert "would it add a node?" in shown
        assert "max node group size reached" in shown


def test_a_status_that_cannot_be_read_leaves_sizes_unknown_and_says_so(tmp_path: Path) -> None:
    broken = status()
    broken["data"]["status"] = "autoscalerStatus: Running\nnodeGroups: 3\n"
    found = answered(tmp_path, node("n1", "web"), FULL, broken, pod())
    assert found["groups"][0]["size"] is None
    assert any("cluster-autoscaler-status cannot be read" in each for each in found["assumed"])


def test_an_anonymized_snapshot_joins_the_same_groups_and_keeps_no_names(tmp_path: Path) -> None:
    cluster = (node("n1", "web"), FULL, status(), autoscaler("--startup-taint=secret-taint"), pod())
    found = answered(tmp_path, *cluster, hidden=True)
    assert [(each["verdict"], each["size"], each["max"]) for each in found["groups"] if each["template"]] == [
        ("Created", 3, 5)
    ]
    text = (tmp_path / "cluster.json").read_text()
    for name in ("web", "kops.example", "workers", "secret-taint", "sufficient g6"):
        assert name not in text


def test_an_event_is_taken_apart() -> None:
    text = (
        "pod didn't trigger scale-up: 2 node(s) had untolerated taint {gpu: true}, 1 Insufficient cpu, "
        "3 max node group size reached"
    )
    found = scale_up_reasons(text)
    assert [(each.groups, each.plugin) for each in found] == [(2, "TaintToleration"), (1, "NodeResourcesFit"), (3, "")]
    assert found[2].says == "the node group has as many nodes as it may have"
    assert scale_up_reasons("pod triggered scale-up: [{a 1->2 (max: 3)}]") == ()


def test_the_newest_event_is_in_the_answer(tmp_path: Path) -> None:
    event = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e", "namespace": "default"},
             "involvedObject": {"kind": "Pod", "namespace": "default", "name": "web", "uid": "uid-web"},
             "reason": "NotTriggerScaleUp", "source": {"component": "cluster-autoscaler"},
             "message": "pod didn't trigger scale-up: 1 max node group size reached",
             "lastTimestamp": "2026-05-28T20:00:00Z"}  # fmt: skip
    found = answered(tmp_path, node("n1", "web"), FULL, status(), pod(), event)
    assert [(each["groups"], each["reason"]) for each in found["event"]] == [(1, "max node group size reached")]
