"""Pending pods by what keeps them pending, and what helps all pods of a group."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

import kubectl_sched as ks
from kubectl_sched.api.apps import DaemonSet
from kubectl_sched.api.core import Event
from kubectl_sched.queries.explain import ExplainQuestion, explain
from kubectl_sched.queries.triage import Group, Triage, triage
from kubectl_sched.render.answers.triage import triage_data
from kubectl_sched.render.sentences.group_sentences import summary
from kubectl_sched.sources import Dump
from kubectl_sched.sources.discovery.replay_setup import Replay
from kubectl_sched.sources.dump.reader import read
from kubectl_sched.sources.pod_selection import Selection
from tests.plugins.clusters import node, pod, requests
from tests.program import run

if TYPE_CHECKING:
    from pathlib import Path

    from kubectl_sched.api.meta import KubernetesObject

FIXTURE = "fixtures/triage"


def asked(*objects: KubernetesObject, namespace: str | None = None) -> Triage:
    dump = Dump(objects=objects, present=frozenset({"Node", "Pod"}))
    selection = Selection(targets=(), namespace=namespace, pending=True)
    return triage(ExplainQuestion(selection=selection, replay=Replay(kube_version="1.36")), dump)


def owned(name: str, owner: str, kind: str = "Job", **spec: Any) -> Any:
    reference = {"apiVersion": "batch/v1", "kind": kind, "name": owner, "uid": owner, "controller": True}
    metadata = {"ownerReferences": [reference], **spec.pop("metadata", {})}
    return pod(name, metadata=metadata, schedulerName="default-scheduler", **spec)


def size(group: Group) -> tuple[int, tuple[str, ...], tuple[str, ...]]:
    return len(group.pods), group.cause.plugins, group.cause.reasons


def test_the_first_group_is_the_largest_and_its_sentence_says_what_places_all() -> None:
    found = triage(ExplainQuestion(selection=Selection(namespace=None, pending=True)), read([FIXTURE]))
    assert [len(group.pods) for group in found.groups] == [12, 3, 2, 1, 1]
    assert summary(found.groups[0]) == (
        "12 pods of 3 workloads: no gpu node has 1 GPU free; the best has 0 of 8 (some ask for other amounts); "
        "2 more nodes of pool=gpu in eu-1a place all"
    )


def test_pods_for_which_preemption_makes_room_have_another_cure_than_those_short_of_the_same() -> None:
    found = triage(ExplainQuestion(selection=Selection(namespace=None, pending=True)), read([FIXTURE]))
    short_of_cpu = [each for each in found.groups if each.cause.reasons == ("Insufficient cpu",)]
    assert [(each.workloads, each.cause.comes_by) for each in short_of_cpu] == [
        ((("batch", "Job/report"),), None),
        ((("shop", "Deployment/checkout"),), "preemption"),
    ]


def test_pods_of_several_workloads_share_a_cause_and_one_of_another_stands_apart() -> None:
    cpus = [owned(f"a-{index}", "a", **requests(cpu="20")) for index in range(2)]
    found = asked(
        node("w1"),
        *cpus,
        owned("b-0", "b", **requests(cpu="30")),
        owned("c-0", "c", nodeSelector={"pool": "gpu"}, **requests(cpu="1")),
        owned("bound", "d", on="w1", **requests(cpu="1")),
        owned("ended", "e", status={"phase": "Succeeded"}),
    )
    assert [size(group) for group in found.groups] == [
        (3, ("NodeResourcesFit",), ("Insufficient cpu",)),
        (1, ("NodeAffinity",), ("node(s) didn't match Pod's node affinity/selector",)),
    ]
    assert [group.workloads for group in found.groups] == [
        (("default", "Job/a"), ("default", "Job/b")),
        (("default", "Job/c"),),
    ]
    assert found.pending == 4


def test_the_cause_is_what_keeps_out_the_last_nodes() -> None:
    tainted = node("tainted", taints=[{"key": "dedicated", "effect": "NoSchedule"}], allocatable={"cpu": "1"})
    found = asked(tainted, node("roomy"), owned("a-0", "a", **requests(cpu="30")))
    assert found.groups[0].cause.reasons == ("Insufficient cpu",)


def test_a_cause_names_no_node_and_no_pod() -> None:
    claims = [
        owned(f"db-{index}", "db", volumes=[{"name": "d", "persistentVolumeClaim": {"claimName": f"d-db-{index}"}}])
        for index in range(2)
    ]
    (group,) = asked(node("w1"), *claims).groups
    assert group.cause.reasons == ('persistentvolumeclaim "d-<pod>" not found',)


def test_the_name_of_a_pod_may_be_a_word_of_its_cause() -> None:
    tainted = node("w1", taints=[{"key": "x", "effect": "NoSchedule"}], allocatable={"cpu": "1", "pods": "9"})
    (group,) = asked(tainted, *(owned(name, name, **requests(cpu="4")) for name in ("web", "cpu", "a", "node"))).groups
    assert group.cause.reasons == ("Insufficient cpu", "node(s) had untolerated taint(s)")
    volumes = [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]
    (group,) = asked(node("w1"), *(owned(name, name, volumes=volumes) for name in ("a", "t"))).groups
    assert group.cause.reasons == ('persistentvolumeclaim "data" not found',)


@pytest.mark.parametrize(
    ("spec", "outcome", "reasons"),
    [
        ({"schedulingGates": [{"name": "hold"}]}, "Gated", ("waiting for scheduling gates: [hold]",)),
        ({"metadata": {"deletionTimestamp": "2026-06-01T00:00:00Z"}}, "Deleting", ()),
        ({}, "Schedulable", ()),
    ],
)
def test_the_outcome_is_part_of_the_cause(spec: dict[str, Any], outcome: str, reasons: tuple[str, ...]) -> None:
    (group,) = asked(node("w1"), owned("a-0", "a", **spec)).groups
    assert (group.cause.outcome, group.cause.reasons) == (outcome, reasons)


def test_a_pod_that_nobody_serves_is_grouped_by_that() -> None:
    (group,) = asked(node("w1"), pod("lost", schedulerName="nobody"), pod("lost-2", schedulerName="nobody")).groups
    assert len(group.pods) == 2
    assert "nobody" in group.cause.reasons[0]


def test_as_many_nodes_are_added_as_it_takes_with_the_pods_of_their_daemons() -> None:
    agent = msgspec.convert(
        {
            "metadata": {"name": "agent", "namespace": "kube-system"},
            "spec": {"template": {"metadata": {}, "spec": requests(cpu="1")}},
        },
        DaemonSet,
    )
    pods = [owned(f"a-{index}", "a", **requests(cpu="3")) for index in range(5)]
    (group,) = asked(node("w1"), owned("full", "f", on="w1", **requests(cpu="8")), agent, *pods).groups
    (found,) = [each for each in group.suggestions or () if any(change.adds for change in each.suggestion.changes)]
    assert found.per_node == {"w1-add-1": 2, "w1-add-2": 2, "w1-add-3": 1}  # 8 cpu, 1 of them for the agent
    assert summary(group).endswith("; 3 more nodes like w1 place all")


def test_what_places_only_one_of_several_gives_way_to_what_places_all() -> None:
    cordoned = node("w2", unschedulable=True)
    small = node("w1", allocatable={"cpu": "1", "pods": "9", "memory": "1Gi"})
    pods = [owned(f"a-{index}", "a", **requests(cpu="4")) for index in range(2)]
    (group,) = asked(small, cordoned, *pods).groups
    assert [each.placed for each in group.suggestions or ()] == [2] * len(group.suggestions or ())
    (three,) = asked(small, cordoned, *pods, owned("a-2", "a", **requests(cpu="4"))).groups
    assert [(each.placed, each.places_all) for each in three.suggestions or ()][:1] == [(2, False)]
    assert "2 of 3 would fit" in summary(three)


def test_pods_that_each_fit_are_placed_one_after_the_other() -> None:
    pods = [owned(f"a-{index}", "a", **requests(cpu="5")) for index in range(3)]
    (group,) = asked(node("w1"), *pods).groups
    assert summary(group) == "3 pods of 1 workload: each fits now, together 1 of them"


def test_the_oldest_pod_gives_the_age_and_a_namespace_narrows() -> None:
    pods = [
        owned("young", "a", metadata={"creationTimestamp": "2026-06-02T00:00:00Z"}),
        owned("old", "a", metadata={"creationTimestamp": "2026-06-01T00:00:00Z"}),
        owned("elsewhere", "a", metadata={"namespace": "shop"}),
    ]
    (group,) = asked(node("w1"), *pods, namespace="default").groups
    assert group.oldest == "2026-06-01T00:00:00Z"
    assert len(group.pods) == 2


def test_data_are_those_of_the_contract_and_of_the_library() -> None:
    done = run("--from", FIXTURE, "-o", "json")
    data = json.loads(done.stdout)
    assert done.returncode == 1
    assert (data["apiVersion"], data["kind"], data["pending"]) == ("kubectl-sched/v1", "Triage", 19)
    assert data == ks.read(FIXTURE).triage().to_dict()
    for group in data["groups"]:
        assert group.keys() >= {"cause", "summary", "pods", "workloads", "oldest", "suggestions", "waitingFor"}
        assert group["cause"].keys() >= {"outcome", "plugins", "reasons"}
        assert all(each.keys() == {"namespace", "name"} for each in group["pods"])
    assert data["groups"][0]["workloads"] == ["Job/train", "Deployment/notebook", "Pod/eval"]
    suggestion = data["groups"][0]["suggestions"][0]
    wanted = {"changes", "commands", "outcome", "node", "kind", "scope", "recreatesPods", "caution", "placed"}
    assert suggestion.keys() >= wanted
    assert (suggestion["kind"], suggestion["placed"]) == ("AddCapacity", 12)


def test_without_a_scheduler_nothing_is_waited_for() -> None:
    (group,) = ks.read("fixtures/schedulers/no-scheduler.yaml").triage().to_dict()["groups"]
    assert group["cause"]["reasons"] == ["no kube-scheduler is seen, and none has looked at a pod that waits"]
    assert group["waitingFor"] is None


def test_nothing_pending_is_said_and_is_no_failure(tmp_path: Path) -> None:
    path = tmp_path / "empty.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "w1"}}))
    done = run("--from", str(path))
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "nothing is pending")
    data = json.loads(run("--from", str(path), "-o", "json").stdout)
    assert (data["groups"], data["pending"]) == ([], 0)


def test_the_notes_are_one_line_unless_all_are_asked_for() -> None:
    assert run("triage", "--from", FIXTURE).stdout.count("note: ") == 1
    assert run("triage", "--from", FIXTURE, "--notes").stdout.count("note: ") == 2


def test_a_pipe_gets_every_group_and_wide_every_pod_and_command() -> None:
    table = run("--from", FIXTURE, "--notes")
    assert table.returncode == 1
    assert "2 more nodes of pool=gpu in eu-1a place all" in table.stdout
    assert "\N{HORIZONTAL ELLIPSIS}" not in table.stdout
    wide = run("triage", "--from", FIXTURE, "-o", "wide").stdout
    assert all(line in wide for line in table.stdout.splitlines())
    assert all(f"ml/train-{index}" in wide for index in range(8))


def test_flags_may_come_first_and_names_are_lines() -> None:
    done = run("-n", "shop", "-o", "name", "--from", FIXTURE)
    assert done.stdout.splitlines() == ["pod/checkout-5d8-1", "pod/web-0"]


def test_an_unreadable_pod_is_left_out_and_named() -> None:
    found = asked(node("w1"), pod("odd", **requests(cpu="4x")), pod("even"))
    assert found.pending == 1
    assert any("default/odd" in warning for warning in triage_data(found)["warnings"])


def refused(name: str, on: str, at: str, reason: str = "UnexpectedAdmissionError") -> Any:
    status = {"phase": "Failed", "reason": reason, "startTime": at}
    return owned(name, "agent", nodeName=on, status=status)


def said_by_kubelet(about: str, on: str, at: str, reason: str = "OutOfcpu") -> Event:
    event = {
        "metadata": {"name": f"{about}.{at}", "namespace": "default"},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": about},
        "source": {"component": "kubelet", "host": on},
        "reason": reason,
        "firstTimestamp": at,
        "lastTimestamp": at,
    }
    return msgspec.convert(event, Event)


def test_nodes_that_swallow_pods_are_named_with_how_many_since_when_and_why() -> None:
    early, late = "2026-06-01T08:00:00Z", "2026-06-01T09:00:00Z"
    objects = (
        node("w1"),
        refused("a-0", "w1", early, "OutOfcpu"),
        said_by_kubelet("a-0", "w1", early),
        said_by_kubelet("a-1", "w1", late),
        said_by_kubelet("a-2", "w1", late, reason="BackOff"),
        owned("a-3", "agent"),
    )
    found = asked(*objects)
    (refusals,) = found.refusals
    assert (refusals.node, refusals.pods, refusals.since, refusals.last) == ("w1", 2, early, late)
    sentence = f"the kubelet of w1 refused 2 pods after binding since {early}, the last at {late}: OutOfcpu"
    assert sentence in triage_data(found)["warnings"]
    (landing,) = found.groups[0].explanations
    assert sentence in landing.changing


def test_a_pod_that_lands_elsewhere_is_not_warned_of_a_refusing_node() -> None:
    found = asked(
        node("w1", unschedulable=True), node("w2"), refused("a-0", "w1", "2026-06-01T08:00:00Z"), owned("b", "b")
    )
    assert found.refusals
    assert not any(
        "refused" in warning for group in found.groups for each in group.explanations for warning in each.warnings
    )


@pytest.mark.parametrize(("profile", "said"), [(None, "2 more nodes like w1 place all"), ("roomy", "all fit now")])
def test_pods_are_placed_together_under_the_profile_that_is_named(
    profile: str | None, said: str, tmp_path: Path
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: "
        "[{schedulerName: default-scheduler}, {schedulerName: roomy, plugins: {filter: {disabled: "
        "[{name: NodeResourcesFit}]}}}]\n"
    )
    full = [node("w1"), pod("full", on="w1", **requests(cpu="8"))]
    waiting = [owned(f"a-{index}", "a", **requests(cpu="8")) for index in range(2)]
    dump = Dump(objects=(*full, *waiting), present=frozenset({"Node", "Pod"}))
    question = ExplainQuestion(
        selection=Selection(targets=(), namespace=None, pending=True),
        replay=Replay(kube_version="1.36", config=str(config)),
        profile=profile,
    )
    (group,) = triage(question, dump).groups
    assert said in summary(group)
    together = explain(question, dump)[0].together
    assert together is not None
    assert together.placed == (0 if profile is None else 2)
    if profile is not None:
        assert group.together is not None
        assert group.together.placed == 2
