"""`whatif` about workloads that the cluster has: what rolls out, what only scales, what may not change, what waits."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from kubectl_sched.apiserver.refused_manifest import RefusedError
from kubectl_sched.errors import SchedError
from kubectl_sched.queries.what_if.question import WhatIfQuestion
from kubectl_sched.queries.whatif import what_if
from kubectl_sched.simulation.node_edits import Edit
from kubectl_sched.simulation.queue_simulation import Choices
from kubectl_sched.simulation.workloads_to_place import Sizing
from kubectl_sched.sources.discovery.replay_setup import Replay
from kubectl_sched.sources.dump.reader import read

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kubectl_sched.simulation.what_if_result import WhatIfResult

    Ask: TypeAlias = Callable[..., WhatIfResult]

Json = dict[str, Any]
CORE = ("Pod", "Node", "ResourceQuota", "LimitRange", "PersistentVolume", "PersistentVolumeClaim")
API = {"Job": "batch/v1", **dict.fromkeys(CORE, "v1")}


def made(kind: str, name: str, spec: Json, **about: Any) -> Json:
    metadata = {"name": name, **({} if kind == "Node" else {"namespace": "default"}), "uid": f"{kind}-{name}", **about}
    return {"apiVersion": API.get(kind, "apps/v1"), "kind": kind, "metadata": metadata, "spec": spec}


def node(name: str, cpu: int = 8) -> Json:
    allocatable = {"cpu": str(cpu), "memory": "8Gi", "pods": "20"}
    labels = {"kubernetes.io/hostname": name, "on": name}
    return {**made("Node", name, {}, labels=labels), "status": {"allocatable": allocatable}}


def template(image: str = "a", cpu: str = "1", **spec: Any) -> Json:
    main = {"name": "main", "image": image, "resources": {"requests": {"cpu": cpu}}}
    return {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [main], **spec}}


def workload(kind: str, replicas: int = 3, image: str = "a", cpu: str = "1", **spec: Any) -> Json:
    selector = {"matchLabels": {"app": "web"}}
    count = {} if kind == "DaemonSet" else {"replicas": replicas}
    return made(kind, "web", {**count, "selector": selector, "template": template(image, cpu), **spec})


def job(image: str = "a", *, status: Json | None = None, **spec: Any) -> Json:
    wanted = made("Job", "web", {"template": template(image, restartPolicy="Never"), **spec})
    return {**wanted, **({"status": status} if status else {})}


def pod(name: str, on: str, owner: str, *, owner_name: str = "web", **labels: str) -> Json:
    reference = {"apiVersion": "x/v1", "kind": owner, "name": owner_name, "uid": "o", "controller": True}
    spec = {**template()["spec"], **({"nodeName": on} if on else {})}
    about = {"labels": {"app": "web", **labels}, "ownerReferences": [reference]}
    return {**made("Pod", name, spec, **about), "status": {"phase": "Running" if on else "Pending"}}


NODES = (node("w1"), node("w2"))


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    def answered(
        cluster: list[Json], *manifests: Json, target: str = "", edits: tuple[Edit, ...] = (), **choices: Any
    ) -> WhatIfResult:
        dump = tmp_path / "cluster.json"
        dump.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*NODES, *cluster]}))
        wanted = tmp_path / "wanted.json"
        wanted.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": manifests}))
        gates = choices.pop("gates", None)
        targets = (target,) if target else (str(wanted),) if manifests else ()
        sizing = Sizing(
            replicas=choices.pop("replicas", None),
            fill=choices.pop("fill", False),
            replace=choices.pop("replace", False),
        )
        question = WhatIfQuestion(
            targets=targets,
            sizing=sizing,
            edits=edits,
            replay=Replay(config=None, kube_version="1.36", feature_gates=gates),
            **choices,
        )
        return what_if(question, read([str(dump)])).result

    return answered


def names(answer: WhatIfResult) -> list[str]:
    return [each.pod.name for each in answer.simulated.placements]


def placed(answer: WhatIfResult) -> dict[str, str | None]:
    return {each.pod.name: each.node for each in answer.simulated.placements}


def images(answer: WhatIfResult) -> set[str]:
    return {each.pod.spec.containers[0].image for each in answer.simulated.placements}


HASH = "pod-template-hash"


def replica_set(replicas: int, image: str = "a", name: str = "web-1") -> Json:
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "d", "controller": True}
    labels = {"app": "web", "pod-template-hash": "1"}
    spec: Json = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template(image)}
    spec["template"]["metadata"]["labels"] = labels
    return made("ReplicaSet", name, spec, ownerReferences=[owner])


def deployed(*on: str) -> list[Json]:
    """Pods of a Deployment on these nodes; the empty name is of one that is pending."""
    pods = (
        pod(f"web-1-{number}", where, "ReplicaSet", owner_name="web-1", **{"pod-template-hash": "1"})
        for number, where in enumerate(on)
    )
    return [workload("Deployment", len(on)), replica_set(len(on)), *pods]


def test_the_replica_set_of_a_deployment_has_its_pods(ask: Ask) -> None:
    assert placed(ask(deployed("w1", "w1", ""), target="rs/web-1")) == {"web-1-2": "w2"}


def test_the_template_of_a_replica_set_is_for_its_missing_pods_alone(ask: Ask) -> None:
    there = [workload("ReplicaSet", 2), pod("web-x", "w1", "ReplicaSet"), pod("web-y", "w1", "ReplicaSet")]
    answer = ask(there, workload("ReplicaSet", 3, image="b"))
    assert (len(names(answer)), images(answer), answer.rollouts) == (1, {"b"}, ())


@pytest.mark.parametrize(("status", "spec", "missing"), [
    ({"succeeded": 4}, {"parallelism": 3, "completions": 5}, 0),
    ({"succeeded": 2}, {"parallelism": 3, "completions": 5}, 2),
    ({"succeeded": 1}, {"parallelism": 3}, 0),
    ({"conditions": [{"type": "Complete", "status": "True"}]}, {"parallelism": 3}, 0),
    ({"conditions": [{"type": "Complete", "status": "False"}]}, {"parallelism": 3}, 2),
])  # fmt: skip
def test_a_job_makes_no_more_pods_than_it_has_left_to_do(ask: Ask, status: Json, spec: Json, missing: int) -> None:
    there = [job(status=status, **spec), pod("web-x", "w1", "Job")]
    assert len(names(ask(there, target="job/web"))) == missing
    assert len(names(ask(there, job(**spec)))) == missing


@pytest.mark.parametrize(
    ("spec", "gone"), [({}, 0), ({"completions": 2}, 1), ({"suspend": True}, 2), ({"parallelism": 1}, 0)]
)
def test_pods_of_a_job_that_needs_one_success_run_on_after_it(ask: Ask, spec: Json, gone: int) -> None:
    there = [job(status={"succeeded": 1}, **{"parallelism": 3, **spec})]
    there += [pod(f"web-{name}", "w1", "Job") for name in "ab"]
    answer = ask(there, target="job/web")
    assert names(answer) == []
    assert sum(each.count("web-") for each in answer.warnings if "too many" in each) == gone


def test_the_status_of_a_manifest_does_not_count(ask: Ask) -> None:
    written = job(status={"succeeded": 2}, parallelism=3, completions=3)
    assert len(names(ask([], written))) == 3


def test_an_indexed_job_lacks_the_numbers_that_no_pod_has(ask: Ask) -> None:
    index = "batch.kubernetes.io/job-completion-index"
    spec: Json = {"parallelism": 3, "completions": 3, "completionMode": "Indexed"}
    there = [job(**spec), pod("web-0-x", "w1", "Job", **{index: "0"}), pod("web-2-x", "w1", "Job", **{index: "2"})]
    assert names(ask(there, target="job/web")) == ["web-1"]


def test_a_paused_deployment_rolls_nothing_out_and_scales_what_runs(ask: Ask) -> None:
    answer = ask(deployed("w1", "w2"), workload("Deployment", 3, image="b", paused=True))
    assert (len(names(answer)), images(answer), answer.rollouts) == (1, {"a"}, ())
    assert any("Deployment/web is paused: it rolls nothing out" in each for each in answer.warnings)


def test_a_deployment_that_was_changed_while_paused_scales_what_runs(ask: Ask) -> None:
    changed = workload("Deployment", 2, image="b", paused=True)
    answer = ask([changed, *deployed("w1")[1:]], target="deployment/web")
    assert images(answer) == {"a"}


def test_a_new_deployment_that_is_paused_makes_no_pods(ask: Ask) -> None:
    answer = ask([], workload("Deployment", paused=True), replicas=2)
    assert names(answer) == []
    assert any("Deployment/web is paused: it makes no pods" in each for each in answer.warnings)


def ordered(count: int, cpu: str = "1", **spec: Any) -> Json:
    return workload("StatefulSet", count, cpu=cpu, **spec)


def test_a_set_makes_no_pod_after_one_that_has_no_node(ask: Ask) -> None:
    sizes = [ordered(4, cpu="5"), made("Pod", "late", template(cpu="3")["spec"])]
    answer = ask([], *sizes)
    assert placed(answer) == {"web-0": "w1", "web-1": "w2", "web-2": None, "web-3": None, "late": "w1"}
    assert [each.reason for each in answer.simulated.placements if each.node is None] == [
        None,
        "it is not made before default/web-2 runs",
    ]
    assert answer.simulated.unplaced == 2


def test_a_parallel_set_tries_them_all(ask: Ask) -> None:
    answer = ask([], ordered(4, cpu="5", podManagementPolicy="Parallel"))
    assert all(each.reason is None for each in answer.simulated.placements)


def test_a_deployment_of_the_same_name_waits_for_nobody(ask: Ask) -> None:
    answer = ask([], ordered(2, cpu="9"), workload("Deployment", 2, cpu="9"))
    reasons = [(each.owner, each.reason is not None) for each in answer.simulated.placements]
    assert reasons == [
        ("StatefulSet/web", False),
        ("StatefulSet/web", True),
        ("Deployment/web", False),
        ("Deployment/web", False),
    ]


def test_pods_of_a_set_come_back_in_order(ask: Ask) -> None:
    pods = [pod(f"web-{number}", "w2", "StatefulSet") for number in (2, 0, 1)]
    pods[1]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "9"
    answer = ask([ordered(3), *pods], edits=(Edit("--drain", "w2"),))
    assert placed(answer) == {"web-0": None, "web-1": None, "web-2": None}
    told = "StatefulSet/web makes its pods one after the other: web-1, web-2 are not made before web-0 runs"
    assert told in answer.warnings


@pytest.mark.parametrize(
    ("manifest", "sizing", "made"),
    [
        ((), {}, ["web-1-1", "web-1-2"]),
        ((), {"replicas": 4}, ["web-1-1", "web-1-2", "web-0"]),
        ((), {"replicas": 2}, ["web-1-2"]),
        ((), {"replace": True}, ["web-0", "web-1", "web-2"]),
        ((workload("Deployment", 3, "a"),), {}, ["web-1-1", "web-1-2"]),
        ((workload("Deployment", 3, "b"),), {}, ["web-0", "web-1", "web-2"]),
    ],
)
def test_pods_that_come_back_count_for_their_workload(
    ask: Ask, manifest: tuple[Json, ...], sizing: Json, made: list[str]
) -> None:
    target: Json = {} if manifest else {"target": "deployment/web"}
    drain = Edit("--drain", "w2")
    assert names(ask(deployed("w1", "w2", "w2"), *manifest, edits=(drain,), **target, **sizing)) == made


@pytest.mark.parametrize(("changed", "field"), [
    ({"podManagementPolicy": "Parallel"}, "spec"),
    ({"volumeClaimTemplates": [{"metadata": {"name": "d"}, "spec": {"accessModes": ["ReadWriteOnce"]}}]}, "spec"),
    ({"selector": {"matchExpressions": [{"key": "app", "operator": "Exists"}]}}, "spec"),
])  # fmt: skip
def test_a_set_keeps_its_claims_order_and_selector(ask: Ask, changed: Json, field: str) -> None:
    with pytest.raises(RefusedError) as refused:
        ask([ordered(2)], ordered(2, **changed))
    assert refused.value.field == field
    assert "are forbidden" in refused.value.reason
    assert names(ask([ordered(2)], ordered(2, **changed), replace=True)) == ["web-0", "web-1"]


def test_defaults_of_claims_are_no_change(ask: Ask) -> None:
    def claims(storage: str, **more: str) -> list[Json]:
        spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}, **more}
        return [{"metadata": {"name": "d"}, "spec": spec}]

    claimed = claims("1024Mi", volumeMode="Filesystem")
    stored = ordered(1, volumeClaimTemplates=claimed, podManagementPolicy="OrderedReady")
    assert names(ask([stored], ordered(1, volumeClaimTemplates=claims("1Gi")))) == ["web-0"]


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "DaemonSet"])
def test_a_selector_may_not_change(ask: Ask, kind: str) -> None:
    selector = {"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]}
    with pytest.raises(RefusedError) as refused:
        ask([workload(kind)], workload(kind, selector=selector))
    shown = '{"matchExpressions":[{"key":"app","operator":"In","values":["web"]}]}'
    assert refused.value.reason == f"Invalid value: {shown}: field is immutable"


def test_the_template_of_a_job_may_not_change(ask: Ask) -> None:
    with pytest.raises(RefusedError) as refused:
        ask([job()], job("b"))
    assert refused.value.field == "spec.template"


def with_one_terminating(kind: str) -> list[Json]:
    there = deployed("w1", "w2", "w2") if kind == "Deployment" else []
    if not there:
        start = "web-" if kind == "StatefulSet" else "web-a"
        there = [workload(kind, 3), *(pod(f"{start}{at}", on, kind) for at, on in enumerate(("w1", "w2", "w2")))]
    there[-1]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return there


@pytest.mark.parametrize(("kind", "made"), [("Deployment", ["web-0"]), ("ReplicaSet", ["web-0"]), ("StatefulSet", [])])
def test_a_pod_that_terminates_is_replaced_at_once_but_by_a_set(ask: Ask, kind: str, made: list[str]) -> None:
    assert names(ask(with_one_terminating(kind), target=f"{kind.lower()}/web")) == made


@pytest.mark.parametrize("edit", [("--drain", "w2"), ("--remove-node", "w2"), ("--taint", "w2=k:NoExecute")])
@pytest.mark.parametrize(
    ("kind", "again"),
    [("Deployment", ["web-1-1"]), ("Job", ["web-a1"]), ("StatefulSet", ["web-1", "web-2"])],
)
def test_a_pod_that_terminates_comes_back_only_where_it_was_waited_for(
    ask: Ask, kind: str, again: list[str], edit: tuple[str, str]
) -> None:
    answer = ask(with_one_terminating(kind), edits=(Edit(*edit),))
    assert names(answer) == again
    assert not any("not come back" in each for each in answer.warnings)


def daemons() -> list[Json]:
    return [workload("DaemonSet"), pod("web-a", "w1", "DaemonSet"), pod("web-b", "w2", "DaemonSet")]


@pytest.mark.parametrize(("policy", "made"), [(None, ["web-0"]), ("TerminatingOrFailed", ["web-0"]), ("Failed", [])])
@pytest.mark.parametrize("manifest", [False, True])
def test_a_job_may_wait_for_the_end_of_a_pod_that_terminates(
    ask: Ask, policy: str | None, made: list[str], manifest: bool
) -> None:
    spec: Json = {"podReplacementPolicy": policy} if policy else {}
    there = [job(parallelism=3, **spec), *with_one_terminating("Job")[1:]]
    wanted: Json = {} if manifest else {"target": "job/web"}
    assert names(ask(there, *([job(parallelism=3)] if manifest else []), **wanted)) == made
    assert names(ask(there, target="job/web", replicas=1)) == []
    drained = names(ask(there, edits=(Edit("--drain", "w2"),)))
    assert drained == (["web-a1", "web-a2"] if policy == "Failed" else ["web-a1"])


def test_the_daemon_pods_of_a_new_node_are_of_their_daemon_set(ask: Ask) -> None:
    there = daemons()
    adds = Edit("--add-nodes", "1=w1")
    assert placed(ask(there, target="ds/web", edits=(adds,))) == {}
    drained = ask(there, edits=(adds, Edit("--drain", "w1-add-1")))
    assert not any("no controller" in each for each in drained.warnings)
    assert "web-w1-add-1" in {each.name for each in drained.simulated.after.existing_pods.pods}


@pytest.mark.parametrize(
    ("edit", "strategy", "goes"),
    [
        ("x:NoSchedule", None, False),
        ("x:NoSchedule", "OnDelete", False),
        ("x:NoSchedule", "RollingUpdate", True),
        ("x:NoExecute", None, False),  # evicted by the taint itself
    ],
)
def test_daemon_pods_stay_where_none_is_made_any_more(ask: Ask, edit: str, strategy: str | None, goes: bool) -> None:
    edits = (Edit("--taint", f"w2={edit}"),)
    if strategy is None:
        answer = ask(daemons(), target="ds/web", edits=edits)
    else:
        answer = ask(daemons(), workload("DaemonSet", image="b", updateStrategy={"type": strategy}), edits=edits)
    assert any("too many" in each for each in answer.warnings) == goes


@pytest.mark.parametrize(
    ("edit", "gone"), [("w2=on-", ["web-b"]), ("w2=on=w1", []), ("(on)=on=x", ["web-a", "web-b"]), ("w2=x=y", [])]
)
def test_a_label_takes_away_the_daemon_pods_that_it_keeps_from_the_node(ask: Ask, edit: str, gone: list[str]) -> None:
    required = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "on", "operator": "In", "values": ["w1", "w2"]}]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    there = [made("DaemonSet", "web", {"template": template(affinity=affinity)})]
    there += [
        pod("web-a", "w1", "DaemonSet"),
        pod("web-b", "w2", "DaemonSet"),
        pod("o", "w2", "DaemonSet", owner_name="o"),
    ]
    answer = ask(there, made("Pod", "a", template()["spec"]), edits=(Edit("--label", edit),))
    left = {each.name for each in answer.simulated.after.existing_pods.pods}
    assert {"web-a", "web-b", "o"} - left == set(gone)
    told = " ".join(each for each in answer.warnings if "labelling" in each)
    assert all(name in told for name in gone) == bool(gone or not told)


def tolerating(*seconds: int | None) -> list[Json]:
    base = {"key": "k", "operator": "Exists"}
    return [base if each is None else {**base, "effect": "NoExecute", "tolerationSeconds": each} for each in seconds]


@pytest.mark.parametrize(
    ("tolerations", "again", "is_for_a_time"),
    [
        (tolerating(), ["web-1-1"], False),
        (tolerating(0), ["web-1-1"], False),
        (tolerating(-1, 60), ["web-1-1"], False),
        (tolerating(60, 0), [], True),
        (tolerating(None, 0), [], False),
    ],
)
def test_the_first_toleration_says_how_long_a_pod_stays_on_a_tainted_node(
    ask: Ask, tolerations: list[Json], again: list[str], is_for_a_time: bool
) -> None:
    there = deployed("w1", "w2")
    there[-1]["spec"]["tolerations"] = tolerations
    answer = ask(there, edits=(Edit("--taint", "w2=k:NoExecute"),))
    assert names(answer) == again
    assert any("only for a time" in each for each in answer.warnings) == is_for_a_time


COST = "controller.kubernetes.io/pod-deletion-cost"
UNREADY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}
READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


@pytest.mark.parametrize(
    ("on", "replicas", "of_pod", "gone"),
    [
        (("w1", "w1", "w2"), 2, {}, "web-1-0"),
        (("w1", "w1", "w2"), 2, {2: {"status": UNREADY}}, "web-1-2"),
        (("w1", "w1", "w2"), 2, {2: {"annotations": {COST: "-1"}}}, "web-1-2"),
        (("w1", "w1", "w2"), 2, {0: {"annotations": {COST: "1"}}, 1: {"annotations": {COST: "1"}}}, "web-1-2"),
        (("w1", "w1", "w2", "w2"), 2, {0: {"annotations": {COST: "-1"}}}, "web-1-0, web-1-1"),
        (("w1", "w1", "w1", "w2", "w2"), 3, {}, "web-1-0, web-1-1"),
    ],
)
def test_pods_that_are_too_many_go_in_the_order_of_the_replica_set_controller(
    ask: Ask, on: tuple[str, ...], replicas: int, of_pod: dict[int, Json], gone: str
) -> None:
    """All are put in order at once: those on a node with three pods go before those on one with two."""
    there = deployed(*on)
    for number, each in enumerate(there[2:]):
        change = of_pod.get(number, {})
        each["metadata"]["annotations"] = change.get("annotations", {})
        each["status"] = change.get("status", READY)
    answer = ask(there, target="deployment/web", replicas=replicas)
    assert answer.warnings[0].endswith(f"first: {gone}")


def ready_since(time: str, uid: str = "o", restarts: int = 0) -> Json:
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": f"2026-06-01T{time}:00Z"}
    status = {**READY, "conditions": [ready], "containerStatuses": [{"name": "main", "restartCount": restarts}]}
    return {"uid": uid, "status": status}


@pytest.mark.parametrize(
    ("kind", "of_pod", "gone"),
    [
        ("ReplicaSet", (ready_since("08:00"), ready_since("11:00"), ready_since("09:00")), "web-1"),
        ("ReplicaSet", (ready_since("08:01", "a"), ready_since("08:02", "b"), ready_since("08:03", "c")), "web-0"),
        ("ReplicaSet", (ready_since("08:00"), ready_since("08:00", restarts=2), ready_since("08:00")), "web-1"),
        ("Job", (ready_since("08:01", "a"), ready_since("08:02", "b"), ready_since("08:03", "c")), "web-2"),
        ("Job", (ready_since("08:00"), {**ready_since("08:00"), COST: "-1"}, ready_since("09:00")), "web-2"),
        ("Job", (ready_since("08:00"), ready_since("11:00"), {"status": {"phase": "Unknown"}}), "web-2"),
    ],
)
def test_pods_alike_go_by_how_long_they_are_ready(ask: Ask, kind: str, of_pod: tuple[Json, ...], gone: str) -> None:
    """ReplicaSets compare ages by powers of two and then uids; Jobs know no deletion cost and no pods beside."""
    there = [workload(kind, 3) if kind == "ReplicaSet" else job(parallelism=3)]
    there[0]["metadata"]["creationTimestamp"] = "2026-06-01T12:00:00Z"
    for number, each in enumerate(of_pod):
        there.append(pod(f"web-{number}", ("w1", "w1", "w2")[number], kind))
        annotations = {COST: each[COST]} if COST in each else {}
        there[-1]["metadata"] |= {"uid": each.get("uid", "o"), "annotations": annotations}
        there[-1]["status"] = each["status"]
    answer = ask(there, target=f"{kind.lower()}/web", replicas=2)
    assert answer.warnings[0].endswith(f"first: {gone}")


def test_pods_of_an_indexed_job_go_that_are_out_of_range_or_there_twice(ask: Ask) -> None:
    index = "batch.kubernetes.io/job-completion-index"
    there = [job(parallelism=2, completions=2, completionMode="Indexed")]
    there += [pod(f"web-{at}-{name}", "w1", "Job", **{index: at}) for at, name in ("0x", "0y", "1x", "2x")]
    answer = ask(there, target="job/web")
    assert answer.warnings[0].endswith("first: web-0-x, web-2-x")


def test_old_pods_that_share_a_node_with_new_ones_go_first(ask: Ask) -> None:
    there = deployed("w2", "w1")
    rolling = {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    wanted = workload("Deployment", 2, "b", strategy=rolling)
    wanted["spec"]["template"]["spec"]["nodeSelector"] = {"on": "w1"}
    wanted["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "7"
    (rollout,) = ask(there, wanted).rollouts
    assert [each.name for each in rollout.remaining] == ["web-1-0"]


@pytest.mark.parametrize(
    ("status", "left"), [({}, ["web-2-0", "web-2-1"]), ({"web-2-1": UNREADY}, ["web-1-0", "web-2-0"])]
)
def test_old_pods_of_the_oldest_replica_set_go_first(ask: Ask, status: Json, left: list[str]) -> None:
    """web-2 stands before web-1, and its pods share a node."""
    there = [workload("Deployment", 3)]
    for name, hour, on in (("web-2", "09", ("w2", "w2")), ("web-1", "08", ("w1",))):
        there.append(replica_set(len(on), name=name))
        there[-1]["metadata"]["creationTimestamp"] = f"2026-06-01T{hour}:00:00Z"
        owned = {"owner_name": name, HASH: name.removeprefix("web-")}
        there += [pod(f"{name}-{at}", where, "ReplicaSet", **owned) for at, where in enumerate(on)]
    for each in there:
        if each["kind"] == "Pod":
            each["status"] = status.get(each["metadata"]["name"], READY)
    rolling = {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
    (rollout,) = ask(there, workload("Deployment", 3, "b", "9", strategy=rolling)).rollouts
    assert sorted(each.name for each in rollout.remaining) == left


def test_recreate_makes_no_pod_before_all_old_ones_are_gone(ask: Ask) -> None:
    there = deployed("w1", "w1")
    wanted = workload("Deployment", 3, "b", strategy={"type": "Recreate"})
    assert placed(ask(there, wanted)) == placed(ask(there, wanted, replace=True))
    assert placed(ask(there, wanted))["web-0"] == "w1"


@pytest.mark.parametrize(("gates", "made_first"), [(None, 1), ("MaxUnavailableStatefulSet=true", 2)])
def test_how_many_of_a_set_may_be_missing_is_behind_a_gate(ask: Ask, gates: str | None, made_first: int) -> None:
    there = [workload("StatefulSet", 3, podManagementPolicy="Parallel")]
    there += [pod(f"web-{number}", "w1", "StatefulSet") for number in range(3)]
    rolling = {"rollingUpdate": {"maxUnavailable": 2}}
    wanted = workload("StatefulSet", 3, cpu="9", podManagementPolicy="Parallel", updateStrategy=rolling)
    (rollout,) = ask(there, wanted, gates=gates).rollouts
    assert (rollout.stuck_at, len(rollout.placements)) == (made_first, made_first)


@pytest.mark.parametrize(
    ("policy", "gates", "replaced"),
    [
        ("Parallel", None, ["web-3", "web-2"]),
        ("Parallel", "MaxUnavailableStatefulSet=true", []),
        ("OrderedReady", None, []),
    ],
)
def test_a_parallel_set_rolls_out_down_to_a_pod_without_a_node(
    ask: Ask, policy: str, gates: str | None, replaced: list[str]
) -> None:
    """Without its node, web-1 holds up web-0; a set that is in order waits for it first."""
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    about: Json = {
        "podManagementPolicy": policy,
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": spec}],
    }
    there = [workload("StatefulSet", 4, **about)]
    there += [pod(f"web-{number}", "w1", "StatefulSet") for number in (0, 2, 3)]
    for number in range(4):
        volume = {"accessModes": ["ReadWriteOnce"], "volumeName": f"v{number}", "storageClassName": ""}
        bound = {"pv.kubernetes.io/bind-completed": "yes"}
        claim = made("PersistentVolumeClaim", f"data-web-{number}", volume, annotations=bound)
        there += [claim, made("PersistentVolume", f"v{number}", reached_from("lost" if number == 1 else "w1"))]
    (rollout,) = ask(there, workload("StatefulSet", 4, "b", **about), gates=gates).rollouts
    assert [each.pod.name for each in rollout.placements if each.is_placed] == replaced


def reached_from(node: str) -> Json:
    hostname = {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}
    return {"nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [hostname]}]}}}


def test_a_quota_stops_a_workload_that_is_to_have_as_many_pods_as_fit(ask: Ask) -> None:
    quota = {**made("ResourceQuota", "few", {"hard": {"pods": "3"}}), "status": {"used": {"pods": "1"}}}
    answer = ask([quota], workload("Deployment"), fill=True)
    assert answer.simulated.placed == 2
    assert answer.simulated.stopped is not None
    assert str(answer.simulated.stopped.event).startswith('pods "web-2" is forbidden: exceeded quota: few')
    assert any("what stops it is a ResourceQuota" in each for each in answer.warnings)


def test_pending_pods_that_are_left_aside_are_named(ask: Ask) -> None:
    alone = made("Pod", "alone", template()["spec"])
    told = "1 pod is pending in the cluster and left aside: default/web-1-1 (--with-pending places it, too)"
    assert told in ask(deployed("w1", ""), alone).warnings
    assert told not in ask(deployed("w1", ""), alone, with_pending=True).warnings
    assert told not in ask(deployed("w1", ""), target="deployment/web").warnings


def test_a_node_of_a_manifest_offers_its_capacity_where_it_says_nothing_else(ask: Ask, tmp_path: Path) -> None:
    written = tmp_path / "node.json"
    capacity = {"cpu": "64", "memory": "1Gi", "pods": "10"}
    written.write_text(json.dumps({"kind": "Node", "metadata": {"name": "big"}, "status": {"capacity": capacity}}))
    wide = made("Pod", "wide", template(cpu="32")["spec"])
    assert placed(ask([], wide, edits=(Edit("--add-nodes", f"1={written}"),))) == {"wide": "big-add-1"}


@pytest.mark.parametrize(("status", "said"), [
    ({}, "the Node has neither status.allocatable nor status.capacity, so no pod fits on it"),
    ({"allocatable": {"cpu": "4x"}}, "status.allocatable[cpu]: '4x' is not a quantity"),
    ({"capacity": {"cpu": "4x"}}, "status.allocatable[cpu]: '4x' is not a quantity"),
])  # fmt: skip
def test_a_node_of_a_manifest_offers_something(ask: Ask, tmp_path: Path, status: Json, said: str) -> None:
    written = tmp_path / "node.json"
    written.write_text(json.dumps({"kind": "Node", "metadata": {"name": "big"}, "status": status}))
    with pytest.raises(SchedError, match=re.escape(said)):
        ask([], edits=(Edit("--add-nodes", f"1={written}"),))


def test_what_preemption_leaves_without_a_node_is_told_not_what_it_places(ask: Ask) -> None:
    urgent = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "u"}, "value": 9}
    there = [urgent, pod("web-x", "w1", "ReplicaSet"), pod("web-y", "w2", "ReplicaSet")]
    hasty = made("Pod", "hasty", {**template(cpu="8")["spec"], "priorityClassName": "u"})
    big = [made("Pod", f"big-{number}", template(cpu="7")["spec"], labels={}) for number in (1, 2)]
    answer = ask(there, hasty, *big, choices=Choices(requeue_victims=True))
    first = answer.simulated.first_unplaced
    assert placed(answer)["hasty"] == "w1"
    assert first is not None
    assert first.pod.name != "hasty"


def quota(used: int) -> Json:
    """Five pods at most."""
    limits = {"hard": {"pods": "5"}, "used": {"pods": str(used)}}
    return {**made("ResourceQuota", "five", {"hard": {"pods": "5"}}), "status": limits}


@pytest.mark.parametrize("strategy", [{}, {"type": "Recreate"}, {"rollingUpdate": {"maxSurge": 0}}])
def test_pods_that_go_make_room_in_a_quota_for_those_that_come(ask: Ask, strategy: Json) -> None:
    there = [quota(4), *deployed("w1", "w1", "w2")]
    assert ask(there, workload("Deployment", 3, image="b", strategy=strategy)).simulated.placed == 3
    assert ask(there, workload("Deployment", 4, image="b"), replace=True).simulated.placed == 4


def test_a_rollout_that_adds_a_pod_first_needs_room_for_it_in_a_quota(ask: Ask) -> None:
    there = [quota(5), *deployed("w1", "w1", "w2")]
    refused = ask(there, workload("Deployment", 3, image="b")).simulated
    assert (refused.placed, [each.is_over_quota for each in refused.placements]) == (0, [True] * 3)
    assert "its rollout adds a pod before it takes one away" in str(refused.placements[0].reason)
    without = {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
    assert ask(there, workload("Deployment", 3, image="b", strategy=without)).simulated.placed == 3


def test_pods_that_an_edit_takes_away_make_room_in_a_quota(ask: Ask) -> None:
    bare = made("Pod", "bare", {**template()["spec"], "nodeName": "w1"})
    there = [quota(5), bare]
    assert [each.is_over_quota for each in ask(there, made("Pod", "new", template()["spec"])).simulated.placements] == [
        True
    ]
    assert ask(there, made("Pod", "new", template()["spec"]), edits=(Edit("--drain", "w1"),)).simulated.placed == 1


def test_a_missing_pod_below_the_partition_is_made_as_before(ask: Ask) -> None:
    rolling = {"rollingUpdate": {"partition": 2}}
    there = [workload("StatefulSet", 1), pod("web-0", "w1", "StatefulSet")]
    answer = ask(there, workload("StatefulSet", 3, image="b", updateStrategy=rolling))
    made_from = {each.pod.name: each.pod.spec.containers[0].image for each in answer.simulated.placements}
    assert made_from == {"web-1": "a", "web-2": "b"}


def test_a_manifest_that_does_not_say_how_many_leaves_that_as_it_is(ask: Ask) -> None:
    silent = workload("Deployment", image="b")
    del silent["spec"]["replicas"]
    there = deployed("w1", "w1", "w2")
    assert ask(there, silent).simulated.placed == 3
    assert ask(there, silent, replace=True).simulated.placed == 1
    assert ask([], silent).simulated.placed == 1


@pytest.mark.parametrize("kinds", [("Deployment", "ReplicaSet"), ("Deployment",)])
@pytest.mark.parametrize("manifest", [True, False])
def test_what_a_deployment_lacks_is_spread_with_what_it_has(ask: Ask, kinds: tuple[str, ...], manifest: bool) -> None:
    apart = {"maxSkew": 1, "topologyKey": "on", "whenUnsatisfiable": "DoNotSchedule", "matchLabelKeys": [HASH]}
    constraint = {**apart, "labelSelector": {"matchLabels": {"app": "web"}}}
    there = deployed("w2", "w2")
    there = [each for each in there if each["kind"] in {*kinds, "Pod"}]
    wanted = workload("Deployment", 4)
    for each in (wanted, *(item for item in there if item["kind"] != "Pod")):
        each["spec"]["template"]["spec"]["topologySpreadConstraints"] = [constraint]
    if manifest:
        answer = ask(there, wanted)
    else:
        there[0]["spec"]["replicas"] = 4
        answer = ask(there, target="deployment/web")
    assert list(placed(answer).values()) == ["w1", "w1"]
    assert {each.pod.metadata.labels[HASH] for each in answer.simulated.placements} == {"1"}


def test_what_a_deployment_lacks_is_spread_by_default_with_what_it_has(ask: Ask) -> None:
    busy = made("Pod", "busy", {**template(cpu="500m")["spec"], "nodeName": "w2"})
    there = [*deployed("w1", "w1", "w1"), busy]
    for each in there:
        spec = each["spec"].get("template", each)["spec"]
        spec["containers"][0]["resources"]["requests"]["cpu"] = "7" if each["metadata"]["name"] == "busy" else "1m"
    assert list(placed(ask(there, target="deployment/web", replicas=4)).values()) == ["w2"]


@pytest.mark.parametrize(("limits", "fit"), [
    ({"max": {"cpu": "4"}}, 4),
    ({"min": {"cpu": "2"}}, 8),
    ({"default": {"cpu": "8"}, "min": {"cpu": "1"}}, 2),
    ({"max": {"cpu": "8"}, "defaultRequest": {"cpu": "2"}}, 8),
])  # fmt: skip
def test_a_limit_range_of_the_manifests_has_its_defaults(ask: Ask, limits: Json, fit: int) -> None:
    limited = made("LimitRange", "limits", {"limits": [{"type": "Container", **limits}]})
    alone = made("Pod", "alone", {"containers": [{"name": "main", "image": "a"}]})
    assert ask([], limited, alone, fill=True).simulated.placed == fit
