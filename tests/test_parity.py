"""Likely mistakes of a re-implementation of kube-scheduler, each as a cluster of a few lines through the whole cycle.

Texts are those of kube-scheduler 1.36 unless a test names another minor. Some facts are stated by other tests alone:

| fact | test |
|---|---|
| the default plugins, their order and weights | config/test_recorded_defaults.py |
| 1.37 runs NodeName before NodeUnschedulable | config/test_recorded_defaults.py |
| counts sort as text, the event ends at 1024 bytes, the message does not | scheduler/test_schedule_one.py |
| balanced allocation: half of the difference | plugins/test_balanced_allocation.py |
| what a resized pod counts | api/test_pod_requests.py |
| RequestedToCapacityRatio's weights and rounding | plugins/test_resource_strategies.py |
| a node without a DoNotSchedule key; system defaults; matchLabelKeys | plugins/test_pod_topology_spread.py |
| Gt and Lt tolerations compare canonical decimals | api/test_taints.py |
| a rejected node may set static bindings; a CSIStorageCapacity without capacity | plugins/test_volume_binding.py |
| VolumeBinding scores from 1.37 on | plugins/test_volume_binding.py |
| allocationMode All on an incomplete pool | plugins/test_dynamic_resources.py |
| how many feasible nodes are looked for, and from where | scheduler/test_sampling.py |
| which of equal victims is spared | framework/test_go_sort.py |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from kubectl_sched.api.core import Namespace
from kubectl_sched.queries.explanation import Explanation
from kubectl_sched.render.answers.explanation_data import explanation_data
from kubectl_sched.scheduler.result import Outcome
from tests.plugins.clusters import node, pod, requests
from tests.plugins.devices.test_dynamic_resources import claim as device_claim
from tests.plugins.devices.test_dynamic_resources import claimer, device, device_class, published
from tests.plugins.storage_objects import claim, csi_node, storage_class, using, volume
from tests.scheduler.cycles import explain, explained, only, profile

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import ScheduleResult

TAINT = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}
HOSTNAME = "kubernetes.io/hostname"
NOT_HELPFUL = "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."


def small(name: str = "w1", *, cpu: str = "4", pods: str = "110", **fields: Any) -> Any:
    return node(name, allocatable={"cpu": cpu, "memory": "8Gi", "pods": pods}, **fields)


def codes(result: ScheduleResult) -> list[str]:
    """The code of each node, in the order of the nodes."""
    assert result.verdict is not None
    return [status.code.value for status in result.verdict]


def raw(result: ScheduleResult, plugin: str) -> list[int]:
    """The raw scores of one plugin, in the order of the feasible nodes."""
    return next(each.raw.tolist() for each in result.scores if each.plugin == plugin)


def skipped(result: ScheduleResult, point: str) -> list[str]:
    names: list[str] = explanation_data(Explanation(result=result), "")["skipped"][point]
    return names


def near_or_away(kind: str, term: dict[str, Any]) -> dict[str, Any]:
    """Required podAffinity or podAntiAffinity."""
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


def matching(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def required(*terms: dict[str, Any]) -> dict[str, Any]:
    selector = {"nodeSelectorTerms": list(terms)}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": selector}}}


def preferring(term: dict[str, Any]) -> dict[str, Any]:
    preferred = [{"weight": 1, "preference": term}]
    return {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}}


def victim(name: str, on: str = "w1", *, cpu: str = "4", **fields: Any) -> Pod:
    return pod(name, on=on, priority=0, status={"phase": "Running", **fields}, **requests(cpu=cpu))


# Messages


def test_dynamic_resources_speaks_before_preemption_does() -> None:
    result = explain(pod(), node(taints=[TAINT]))
    said = "0/1 nodes are available: 1 node(s) had untolerated taint(s)."
    assert result.event == f"{said} no new claims to deallocate, {NOT_HELPFUL}"


def test_a_preemption_that_succeeds_adds_nothing() -> None:
    result = explain(pod(priority=9, **requests(cpu="4")), small(), victim("low"))
    assert result.event == "0/1 nodes are available: 1 Insufficient cpu."
    assert result.post_filter is not None
    assert result.post_filter.nominated_node == "w1"


def test_a_pod_with_claims_is_still_not_schedulable() -> None:
    result = explain(claimer("gpus"), node(), device_class(), device_claim())
    assert result.event == (
        "0/1 nodes are available: 1 cannot allocate all claims. still not schedulable, preemption: 0/1 nodes are "
        "available: 1 Preemption is not helpful for scheduling."
    )


def test_what_ends_the_cycle_before_dynamic_resources_ends_in_not_found() -> None:
    immediate = storage_class(volumeBindingMode="Immediate")
    result = explain(pod(**using("data")), node(), claim("data"), immediate)
    assert result.event == "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found"


def test_a_node_outside_what_pre_filter_leaves_says_so() -> None:
    on_w1 = required({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["w1"]}]})
    result = explain(pod(**on_w1, **requests(cpu="99")), node("w1"), node("w2"))
    assert result.message == (
        "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) [NodeAffinity]."
    )


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("1.33", "node(s) had untolerated taint {dedicated: gpu}"),
        ("1.34", "node(s) had untolerated taint(s)"),
        ("1.37", "node(s) had untolerated taint(s)"),
    ],
)
def test_the_taint_was_named_up_to_1_33(version: str, reason: str) -> None:
    result = explain(pod(), node(taints=[TAINT]), version=version)
    assert result.message == f"0/1 nodes are available: 1 {reason}."


# Resources


def test_a_request_above_allocatable_makes_other_reasons_unresolvable_too() -> None:
    full = small(pods="1")
    result = explain(pod(priority=9, **requests(cpu="5")), full, victim("low", cpu="1"))
    assert codes(result) == ["UnschedulableAndUnresolvable"]
    assert result.event == (
        "0/1 nodes are available: 1 Insufficient cpu, 1 Too many pods. no new claims to deallocate, " + NOT_HELPFUL
    )


def test_best_effort_pods_skip_balanced_allocation() -> None:
    assert "NodeResourcesBalancedAllocation" in skipped(explain(pod(), node(), node("w2")), "score")
    asking = explain(pod(**requests(cpu="1")), node(), node("w2"))
    assert "NodeResourcesBalancedAllocation" not in skipped(asking, "score")


def test_only_missing_requests_are_assumed() -> None:
    """A tenth of the CPU and a tenth of the memory are assumed, unless the container says 0."""
    tiny = [node(name, allocatable={"cpu": "1", "memory": "2000Mi", "pods": "9"}) for name in ("w1", "w2")]
    assert raw(explain(pod(containers=[{"name": "c"}]), *tiny), "NodeResourcesFit") == [90, 90]
    assert raw(explain(pod(**requests(cpu="0", memory="0")), *tiny), "NodeResourcesFit") == [100, 100]
    starting = {"initContainers": [{"name": "i"}], **requests(cpu="0", memory="0")}
    assert raw(explain(pod(**starting), *tiny), "NodeResourcesFit") == [90, 90]


@pytest.mark.parametrize(("cpu", "fits"), [("2m", True), ("1m", False)])
def test_a_pods_sum_is_rounded_up_once(cpu: str, fits: bool) -> None:
    containers = [{"name": name, "resources": {"requests": {"cpu": "0.0004"}}} for name in "abc"]
    assert explain(pod(containers=containers), small(cpu=cpu)).fits is fits


@pytest.mark.parametrize(("status", "fits"), [({}, True), ({"resources": {"requests": {"cpu": "3"}}}, False)])
def test_a_bound_pod_counts_what_it_still_has(status: dict[str, Any], fits: bool) -> None:
    """Allocated resources count only if the status of the container has resources at all."""
    container = {"name": "main", "allocatedResources": {"cpu": "3"}, **status}
    shrinking = pod("old", on="w1", status={"containerStatuses": [container]}, **requests(cpu="1"))
    assert explain(pod(**requests(cpu="2")), small(), shrinking).fits is fits


# Affinity, spread, taints


@pytest.mark.parametrize("operator", ["DoesNotExist", "NotIn"])
def test_until_1_36_6_a_namespace_selector_that_matches_no_labels_means_every_namespace(operator: str) -> None:
    selector = {"key": "team", "operator": operator, "values": ["x"] if operator == "NotIn" else []}
    term = {
        "topologyKey": HOSTNAME,
        "labelSelector": {"matchLabels": {"app": "db"}},
        "namespaceSelector": {"matchExpressions": [selector]},
    }
    away = near_or_away("podAntiAffinity", term)
    there = pod("db-0", on="w1", metadata={"namespace": "theirs", "labels": {"app": "db"}})
    namespaces = [_namespace("default"), _namespace("theirs", team="x")]
    result = explain(pod(**away), node(labels={HOSTNAME: "w1"}), there, *namespaces, version="1.36.5")
    assert result.message == "0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules."


def _namespace(name: str, **labels: str) -> Namespace:
    return msgspec.convert({"metadata": {"name": name, "labels": labels}}, Namespace)


@pytest.mark.parametrize(
    ("kind", "app", "code"),
    [
        ("podAffinity", "web", "UnschedulableAndUnresolvable"),
        ("podAntiAffinity", "db", "Unschedulable"),
    ],
)
def test_only_unmet_affinity_is_unresolvable(kind: str, app: str, code: str) -> None:
    term = {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": {"app": app}}}
    there = pod("db-0", on="w1", metadata={"labels": {"app": "db"}})
    result = explain(pod(**near_or_away(kind, term)), node(labels={HOSTNAME: "w1"}), there)
    assert codes(result) == [code]


def test_anti_affinity_of_an_existing_pod_is_not_unresolvable() -> None:
    term = {"topologyKey": HOSTNAME, "labelSelector": {}}
    there = pod("db-0", on="w1", **near_or_away("podAntiAffinity", term))
    result = explain(pod(), node(labels={HOSTNAME: "w1"}), there)
    assert codes(result) == ["Unschedulable"]


def test_a_required_term_that_cannot_be_parsed_matches_nothing() -> None:
    wrong = matching("zone", "Gt", "x")
    assert not explain(pod(**required(wrong)), node(labels={"zone": "9"})).fits
    assert explain(pod(**required(wrong, matching("zone", "Exists"))), node(labels={"zone": "9"})).fits


def test_a_preferred_term_that_cannot_be_parsed_fails_the_cycle_from_two_feasible_nodes_on() -> None:
    incoming = pod(**preferring(matching("zone", "Gt", "x")))
    assert explain(incoming, node("w1")).outcome is Outcome.SCHEDULABLE
    result = explain(incoming, node("w1"), node("w2"))
    assert result.outcome is Outcome.ERROR
    assert 'running PreScore plugin "NodeAffinity": ' in str(result.error)


def test_a_negative_number_is_no_value_to_compare_with() -> None:
    assert not explain(pod(**required(matching("zone", "Gt", "-10"))), node(labels={"zone": "9"})).fits


def test_empty_terms_match_nothing_and_are_not_preferred() -> None:
    assert not explain(pod(**required({})), node()).fits
    assert raw(explain(pod(**preferring({})), node("w1"), node("w2")), "NodeAffinity") == [0, 0]


def test_terms_of_two_names_at_once_are_a_conflict() -> None:
    named = [{"key": "metadata.name", "operator": "In", "values": [name]} for name in ("w1", "w2")]
    result = explain(pod(**required({"matchFields": named})), node("w1"), node("w2"))
    assert str(result.message).startswith("0/2 nodes are available: pod affinity terms conflict.")


@pytest.mark.parametrize(("selector", "fits"), [({}, True), (None, True), ({"matchLabels": {"app": "db"}}, False)])
def test_an_empty_selector_counts_no_existing_pod(selector: Any, fits: bool) -> None:
    """The minimum is 0, since two zones are wanted and there is one: with one more pod counted the skew would be 2."""
    constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "minDomains": 2}
    there = pod("db-0", on="w1", metadata={"labels": {"app": "db"}})
    incoming = pod(
        metadata={"labels": {"app": "db"}}, topologySpreadConstraints=[constraint | {"labelSelector": selector}]
    )
    assert explain(incoming, node(labels={"zone": "a"}), there).fits is fits


@pytest.mark.parametrize(
    ("gate", "value", "fits"),
    [(False, "5", False), (True, "5", True), (True, "007", False)],
)
def test_tolerations_compare_numbers_only_with_their_gate(gate: bool, value: str, fits: bool) -> None:
    toleration = {"key": "load", "operator": "Gt", "value": value, "effect": "NoSchedule"}
    loaded = node(taints=[{"key": "load", "value": "9", "effect": "NoSchedule"}])
    result = explain(pod(tolerations=[toleration]), loaded, TaintTolerationComparisonOperators=gate)
    assert result.fits is fits


# Volumes, images, devices


def test_an_existing_pod_with_a_claim_it_does_not_own_fails_the_cycle() -> None:
    user = pod("old", on="w1", volumes=[{"name": "v", "ephemeral": {}}])
    disk = volume("pv", csi={"driver": "disk.csi.example", "volumeHandle": "h"})
    objects = [disk, claim("data", to="pv"), claim("old-v"), storage_class(), csi_node("w1", disk=9)]
    result = explain(pod(**using("data")), node(), user, *objects)
    assert result.outcome is Outcome.ERROR
    assert "PVC default/old-v was not created for pod default/old (pod is not owner)" in str(result.error)


def test_a_class_without_a_binding_mode_fails_the_cycle() -> None:
    result = explain(pod(**using("data")), node(), claim("data"), storage_class(volumeBindingMode=None))
    assert result.outcome is Outcome.ERROR
    assert 'VolumeBindingMode not set for StorageClass "slow"' in str(result.error)


@pytest.mark.parametrize(("listed", "known"), [("nginx:1.10", True), ("docker.io/library/nginx:1.10", False)])
def test_an_image_is_known_only_by_the_name_that_the_node_lists(listed: str, known: bool) -> None:
    images = [{"names": [listed], "sizeBytes": 180 << 20}]
    incoming = pod(containers=[{"name": "c", "image": "nginx:1.10"}])
    first, second = raw(explain(incoming, node("w1", images=images), node("w2")), "ImageLocality")
    assert (first > 0, second) == (known, 0)


def test_the_first_node_that_lists_an_image_says_its_size() -> None:
    sizes = {"w1": 900 << 20, "w2": 100 << 20}
    nodes = [node(name, images=[{"names": ["app:1"], "sizeBytes": size}]) for name, size in sizes.items()]
    incoming = pod(containers=[{"name": "c", "image": "app:1"}])
    first, second = raw(explain(incoming, *nodes), "ImageLocality")
    assert first == second > 0


def test_an_attribute_that_is_missing_fails_the_cycle() -> None:
    wanted = device_claim(selectors=[{"cel": {"expression": 'device.attributes["x.example"].model == "a"'}}])
    result = explain(claimer("gpus"), node(), device_class(), wanted, published(device("d0")))
    assert result.outcome is Outcome.ERROR
    assert "CEL runtime error: no such key: model" in str(result.error)


def test_a_claim_that_does_not_exist_holds_the_pod_back_before_the_queue() -> None:
    result = explain(claimer("gpus"), node())
    assert result.outcome is Outcome.GATED
    assert result.pre_enqueue.plugin == "DynamicResources"


# The cycle


def test_the_nominated_node_wins_at_once() -> None:
    result = explain(
        pod(status={"nominatedNodeName": "w1"}, **requests(cpu="1")),
        node("w1"),
        node("w2"),
        pod("busy", on="w1", **requests(cpu="6")),
    )
    assert (result.nominated_first, result.best) == ("w1", ("w2",))


def test_the_warning_names_the_nominated_node_where_several_are_feasible() -> None:
    waiting = pod(status={"nominatedNodeName": "w1"}, **requests(cpu="1"))
    warnings = explained(waiting, node("w1"), node("w2")).warnings
    assert [each for each in warnings if "asks the nominated node w1 first" in each]
    failing = explained(
        waiting, node("w1"), node("w2"), config=profile(preScore={"disabled": [{"name": "TaintToleration"}]})
    ).warnings
    assert [each for each in failing if "kube-scheduler does not score when the nominated node w1 passes" in each]


@pytest.mark.parametrize(("priority", "fits"), [(4, False), (5, False), (6, True)])
def test_nominated_pods_of_equal_or_higher_priority_count(priority: int, fits: bool) -> None:
    promised = pod("promised", status={"nominatedNodeName": "w1"}, priority=5, **requests(cpu="3"))
    assert explain(pod(priority=priority, **requests(cpu="3")), small(), promised).fits is fits


def test_without_score_plugins_every_node_is_worth_one() -> None:
    result = explained(pod(), node("w1"), node("w2"), config=profile(score=only()))
    assert result.result.totals.tolist() == [1, 1]
    assert any("stops at the first feasible node" in warning for warning in result.warnings)


def test_equal_nodes_are_tied() -> None:
    assert explain(pod(), node("w1"), node("w2")).best == ("w1", "w2")


def test_one_feasible_node_is_not_scored() -> None:
    warnings = explained(pod(), node("w1"), node("w2", taints=[TAINT])).warnings
    assert any("with one feasible node kube-scheduler does not score" in warning for warning in warnings)


def test_a_pod_without_a_start_time_has_just_started() -> None:
    """Of two nodes that lose as much, the one is chosen whose pod runs for the shortest time."""
    victims = victim("old", "w1", startTime="2026-01-01T00:00:00Z"), victim("new", "w2")
    result = explain(pod(priority=9, **requests(cpu="4")), small("w1"), small("w2"), *victims)
    assert result.post_filter is not None
    assert result.post_filter.nominated_node == "w2"


def test_nobody_serves_an_unknown_scheduler_name() -> None:
    result = explain(pod(schedulerName="mine"), node())
    assert (result.outcome, result.event) == (Outcome.NO_PROFILE, None)


def test_a_bound_pod_is_explained_without_its_own_share() -> None:
    result = explain(pod(on="w1", **requests(cpu="4")), small())
    assert (result.fits, result.current_node) == (True, "w1")
