"""Suggestions: every kind of change, and the laws that hold for all that is suggested."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from msgspec import structs

from kubectl_sched.api.admission import LimitRange
from kubectl_sched.api.apimachinery.strategic_merge import merge
from kubectl_sched.api.pod import PodSpec
from kubectl_sched.api.policy import PodDisruptionBudget, PriorityClass
from kubectl_sched.apiserver.pod_admission import Admission
from kubectl_sched.config import RELEASES, Features, KubeVersion, load_configuration
from kubectl_sched.record import plain
from kubectl_sched.scheduler.schedule_one import cycle
from kubectl_sched.simulation.eviction_budgets import EvictionBudgets
from kubectl_sched.suggestions.change import Kind, Rung
from kubectl_sched.suggestions.rungs import as_ladder
from kubectl_sched.suggestions.search import suggest
from kubectl_sched.suggestions.suggestion import Promise
from kubectl_sched.suggestions.trial import Trial
from tests.examples import examples
from tests.plugins.clusters import node, pod, requests, snapshot
from tests.plugins.random_clusters import clusters, incoming_pods
from tests.scheduler.cycles import explain, with_cycle

if TYPE_CHECKING:
    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.suggestions.change import Change
    from kubectl_sched.suggestions.suggestion import Suggestion

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
DEDICATED = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}
GPU = {"key": "nvidia.com/gpu", "effect": "NoSchedule"}
REPELLING = {"key": "busy", "effect": "PreferNoSchedule"}
UNREADY = {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}
BLUE = {"matchLabels": {"app": "blue"}}
NEAR_BLUE = {"labelSelector": BLUE, "topologyKey": "rack"}
SMALL = {"cpu": "2", "memory": "4Gi", "pods": "10"}


def commands(suggestion: Suggestion) -> tuple[str, ...]:
    return tuple(map(str, suggestion.commands))


def host(name: str, **fields: Any) -> Any:
    labels = {"kubernetes.io/hostname": name, **fields.pop("labels", {})}
    return node(name, labels=labels, **fields)


def blue(on: str, **spec: Any) -> Pod:
    return pod("blue", on=on, metadata={"labels": {"app": "blue"}}, **spec)


def requiring(**term: Any) -> dict[str, Any]:
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [term]}}}}


def preferring(weight: int, key: str, value: str) -> dict[str, Any]:
    expression = {"key": key, "operator": "In", "values": [value]}
    return {"weight": weight, "preference": {"matchExpressions": [expression]}}


def spread(key: str, how: str = "DoNotSchedule") -> dict[str, Any]:
    constraint = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": how, "labelSelector": BLUE}
    return {"topologySpreadConstraints": [constraint], "metadata": {"labels": {"app": "blue"}}}


def with_min_domains(number: int) -> dict[str, Any]:
    asks = spread("zone")
    asks["topologySpreadConstraints"][0]["minDomains"] = number
    return asks


def host_port() -> dict[str, Any]:
    return {"containers": [{"name": "main", "ports": [{"containerPort": 80, "hostPort": 80}]}]}


URGENT = msgspec.convert({"metadata": {"name": "urgent"}, "value": 1000}, PriorityClass)


class Case(NamedTuple):
    """A pod in a cluster, the node that is asked about, if one is, and the sentence that must be among those given."""

    objects: list[KubernetesObject]
    spec: dict[str, Any]
    says: str
    on: str | None = None


ENDING = {"metadata": {"labels": {"app": "blue"}, "deletionTimestamp": "2026-01-01T00:00:00Z"}}
CASES: dict[Kind, Case] = {
    Kind.WAIT: Case(
        [host("w1", allocatable=SMALL), pod("old", on="w1", **ENDING, **requests(cpu="2"))],
        requests(cpu="1"),
        "Nothing to do: it would fit on w1 once default/old, which is ending (by 2026-01-01T00:00:00Z at the latest), "
        "is gone (another pod may take the room first).",
    ),
    Kind.CORRECT: Case(
        [host("w1", labels={"disk": "SSD"})],
        requiring(matchExpressions=[{"key": "disk", "operator": "In", "values": ["ssd", "nvme"]}]),
        "It would fit on w1 if its required node affinity asked for disk=SSD instead of disk=ssd (the pod is "
        "re-created).",
    ),
    Kind.UNGATE: Case(
        [host("w1")],
        {"schedulingGates": [{"name": "example.com/a"}, {"name": "example.com/b"}]},
        "It would fit on w1 without its scheduling gates example.com/a and example.com/b (whoever set them "
        "removes them once the pod may start).",
    ),
    Kind.UNNAME: Case(
        [host("w1"), host("w2")],
        {"nodeName": "gone"},
        "It would fit on 2 nodes without nodeName gone, a node that is not there (the pod is re-created).",
    ),
    Kind.UNCORDON: Case(
        [host("w1", unschedulable=True)],
        {},
        "It would fit on w1 after `kubectl uncordon w1` (whoever cordoned it wanted no new pods there).",
    ),
    Kind.REQUEST_LESS: Case(
        [host("w1", allocatable=SMALL)],
        requests(cpu="3", memory="1Gi"),
        "It would fit on w1 if container main asked for 2 cpu instead of 3 (the pod is re-created; it is then"
        " promised less cpu, and is slower when its node is busy).",
    ),
    Kind.LABEL: Case(
        [host("w1"), host("w2"), blue("w2")],
        {"affinity": {"podAffinity": {REQUIRED: [NEAR_BLUE]}}},
        "It would fit on w2 after `kubectl label node w2 rack=w2` (all pods that go by rack then see w2 as a "
        "domain of its own).",
    ),
    Kind.PREFER_NODE: Case(
        [host("w1"), host("w2"), blue("w2", **requests(cpu="4"))],
        requests(cpu="1"),
        "It would land on w2 if it preferred kubernetes.io/hostname=w2 with weight 1 (the pod is re-created; "
        "free room, spreading and other scores then count less).",
        "w2",
    ),
    Kind.TOLERATE: Case(
        [host("w1", taints=[DEDICATED]), host("w2", taints=[DEDICATED])],
        {},
        "It would fit on 2 nodes with a toleration for dedicated=gpu:NoSchedule (only if the pod is meant to "
        "run there: the taint keeps others away).",
    ),
    Kind.ALLOW_MORE: Case(
        [host("w1", labels={"zone": "c"})],
        requiring(matchExpressions=[{"key": "zone", "operator": "In", "values": ["a"]}]),
        "It would fit on w1 if its required node affinity allowed zone=c, too (the pod is re-created; only if"
        " the pod is meant to run there).",
    ),
    Kind.HONOR_TAINTS: Case(
        [host("w1", labels={"zone": "a"}), host("w2", labels={"zone": "b"}, taints=[UNREADY]), blue("w1")],
        spread("zone"),
        "It would fit on w1 with nodeTaintsPolicy: Honor for zone (the pod is re-created).",
    ),
    Kind.MATCH_REVISION: Case(
        [
            host("w1", labels={"zone": "a"}),
            host("w2", labels={"zone": "b"}, allocatable={"pods": "0"}),
            pod("blue", on="w1", metadata={"labels": {"app": "blue", "pod-template-hash": "old"}}),
        ],
        {**spread("zone"), "metadata": {"labels": {"app": "blue", "pod-template-hash": "new"}}},
        "It would fit on w1 with matchLabelKeys: [pod-template-hash] for zone (the pod is re-created; each revision of "
        "the workload is then spread by itself).",
    ),
    Kind.MIN_DOMAINS: Case(
        [host("w1", labels={"zone": "a"}), blue("w1")],
        with_min_domains(2),
        "It would fit on w1 with minDomains: 1 instead of 2 for zone (the pod is re-created; its pods may then run in "
        "1 zone only).",
    ),
    Kind.REPAIR: Case(
        [host("w1", taints=[{"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}])],
        {},
        "It would fit on w1 once taint node.kubernetes.io/unreachable is gone from w1: set by the node lifecycle "
        "controller, as the node's kubelet has stopped reporting; it goes once the kubelet reports again: look at the "
        "machine and its kubelet.",
    ),
    Kind.RAISE_SKEW: Case(
        [host("w1", labels={"zone": "a"}), host("w2", labels={"zone": "b"}, allocatable={"pods": "0"}), blue("w1")],
        spread("zone"),
        "It would fit on w1 with maxSkew: 2 instead of 1 for zone (the pod is re-created; its pods may then be "
        "spread less evenly).",
    ),
    Kind.SPREAD_SOFTLY: Case(
        [host("w1", labels={"zone": "a"}), host("w2", labels={"zone": "b"}, allocatable={"pods": "0"}), blue("w1")],
        spread("zone"),
        "It would fit on w1 with whenUnsatisfiable: ScheduleAnyway for zone (the pod is re-created; its pods "
        "may then be spread less evenly).",
    ),
    Kind.MOVE_PORT: Case(
        [host("w1"), blue("w1", **host_port())],
        host_port(),
        "It would fit on w1 with hostPort 81 instead of 80 (the pod is re-created; whoever connects to port "
        "80 of its node has to use 81).",
    ),
    Kind.DROP_PORT: Case(
        [host("w1"), blue("w1", **host_port())],
        host_port(),
        "It would fit on w1 without hostPort 80 (the pod is re-created; nobody then reaches it at port 80 of "
        "its node).",
    ),
    Kind.SELECT_LESS: Case(
        [host("w1", labels={"disk": "hdd"})],
        {"nodeSelector": {"disk": "nvme"}},
        "It would fit on w1 without disk=nvme in its nodeSelector (the pod is re-created; it may then run on "
        "nodes without disk=nvme).",
    ),
    Kind.REQUIRE_SOFTLY: Case(
        [host("w1", labels={"rack": "r"}), blue("w1")],
        {"affinity": {"podAntiAffinity": {REQUIRED: [NEAR_BLUE]}}},
        "It would fit on w1 with its required pod anti-affinity as a preference (the pod is re-created; it "
        "may then run beside the pods that it has to be away from now).",
    ),
    Kind.PREFER_LESS: Case(
        [host("w1"), host("w2", labels={"disk": "ssd"}), blue("w2", **requests(cpu="4"))],
        {**requests(cpu="1"), "affinity": {"nodeAffinity": {PREFERRED: [preferring(10, "disk", "ssd")]}}},
        "It would land on w1 without its preference of disk=ssd with weight 10 (the pod is re-created; nodes "
        "that match it are then no better than others).",
        "w1",
    ),
    Kind.TOLERATE_LESS: Case(
        [host("w1", allocatable=SMALL), host("w2", taints=[DEDICATED])],
        {**requests(cpu="1"), "tolerations": [{"key": "team", "operator": "Exists"}, DEDICATED]},
        "It would land on w1 without its toleration for dedicated=gpu:NoSchedule (the pod is re-created; nodes "
        "with such a taint then keep it "
        "out).",
        "w1",
    ),
    Kind.WEIGH: Case(
        [host("w1"), host("w2", labels={"disk": "ssd"}), blue("w2", **requests(cpu="8"))],
        {"affinity": {"nodeAffinity": {PREFERRED: [preferring(10, "disk", "ssd")]}}, **requests(cpu="0")},
        "It would land on w1 if NodeResourcesFit had weight 4 instead of 1 (this changes the scores of every "
        "pod of default-scheduler).",
        "w1",
    ),
    Kind.EVICT: Case(
        [host("w1", allocatable=SMALL), blue("w1", **requests(cpu="1500m"))],
        requests(cpu="1"),
        "It would fit on w1 once default/blue is gone, which frees 1.5 cpu (this ends blue of priority 0; lost: "
        "default/blue (nothing re-creates it)).",
    ),
    Kind.ADD_NODE: Case(
        [host("w1", allocatable=SMALL), blue("w1", priority=10, **requests(cpu="1500m"))],
        requests(cpu="1"),
        "It would fit with one more node like w1 (one more machine to pay for).",
    ),
    Kind.FREE: Case(
        [host("w1", allocatable=SMALL), blue("w1", priority=10, **requests(cpu="1500m"))],
        requests(cpu="1"),
        "It would fit on w1 once 0.5 more cpu is free on w1 (default/blue has a higher priority).",
    ),
    Kind.TOLERATE_RESERVED: Case(
        [host("w1", taints=[GPU], allocatable={**SMALL, "nvidia.com/gpu": "8"})],
        {},
        "It would fit on w1 with a toleration for nvidia.com/gpu:NoSchedule (these nodes are kept for pods that ask "
        "for nvidia.com/gpu, which this one does not).",
    ),
    Kind.UNTAINT: Case(
        [host("w1", taints=[DEDICATED])],
        {},
        "It would fit on w1 without the taint dedicated=gpu:NoSchedule on w1 (any pod may then run there).",
    ),
    Kind.PIN: Case(
        [host("w1"), host("w2"), blue("w2", **requests(cpu="4"))],
        requests(cpu="1"),
        "It would land on w2 with kubernetes.io/hostname=w2 in its nodeSelector (the pod is re-created; it can "
        "then run nowhere else).",
        "w2",
    ),
    Kind.PRIORITIZE: Case(
        [host("w1", allocatable=SMALL), blue("w1", **requests(cpu="1500m"), priority=10), URGENT],
        requests(cpu="1"),
        "With priorityClassName urgent (1000) it would preempt default/blue on w1 (the pod is re-created; it "
        "then comes before pods of lower priority, and may end them; lost: default/blue (nothing re-creates it)).",
    ),
}


def asked(case: Case) -> tuple[ScheduleResult, tuple[Suggestion, ...]]:
    result = explain(pod("web-0", **case.spec), *case.objects)
    return result, suggest(result, case.on)


@pytest.mark.parametrize("kind", CASES, ids=lambda kind: kind.name)
def test_each_kind_of_change_is_offered_where_it_helps(kind: Kind) -> None:
    _, found = asked(CASES[kind])
    assert CASES[kind].says in [suggestion.text for suggestion in found]


@pytest.mark.parametrize("kind", CASES, ids=lambda kind: kind.name)
def test_each_kind_of_change_says_what_it_gives_up(kind: Kind) -> None:
    _, found = asked(CASES[kind])
    (own,) = [each for each in found if each.text == CASES[kind].says]
    assert (own.caution is None) == (kind in GIVES_NOTHING_UP - {Kind.WAIT})
    assert own.caution is None or own.caution in own.text


@pytest.mark.parametrize(
    ("resource", "loss"),
    [
        ("cpu", "it is then promised less cpu, and is slower when its node is busy"),
        (
            "memory",
            "it is then promised less memory, and is evicted or killed sooner when its node runs short",
        ),
        (
            "ephemeral-storage",
            "it is then promised less ephemeral-storage, and is evicted sooner when its node runs short",
        ),
        ("nvidia.com/gpu", "it then has no more than 2 nvidia.com/gpu"),
    ],
)
def test_a_smaller_request_says_what_the_pod_is_promised_less(resource: str, loss: str) -> None:
    spec: dict[str, Any] = {
        "containers": [{"name": "main", "resources": {"requests": {resource: "3"}, "limits": {resource: "3"}}}]
    }
    found = suggest(explain(pod("web-0", **spec), host("w1", allocatable={"pods": "10", resource: "2"})))
    assert [each.caution for each in found if each.changes[0].kind is Kind.REQUEST_LESS] == [loss]


def test_bytes_that_must_be_free_are_said_in_whole_mebibytes() -> None:
    vital = owned("daemon", "DaemonSet", **requests(memory="1Gi"))
    small = host("w1", allocatable={**SMALL, "memory": str(2**31 - 1)})
    found = suggest(explain(pod("web-0", **requests(memory="1Gi")), small, vital))
    (freeing,) = [each for each in found if each.changes[0].frees]
    assert freeing.changes[0].frees == (("memory", 1),)
    assert freeing.text.startswith("It would fit on w1 once 1Mi more memory is free on w1 (")


def promised(result: ScheduleResult, on: str | None) -> Promise | None:
    """The result of a whole cycle, without anything that the search did."""
    preempted = result.post_filter
    if not result.fits:
        return Promise.PREEMPTS if preempted is not None and preempted.nominated_node else None
    name = on or result.best[0]
    if not result.verdict or not result.verdict[result.nodes.row_of[name]].is_success:
        return None
    if name not in result.best:
        return Promise.FITS
    return Promise.WINS if result.best == (name,) else Promise.TIES


GIVES_NOTHING_UP = frozenset({Kind.WAIT, Kind.CORRECT, Kind.UNNAME, Kind.HONOR_TAINTS, Kind.REPAIR})
"""The kinds that need no caution: what is mended was never meant. What is waited for may still have one."""


def hold(result: ScheduleResult, suggestions: tuple[Suggestion, ...], on: str | None) -> None:
    """All the laws."""
    base = Trial.of(with_cycle(result))
    for suggestion in suggestions:
        trial = base.changed(suggestion.changes)
        replayed = cycle(trial.pod, trial.nodes, trial.framework)
        assert suggestion.promise is promised(replayed, on)
        if suggestion.promise is not Promise.PREEMPTS:
            assert suggestion.nodes == replayed.best
            assert suggestion.feasible_count == len(replayed.feasible)
        for change in suggestion.changes:
            assert change.caution is not None or change.kind in GIVES_NOTHING_UP
        for size in range(1, len(suggestion.changes)):
            for some in combinations(suggestion.changes, size):
                fewer = base.changed(some)
                assert promised(cycle(fewer.pod, fewer.nodes, fewer.framework), on) is None
        is_left_to_others = suggestion.adds_nodes or suggestion.comes_by_itself
        assert bool(suggestion.commands or suggestion.manual) is not is_left_to_others
        if not suggestion.comes_by_itself:
            assert merge(plain(base.pod), patch_of(suggestion)) == plain(trial.pod)
        said_alone = "No change of one thing helps" in suggestion.text
        assert said_alone == (min(len(each.changes) for each in suggestions) > 1)
        for change in suggestion.changes:
            victims = {victim.key: victim for victim in change.evicts}
            for spared in victims if len(victims) > 1 and change.kind is not Kind.WAIT else ():
                fewer = base.changed(
                    [*(each for each in suggestion.changes if each is not change), without(spared, change)]
                )
                assert promised(cycle(fewer.pod, fewer.nodes, fewer.framework), on) is not suggestion.promise
    fitting = [suggestion for suggestion in suggestions if suggestion.promise is not Promise.PREEMPTS]
    kinds = [tuple(sorted(change.kind for change in suggestion.changes)) for suggestion in fitting]
    texts = [tuple(sorted(change.text for change in suggestion.changes)) for suggestion in fitting]
    assert len(set(texts)) == len(texts)
    assert len({len(each) for each in kinds if each not in {(Kind.ADD_NODE,), (Kind.WAIT,)}}) <= 1
    assert suggestions == as_ladder(suggestions)
    do_no_harm(result, suggestions)


def do_no_harm(result: ScheduleResult, suggestions: tuple[Suggestion, ...]) -> None:
    """No command ends a pod of another namespace, nor one that a budget protects; rungs stand in their order."""
    labels = [each.value for each in Rung]
    assert [each.rung for each in suggestions] == sorted((each.rung for each in suggestions), key=labels.index)
    running = {each.key: each for each in result.nodes.existing_pods.pods}
    for suggestion in suggestions:
        going = [running[key] for key in suggestion.ends]
        foreign = any(each.namespace != result.pod.namespace for each in going)
        forbidden = any(EvictionBudgets.of(result.nodes.objects).forbidding(going))
        assert not (suggestion.commands and (foreign or forbidden))
        assert not any("delete" in argv and f"pod/{pod.name}" in argv for pod in going for argv in argvs(suggestion))
        assert {each.pod for each in suggestion.lost} >= {
            each.key for each in going if each.metadata.controller is None
        }


def argvs(suggestion: Suggestion) -> list[tuple[str, ...]]:
    return [argv for command in suggestion.commands for argv in command.argvs]


def without(spared: str, change: Change) -> Change:
    """The change with one victim less."""
    return structs.replace(change, evicts=tuple(victim for victim in change.evicts if victim.key != spared))


def patch_of(suggestion: Suggestion) -> dict[str, Any]:
    return next((dict(each.patch) for each in suggestion.patches if each.kind == "Pod"), {})


@pytest.mark.parametrize("kind", CASES, ids=lambda kind: kind.name)
def test_the_laws_hold_for_each_kind(kind: Kind) -> None:
    result, found = asked(CASES[kind])
    hold(result, found, CASES[kind].on)


@settings(
    max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
@given(clusters(), incoming_pods(), st.booleans())
def test_the_laws_hold_in_any_cluster(cluster: tuple[list[Any], list[Pod]], incoming: Pod, about_one: bool) -> None:
    nodes, running = cluster
    result = explain(incoming, *nodes, *running)
    assume(result.error is None)
    on = "w0" if about_one else None
    hold(result, suggest(result, on), on)


WINNING = {
    "a heavier preference": Case(
        [host("w1", labels={"disk": "ssd"}), host("w2", labels={"zone": "a"})],
        {"affinity": {"nodeAffinity": {PREFERRED: [preferring(10, "disk", "ssd"), preferring(20, "zone", "a")]}}},
        "It would land on w1 with weight 21 instead of 10 for its preference of disk=ssd (the pod is "
        "re-created; free room, spreading and other scores then count less).",
    ),
    "no preferred neighbours": Case(
        [host("w1"), host("w2", labels={"rack": "r"}), blue("w2", **requests(cpu="4"))],
        {
            **requests(cpu="1"),
            "affinity": {"podAffinity": {PREFERRED: [{"weight": 5, "podAffinityTerm": NEAR_BLUE}]}},
        },
        "It would land on w1 without its preferred pod affinity over rack with weight 5 (the pod is "
        "re-created; it may then run far from the pods that it prefers to be near).",
    ),
    "no soft spreading": Case(
        [host("w1", labels={"zone": "a"}), host("w2", labels={"zone": "b"}, images=[]), blue("w1")],
        {**spread("zone", "ScheduleAnyway"), **requests(cpu="1")},
        "It might land on w1, tied with w2, without its soft spread constraint over zone (the pod is "
        "re-created; its pods may then be spread "
        "less evenly).",
    ),
    "a taint that repels": Case(
        [host("w1", taints=[REPELLING]), host("w2")],
        {},
        "It might land on w1, tied with w2, with a toleration for busy:PreferNoSchedule (only if the pod is "
        "meant to run there: the taint steers others away).",
    ),
    "a label that is preferred": Case(
        [host("w1"), host("w2", labels={"disk": "ssd"}), blue("w2", **requests(cpu="1"))],
        {"affinity": {"nodeAffinity": {PREFERRED: [preferring(10, "disk", "ssd")]}}, **requests(cpu="1")},
        "It would land on w1 after `kubectl label node w1 disk=ssd` (only if the label is true of the node: "
        "other pods go by it, too).",
    ),
}


@pytest.mark.parametrize("why", WINNING)
def test_a_node_that_lost_is_told_how_it_wins(why: str) -> None:
    case = WINNING[why]._replace(on="w1")
    result, found = asked(case)
    assert case.says in [suggestion.text for suggestion in found]
    hold(result, found, "w1")


@pytest.mark.parametrize(("own", "other"), [(10, 20), (1, 99), (90, 91), (3, 40)])
def test_no_smaller_change_of_a_preference_would_do(own: int, other: int) -> None:
    nodes = [host("w1", labels={"disk": "ssd"}), host("w2", labels={"zone": "a"})]

    def preferences(weight: int) -> Pod:
        terms = [preferring(weight, "disk", "ssd"), preferring(other, "zone", "a")]
        return pod("web-0", affinity={"nodeAffinity": {PREFERRED: terms}})

    change = suggest(explain(preferences(own), *nodes), "w1")[0].changes[0]
    winning = [weight for weight in range(own + 1, 101) if explain(preferences(weight), *nodes).best == ("w1",)]
    assert change.text == f"with weight {winning[0]} instead of {own} for its preference of disk=ssd"


def test_two_changes_are_offered_only_where_one_is_not_enough() -> None:
    cordoned = host("w1", unschedulable=True)
    both = explain(pod("web-0", nodeSelector={"disk": "ssd"}), cordoned)
    assert suggest(both)[0].text == (
        "No change of one thing helps; these two together do: it would fit on w1 after `kubectl uncordon w1` "
        "and after `kubectl label node w1 disk=ssd` (whoever cordoned it wanted no new pods there; only if "
        "the label is true of the node: other pods go by it, too)."
    )
    assert commands(suggest(both)[0]) == ("kubectl uncordon w1", "kubectl label node w1 disk=ssd")
    one_enough = explain(pod("web-0", nodeSelector={"disk": "ssd"}), cordoned, host("w2"))
    assert {len(suggestion.changes) for suggestion in suggest(one_enough)} == {1}


def test_one_label_serves_all_that_ask_for_its_key() -> None:
    asks = {**spread("zone"), "nodeSelector": {"zone": "a"}}
    result = explain(pod("web-0", **asks), host("w1"))
    assert commands(suggest(result)[0]) == ("kubectl label node w1 zone=a",)
    assert suggest(result)[0].caution is not None


@pytest.mark.parametrize("key", ["zone", "topology.kubernetes.io/zone"])
def test_where_no_node_has_the_topology_key_spreading_need_not_be_required(key: str) -> None:
    result = explain(pod("web-0", **spread(key)), host("w1"), host("w2"))
    softened = f"It would fit on 2 nodes with whenUnsatisfiable: ScheduleAnyway for {key} ("
    assert any(suggestion.text.startswith(softened) for suggestion in suggest(result))
    hold(result, suggest(result), None)


def test_a_key_gets_no_second_constraint_of_the_same_kind() -> None:
    both = [spread("zone", how)["topologySpreadConstraints"][0] for how in ("DoNotSchedule", "ScheduleAnyway")]
    result = explain(pod("web-0", topologySpreadConstraints=both, metadata={"labels": {"app": "blue"}}), host("w1"))
    (softened,) = [each for each in suggest(result) if each.changes[0].kind is Kind.SPREAD_SOFTLY]
    left = Trial.of(with_cycle(result)).changed(softened.changes).pod.spec.topology_spread_constraints
    assert [each.when_unsatisfiable for each in left] == ["ScheduleAnyway"]


AWAY_FROM_BLUE: dict[str, Any] = {
    "affinity": {"podAntiAffinity": {REQUIRED: [{**NEAR_BLUE, "topologyKey": "kubernetes.io/hostname"}]}}
}


def evicted(command: str) -> str:
    """Return the name of the pod that a command evicts."""
    found = re.search(r"create --raw /api/v1/namespaces/[^/]+/pods/([^/]+)/eviction", command)
    assert found is not None
    return found[1]


def test_all_who_must_go_go_together() -> None:
    large = pod("large", on="w1", **requests(cpu="1500m"))
    crowded = explain(
        pod("web-0", **requests(cpu="1"), **AWAY_FROM_BLUE), host("w1", allocatable=SMALL), blue("w1"), large
    )
    ending = suggest(crowded)[-1]
    assert (ending.rung, ending.ends) == ("ends", ("default/large", "default/blue"))
    assert [evicted(command) for command in commands(ending)] == ["large", "blue"]
    hold(crowded, suggest(crowded), None)


def test_nobody_is_ended_who_need_not_be() -> None:
    both = explain(
        pod("web-0", **requests(cpu="1"), **AWAY_FROM_BLUE),
        host("w1", allocatable=SMALL),
        pod("blue", on="w1", metadata={"labels": {"app": "blue"}}, **requests(cpu="1")),
        pod("another", on="w1", **requests(cpu="1")),
    )
    assert ("default/blue",) in [each.ends for each in suggest(both)]
    hold(both, suggest(both), None)


def test_preemption_by_one_change_goes_before_two_that_make_room_at_once() -> None:
    vital = pod("vital", on="w1", priority=10, **requests(cpu="1500m"))
    crowded = explain(
        pod("web-0", **requests(cpu="1"), **AWAY_FROM_BLUE),
        host("w1", allocatable=SMALL),
        blue("w1", priority=10),
        vital,
        URGENT,
    )
    found = suggest(crowded)
    together = [suggestion for suggestion in found if len(suggestion.changes) == 2]
    assert {suggestion.rung for suggestion in found} >= {"pay", "ask"}
    # Each may stand alone, as where a change of one thing is left out.
    assert all(each.text.startswith("These two together help: it would fit on w1 ") for each in together)


def test_a_node_that_lacks_much_is_told_all_it_takes() -> None:
    many = host("w1", unschedulable=True, taints=[DEDICATED, {**DEDICATED, "key": "team"}], allocatable=SMALL)
    result = explain(pod("web-0", nodeSelector={"disk": "ssd"}, **requests(cpu="3")), many, host("w2"))
    found = suggest(result, "w1")
    assert {len(suggestion.changes) for suggestion in found} == {5}
    hold(result, found, "w1")


def named(name: str) -> dict[str, Any]:
    return {"key": "metadata.name", "operator": "In", "values": [name]}


def test_a_pod_rejected_as_a_whole_is_told_what_lets_it_past() -> None:
    two_names = requiring(matchFields=[named("w1"), named("w2")])
    assert suggest(explain(pod("web-0", **two_names), host("w1"), host("w2")))[0].text == (
        "It would fit on 2 nodes with its required node affinity as a preference (the pod is re-created; it "
        "may then run on nodes that it excludes now)."
    )
    found = suggest(explain(pod("web-0", **two_names), host("w1", unschedulable=True)))
    assert [change.kind for change in found[0].changes] == [Kind.REQUIRE_SOFTLY, Kind.UNCORDON]


def test_a_node_whose_name_is_nearly_right_is_named() -> None:
    asks = requiring(matchFields=[named("worker-one")])
    result = explain(pod("web-0", **asks), host("worker-ones"), host("other"))
    assert suggest(result)[0].text == (
        "It would fit on worker-ones if its required node affinity named the node worker-ones instead of "
        "worker-one (the pod is re-created)."
    )


def test_gates_are_taken_off_before_all_else() -> None:
    gated = pod("web-0", schedulingGates=[{"name": "example.com/a"}], nodeSelector={"disk": "ssd"})
    found = suggest(explain(gated, host("w1")))
    assert {tuple(change.kind for change in each.changes) for each in found} == {
        (Kind.UNGATE, Kind.SELECT_LESS),
        (Kind.UNGATE, Kind.LABEL),
    }
    hold(explain(gated, host("w1")), found, None)


@pytest.mark.parametrize(
    ("objects", "spec", "on"),
    [
        ([host("w1", labels={"kubernetes.io/arch": "arm64"})], {"nodeSelector": {"kubernetes.io/arch": "amd64"}}, None),
        ([host("w1")], {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "none"}}]}, None),
        ([host("w1")], {}, "w1"),
        ([host("w1")], {}, None),
        ([host("w1")], {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}, "w1"),
        ([], {}, None),
        ([host("w1")], {"schedulerName": "nobody"}, "w1"),
    ],
)
def test_nothing_is_suggested_where_nothing_is_honest_or_needed(
    objects: list[KubernetesObject], spec: dict[str, Any], on: str | None
) -> None:
    assert asked(Case(objects, spec, "", on))[1] == ()


def owned(name: str, kind: str, **spec: Any) -> Pod:
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": "owner", "uid": "u", "controller": True}
    return pod(name, on="w1", metadata={"ownerReferences": [owner]}, **spec)


def test_who_would_come_back_or_matters_more_is_never_evicted() -> None:
    mirror = {"annotations": {"kubernetes.io/config.mirror": "hash"}}
    staying = [
        owned("daemon", "DaemonSet", **requests(cpu="1")),
        owned("static", "Node", **requests(cpu="1")),
        pod("mirror", on="w1", metadata=mirror, **requests(cpu="1")),
        pod("vital", on="w1", priority=5, **requests(cpu="1")),
        pod("leaving", on="w1", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}, **requests(cpu="1")),
    ]
    roomy = host("w1", allocatable={**SMALL, "cpu": "5"})
    result = explain(pod("web-0", priority=4, **requests(cpu="2")), roomy, *staying)
    assert not any(change.evicts for suggestion in suggest(result) for change in suggestion.changes)


def test_how_much_must_be_free_is_said_where_nobody_may_be_named() -> None:
    vital = owned("daemon", "DaemonSet", **requests(cpu="1", memory="3Gi"))
    full = host("w1", allocatable={**SMALL, "pods": "1"})
    (found,) = suggest(explain(pod("web-0", **requests(cpu="2", memory="2Gi")), full, vital))
    assert found.changes[0].frees == (("pods", 1), ("cpu", 1000), ("memory", 2**30))
    assert found.text.startswith(
        "It would fit on w1 once 1 pod is gone and 1 more cpu is free and 1Gi more memory is free"
    )
    assert commands(found) == ("kubectl describe node w1",)
    assert found.patches == ()
    too_large = explain(pod("web-0", **requests(cpu="3")), full, vital)
    assert not any(change.frees for suggestion in suggest(too_large) for change in suggestion.changes)


def test_the_fewest_and_least_important_go() -> None:
    amounts = {"a": ("1", 0), "b": ("1", 0), "c": ("2", 3), "d": ("2", 1)}
    running = [pod(name, on="w1", priority=rank, **requests(cpu=cpu)) for name, (cpu, rank) in amounts.items()]
    roomy = host("w1", allocatable={**SMALL, "cpu": "6"})
    result = explain(pod("web-0", priority=4, **requests(cpu="2")), roomy, *running)
    evictions = [change.evicts for suggestion in suggest(result) for change in suggestion.changes if change.evicts]
    assert [[victim.metadata.name for victim in victims] for victims in evictions] == [["d"]]


def test_a_budget_that_forbids_an_eviction_is_named_in_place_of_a_command() -> None:
    budget = {"metadata": {"name": "keep", "namespace": "default"}, "spec": {"selector": BLUE}}
    case = CASES[Kind.EVICT]
    _, found = asked(case._replace(objects=[*case.objects, msgspec.convert(budget, PodDisruptionBudget)]))
    (ending,) = [suggestion for suggestion in found if suggestion.changes[0].kind is Kind.EVICT]
    assert (ending.commands, ending.rung) == ((), "ends")
    assert [each.instruction for each in ending.manual] == ["PodDisruptionBudget default/keep forbids it now"]


def test_no_other_pod_ends_for_one_that_runs() -> None:
    running = pod("web-0", on="w1", **requests(cpu="1"))
    result = explain(running, host("w1"), host("w2"), blue("w2", **requests(cpu="2")))
    assert all(not suggestion.ends for suggestion in suggest(result, "w2"))


def test_a_pod_that_runs_is_said_to_stay() -> None:
    result = explain(pod("web-0", on="w1", **requests(cpu="1")), host("w1"), host("w2", taints=[REPELLING]))
    texts = {suggestion.changes[0].kind: suggestion.text for suggestion in suggest(result, "w2")}
    assert texts[Kind.UNTAINT].endswith("; it stays on w1 until it is re-created).")
    assert "until it is re-created" not in texts[Kind.PIN]


@pytest.mark.parametrize("version", [str(version) for version in RELEASES])
def test_the_piece_of_a_configuration_gives_the_weight(version: str) -> None:
    import yaml

    case = CASES[Kind.WEIGH]
    result = explain(pod("web-0", **case.spec), *case.objects, version=version)
    weighed = [suggestion for suggestion in suggest(result, "w1") if suggestion.changes[0].weight]
    for suggestion in weighed:
        name, weight = suggestion.changes[0].weight or ("", 0)
        document = yaml.safe_load(suggestion.manual[0].document)
        profile = load_configuration(document, KubeVersion.parse(version), {}).profiles["default-scheduler"]
        before = {ref.name: ref.weight for ref in with_cycle(result).framework.profile.plugins["score"]}
        assert {ref.name: ref.weight for ref in profile.plugins["score"]} == {**before, name: weight}


def kubectl(*arguments: str, given: dict[str, Any]) -> dict[str, Any]:
    command = ("kubectl", *arguments, "--local", "-f", "-", "-o", "json")
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    changed: dict[str, Any] = json.loads(done.stdout)
    return changed


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="needs kubectl")
@pytest.mark.parametrize("kind", CASES, ids=lambda kind: kind.name)
def test_kubectl_does_to_the_objects_what_was_replayed(kind: Kind) -> None:
    result, found = asked(CASES[kind])
    base = Trial.of(with_cycle(result))
    for suggestion in found:
        after = base.changed(suggestion.changes)
        for command in commands(suggestion):
            words = shlex.split(command)
            if words[:3] == ["kubectl", "label", "node"]:
                name, label = words[3:5]
                stored = {"apiVersion": "v1", **plain(base.nodes.node_objects[base.nodes.row_of[name]])}
                labels = kubectl("label", label, given=stored)["metadata"]["labels"]
                assert labels == after.nodes.node_objects[after.nodes.row_of[name]].metadata.labels
            for patch in (word for word in words if word.startswith('{"spec"')):
                stored = {"apiVersion": "v1", **plain(base.pod)}
                changed = kubectl("patch", "-p", patch, given=stored)
                assert msgspec.convert(changed, type(base.pod)).spec == after.pod.spec


def test_a_template_gets_no_selector_of_one_of_its_revisions() -> None:
    merged = {"key": "pod-template-hash", "operator": "In", "values": ["5d9c"]}
    term = {
        "labelSelector": {**BLUE, "matchExpressions": [merged, {"key": "tier", "operator": "Exists"}]},
        "topologyKey": "rack",
        "matchLabelKeys": ["pod-template-hash"],
    }
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-5d9c", "uid": "u", "controller": True}
    labels = {"app": "blue", "pod-template-hash": "5d9c", "tier": "x"}
    asks = pod(
        "web-0",
        metadata={"ownerReferences": [owner], "labels": labels},
        affinity={"podAntiAffinity": {REQUIRED: [term]}},
    )
    present = pod("other", on="w1", metadata={"labels": labels})
    found = suggest(explain(asks, host("w1", labels={"rack": "r"}), present))
    (command,) = [
        each for suggestion in found for each in commands(suggestion) if "kubectl patch deployment/web" in each
    ]
    template = json.loads(shlex.split(command)[-1])["spec"]["template"]["spec"]
    (preferred,) = template["affinity"]["podAntiAffinity"][PREFERRED]
    assert preferred["podAffinityTerm"] == {
        **term,
        "labelSelector": {**BLUE, "matchExpressions": [{"key": "tier", "operator": "Exists"}]},
    }


IMAGES = {"image": "i"}
BOUNDED = msgspec.convert(
    {
        "metadata": {"name": "least", "namespace": "default"},
        "spec": {"limits": [{"type": "Container", "min": {"cpu": "3"}}]},
    },
    LimitRange,
)


@pytest.mark.parametrize(
    ("spec", "others", "refused"),
    [
        ({"containers": [{"name": "main", **IMAGES, "resources": {"requests": {"cpu": "3"}}}]}, [], False),
        ({"containers": [{"name": "main", **IMAGES, "resources": {"requests": {"cpu": "3"}}}]}, [BOUNDED], True),
        (
            {
                "resources": {"requests": {"cpu": "3"}},
                "containers": [{"name": "main", **IMAGES, "resources": {"requests": {"cpu": "2500m"}}}],
            },
            [],
            True,
        ),
    ],
)
def test_a_pod_that_the_api_server_would_refuse_is_not_suggested(
    spec: dict[str, Any], others: list[KubernetesObject], refused: bool
) -> None:
    found = suggest(explain(pod("web-0", **spec), host("w1", allocatable=SMALL), *others))
    assert any(each.changes[0].kind is Kind.REQUEST_LESS for each in found) is not refused


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
@pytest.mark.parametrize("on", [None, "w1"])
def test_nothing_is_suggested_for_a_pod_that_has_ended(phase: str, on: str | None) -> None:
    ended = pod("web-0", on="w2", status={"phase": phase}, **requests(cpu="5"))
    assert suggest(explain(ended, host("w1", allocatable=SMALL), host("w2", allocatable=SMALL)), on) == ()


@pytest.mark.parametrize(("version", "is_patched"), [("apps/v1", True), ("apps.kruise.io/v1beta1", False)])
def test_an_owner_of_a_kind_that_only_has_the_name_of_one_of_kubernetes_is_changed_by_hand(
    version: str, is_patched: bool
) -> None:
    owner = {"apiVersion": version, "kind": "StatefulSet", "name": "web", "uid": "u", "controller": True}
    asks = pod("web-0", metadata={"ownerReferences": [owner]}, **requests(cpu="3"))
    suggestion, _ = suggest(explain(asks, host("w1", allocatable=SMALL)))
    assert bool(suggestion.commands) == is_patched
    assert [each.instruction for each in suggestion.manual] == (
        [] if is_patched else ["change the template of StatefulSet web by this patch"]
    )


def test_a_spread_constraint_that_is_a_preference_asks_for_no_domains() -> None:
    asks = spread("zone")
    asks["topologySpreadConstraints"][0]["minDomains"] = 3
    found = suggest(explain(pod("web-0", **asks), host("w1", labels={"zone": "a"}), blue("w1")))
    (soft,) = [each for each in found if each.changes[0].kind is Kind.SPREAD_SOFTLY]
    (constraint,) = patch_of(soft)["spec"]["topologySpreadConstraints"]
    assert constraint["minDomains"] is None


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="needs kubectl")
@pytest.mark.parametrize("on", ["", "w1"])
def test_a_changed_copy_of_a_pod_is_left_to_the_scheduler(on: str) -> None:
    nodes = [host("w1"), host("w2"), blue("w2", **requests(cpu="4"))]
    replaced = [
        (suggestion, command)
        for suggestion in suggest(explain(pod("web-0", on=on, **requests(cpu="1")), *nodes), "w2" if on else "w1")
        for command in commands(suggestion)
        if "kubectl replace" in command
    ]
    stored = {"apiVersion": "v1", "kind": "Pod", **plain(pod("web-0", on=on, **requests(cpu="1")))}
    for suggestion, command in replaced:
        patch = shlex.split(command)[shlex.split(command).index("-p") + 1]
        copy = msgspec.convert(kubectl("patch", "-p", patch, given=stored), type(nodes[2]))
        assert explain(copy, *nodes).best == suggestion.nodes
        assert not copy.spec.node_name
    assert bool(replaced) == bool(on)


@pytest.mark.parametrize("on", ["", "w1"])
def test_a_changed_copy_of_a_pod_is_one_that_the_api_server_stores_as_it_was(on: str) -> None:
    term = {"labelSelector": BLUE, "topologyKey": "rack", "matchLabelKeys": ["tier"], "mismatchLabelKeys": ["tenant"]}
    spreading = {**spread("zone", "ScheduleAnyway")["topologySpreadConstraints"][0], "matchLabelKeys": ["tier"]}
    labels = {"app": "blue", "tier": "x", "tenant": "a"}
    spec = {"affinity": {"podAntiAffinity": {REQUIRED: [term]}}, "topologySpreadConstraints": [spreading]}
    debugged = {"ephemeralContainers": [{"name": "debugger", **IMAGES}]}
    full = {"containers": [{"name": "main", **IMAGES, "resources": {"requests": {"cpu": "3"}}}]}
    features = Features.for_version(KubeVersion.parse("1.36"), {})
    server = Admission(objects=snapshot().objects, enabled=features.enabled)
    stored = server.admitted(pod("web-0", metadata={"labels": labels}, on=on, **spec, **full))
    debugged_pod = structs.replace(stored, spec=msgspec.convert({**plain(stored)["spec"], **debugged}, PodSpec))

    nodes = (host("w1", allocatable=SMALL), host("w2"), host("w3"), blue("w2", **requests(cpu="5")))
    result = explain(debugged_pod, *nodes[:1], *(nodes[1:] if on else ()))
    found = suggest(result, "w2" if on else None)
    replaced = [command for each in found for command in commands(each) if "kubectl replace" in command]
    assert replaced
    for command in replaced:
        words = shlex.split(command)
        patch = json.loads(words[words.index("-p") + 1])
        copy = msgspec.convert(merge(plain(debugged_pod), patch), type(stored))
        assert not copy.spec.ephemeral_containers
        again = server.admitted(copy)
        assert again.spec.affinity is not None
        assert stored.spec.affinity is not None
        assert again.spec.affinity.pod_anti_affinity == stored.spec.affinity.pod_anti_affinity


def test_each_command_of_a_node_is_one_that_kubectl_has() -> None:
    of_nodes = re.compile(r"kubectl (uncordon w1|label node w1 \S+=\S+|taint node w1 \S+:\w+-)")
    for kind in (Kind.UNCORDON, Kind.UNTAINT):
        _, found = asked(CASES[kind])
        own = [suggestion for suggestion in found if suggestion.changes[0].kind is kind]
        assert own
        assert all(of_nodes.fullmatch(command) for suggestion in own for command in commands(suggestion))


def test_the_taint_of_a_cordon_that_is_gone_is_taken_off_as_any_other() -> None:
    cordon = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    left = explain(pod("web-0"), host("w1", taints=[cordon]))
    assert commands(suggest(left)[0]) == ("kubectl taint node w1 node.kubernetes.io/unschedulable:NoSchedule-",)
    cordoned = explain(pod("web-0"), host("w1", taints=[cordon], unschedulable=True))
    assert commands(suggest(cordoned)[0]) == ("kubectl uncordon w1",)
