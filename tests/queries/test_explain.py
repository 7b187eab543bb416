"""The relation of the replay to the facts about a pod: its stage, its placement, and what others said of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from msgspec.structs import replace

from kubectl_sched.api.apps import DaemonSet, ReplicaSet
from kubectl_sched.api.core import Event
from kubectl_sched.errors import SchedError
from kubectl_sched.queries.explain import ExplainAnswer, ExplainQuestion, explain
from kubectl_sched.render.answers.explanation_data import explanation_data
from kubectl_sched.render.answers.pods import why
from kubectl_sched.render.display import Display
from kubectl_sched.render.sentences.headline import headline
from kubectl_sched.render.sentences.status_sentences import stage_words
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.sources import Dump
from kubectl_sched.sources.discovery.replay_setup import Replay
from kubectl_sched.sources.dump.reader import read
from kubectl_sched.sources.pod_selection import Selection
from tests.plugins.clusters import node, pod, requests
from tests.render.worlds import shown

if TYPE_CHECKING:
    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.queries.explanation import Explanation

SCHEDULERS = Path(__file__).parents[2] / "fixtures" / "schedulers"
EARLY, NOON, LATE = "2026-06-01T08:00:00Z", "2026-06-01T12:00:00Z", "2026-06-01T16:00:00Z"
SCHEDULED = {"type": "PodScheduled", "status": "True", "lastTransitionTime": NOON}
UNSCHEDULABLE = {
    "type": "PodScheduled",
    "status": "False",
    "reason": "Unschedulable",
    "lastTransitionTime": NOON,
}


def event(about: str, reason: str, message: str, component: str = "default-scheduler", at: str = NOON) -> Event:
    kind, name = about.split("/")
    data = {
        "metadata": {"name": f"{name}.{reason}.{component}", "namespace": "default"},
        "involvedObject": {"kind": kind, "namespace": "default", "name": name},
        "reason": reason,
        "message": message,
        "source": {"component": component},
        "lastTimestamp": at,
    }
    return msgspec.convert(data, Event)


def asked(objects: list[KubernetesObject], selection: Selection, *, at_decision: bool = False) -> ExplainAnswer:
    dump = Dump(objects=tuple(objects), present=frozenset({"Node", "Pod"}))
    return explain(
        ExplainQuestion(selection=selection, replay=Replay(kube_version="1.36"), at_decision=at_decision), dump
    )[0]


def answer(objects: list[KubernetesObject], name: str = "web-0", *, at_decision: bool = False) -> Explanation:
    (explanation,) = asked(objects, Selection(targets=(name,)), at_decision=at_decision).explanations
    return explanation


def of_dump(dump: Dump, name: str, profile: str | None = None) -> Explanation:
    (explanation,) = explain(ExplainQuestion(selection=Selection(targets=(name,)), profile=profile), dump)[
        0
    ].explanations
    return explanation


def staged(subject: Pod, *others: KubernetesObject) -> tuple[str, str | None, str]:
    stage = answer([node("w1"), subject, *others]).stage
    assert stage is not None
    return stage.name, stage.since, "; ".join(stage.evidence)


def waiting(reason: str, message: str = "") -> dict[str, Any]:
    states = [{"name": "main", "state": {"waiting": {"reason": reason, "message": message}}}]
    return {"phase": "Pending", "conditions": [SCHEDULED], "containerStatuses": states}


@pytest.mark.parametrize(
    ("status", "name", "told"),
    [
        ({"phase": "Running", "startTime": NOON}, "Running", ""),
        (waiting("ImagePullBackOff", "back-off"), "Bound", "container main waits: ImagePullBackOff (back-off)"),
        (waiting("ContainerCreating"), "Bound", "it waits for a volume: no such disk"),
        ({"phase": "Pending", "conditions": [SCHEDULED]}, "Bound", "its kubelet has not reported a container"),
        (
            {"phase": "Failed", "reason": "OutOfcpu", "message": "Node didn't have enough resource", "startTime": NOON},
            "RefusedByKubelet",
            "OutOfcpu: Node didn't have enough resource",
        ),
        ({"phase": "Failed", "reason": "TopologyAffinityError", "startTime": NOON}, "RefusedByKubelet", "Topology"),
        ({"phase": "Failed", "reason": "Evicted", "startTime": NOON}, "Finished", "Evicted"),
        ({"phase": "Succeeded", "startTime": NOON}, "Finished", "its phase is Succeeded"),
    ],
)
def test_the_stage_of_a_pod_that_has_a_node(status: dict[str, Any], name: str, told: str) -> None:
    disk = event("Pod/web-0", "FailedAttachVolume", "no such disk", "attachdetach-controller")
    stage, since, evidence = staged(pod(on="w1", status=status), disk)
    assert (stage, since) == (name, NOON)
    assert told in evidence


def test_a_resize_that_waits_is_told_with_what_the_node_has_left() -> None:
    deferred = {"type": "PodResizePending", "status": "True", "reason": "Deferred", "message": "no room"}
    status = {"phase": "Running", "startTime": NOON, "conditions": [deferred]}
    _, _, evidence = staged(
        pod(on="w1", status=status, **requests(cpu="1")), pod("other", on="w1", **requests(cpu="5", memory="4Gi"))
    )
    assert evidence == "its resize in place is deferred: no room; its node has left beside it: 3 cpu, 12Gi memory"


def test_who_preempted_a_pod_is_found_by_its_uid() -> None:
    preempted = event("Pod/web-0", "Preempted", "Preempted by pod uid-vip on node w1")
    status = {"phase": "Failed", "startTime": NOON}
    assert (
        "it was preempted by default/vip (priority 9) on w1"
        in staged(pod(on="w1", status=status), pod("vip", on="w1", priority=9), preempted)[2]
    )
    gone = staged(pod(on="w1", status=status), preempted)[2]
    assert "it was preempted by a pod that is gone (uid-vip) on w1" in gone


def test_who_preempted_a_pod_is_found_by_its_name_in_the_events_of_older_schedulers() -> None:
    preempted = event("Pod/web-0", "Preempted", "Preempted by default/vip on node w1")
    _, _, evidence = staged(pod(on="w1", status={"phase": "Failed"}), pod("vip", on="w1", priority=9), preempted)
    assert "it was preempted by default/vip (priority 9) on w1" in evidence


@pytest.mark.parametrize(
    ("reason", "message", "name"),
    [
        ("NodeShutdown", "Pod was rejected as the node is shutting down.", "RefusedByKubelet"),
        ("Terminated", "Pod was terminated in response to imminent node shutdown.", "Finished"),
        ("Evicted", "Pod was rejected: The node had condition: [DiskPressure]. ", "RefusedByKubelet"),
        ("Evicted", "The node was low on resource: memory.", "Finished"),
        ("SMTAlignmentError", "", "RefusedByKubelet"),
    ],
)
def test_a_refusal_is_told_from_an_end(reason: str, message: str, name: str) -> None:
    status = {"phase": "Failed", "reason": reason, "message": message, "startTime": NOON}
    stage, _, evidence = staged(pod(on="w1", status=status))
    assert stage == name
    assert not any(part.endswith((".", " ")) for part in evidence.split("; "))


def test_from_one_start_of_the_search_equal_pods_differ_from_the_whole_and_the_warnings_stay() -> None:
    nodes = [node(f"n{index:03}") for index in range(120)]
    lost = pod("lost", on="n000", status={"phase": "Failed", "reason": "OutOfcpu"})
    dump = Dump(objects=(*nodes, lost, pod("a"), pod("b")), present=frozenset({"Node", "Pod"}))
    question = ExplainQuestion(
        selection=Selection(targets=("a", "b")), replay=Replay(kube_version="1.36"), start_index=0
    )
    for each in explain(question, dump)[0].explanations:
        assert len(each.result.best) == 100
        assert why(each) == "tied between n000, n001, n002 and 97 more"
        assert any("the kubelet of n000 refused 1 pod" in note for note in each.changing)


def test_a_name_that_two_namespaces_have_is_answered_for_both() -> None:
    small, large = pod(**requests(cpu="1")), pod(metadata={"namespace": "shop"}, **requests(cpu="99"))
    everywhere = asked([node("w1"), small, large], Selection(targets=("web-0",), namespace=None))
    assert [each.pod.key for each in everywhere.explanations] == ["default/web-0", "shop/web-0"]
    assert not everywhere.is_about_one_pod
    assert asked([node("w1"), small, large], Selection(targets=("web-0",), namespace="shop")).is_about_one_pod


def test_a_pod_that_was_refused_is_told_what_becomes_of_it() -> None:
    status = {"phase": "Failed", "reason": "OutOfcpu", "startTime": NOON}
    assert staged(pod(on="w1", status=status))[2].endswith("nothing makes another: delete it and create it again")
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "r", "controller": True}
    owned = pod(on="w1", status=status, metadata={"ownerReferences": [owner]})
    assert staged(owned)[2].endswith("ReplicaSet web makes another in its place")


def test_a_pod_that_has_no_sandbox_is_told_why() -> None:
    failed = event("Pod/web-0", "FailedCreatePodSandBox", "no IP addresses available.", "kubelet")
    _, _, evidence = staged(pod(on="w1", status=waiting("ContainerCreating")), failed)
    assert evidence == "its sandbox cannot be made: no IP addresses available"
    _, _, later = staged(pod(on="w1", status=waiting("ImagePullBackOff")), failed)
    assert later == "container main waits: ImagePullBackOff; `kubectl describe pod web-0 -n default` shows its events"


def test_a_pod_that_runs_but_whose_container_fails_is_told_so() -> None:
    status = {**waiting("CrashLoopBackOff", "back-off 5m0s"), "phase": "Running"}
    logs = "`kubectl logs -p web-0 -c main -n default` shows why"
    assert staged(pod(on="w1", status=status))[2] == f"container main waits: CrashLoopBackOff (back-off 5m0s); {logs}"


@pytest.mark.parametrize(
    ("gate", "told"),
    [
        (
            "kueue.x-k8s.io/admission",
            "Kueue holds it back by the gate kueue.x-k8s.io/admission; it is in Kueue's queue q",
        ),
        ("example.com/mine", "the gate example.com/mine is not removed yet; it is in Kueue's queue q"),
    ],
)
def test_a_gated_pod_says_by_whom(gate: str, told: str) -> None:
    labels = {"kueue.x-k8s.io/queue-name": "q"}
    metadata = {"labels": labels, "creationTimestamp": EARLY}
    assert staged(pod(metadata=metadata, schedulingGates=[{"name": gate}])) == ("Gated", EARLY, told)


@pytest.mark.parametrize(
    ("status", "stage"),
    [
        ({"conditions": [UNSCHEDULABLE]}, "Unschedulable"),
        ({"conditions": [UNSCHEDULABLE], "nominatedNodeName": "w1"}, "Nominated"),
    ],
)
def test_the_stage_of_a_pod_that_waits(status: dict[str, Any], stage: str) -> None:
    assert staged(pod(status=status))[:2] == (stage, NOON)


def test_a_pod_that_was_just_made_is_in_no_stage_yet() -> None:
    assert answer([node("w1"), pod()]).stage is None


@pytest.mark.parametrize(
    ("fixture", "name", "told"),
    [
        (
            "second-scheduler-gone",
            "po37",
            "no scheduler found that serves kube-extra-scheduler; there is default-sch",
        ),
        ("no-scheduler", "waits", "no kube-scheduler is seen"),
        ("deployment-that-cannot-serve", "annotation-second-scheduler", "but its image is of 1.29.1, which does not"),
    ],
)
def test_a_pod_that_nobody_serves_is_told_so_first(fixture: str, name: str, told: str) -> None:
    dump = read([str(SCHEDULERS / f"{fixture}.yaml")])
    result = of_dump(dump, name)
    assert result.stage is not None
    assert result.stage.name == "NoScheduler"
    assert headline(result).startswith("Nobody serves its schedulerName")
    assert told in headline(result)


def replica_set(replicas: int) -> ReplicaSet:
    owner = {"kind": "Deployment", "name": "web", "controller": True}
    metadata = {"name": "web-5d8", "namespace": "default", "ownerReferences": [owner]}
    return msgspec.convert({"metadata": metadata, "spec": {"replicas": replicas}}, ReplicaSet)


QUOTA = (
    'Error creating: pods "web-5d8-x" is forbidden: exceeded quota: team, requested: cpu=1, used: cpu=3, limited: cpu=3'
)
WEBHOOK = 'Error creating: admission webhook "policy.example.com" denied the request: no label'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (QUOTA, "quota team has no room for more; a pod asks for 1 cpu, 3 of 3 are used"),
        (WEBHOOK, "webhook policy.example.com refuses them; no label"),
        (
            'Error creating: admission webhook "a.b" denied the request: \n\nblocked by\n  policies',
            "webhook a.b refuses them; blocked by policies",
        ),
        (
            'Error creating: failed calling webhook "a.b": failed to call webhook: Post "x": connection refused',
            'webhook a.b does not answer; Post "x": connection refused',
        ),
        ("Error creating: no", "Error creating: no"),
    ],
)
def test_pods_that_were_never_created_are_told_with_the_reason(text: str, told: str) -> None:
    failed = event("ReplicaSet/web-5d8", "FailedCreate", text, "replicaset-controller")
    result = answer([node("w1"), replica_set(2), failed], "deployment/web")
    assert result.stage is not None
    assert (result.stage.name, result.stage.since) == ("NotCreated", NOON)
    assert headline(result).startswith(f"default/web-5d8-? was never created: 2 of 2 pods are missing: {told}; ")
    assert "they are of Deployment default/web, made by ReplicaSet web-5d8" in headline(result)
    assert not result.result.fits
    assert result.result.kubernetes_version


def test_workloads_that_lack_pods_are_named_where_all_pending_ones_are_asked_for() -> None:
    failed = event("ReplicaSet/web-5d8", "FailedCreate", QUOTA, "replicaset-controller")
    objects = [node("w1"), replica_set(2), failed]
    (note, *_) = asked(objects, Selection(pending=True)).notes
    assert note.startswith("Deployment default/web: 2 of 2 pods are missing: quota team has no room for more; a pod")
    for notes in (
        asked(objects, Selection(pending=True, namespace="other")).notes,
        asked([*objects, pod()], Selection(targets=("web-0",))).notes,
        asked([replica_set(0), failed], Selection(pending=True)).notes,
    ):
        assert not any("missing" in each for each in notes)


def test_a_workloads_name_that_is_misspelt_is_told_its_like() -> None:
    with pytest.raises(SchedError, match="no pod in namespace default belongs to Deployment wed; near it: web"):
        answer([node("w1"), replica_set(2)], "deployment/wed")


def test_an_old_failure_of_a_workload_that_has_all_its_pods_is_no_news() -> None:
    failed = event("ReplicaSet/web-5d8", "FailedCreate", QUOTA, "replicaset-controller")
    with pytest.raises(SchedError, match="belongs to Deployment web"):
        answer([node("w1"), replica_set(0), failed], "deployment/web")


BOUND = {"phase": "Running", "conditions": [SCHEDULED]}


def histories(*others: KubernetesObject, **spec: Any) -> tuple[str, str | None, str]:
    history = answer([*others, pod(on="w1", status=BOUND, **spec)]).history
    assert history is not None
    return history.verdict, history.scheduled_by, history.message


def test_a_bound_pod_says_whether_it_would_land_there_again() -> None:
    small = {"allocatable": {"cpu": "2", "memory": "4Gi", "pods": "10"}}
    cpu = requests(cpu="1")
    assert histories(node("w1"), node("w2", **small), **cpu)[0] == "Same"
    assert histories(node("w1"), node("w2"), **cpu)[0] == "Tied"
    verdict, by, told = histories(node("w1", **small), node("w2"), **cpu)
    assert (verdict, by) == ("Different", "default-scheduler")
    assert "it would choose w2 now, " in told
    assert "NodeResourcesFit +" in told
    verdict, _, told = histories(node("w1", unschedulable=True), node("w2"), **cpu)
    assert verdict == "WouldReject"
    assert told.endswith("that node would reject it now: NodeUnschedulable (node(s) were unschedulable)")


def test_the_difference_is_in_points_by_plugin_and_adds_up() -> None:
    small = {"allocatable": {"cpu": "2", "memory": "4Gi", "pods": "10"}}
    result = answer([node("w1", **small), node("w2"), pod(on="w1", status=BOUND, **requests(cpu="1"))])
    assert result.history is not None
    rows = result.result.nodes.row_of
    lead = result.result.total_of[rows["w2"]] - result.result.total_of[rows["w1"]]
    assert sum(points for _, points in result.history.difference) == lead > 0


def test_the_event_tells_which_scheduler_it_was_and_when() -> None:
    result = answer(
        [node("w1"), pod(on="w1", status=BOUND), event("Pod/web-0", "Scheduled", "assigned", "batch", at=EARLY)]
    )
    assert result.history is not None
    assert (result.history.scheduled_by, result.history.at) == ("batch", EARLY)


def test_the_event_tells_which_scheduler_it_was_also_where_that_cannot_be_replayed() -> None:
    bound = pod(on="w1", status=BOUND, schedulerName="nobody")
    result = answer([node("w1"), bound, event("Pod/web-0", "Scheduled", "assigned", "nobody", at=EARLY)])
    assert result.result.outcome is Outcome.NO_PROFILE
    assert result.history is None
    told = f"placed by nobody at {EARLY}; how that is configured is not known, so what it would do now is not replayed"
    assert told in result.warnings
    assert not any("placed by" in warning for warning in answer([node("w1"), bound]).warnings)


def test_a_static_pod_was_never_scheduled_whoever_it_names() -> None:
    metadata = {"annotations": {"kubernetes.io/config.mirror": "x"}}
    static = pod(on="w1", status=BOUND, schedulerName="nobody", metadata=metadata)
    result = answer([node("w1"), static])
    assert result.result.outcome is Outcome.NO_PROFILE
    assert result.history is not None
    assert result.history.verdict == "NotScheduled"


def test_data_has_the_pods_own_scheduler_name_whatever_profile_is_replayed() -> None:
    dump = Dump(objects=(node("w1"), pod(schedulerName="by-hand")), present=frozenset({"Node", "Pod"}))
    result = of_dump(dump, "web-0", "default-scheduler")
    assert result.result.outcome is Outcome.SCHEDULABLE
    assert explanation_data(result, headline(result))["schedulerName"] == "by-hand"


def test_a_static_pod_was_never_scheduled() -> None:
    metadata = {"annotations": {"kubernetes.io/config.mirror": "x"}}
    assert histories(node("w1"), metadata=metadata)[0] == "NotScheduled"


def test_a_static_pod_leads_with_its_kubelet_and_is_given_no_advice() -> None:
    metadata = {"annotations": {"kubernetes.io/config.mirror": "x"}}
    refused = {"phase": "Failed", "reason": "OutOfcpu", "message": "no cpu"}
    stored = pod(on="w1", metadata=metadata, status=refused, **requests(cpu="2"))
    small = node("w1", allocatable={"cpu": "1", "pods": "10"})
    result = answer([small, stored])
    assert headline(result).startswith(
        "Its kubelet placed it: it is a static pod, which no scheduler is asked about. Its kubelet refused it: "
        "OutOfcpu: no cpu. If a scheduler were asked: default/web-0 does not fit the only node"
    )
    assert result.suggestions == ()
    assert "If a scheduler were asked:\ndefault/web-0 on w1: rejected by NodeResourcesFit" in shown(
        result, width=160, display=Display(node="w1")
    )


def test_a_pod_with_a_node_name_in_a_cluster_without_scheduler_was_never_scheduled() -> None:
    dump = read([str(SCHEDULERS / "no-scheduler.yaml")])
    result = of_dump(dump, "named")
    assert result.history is not None
    assert result.history.verdict == "NotScheduled"
    assert result.history.message.startswith("no scheduler was ever asked: its manifest had the nodeName")


def test_a_pod_that_no_binding_left_a_condition_on_had_its_node_from_the_first() -> None:
    stored = pod(on="w1", status={"phase": "Running", "qosClass": "BestEffort"})
    result = answer([node("w1"), stored])
    assert result.history is not None
    assert (result.history.verdict, result.history.scheduled_by) == ("NotScheduled", None)
    assert "it has no condition PodScheduled, which a binding leaves" in result.history.message


@pytest.mark.parametrize(("made", "verdict"), [(NOON, "NotScheduled"), (EARLY, "Same")])
def test_a_kubelets_events_of_a_pods_first_seconds_show_that_no_scheduler_had_any(made: str, verdict: str) -> None:
    """Older than these events, the pod may have had a scheduler's that is gone."""
    begun = msgspec.structs.replace(event("Pod/web-0", "Pulled", "", "kubelet"), first_timestamp=NOON)
    metadata = {"creationTimestamp": made}
    result = answer([node("w1"), pod(on="w1", status=BOUND, metadata=metadata), begun])
    assert result.history is not None
    assert result.history.verdict == verdict


def test_a_nominated_pod_that_does_not_fit_yet_is_told_whom_it_waits_for() -> None:
    times = {"creationTimestamp": EARLY, "deletionTimestamp": NOON}
    leaving = pod("old", on="w1", metadata=times, **requests(cpu="8"))
    status = {"conditions": [UNSCHEDULABLE], "nominatedNodeName": "w1"}
    waits = answer([node("w1"), pod(status=status, priority=9, **requests(cpu="1")), leaving])
    assert stage_words(waits) == (
        f"It waits (since {NOON}): it is nominated to w1, which default/old still has to leave"
    )
    assert stage_words(answer([node("w1"), pod(status=status)])) is None


def test_what_others_say_of_a_pod_is_no_schedulers_event() -> None:
    begun = msgspec.structs.replace(event("Pod/web-0", "Pulled", "", "kubelet"), first_timestamp=NOON)
    bound = pod(on="w1", status=BOUND, metadata={"creationTimestamp": NOON})
    network = event("Pod/web-0", "AddedInterface", "eth0", "multus")
    failed = event("Pod/web-0", "FailedScheduling", "no room", "other-scheduler")
    verdicts = [answer([node("w1"), bound, begun, other]).history for other in (network, failed)]
    assert [history and history.verdict for history in verdicts] == ["NotScheduled", "Same"]


def pinned_to(name: str, **spec: Any) -> dict[str, Any]:
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    owner = {"kind": "DaemonSet", "name": "agent", "apiVersion": "apps/v1", "uid": "u", "controller": True}
    return {"affinity": {"nodeAffinity": required}, "metadata": {"ownerReferences": [owner]}, **spec}


def daemon_set(**template: Any) -> DaemonSet:
    spec = {"template": {"spec": {"containers": [], **template}}}
    return msgspec.convert({"metadata": {"name": "agent", "namespace": "default"}, "spec": spec}, DaemonSet)


DAEMON = Selection(targets=("daemonset/agent",))


def test_a_daemon_sets_pods_say_which_node_each_is_for_and_which_nodes_have_none() -> None:
    nodes = [node("w1"), node("w2"), node("w3"), node("w4", labels={"kubernetes.io/os": "windows"})]
    agents = [
        pod("agent-a", on="w1", status=BOUND, **pinned_to("w1")),
        pod("agent-b", **pinned_to("w2", **requests(cpu="100"))),
    ]
    meant = daemon_set(nodeSelector={"kubernetes.io/os": "linux"})
    for each in nodes[:3]:
        each.metadata.labels["kubernetes.io/os"] = "linux"
    about = asked([*nodes, *agents, meant], DAEMON)
    second, first = about.explanations  # the pending one comes first
    assert first.history is not None
    assert "its DaemonSet made it for that node alone" in first.history.message
    assert why(first).startswith("for w1: ")
    assert why(second).startswith("for w2: wants 100 cpu")
    told = about.notes[0]
    assert told.startswith("DaemonSet default/agent: 1 of 4 nodes have its pod; w2 has one that waits; w3 has none; ")
    assert told.endswith("its selector, affinity and tolerations leave out w4")


def test_without_the_daemon_set_itself_every_node_without_its_pod_is_named() -> None:
    objects = [node("w1"), node("w2"), pod("agent-a", on="w1", status=BOUND, **pinned_to("w1"))]
    assert asked(objects, DAEMON).notes[0] == "DaemonSet default/agent: 1 of 2 nodes have its pod; w2 has none"
    assert not any("DaemonSet" in note for note in asked(objects, Selection(targets=("agent-a",))).notes)


def test_at_decision_takes_out_what_is_younger() -> None:
    big = {"allocatable": {"cpu": "64", "memory": "64Gi", "pods": "110"}}
    young = replace_time(node("w2", **big))
    old = pod(on="w1", status=BOUND, **requests(cpu="1"))
    now, then = answer([node("w1"), young, old]).history, answer([node("w1"), young, old], at_decision=True).history
    assert now is not None
    assert then is not None
    assert (now.verdict, now.younger_nodes) == ("Different", 1)
    assert then.verdict == "Same"


def test_at_decision_keeps_the_pods_own_node_that_was_made_anew() -> None:
    objects = [replace_time(node("w1")), replace_time(node("w2")), pod(on="w1", status=BOUND)]
    then = answer(objects, at_decision=True)
    assert list(then.result.nodes.names) == ["w1"]
    assert then.history is not None
    assert (then.history.verdict, then.suggestions) == ("Same", ())


def test_at_decision_takes_out_pods_that_were_made_later_and_are_nominated() -> None:
    big = requests(cpu="5")
    vip = pod("vip", priority=9, status={"nominatedNodeName": "w1"}, **big)
    for later, verdict in ((replace_time(vip), "Same"), (vip, "WouldReject")):
        then = answer([node("w1"), later, pod(on="w1", status=BOUND, **big)], at_decision=True).history
        assert then is not None
        assert then.verdict == verdict


def replace_time(item: KubernetesObject) -> Any:
    metadata = msgspec.structs.replace(item.metadata, creation_timestamp=LATE)
    return msgspec.structs.replace(item, metadata=metadata)


def test_drifted_lists_the_pods_that_would_land_elsewhere() -> None:
    objects = [
        node("w1", unschedulable=True),
        node("w2"),
        pod("stays", on="w2", status=BOUND),
        pod("drifts", on="w1", status=BOUND),
        pod("waits"),
    ]
    dump = Dump(objects=tuple(objects), present=frozenset({"Node", "Pod"}))
    question = ExplainQuestion(selection=Selection(namespace=None), replay=Replay(kube_version="1.36"), drifted=True)
    assert [each.pod.metadata.name for each in explain(question, dump)[0].explanations] == ["drifts"]


def test_the_schedulers_own_event_stands_beside_the_replay() -> None:
    text = "0/1 nodes are available: 1 Insufficient cpu."
    wanted = requests(cpu="64")
    own = event("Pod/web-0", "FailedScheduling", f"{text} no new claims to deallocate, preemption: x")
    same = answer([node("w1"), pod(**wanted)])
    assert same.result.event is not None
    agreed = answer([node("w1"), pod(**wanted), event("Pod/web-0", "FailedScheduling", same.result.event)]).observed
    assert agreed is not None
    assert agreed.matches_replay
    differs = answer([node("w1"), replace_time(node("w2")), pod(**wanted), own]).observed
    assert differs is not None
    assert not differs.matches_replay
    assert differs.likely_causes[:2] == (
        "the state moved on: 1 node is younger than the message",
        "kube-scheduler saw 1 node, and the replay has 2",
    )


def test_what_adds_nodes_is_told_beside_it_and_not_mixed_with_it() -> None:
    said = [
        event("Pod/web-0", "NotTriggerScaleUp", "pod didn't trigger scale-up", "cluster-autoscaler"),
        event("Pod/web-0", "FailedScheduling", "no instance type", "karpenter", at=LATE),
        event("Pod/web-0", "FailedScheduling", "0/1 nodes are available: 1 Insufficient cpu."),
        event("Pod/web-0", "FailedScheduling", "all nodes are unavailable", "another-scheduler", at=LATE),
    ]
    observed = answer([node("w1"), pod(**requests(cpu="64")), *said]).observed
    assert observed is not None
    assert observed.event is said[2]
    assert [each.component for each in observed.autoscalers] == ["karpenter", "cluster-autoscaler"]


def test_pending_pods_are_counted_together_too() -> None:
    objects = [node("w1"), *(pod(f"web-{index}", **requests(cpu="5")) for index in range(3))]
    vip = pod("vip", priority=7, metadata={"namespace": "other"}, **requests(cpu="1"))
    found = asked([*objects, vip], Selection(pending=True))
    joint = found.together
    assert joint is not None
    assert [each.result.fits for each in found.explanations] == [True, True, True]
    assert (joint.pods, joint.placed, joint.ahead) == (3, 1, 1)


def test_the_explanation_has_all_of_it() -> None:
    result = answer([node("w1"), pod(on="w1", status=BOUND)])
    data = explanation_data(result, headline(result))
    assert data["stage"] == {"name": "Running", "since": None, "evidence": []}
    assert data["history"]["verdict"] == "Same"
    assert data["history"]["at"] == NOON
    assert data["observed"] is None
    assert explanation_data(replace(result, stage=None, history=None), "")["history"] is None
