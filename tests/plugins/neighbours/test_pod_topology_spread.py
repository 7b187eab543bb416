from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from kubectl_sched.api import affinity, apps
from kubectl_sched.api import pod as api
from kubectl_sched.config.types import PodTopologySpreadArgs
from kubectl_sched.framework.cycle_state import CycleState, PluginError
from kubectl_sched.framework.interface import PreFilterExtensions
from kubectl_sched.framework.status import SKIP
from kubectl_sched.plugins.pod_topology_spread.constraints import default_selector
from kubectl_sched.plugins.pod_topology_spread.plugin import PodTopologySpread
from tests.plugins.clusters import (
    EXACT_MINORS,
    all_rows,
    explained,
    filtered,
    make,
    node,
    pod,
    reasons,
    scored,
    snapshot,
)
from tests.plugins.neighbourhoods import service

if TYPE_CHECKING:
    from kubectl_sched.api.core import Node
    from kubectl_sched.snapshot import Snapshot

SKEWED = ("node(s) didn't match pod topology spread constraints",)
UNLABELLED = ("node(s) didn't match pod topology spread constraints (missing required label)",)
WEB = {"labels": {"app": "web"}}
SELECTS_WEB = {"matchLabels": {"app": "web"}}
HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
LEAVING: dict[str, Any] = {"deletionTimestamp": "2026-01-02T03:04:05Z"}


def constraint(key: str = "zone", skew: int = 1, action: str = "DoNotSchedule", **fields: Any) -> dict[str, Any]:
    stored = {"topologyKey": key, "maxSkew": skew, "whenUnsatisfiable": action, "labelSelector": SELECTS_WEB} | fields
    return {name: value for name, value in stored.items() if value is not None}


def spread(*constraints: dict[str, Any], metadata: dict[str, Any] | None = None, **spec: Any) -> api.Pod:
    return pod("new", metadata=metadata or WEB, topologySpreadConstraints=list(constraints), **spec)


def web(on: str, count: int = 1, **metadata: Any) -> list[api.Pod]:
    return [pod(f"{on}-{index}", on=on, metadata=WEB | metadata) for index in range(count)]


def zones(a: int, b: int, c: int | None = None, **fields: Any) -> Snapshot:
    """One node in each of two or three zones, with so many web pods."""
    nodes: list[Node] = []
    pods: list[api.Pod] = []
    for name, count in (("a", a), ("b", b), ("c", c)):
        if count is not None:
            nodes.append(node(name, labels={"zone": f"z{name}", HOSTNAME: name}, **fields))
            pods += web(name, count)
    return snapshot(*nodes, *pods)


@pytest.mark.parametrize(
    ("counts", "skew", "rejected"),
    [
        ((0, 0), 1, set()),
        ((1, 0), 1, {"a"}),
        ((1, 1), 1, set()),
        ((2, 1, 0), 1, {"a", "b"}),
        ((2, 1, 0), 2, {"a"}),
        ((3, 3, 3), 1, set()),
    ],
)
def test_one_more_pod_must_not_be_further_than_max_skew_from_the_emptiest_domain(
    counts: tuple[int, ...], skew: int, rejected: set[str]
) -> None:
    assert reasons(make(PodTopologySpread), spread(constraint(skew=skew)), zones(*counts)) == dict.fromkeys(
        rejected, SKEWED
    )


def test_a_node_without_a_key_is_unresolvable_and_counts_for_no_constraint() -> None:
    nodes = snapshot(
        node("a", labels={"zone": "za", "pool": "x"}), node("b", labels={"zone": "zb"}), *web("a"), *web("b", 5)
    )
    incoming = spread(constraint("zone"), constraint("pool", 5))
    # With b's zone counted, a would be emptier and pass; without it za is the only zone and passes, too.
    assert reasons(make(PodTopologySpread), incoming, nodes) == {"b": UNLABELLED}
    statuses = filtered(make(PodTopologySpread), incoming, nodes)
    assert statuses[1].code.value == "UnschedulableAndUnresolvable"


def test_an_empty_domain_without_the_other_key_is_no_domain() -> None:
    nodes = snapshot(node("a", labels={"zone": "za", "pool": "x"}), node("b", labels={"zone": "zb"}), *web("a", 3))
    assert reasons(make(PodTopologySpread), spread(constraint()), nodes) == {"a": SKEWED}
    assert reasons(make(PodTopologySpread), spread(constraint(), constraint("pool", 9)), nodes) == {"b": UNLABELLED}


@pytest.mark.parametrize(
    ("selector", "rejected"),
    [
        (SELECTS_WEB, {"a"}),
        (None, set()),
        ({}, set()),
        ({"matchExpressions": [{"key": "app", "operator": "Exists"}]}, {"a"}),
        ({"matchLabels": {"app": "db"}}, set()),
    ],
)
def test_selectors_count_existing_pods(selector: dict[str, Any] | None, rejected: set[str]) -> None:
    incoming = spread(constraint(labelSelector=selector))
    assert reasons(make(PodTopologySpread), incoming, zones(1, 0)).keys() == rejected


def test_an_empty_selector_counts_no_pod_but_the_new_one() -> None:
    incoming = spread(constraint(labelSelector={}, minDomains=3))
    assert reasons(make(PodTopologySpread), incoming, zones(5, 5)) == {}
    strict = spread(constraint(labelSelector={}, minDomains=3, maxSkew=0))
    assert reasons(make(PodTopologySpread), strict, zones(0, 0)) == {"a": SKEWED, "b": SKEWED}


@pytest.mark.parametrize(("min_domains", "rejected"), [(None, set()), (2, set()), (3, {"a", "b"})])
def test_with_fewer_domains_than_min_domains_the_minimum_is_zero(min_domains: int | None, rejected: set[str]) -> None:
    incoming = spread(constraint(minDomains=min_domains))
    assert reasons(make(PodTopologySpread), incoming, zones(1, 1)).keys() == rejected


def test_pods_that_leave_and_pods_of_other_namespaces_do_not_count() -> None:
    labels = [node("a", labels={"zone": "za"}), node("b", labels={"zone": "zb"})]
    for existing in (web("a", 1, **LEAVING), web("a", namespace="other")):
        assert reasons(make(PodTopologySpread), spread(constraint()), snapshot(*labels, *existing)) == {}


@pytest.mark.parametrize(
    ("policies", "rejected"),
    [({}, set()), ({"nodeAffinityPolicy": "Honor"}, set()), ({"nodeAffinityPolicy": "Ignore"}, {"a", "b"})],
)
def test_node_affinity_policy(policies: dict[str, str], rejected: set[str]) -> None:
    nodes = snapshot(
        *(node(name, labels={"zone": f"z{name}", "pool": pool}) for name, pool in [("a", "x"), ("b", "x"), ("c", "y")]),
        *web("a"),
        *web("b"),
    )
    incoming = spread(constraint() | policies, nodeSelector={"pool": "x"})
    assert reasons(make(PodTopologySpread), incoming, nodes).keys() == rejected


@pytest.mark.parametrize(
    ("policies", "tolerations", "rejected"),
    [
        ({}, [], {"a"}),
        ({"nodeTaintsPolicy": "Ignore"}, [], {"a"}),
        ({"nodeTaintsPolicy": "Honor"}, [], set()),
        ({"nodeTaintsPolicy": "Honor"}, [{"operator": "Exists"}], {"a"}),
    ],
)
def test_node_taints_policy(policies: dict[str, str], tolerations: list[dict[str, str]], rejected: set[str]) -> None:
    taint = {"key": "dedicated", "effect": "NoSchedule"}
    nodes = snapshot(node("a", labels={"zone": "za"}), node("b", labels={"zone": "zb"}, taints=[taint]), *web("a"))
    incoming = spread(constraint() | policies, tolerations=tolerations)
    assert reasons(make(PodTopologySpread), incoming, nodes).keys() == rejected


@pytest.mark.parametrize(("gate", "rejected"), [(True, set()), (False, {"a"})])
def test_match_label_keys_narrow_the_selector_to_the_pods_own_values(gate: bool, rejected: set[str]) -> None:
    old = web("a", labels={"app": "web", "revision": "1"})
    nodes = snapshot(node("a", labels={"zone": "za"}), node("b", labels={"zone": "zb"}), *old)
    incoming = spread(
        constraint(matchLabelKeys=["revision", "absent"]), metadata={"labels": {"app": "web", "revision": "2"}}
    )
    plugin = make(PodTopologySpread, version="1.33", MatchLabelKeysInPodTopologySpread=gate)
    assert reasons(plugin, incoming, nodes).keys() == rejected


@pytest.mark.parametrize("version", EXACT_MINORS)
def test_a_selector_that_cannot_be_read_fails_the_cycle(version: str) -> None:
    bad = constraint(labelSelector={"matchExpressions": [{"key": "app", "operator": "Near"}]})
    error = '"Near" is not a valid label selector operator'
    plugin = make(PodTopologySpread, version=version)
    with pytest.raises(PluginError, match=f"get constraints from pod: obtaining pod's hard .*: {error}"):
        plugin.pre_filter(CycleState(), spread(bad), zones(0, 0))
    soft = spread(bad | {"whenUnsatisfiable": "ScheduleAnyway"})
    with pytest.raises(PluginError, match=f"calculating preScoreState: obtaining pod's soft .*: {error}"):
        plugin.pre_score(CycleState(), soft, zones(0, 0), all_rows(zones(0, 0)))


def test_pods_without_constraints_are_skipped() -> None:
    assert filtered(make(PodTopologySpread), pod(), zones(0, 0)) == [SKIP, SKIP]
    assert scored(make(PodTopologySpread), pod(), zones(0, 0)) is None


def test_states_that_were_never_written_are_missed_in_upstreams_words() -> None:
    plugin, nodes = make(PodTopologySpread), zones(0, 0)
    with pytest.raises(PluginError, match=r'^reading "PreFilterPodTopologySpread" from cycleState: not found$'):
        plugin.filter(CycleState(), spread(constraint()), nodes)
    with pytest.raises(PluginError, match=r'^error reading "PreScorePodTopologySpread" from cycleState: not found$'):
        plugin.score(CycleState(), spread(constraint()), nodes, all_rows(nodes))


def test_a_deferred_resize_is_not_spread_again_where_it_may_preempt() -> None:
    condition = {"type": "PodResizePending", "status": "True", "reason": "Deferred"}
    incoming = spread(constraint(), status={"conditions": [condition]})
    plugin = make(PodTopologySpread, version="1.37", InPlacePodVerticalScalingSchedulerPreemption=True)
    assert filtered(plugin, incoming, zones(1, 0)) == [SKIP, SKIP]
    assert reasons(make(PodTopologySpread, version="1.37"), incoming, zones(1, 0)) == {"a": SKEWED}


def test_removing_a_pod_that_leaves_lowers_a_count_that_never_had_it() -> None:
    plugin, incoming, state = make(PodTopologySpread), spread(constraint()), CycleState()
    assert isinstance(plugin, PreFilterExtensions)
    leaving = pod("leaving", on="a", metadata=WEB | LEAVING)
    nodes = snapshot(node("a", labels={"zone": "za"}), node("b", labels={"zone": "zb"}), leaving)
    plugin.pre_filter(state, incoming, nodes)
    plugin.remove_pod(state, incoming, leaving, 0, nodes)
    assert [status.reasons for status in plugin.filter(state, incoming, nodes)] == [(), SKEWED]


SOFT = constraint(action="ScheduleAnyway")


@pytest.mark.parametrize(
    ("constraints", "counts", "raw", "normalized"),
    [
        # Two zones weigh ln(4) = 1.386 a pod; the third, with ln(5) = 1.609, rounds otherwise.
        ([SOFT], (3, 1), [4, 1], [25, 100]),
        ([SOFT], (3, 1, 0), [5, 2, 0], [0, 60, 100]),
        ([SOFT | {"maxSkew": 5}], (3, 1), [8, 5], [62, 100]),
        ([SOFT], (0, 0), [0, 0], [100, 100]),
        ([SOFT | {"topologyKey": HOSTNAME}], (2, 1), [3, 1], [33, 100]),
    ],
)
def test_scores(
    constraints: list[dict[str, Any]], counts: tuple[int, ...], raw: list[int], normalized: list[int]
) -> None:
    plugin, incoming, nodes, state = make(PodTopologySpread), spread(*constraints), zones(*counts), CycleState()
    rows = all_rows(nodes)
    plugin.pre_score(state, incoming, nodes, rows)
    scores = plugin.score(state, incoming, nodes, rows)
    assert scores.tolist() == raw
    assert plugin.normalize_score(state, incoming, nodes, rows, scores).tolist() == normalized


def test_domains_are_weighed_among_feasible_nodes_and_counted_among_all() -> None:
    nodes = snapshot(
        *(node(name, labels={"zone": zone}) for name, zone in [("a", "za"), ("b", "za"), ("c", "zc")]),
        *web("b", 10),
        *web("c", 10),
    )
    # Feasible is za alone, which weighs ln(3) = 1.0986; its ten pods are on a node that is not feasible.
    assert scored(make(PodTopologySpread), spread(SOFT), nodes, [0]) == [11]


def test_nodes_without_a_key_get_no_points() -> None:
    nodes = snapshot(node("a", labels={"zone": "za"}), node("b"), *web("a"))
    plugin, incoming, state, rows = make(PodTopologySpread), spread(SOFT), CycleState(), all_rows(nodes)
    plugin.pre_score(state, incoming, nodes, rows)
    raw = plugin.score(state, incoming, nodes, rows)
    assert raw.tolist() == [1, 0]
    assert plugin.normalize_score(state, incoming, nodes, rows, raw).tolist() == [100, 0]
    assert [each.text for each in plugin.explain_score(state, incoming, nodes, 1)] == [
        "has no label zone, so it gets no points"
    ]


def test_system_defaults_spread_what_a_service_selects_over_hosts_and_zones() -> None:
    nodes = snapshot(
        node("a", labels={HOSTNAME: "a", ZONE: "z1"}),
        node("b", labels={HOSTNAME: "b"}),
        *web("a", 2),
        service("web", {"app": "web"}),
    )
    plugin, incoming, state, rows = make(PodTopologySpread), pod("new", metadata=WEB), CycleState(), all_rows(nodes)
    assert filtered(plugin, incoming, nodes) == [SKIP, SKIP]
    plugin.pre_score(state, incoming, nodes, rows)
    # Hosts: 2 * ln(4) + 2, zones (z1 and none): 2 * ln(4) + 4. Without a zone only the host counts.
    assert plugin.score(state, incoming, nodes, rows).tolist() == [12, 2]
    assert [each.text for each in plugin.explain_score(state, incoming, nodes, 0)] == [
        "kubernetes.io/hostname=a has 2 pods matching app=web (system default): 2 x 1.386 + 2, fewer is better",
        "topology.kubernetes.io/zone=z1 has 2 pods matching app=web (system default): 2 x 1.386 + 4, fewer is better",
    ]


def test_listed_defaults_can_keep_nodes_out() -> None:
    stored = msgspec.convert(constraint(labelSelector=None), affinity.TopologySpreadConstraint)
    args = PodTopologySpreadArgs(default_constraints=(stored,), defaulting_type="List")
    plugin = make(PodTopologySpread, args)
    nodes = snapshot(*zones(1, 0).node_objects, *web("a"), service("web", {"app": "web"}))
    assert reasons(plugin, pod("new", metadata=WEB), nodes) == {"a": SKEWED}
    assert filtered(plugin, pod("new", metadata=WEB), zones(1, 0)) == [SKIP, SKIP]


def owned(api_version: str, kind: str, name: str = "web") -> dict[str, Any]:
    owner = {"apiVersion": api_version, "kind": kind, "name": name, "controller": True}
    return {"labels": {"app": "web", "tier": "front"}, "ownerReferences": [owner]}


@pytest.mark.parametrize(
    ("metadata", "selector"),
    [
        ({"labels": {"app": "web", "tier": "front"}}, "app=web"),
        ({"labels": {"app": "db"}}, ""),
        (owned("apps/v1", "ReplicaSet"), "app=web,tier in (front)"),
        (owned("apps/v1", "StatefulSet"), "app=web,track"),
        (owned("v1", "ReplicationController"), "app=web,rc=yes"),
        (owned("/v1", "ReplicationController"), "app=web,rc=yes"),
        (owned("apps/v1", "ReplicaSet", "gone"), "app=web"),
        (owned("apps/v1", "ReplicaSet", "unreadable"), "app=web"),
        (owned("apps/v1", "StatefulSet", "selects-nothing"), "app=web"),
        (owned("apps/v2", "StatefulSet"), "app=web"),
        (owned("batch/v1", "Job"), "app=web"),
    ],
)
def test_default_selectors(metadata: dict[str, Any], selector: str) -> None:
    def workload(kind: type[apps.ReplicaSet | apps.StatefulSet], name: str, selector: Any) -> Any:
        return msgspec.convert(
            {"metadata": {"name": name, "namespace": "default"}, "spec": {"selector": selector}}, kind
        )

    def expressions(*several: dict[str, Any]) -> dict[str, Any]:
        return {"matchExpressions": list(several)}

    controller = {"metadata": {"name": "web", "namespace": "default"}, "spec": {"selector": {"rc": "yes"}}}
    nodes = snapshot(
        service("web", {"app": "web"}),
        service("elsewhere", {"tier": "front"}, "other"),
        service("external", {}),
        workload(apps.ReplicaSet, "web", expressions({"key": "tier", "operator": "In", "values": ["front"]})),
        workload(apps.ReplicaSet, "unreadable", expressions({"key": "tier", "operator": "Near"})),
        workload(apps.StatefulSet, "web", expressions({"key": "track", "operator": "Exists"})),
        msgspec.convert({"metadata": {"name": "selects-nothing", "namespace": "default"}}, apps.StatefulSet),
        msgspec.convert(controller, apps.ReplicationController),
    )
    assert str(default_selector(pod(metadata=metadata), nodes.objects)) == selector


def test_evidence_has_the_counts_and_the_skew() -> None:
    plugin, incoming, nodes, state = make(PodTopologySpread), spread(constraint()), zones(3, 1, 2), CycleState()
    plugin.pre_filter(state, incoming, nodes)
    (evidence,) = plugin.explain_filter(state, incoming, nodes, 0)
    assert evidence.text == (
        "zone=za has 3 pods matching app=web; the emptiest, zb, has 1; with this pod the skew is 3, above maxSkew 1"
    )
    assert evidence.hints == ()
    assert evidence.facts == {
        "topologyKey": "zone",
        "domain": "za",
        "matching": 3,
        "selfMatch": 1,
        "minimum": 1,
        "skew": 3,
        "maxSkew": 1,
        "minDomains": 1,
        "domainCount": 3,
        "selector": "app=web",
        "emptiest": ["zb"],
        "domains": {"zb": 1, "zc": 2, "za": 3},
    }
    assert plugin.summarize(state, incoming, nodes, all_rows(nodes)[[0, 2]]) == (
        "would exceed maxSkew 1 of pods matching app=web over zone: za has 3 and zc has 2; the emptiest, zb, has 1"
    )


@pytest.mark.parametrize(
    ("key", "hints"),
    [
        ("meal", ["no node carries the label `meal`"]),
        ("zonne", ["no node carries the label `zonne`; did you mean `zone`?"]),
        (
            "failure-domain.beta.kubernetes.io/zone",
            [f"no node carries the label `failure-domain.beta.kubernetes.io/zone`, which is now `{ZONE}`"],
        ),
        (
            "\u201czone\u201d",
            [
                "no node carries the label `\u201czone\u201d`",
                "'\u201czone\u201d' has the typographic \u201c (U+201C) where a plain one may be meant",
            ],
        ),
    ],
)
def test_evidence_says_that_no_node_carries_the_key(key: str, hints: list[str]) -> None:
    texts, found = explained(make(PodTopologySpread), spread(constraint(key)), zones(0, 0))
    assert texts == [f"has no label {key}, over whose values pods matching app=web are spread"]
    assert found == hints


def test_evidence_tells_of_domains_that_no_pod_can_reach() -> None:
    nodes = snapshot(
        node("a", labels={"zone": "za"}),
        node("b", labels={"zone": "zb"}, taints=[{"key": "dedicated", "effect": "NoSchedule"}]),
        *web("a", 2),
    )
    _, hints = explained(make(PodTopologySpread), spread(constraint(), metadata={"labels": {"app": "other"}}), nodes)
    assert hints == [
        "the pod's own labels do not match app=web, so it does not count itself",
        (
            "every node of zb has a taint that the pod does not tolerate, and yet counts; "
            "nodeTaintsPolicy: Honor would leave them out"
        ),
    ]


def test_evidence_knows_which_taints_a_pod_tolerates_by_comparison() -> None:
    nodes = snapshot(
        node("a", labels={"zone": "za"}),
        node("b", labels={"zone": "zb"}, taints=[{"key": "sla", "value": "5", "effect": "NoSchedule"}]),
        *web("a", 2),
    )
    plugin = make(PodTopologySpread, TaintTolerationComparisonOperators=True)
    pod = spread(constraint(), tolerations=[{"key": "sla", "operator": "Gt", "value": "3"}])
    assert explained(plugin, pod, nodes)[1] == []


def test_evidence_tells_of_min_domains() -> None:
    texts, _ = explained(make(PodTopologySpread), spread(constraint(minDomains=5)), zones(1, 1))
    assert texts == [
        (
            "zone=za has 1 pod matching app=web; only 2 of the 5 domains of minDomains exist, so skew is measured "
            "from 0; with this pod the skew is 2, above maxSkew 1"
        )
    ]
