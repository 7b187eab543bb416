"""The one sentence: what it says of each outcome, and of the nodes that each plugin keeps out."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_sched.config import KubeVersion, load_configuration
from kubectl_sched.queries.explanation import Explanation
from kubectl_sched.render.answers.explanation_data import explanation_data
from kubectl_sched.render.display import Display
from kubectl_sched.render.node_order import rejected_rows
from kubectl_sched.render.sentences.headline import decision, headline
from kubectl_sched.scheduler.scheduler import Scheduler
from tests.plugins.clusters import node, pod, requests, snapshot
from tests.render.worlds import GPU, explained, gpu_cluster, gpu_pod, gpu_users, shown

SMALL = {"cpu": "2", "memory": "4Gi", "pods": "110"}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
UNREACHABLE = {"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}
TAINT = {"key": "a", "value": "b", "effect": "NoSchedule"}
OTHER_TAINT = {"key": "b", "effect": "NoExecute"}
UNKNOWN = {
    "type": "Ready",
    "status": "Unknown",
    "reason": "Gone",
    "message": "no word",
    "lastTransitionTime": "2026-01-02T03:04:05Z",
}


def terms(*requirements: tuple[str, str, list[str]]) -> dict[str, Any]:
    expressions = [{"key": key, "operator": operator, "values": values} for key, operator, values in requirements]
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": expressions}]}}}}


def port(number: int) -> dict[str, Any]:
    return {"containers": [{"name": "main", "ports": [{"containerPort": 80, "hostPort": number}]}]}


TAINTED = [
    node(f"{key}{index}", taints=[{"key": key, "effect": "NoSchedule"}]) for index in range(2) for key in "abcde"
]

REJECTED = [
    ([node("w1", unschedulable=True)], {}, "does not fit the only node: w1 is cordoned"),
    ([node(f"w{i}", unschedulable=True) for i in range(5)], {}, "of 5 nodes: all are cordoned (w0, w1, w2 and 2 more)"),
    (
        [
            node("w1", taints=[TAINT]),
            node("w2", taints=[TAINT]),
        ],
        {},
        "all have the untolerated taint a=b:NoSchedule",
    ),
    (
        [
            node("w1", taints=[{"key": "a", "effect": "NoSchedule"}]),
            *(node(f"w{i}", taints=[OTHER_TAINT]) for i in (2, 3)),
        ],
        {},
        "all have untolerated taints: 2 b:NoExecute and 1 a:NoSchedule",
    ),
    (
        [
            node("w1"),
            node("w2", allocatable={**SMALL, GPU: "1"}),
            node("w3"),
            pod("user", on="w2", **requests(**{GPU: "1"})),
        ],
        requests(**{GPU: "1"}),
        "all lack nvidia.com/gpu: the pod asks for 1, and the best, w2, has 0 of 1 free",
    ),
    (
        TAINTED,
        {},
        "all have untolerated taints: 2 a:NoSchedule, 2 b:NoSchedule, 2 c:NoSchedule and 4 with 2 other taints",
    ),
    (
        TAINTED[:4],
        {},
        "all have untolerated taints: 1 a:NoSchedule, 1 b:NoSchedule, 1 c:NoSchedule and 1 with 1 other taint",
    ),
    (
        [node("w1", taints=[UNREACHABLE], conditions=[UNKNOWN])],
        {},
        (
            "w1 has taint node.kubernetes.io/unreachable:NoSchedule: "
            "Ready is Unknown since 2026-01-02T03:04:05Z (Gone: no word)"
        ),
    ),
    (
        [node("w1", labels={"pool": "a"}), node("w2", labels={"pool": "b"})],
        {"nodeSelector": {"pool": "gpu"}},
        "all are not in pool=gpu (no node has pool=gpu)",
    ),
    (
        [node("w1", labels={"pool": "a"})],
        terms(("pool", "In", ["x", "y"]), ("zone", "Exists", [])),
        "w1 does not match pool in (x, y), the label zone",
    ),
    (
        [node("w1", labels={"pool": "a", "zone": "z"})],
        {"nodeSelector": {"zone": "z", "pool": "b"}},
        "w1 is not in pool=b",
    ),
    (
        [node("w1"), pod("other", on="w1", **port(8080))],
        port(8080),
        "w1 has no free host port 8080/TCP: default/other has it on w1",
    ),
    ([node("w1"), node("w2")], requests(**{GPU: "1"}), "all have no nvidia.com/gpu, of which the pod asks for 1"),
    (
        [node("w1", allocatable=SMALL), pod("other", on="w1", **requests(cpu="1500m"))],
        requests(**{"cpu": "1", GPU: "1"}),
        "w1 has no nvidia.com/gpu, of which the pod asks for 1",
    ),
    (
        [node("w1", allocatable=SMALL), node("w2", allocatable={**SMALL, "cpu": "4"})],
        requests(cpu="8"),
        "all are too small: the pod asks for 8 cpu, and the largest, w2, has 4 in all",
    ),
    (
        [node("w1", allocatable=SMALL), pod("other", on="w1", **requests(cpu="1500m"))],
        requests(cpu="1"),
        "w1 lacks cpu: the pod asks for 1, and 0.5 of 2 is free (requests, not usage)",
    ),
    ([node("w1", allocatable={**SMALL, "pods": "1"}), pod("other", on="w1")], {}, "w1 is full: 1 pod of 1"),
    (
        [
            node("w1", allocatable={**SMALL, "memory": "1Gi"}),
            node("w2", allocatable={**SMALL, "cpu": "1"}),
            node("w3", allocatable={**SMALL, "cpu": "1"}),
        ],
        requests(cpu="2", memory="2Gi"),
        (
            "all have too little: 2 are too small: the pod asks for 2 cpu, and the largest, w2, has 1 in all; "
            "1 is too small: 1Gi memory in all, and the pod asks for 2Gi"
        ),
    ),
    (
        [node("w1", unschedulable=True), node("w2", labels={"pool": "a"}), node("w3", labels={"pool": "gpu"})],
        {"nodeSelector": {"pool": "gpu"}, **requests(**{GPU: "1"})},
        "w1 is cordoned; w2 is not in pool=gpu; w3 has no nvidia.com/gpu, of which the pod asks for 1",
    ),
    (
        [node("w1"), *(node(name, labels={"pool": "gpu"}) for name in ("w2", "w3"))],
        {"nodeSelector": {"pool": "gpu"}, **requests(**{GPU: "1"})},
        "w1 is not in pool=gpu; 2 nodes have no nvidia.com/gpu, of which the pod asks for 1",
    ),
]


@pytest.mark.parametrize(("objects", "spec", "said"), REJECTED, ids=[said[:40] for _, _, said in REJECTED])
def test_what_stands_against_nodes_is_said_in_plain_words(objects: list[Any], spec: dict[str, Any], said: str) -> None:
    assert said in headline(explained([*objects, pod("web-0", **spec)]))


def test_nominated_pods_are_named() -> None:
    nominated = pod("hi", priority=100, status={"nominatedNodeName": "w1"}, **requests(cpu="6"))
    result = explained([node("w1"), node("w2", unschedulable=True), nominated, pod("web-0", **requests(cpu="4"))])
    said = "would not fit once default/hi, nominated to the node, ran there (Insufficient cpu)"
    assert headline(result).endswith(f"of 2 nodes: w2 is cordoned; w1 {said}")
    assert said in " ".join(shown(result, display=Display(node="w1")).split())


def test_the_verdict_says_where_it_is_not_that_of_the_evidence() -> None:
    web = [{"name": "c", "ports": [{"hostPort": 80}], "resources": {"requests": {"cpu": "3"}}}]
    nominated = pod("hi", priority=100, status={"nominatedNodeName": "w1"}, containers=[{**web[0], "resources": {}}])
    less = pod("less", priority=-1, status={"nominatedNodeName": "w1"}, **requests(cpu="1"))
    result = explained([node("w1", allocatable=SMALL), nominated, less, pod("web-0", containers=web)])
    said = (
        "rejected by NodePorts (node(s) didn't have free ports for the requested pod ports) once default/hi, nominated"
    )
    text = " ".join(shown(result, display=Display(node="w1")).split())
    assert f"on w1: {said} to the node, ran there; the evidence is of the node as it is." in text
    assert "NodeResourcesFit UnschedulableAndUnresolvable wants 3 cpu; the whole node has 2" in text


def test_nodes_outside_what_prefilter_names() -> None:
    fields = [{"key": "metadata.name", "operator": "In", "values": ["w9"]}]
    affinity = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchFields": fields}]}}}
    result = explained([node("w1"), node("w2"), pod("web-0", affinity=affinity)])
    assert headline(result).endswith("all do not match metadata.name=w9 (no node is named w9)")


def test_the_sentence_about_a_gpu_pool() -> None:
    nodes = [each for each in gpu_cluster(303, 12) if not each.metadata.name.startswith("cp-")]
    said = headline(explained([*nodes, *gpu_users(), gpu_pod()]))
    assert said == (
        "default/web-0 fits on none of 300 nodes: 288 nodes are not in pool=gpu; 12 nodes lack nvidia.com/gpu: "
        "the pod asks for 4, and the best, gpu-7, has 2 of 8 free"
    )


LANDING = [
    ([node("w1")], {}, "would land on w1, the only node there is"),
    ([node("w1"), node("w2", unschedulable=True)], {}, "would land on w1, the only one of 2 nodes that it fits"),
    ([node("w1"), node("w3")], {}, "is tied between w1 and w3: each has 400 points, and chance decides"),
    (
        [node("w1"), node("w2"), pod("other", on="w2", **requests(cpu="1"))],
        requests(cpu="1"),
        "would land on w1, 5 points ahead of w2, through NodeResourcesFit",
    ),
    (
        [node(f"n{i:03}") for i in range(200)],
        {},
        "is tied between n000, n001, n002 and 197 more: each has 400 points, and chance decides",
    ),
    (
        [node("w1"), node("w2")],
        {"status": {"nominatedNodeName": "w2"}},
        "would land on w2, which it is nominated to and which it fits",
    ),
    ([], {}, "fits nowhere: there are no nodes"),
]


@pytest.mark.parametrize(("objects", "spec", "said"), LANDING, ids=[said[:40] for _, _, said in LANDING])
def test_where_it_lands(objects: list[Any], spec: dict[str, Any], said: str) -> None:
    assert headline(explained([*objects, pod("web-0", **spec)])) == f"default/web-0 {said}"


@pytest.mark.parametrize(
    ("phase", "big_on", "said"),
    [
        ("Running", "w2", "; it runs on w2"),
        ("Running", "w1", "; it runs there"),
        ("Pending", "w2", "; it is bound to w2"),
        ("Pending", "w1", "; it is bound there"),
        ("Failed", "w2", "; it was bound to w2"),
        ("Succeeded", "w1", "; it was bound there"),
    ],
)
def test_a_bound_pod_is_told_where_it_is(phase: str, big_on: str, said: str) -> None:
    big, web = pod("big", on=big_on, **requests(cpu="6")), pod("web-0", on="w2", status={"phase": phase})
    assert headline(explained([node("w1"), node("w2"), big, web])).endswith(said)


def test_what_prefilter_leaves_out_is_told_first() -> None:
    fields = [{"key": "metadata.name", "operator": "In", "values": ["w2"]}]
    affinity = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchFields": fields}]}}}
    nodes = [node("w1", unschedulable=True), node("w2", unschedulable=True), node("w3")]
    result = explained([*nodes, pod("web-0", affinity=affinity)])
    assert headline(result).endswith("2 nodes do not match metadata.name=w2; w2 is cordoned")
    assert "1 node(s) were unschedulable, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]" in str(result.result.event)


def test_each_of_six_plugins_is_told_with_its_facts() -> None:
    nodes = [
        *(node(f"a{index}", unschedulable=True) for index in range(2)),
        *(node(f"b{index}", taints=[{"key": "a", "effect": "NoSchedule"}]) for index in range(2)),
        *(node(f"c{index}", labels={"pool": "b"}) for index in range(2)),
        node("d0", labels={"pool": "a"}),
        *(node(f"e{index}", labels={"pool": "a"}, allocatable={**SMALL, "cpu": "1"}) for index in range(2)),
        *(node(f"f{index}", labels={"pool": "a", "zone": "z"}) for index in range(2)),
    ]
    taken = pod("taken", on="d0", containers=[{"name": "c", "ports": [{"hostPort": 80}]}])
    spread = {"maxSkew": 1, "topologyKey": "rack", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}
    asking = [{"name": "c", "ports": [{"hostPort": 80}], "resources": {"requests": {"cpu": "2"}}}]
    incoming = pod("web-0", nodeSelector={"pool": "a"}, topologySpreadConstraints=[spread], containers=asking)
    said = headline(explained([*nodes, taken, incoming]))
    assert said.startswith("default/web-0 fits on none of 11 nodes: 2 nodes are cordoned (a0 and a1); 2 nodes have")
    assert said.endswith(
        "; d0 has no free host port 80/TCP: default/taken has it on d0; "
        "2 nodes are too small: the pod asks for 2 cpu, and the largest, e0, has 1 in all; "
        "2 nodes have no label rack, which no node carries"
    )


def test_usage_is_spoken_of_once() -> None:
    small = {"cpu": "2", "memory": "4Gi", "pods": "9"}
    nodes = [node(name, allocatable=small, labels={"pool": name}) for name in ("w1", "w2", "w3", "w4")]
    full = [pod(f"cpu-{name}", on=name, **requests(cpu="1500m")) for name in ("w1", "w2")]
    full += [pod(f"memory-{name}", on=name, **requests(memory="3Gi")) for name in ("w3", "w4")]
    result = explained([*nodes, *full, pod("web-0", **requests(cpu="1", memory="2Gi"))])
    assert headline(result).count("not usage") == 1
    assert shown(result, display=Display(node="w1"), lines=None).count("minus requests") == 1


def test_a_pod_that_is_being_deleted() -> None:
    leaving = pod("web-0", metadata={"deletionTimestamp": "2026-01-02T03:04:05Z"})
    result = explained([node("w1"), leaving])
    assert headline(result) == (
        "default/web-0 is being deleted (since 2026-01-02T03:04:05Z), so kube-scheduler leaves it alone; "
        "otherwise it would land on w1, the only node there is"
    )
    assert explanation_data(result, headline(result))["outcome"] == "Deleting"


def test_a_cycle_that_fails_is_said_once() -> None:
    plugins = {"preScore": {"disabled": [{"name": "*"}]}}
    profile = {"schedulerName": "default-scheduler", "plugins": plugins}
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [profile],
    }
    configuration = load_configuration(document, KubeVersion.parse("1.36"), None)
    incoming = pod("web-0")
    result = Scheduler(configuration, snapshot(node("w1"), node("w2"), incoming)).schedule_one(incoming)
    error = 'failed to read "PreScoreTaintToleration" from cycleState: not found'
    assert error in decision(result)
    assert " ".join(shown(Explanation(result=result)).split()).count(error) == 1


def test_preemption_says_who_would_go_and_why_there() -> None:
    low = [pod(f"low-{index}", on=f"w{index}", priority=index, **requests(cpu="2")) for index in (1, 2)]
    nodes = [node("w1", allocatable=SMALL), node("w2", allocatable=SMALL)]
    text = " ".join(shown(explained([*nodes, *low, pod("web-0", priority=9, **requests(cpu="1"))])).split())
    assert "Preemption would make room on w1 by evicting default/low-1 (priority 1)" in text
    assert "it is chosen over 1 other node because its most important victim has the lowest priority" in text


def test_actions_of_the_binding_cycle_are_shown_in_full_with_the_whole_table() -> None:
    text = shown(explained([node("w1"), pod("web-0")]), display=Display(all_nodes=True))
    assert "bind DefaultBinder: bind pod default/web-0 to node w1" in text


def test_a_list_has_the_verdict() -> None:
    nodes = [
        node("w1", unschedulable=True),
        node("w2", labels={"pool": "a"}),
        node("w3", labels={"pool": "gpu"}),
        node("w4", labels={"pool": "gpu"}),
    ]
    result = explained([*nodes, pod("web-0", nodeSelector={"pool": "gpu"}, **requests(**{GPU: "1"}))])
    assert f"Unschedulable  {result.verdict}" in shown(result, one=False, width=200)


def test_a_list_says_where_a_nominated_pod_goes() -> None:
    result = explained([node("w1"), node("w2"), pod("web-0", status={"nominatedNodeName": "w2"})])
    text = shown(result, one=False, width=200)
    assert "Schedulable  w2, which it is nominated to and which it fits" in text
    assert "tied" not in text


def test_a_list_says_nothing_of_points_that_it_does_not_show() -> None:
    assert "points here" not in shown(explained([node("w1"), pod("web-0")]), one=False)


def test_one_node_in_full_says_each_note_once() -> None:
    text = shown(explained([node("w1"), pod("web-0")]), display=Display(node="w1"), width=200)
    assert text.count("note: with one feasible node") == 1


def test_one_point_is_one_point() -> None:
    w1, w2 = (node(f"w{index}", allocatable={**SMALL, "cpu": f"{8 + index}"}) for index in (1, 2))
    text = shown(explained([w1, w2, pod("web-0", **requests(cpu="1"))]), display=Display(node="w1"))
    assert text.startswith("default/web-0 on w1: feasible, 1 point behind w2.")


def test_what_did_not_run_is_not_called_skipped() -> None:
    claim = {"name": "v", "persistentVolumeClaim": {"claimName": "gone"}}
    text = shown(explained([node("w1"), pod("web-0", volumes=[claim])]), display=Display(node="w1"), width=400)
    lines = dict(line.split(": ", 1) for line in text.splitlines() if line.startswith(("skipped", "not run")))
    assert "NodeUnschedulable" in lines["not run, as PreFilter ends the cycle"]
    assert "NodeUnschedulable" not in lines["skipped at Filter (not relevant to this pod)"]


def test_scores_that_cannot_be_given_are_not_said_to_have_been() -> None:
    term = {"weight": 1, "preference": {"matchExpressions": [{"key": "x", "operator": "Gt", "values": ["-10"]}]}}
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}
    result = explained([node("w1"), pod("web-0", affinity=affinity)])
    assert [each for each in result.warnings if each.startswith("scoring would fail")]
    assert not [each for each in result.warnings if "points here" in each]


def test_nodes_that_are_too_small_even_when_empty_are_never_the_closest() -> None:
    full = node("z-full", allocatable={**SMALL, GPU: "1"})
    other = pod("other", on="z-full", **requests(**{GPU: "1"}))
    result = explained(
        [node("a-without", allocatable=SMALL), full, other, pod("web-0", **requests(**{GPU: "1"}))]
    ).result
    assert [result.nodes.names[row] for row in rejected_rows(result)] == ["z-full", "a-without"]


def test_a_node_that_lacks_two_resources_is_not_closest_because_one_of_them_is_nearly_there() -> None:
    used = {"a-lacks-both": ("7", "9Gi"), "z-lacks-cpu": ("6", "1Gi")}
    others = [pod(f"on-{name}", on=name, **requests(cpu=cpu, memory=amount)) for name, (cpu, amount) in used.items()]
    result = explained([*map(node, used), *others, pod("web-0", **requests(cpu="4", memory="8Gi"))]).result
    assert [result.nodes.names[row] for row in rejected_rows(result)] == ["z-lacks-cpu", "a-lacks-both"]
