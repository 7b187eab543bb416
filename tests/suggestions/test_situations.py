"""Small situations as data: the first rung, what is never advised, and who has to be asked (fixtures/ladder)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kubectl_sched.api.policy import PodDisruptionBudget
from kubectl_sched.queries.explain import ExplainQuestion
from kubectl_sched.queries.explain import explain as explain_pods
from kubectl_sched.scheduler.schedule_one import cycle
from kubectl_sched.simulation.eviction_budgets import EvictionBudgets
from kubectl_sched.sources import Dump
from kubectl_sched.sources.discovery.replay_setup import Replay
from kubectl_sched.sources.pod_selection import Selection
from kubectl_sched.suggestions.change import Change, Kind, Rung
from kubectl_sched.suggestions.search import suggest
from kubectl_sched.suggestions.suggestion import Promise
from kubectl_sched.suggestions.trial import Trial
from tests.examples import examples
from tests.plugins.clusters import node, pod, requests
from tests.scheduler.cycles import explain, with_cycle

if TYPE_CHECKING:
    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.suggestions.suggestion import Suggestion

Json = dict[str, Any]

SITUATIONS: list[Json] = json.loads(Path("fixtures/ladder/situations.json").read_text())


def a_node(name: str, cpu: str = "4", **fields: Any) -> KubernetesObject:
    labels = {"kubernetes.io/hostname": name, **fields.pop("labels", {})}
    return node(name, labels=labels, allocatable={"cpu": cpu, "memory": "8Gi", "pods": "10"}, **fields)


def a_pod(name: str, given: Json) -> Pod:
    spec: Json = {key: given[key] for key in ("nodeSelector", "tolerations", "priority") if key in given}
    labels = given.get("labels", {})
    if "spread" in given:
        constraint = {"maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": labels}}
        spec["topologySpreadConstraints"] = [{**constraint, **given["spread"]}]
    if "for" in given:
        field = {"key": "metadata.name", "operator": "In", "values": [given["for"]]}
        terms = {"nodeSelectorTerms": [{"matchFields": [field]}]}
        spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    metadata: Json = {"labels": labels, "namespace": given.get("namespace", "default")}
    if "owner" in given:
        owner = {"apiVersion": "apps/v1", "kind": given["owner"], "name": name, "uid": name, "controller": True}
        metadata["ownerReferences"] = [owner]
    amounts = requests(cpu=given["cpu"]) if "cpu" in given else {}
    return pod(name, on=given.get("on", ""), metadata=metadata, **amounts, **spec)


def a_budget(name: str, labels: dict[str, str], allowed: int = 0, namespace: str = "default") -> PodDisruptionBudget:
    return msgspec.convert(
        {
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"selector": {"matchLabels": labels}},
            "status": {"disruptionsAllowed": allowed},
        },
        PodDisruptionBudget,
    )


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda each: f"{each['kind']}: {each['name']}")
def test_the_ladder_of_a_situation(situation: Json) -> None:
    nodes = [a_node(name, **fields) for name, fields in situation["nodes"].items()]
    pods = [a_pod(name, fields) for name, fields in situation["pods"].items()]
    budgets = [a_budget(name, labels) for name, labels in situation.get("budgets", {}).items()]
    result = explain(a_pod("new", situation["pod"]), *nodes, *pods, *budgets)
    found = suggest(result)
    rung, words = situation["first"]
    assert (found[0].rung, bool(re.search(words, found[0].text))) == (rung, True), found[0].text
    texts = [each.text for each in found]
    for each in situation.get("also", ()):
        assert any(each in text for text in texts)
    if "never" in situation:
        assert not any(re.search(situation["never"], f"{each.text} {each.to_paste}") for each in found)
    if "asks" in situation:
        asked = [each for each in found if any(situation["asks"] in manual.instruction for manual in each.manual)]
        assert asked
        assert not any(each.commands for each in asked)
    if "ends" in situation:
        assert situation["ends"] in [list(each.ends) for each in found]
    do_no_harm(result, found)


def do_no_harm(result: ScheduleResult, found: tuple[Suggestion, ...]) -> None:
    """Hold the laws: order of rungs, no command against a budget or another namespace, no rung whose replay fails."""
    labels = [each.value for each in Rung]
    order = [labels.index(each.rung) for each in found]
    assert order == sorted(order)
    running = {each.key: each for each in result.nodes.existing_pods.pods}
    base = Trial.of(with_cycle(result))
    for each in found:
        moved = [step.pod.key for change in each.changes for step in change.moves if step.pod is not None]
        going = [running[key] for key in (*each.ends, *moved)]
        assert not each.commands or all(pod.namespace == result.pod.namespace for pod in going)
        assert not each.commands or not any(EvictionBudgets.of(result.nodes.objects).forbidding(going))
        if each.promise not in {Promise.PREEMPTS, Promise.STATED}:
            trial = base.changed(each.changes)
            assert cycle(trial.pod, trial.nodes, trial.framework).fits


NOW = "2026-01-01T12:00:00Z"
PASSING, STAYING = "node.kubernetes.io/network-unavailable", "node.kubernetes.io/disk-pressure"
ENDING = st.sampled_from(["2026-01-01T12:00:20Z", "2026-01-01T11:59:50Z", "2026-01-01T09:00:00Z"])
"""The moments by which a pod has to have ended: soon, just now, and long ago."""

WAITED_FOR = st.fixed_dictionaries(
    {"on": st.sampled_from(["w0", "w1"]), "cpu": st.sampled_from(["1", "3"]), "priority": st.sampled_from([0, 9])},
    optional={"ends": ENDING, "finalizers": st.just(["example.com/backup"])},
)


def a_waited_pod(name: str, given: Json) -> Pod:
    made = a_pod(name, given)
    if "ends" not in given:
        return made
    metadata = msgspec.structs.replace(
        made.metadata, deletion_timestamp=given["ends"], finalizers=tuple(given.get("finalizers", ()))
    )
    return msgspec.structs.replace(made, metadata=metadata)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(WAITED_FOR, min_size=1, max_size=6), st.sampled_from(["3", "4"]), st.integers(0, 5), st.booleans())
def test_what_comes_by_itself_stands_first_and_states_its_fact(
    running: list[Json], cpu: str, priority: int, tainted: bool
) -> None:
    taints = [{"key": PASSING, "effect": "NoSchedule", "timeAdded": "2026-01-01T11:58:00Z"}] if tainted else []
    pods = [a_waited_pod(f"p{number}", each) for number, each in enumerate(running)]
    result = explain(a_pod("new", {"cpu": cpu, "priority": priority}), a_node("w0"), a_node("w1", taints=taints), *pods)
    found = suggest(result, now=NOW)
    do_no_harm(result, found)
    waiting = [each for each in found if each.rung == Rung.WAIT.value]
    assert waiting == list(found[: len(waiting)])
    in_time = {
        each.key for each, given in zip(pods, running, strict=True) if given.get("ends", "") > "2026-01-01T11:59:00Z"
    }
    late = {each.key for each, given in zip(pods, running, strict=True) if "ends" in given} - in_time
    preempts = result.post_filter is not None and result.post_filter.nominated_node
    helped = {
        "ending": not preempts and _fits_without(result, in_time),
        "late": not preempts and not _fits_without(result, in_time) and _fits_without(result, in_time | late),
    }
    for each in waiting:
        (change,) = each.changes
        keys = {pod.key for pod in change.evicts}
        if change.kind is Kind.WAIT and keys:
            assert keys <= in_time
            assert (
                f"(by {max(pod.metadata.deletion_timestamp or '' for pod in change.evicts)} at the latest)" in each.text
            )
        if change.kind is Kind.FINISH:
            assert keys & late
            assert (
                all((pod.metadata.deletion_timestamp or "") in each.text for pod in change.evicts if pod.key in late)
                or len(keys & late) > 1
            )
            assert "Nothing to do" not in each.text
            assert not each.ends
        if change.node_name:
            assert f"taint {PASSING} is gone from w1: set at 2026-01-01T11:58:00Z" in each.text
    kinds = [each.changes[0].kind for each in waiting if each.changes[0].evicts]
    assert kinds == [Kind.WAIT] * helped["ending"] + [Kind.FINISH] * helped["late"]


def _fits_without(result: ScheduleResult, going: set[str]) -> bool:
    """Replay the pod in a cluster from which these pods are gone."""
    if result.fits or not going:
        return False
    pods = tuple(each for each in result.nodes.existing_pods.pods if each.key in going)
    trial = Trial.of(with_cycle(result)).changed((Change(kind=Kind.WAIT, text="", evicts=pods),))
    return cycle(trial.pod, trial.nodes, trial.framework).fits


LABELS = st.sampled_from([{"app": "a"}, {"app": "b"}])
NAMESPACES = st.sampled_from(["default", "shop"])
RUNNING = st.fixed_dictionaries(
    {
        "on": st.sampled_from(["w0", "w1", "w2"]),
        "cpu": st.sampled_from(["500m", "1", "2"]),
        "namespace": NAMESPACES,
        "labels": LABELS,
        "priority": st.integers(0, 2),
    },
    optional={"owner": st.sampled_from(["ReplicaSet", "StatefulSet", "Job", "DaemonSet"])},
)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(RUNNING, max_size=10),
    st.lists(st.tuples(LABELS, st.integers(0, 2), NAMESPACES), max_size=3),
    st.sampled_from(["1", "2", "3", "6"]),
    st.integers(0, 2),
)
def test_no_advice_does_harm_in_any_cluster_with_budgets(
    running: list[Json], budgets: list[tuple[dict[str, str], int, str]], cpu: str, priority: int
) -> None:
    nodes = [a_node(f"w{number}") for number in range(3)]
    pods = [a_pod(f"p{number}", each) for number, each in enumerate(running)]
    protected = [a_budget(f"b{number}", *each) for number, each in enumerate(budgets)]
    asked = a_pod("new", {"cpu": cpu, "priority": priority})
    kinds = frozenset({"Node", "Pod", "PodDisruptionBudget"})
    question = ExplainQuestion(selection=Selection(targets=("pod", "new")), replay=Replay(kube_version="1.36"))
    answer, _ = explain_pods(question, Dump(objects=(*nodes, *pods, *protected, asked), present=kinds))
    (found,) = answer.explanations
    do_no_harm(found.result, found.suggestions)
