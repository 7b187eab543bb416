from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from kubectl_sched.config.types import InterPodAffinityArgs
from kubectl_sched.framework.cycle_state import CycleState, PluginError
from kubectl_sched.framework.interface import PreFilterExtensions
from kubectl_sched.framework.status import SKIP, SUCCESS
from kubectl_sched.plugins.inter_pod_affinity.plugin import InterPodAffinity
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
from tests.plugins.neighbourhoods import namespace

if TYPE_CHECKING:
    from kubectl_sched.api import pod as api
    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.snapshot import Snapshot

NOT_NEAR = ("node(s) didn't match pod affinity rules",)
NEAR = ("node(s) didn't match pod anti-affinity rules",)
REPELLED = ("node(s) didn't satisfy existing pods anti-affinity rules",)
HOSTNAME = "kubernetes.io/hostname"
LEAVING: dict[str, Any] = {"deletionTimestamp": "2026-01-02T03:04:05Z"}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def term(app: str = "db", key: str = "zone", **fields: Any) -> dict[str, Any]:
    return {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key} | fields


def weighted(weight: int, preferred: dict[str, Any]) -> dict[str, Any]:
    return {"weight": weight, "podAffinityTerm": preferred}


def near(*terms: dict[str, Any], preferring: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    return {"podAffinity": {REQUIRED: list(terms), PREFERRED: list(preferring)}}


def away(*terms: dict[str, Any], preferring: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    return {"podAntiAffinity": {REQUIRED: list(terms), PREFERRED: list(preferring)}}


def new(affinity: dict[str, Any] | None = None, app: str = "web", **metadata: Any) -> api.Pod:
    return pod("new", metadata={"labels": {"app": app}} | metadata, affinity=affinity or {})


def there(name: str, on: str, affinity: dict[str, Any] | None = None, *, app: str = "db", **metadata: Any) -> api.Pod:
    return pod(name, on=on, metadata={"labels": {"app": app}} | metadata, affinity=affinity or {})


def cluster(*others: KubernetesObject) -> Snapshot:
    """Nodes a1 and a2 in zone za, b1 in zb, and x without any label."""
    nodes = [
        *(node(name, labels={"zone": f"z{name[0]}", HOSTNAME: name}) for name in ("a1", "a2", "b1")),
        node("x"),
    ]
    return snapshot(*nodes, *others)


@pytest.mark.parametrize(
    ("affinity", "app", "rejected"),
    [
        (near(term()), "web", {"b1": NOT_NEAR, "x": NOT_NEAR}),
        (near(term(key=HOSTNAME)), "web", {"a2": NOT_NEAR, "b1": NOT_NEAR, "x": NOT_NEAR}),
        (near(term("cache")), "web", {"a1": NOT_NEAR, "a2": NOT_NEAR, "b1": NOT_NEAR, "x": NOT_NEAR}),
        (near(term("cache")), "cache", {"x": NOT_NEAR}),
        (near(term("db")), "db", {"b1": NOT_NEAR, "x": NOT_NEAR}),
        (near(term(), term(key=HOSTNAME)), "web", {"a2": NOT_NEAR, "b1": NOT_NEAR, "x": NOT_NEAR}),
        (near(term(), term("cache")), "web", dict.fromkeys(("a1", "a2", "b1", "x"), NOT_NEAR)),
        (away(term()), "web", {"a1": NEAR, "a2": NEAR}),
        (away(term(key=HOSTNAME)), "web", {"a1": NEAR}),
        (away(term("cache")), "web", {}),
        (away(term(key="meal")), "web", {}),
        (near(term()) | away(term(key=HOSTNAME)), "web", {"a1": NEAR, "b1": NOT_NEAR, "x": NOT_NEAR}),
    ],
)
def test_the_pods_own_terms(affinity: dict[str, Any], app: str, rejected: dict[str, Any]) -> None:
    assert reasons(make(InterPodAffinity), new(affinity, app), cluster(there("db-0", "a1"))) == rejected


def test_unmet_affinity_is_unresolvable_and_anti_affinity_is_not() -> None:
    statuses = filtered(
        make(InterPodAffinity), new(near(term()) | away(term(key=HOSTNAME))), cluster(there("db-0", "a1"))
    )
    assert [status.code.value for status in statuses] == [
        "Unschedulable",
        "Success",
        "UnschedulableAndUnresolvable",
        "UnschedulableAndUnresolvable",
    ]


def test_pods_on_nodes_without_the_key_hinder_the_first_pod_of_a_series_only_through_the_fast_path() -> None:
    nodes = cluster(there("db-0", "x"))
    first = new(near(term(key=HOSTNAME)), "db")
    assert reasons(make(InterPodAffinity, version="1.37"), first, nodes) == {"x": NOT_NEAR}
    fast = make(InterPodAffinity, version="1.37", InterPodAffinityHostnameFastPath=True)
    assert reasons(fast, first, nodes) == dict.fromkeys(("a1", "a2", "b1", "x"), NOT_NEAR)


def test_the_fast_path_asks_each_node_where_labels_are_shared() -> None:
    nodes = snapshot(node("a", labels={HOSTNAME: "same"}), node("b", labels={HOSTNAME: "same"}), there("db-0", "a"))
    incoming = new(away(term(key=HOSTNAME)))
    assert reasons(make(InterPodAffinity, version="1.37"), incoming, nodes) == {"a": NEAR, "b": NEAR}
    fast = make(InterPodAffinity, version="1.37", InterPodAffinityHostnameFastPath=True)
    assert reasons(fast, incoming, nodes) == {"a": NEAR}


@pytest.mark.parametrize(
    ("terms", "rejected"),
    [
        (away(term("web")), {"a1": REPELLED, "a2": REPELLED}),
        (away(term("web", HOSTNAME)), {"a1": REPELLED}),
        (away(term("cache")), {}),
        (away(term("web", "meal")), {}),
        (near(term("web")), {}),
    ],
)
def test_existing_pods_keep_others_away(terms: dict[str, Any], rejected: dict[str, Any]) -> None:
    assert reasons(make(InterPodAffinity), new(), cluster(there("db-0", "a1", terms))) == rejected


def test_pods_that_leave_still_count() -> None:
    nodes = cluster(there("db-0", "a1", away(term("web", HOSTNAME)), **LEAVING))
    assert reasons(make(InterPodAffinity), new(), nodes) == {"a1": REPELLED}
    assert reasons(make(InterPodAffinity), new(away(term())), nodes) == {"a1": NEAR, "a2": NEAR}


def test_who_has_nothing_to_do_with_pods_is_skipped() -> None:
    bystander = there("db-0", "a1", away(term("cache")))
    assert filtered(make(InterPodAffinity), new(), cluster(bystander)) == [SKIP] * 4
    fast = make(InterPodAffinity, version="1.37", InterPodAffinityHostnameFastPath=True)
    assert filtered(fast, new(), cluster(bystander)) == [SKIP] * 4
    local = there("db-0", "a1", away(term("cache", HOSTNAME)))
    assert filtered(fast, new(), cluster(local)) == [SUCCESS] * 4


STAYS = ("1.34.12", "1.35.9", "1.36.5")


@pytest.mark.parametrize("version", [*EXACT_MINORS, *STAYS])
@pytest.mark.parametrize(
    ("fields", "namespaces", "namespaces_where_selector_stays"),
    [
        ({}, {"default"}, {"default"}),
        ({"namespaces": ["a"]}, {"a"}, {"a"}),
        ({"namespaces": [], "namespaceSelector": {}}, {"default", "a", "b"}, {"default", "a", "b"}),
        ({"namespaceSelector": {"matchLabels": {"team": "x"}}}, {"a"}, {"a"}),
        ({"namespaces": ["b"], "namespaceSelector": {"matchLabels": {"team": "x"}}}, {"a", "b"}, {"a", "b"}),
        (
            {"namespaceSelector": {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}},
            {"default", "b"},
            {"default", "a", "b"},
        ),
        (
            {"namespaceSelector": {"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["x"]}]}},
            {"default", "b"},
            {"default", "a", "b"},
        ),
    ],
)
def test_which_namespaces_a_pods_own_term_means(
    version: str, fields: dict[str, Any], namespaces: set[str], namespaces_where_selector_stays: set[str]
) -> None:
    """A selector that also matches no labels at all selects every namespace from 1.34 on, until a patch mends it."""
    others = (namespace("default"), namespace("a", team="x"), namespace("b"))
    found = {
        name
        for name in ("default", "a", "b")
        if reasons(
            make(InterPodAffinity, version=version),
            new(away(term(**fields))),
            cluster(there("db-0", "a1", namespace=name), *others),
        )
    }
    assert found == (namespaces_where_selector_stays if version in STAYS else namespaces)


@pytest.mark.parametrize(
    ("fields", "repelled"),
    [
        ({}, False),
        ({"namespaces": ["a"]}, True),
        ({"namespaceSelector": {}}, True),
        ({"namespaceSelector": {"matchLabels": {"team": "x"}}}, True),
        ({"namespaceSelector": {"matchLabels": {"team": "y"}}}, False),
        ({"namespaceSelector": {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}}, False),
    ],
)
def test_which_namespaces_an_existing_pods_term_means(fields: dict[str, Any], repelled: bool) -> None:
    nodes = cluster(there("db-0", "a1", away(term("web", HOSTNAME, **fields))), namespace("a", team="x"))
    assert reasons(make(InterPodAffinity), new(namespace="a"), nodes) == ({"a1": REPELLED} if repelled else {})


def test_a_namespace_that_is_not_known_has_no_labels() -> None:
    selector = {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}
    nodes = cluster(there("db-0", "a1", away(term("web", HOSTNAME, namespaceSelector=selector))))
    assert reasons(make(InterPodAffinity), new(namespace="gone"), nodes) == {"a1": REPELLED}


UNREADABLE = term(labelSelector={"matchExpressions": [{"key": "app", "operator": "Near"}]})
WRONG = '"Near" is not a valid label selector operator'


def test_terms_that_cannot_be_read_reject_the_pod_as_a_whole() -> None:
    plugin, nodes = make(InterPodAffinity), cluster()
    one = plugin.pre_filter(CycleState(), new(near(UNREADABLE)), nodes).status
    assert (one.code.value, one.reasons) == (
        "UnschedulableAndUnresolvable",
        (f"parsing pod: requiredAffinityTerms: {WRONG}",),
    )
    both = new(near(UNREADABLE) | away(preferring=(weighted(1, UNREADABLE),)))
    told = f"[requiredAffinityTerms: {WRONG}, preferredAntiAffinityTerms: {WRONG}]"
    assert plugin.pre_filter(CycleState(), both, nodes).status.reasons == (f"parsing pod: {told}",)
    assert plugin.explain_pre_filter(CycleState(), both, nodes)[0].text == f"its affinity cannot be read: {told}"
    with pytest.raises(PluginError, match=r"^failed to parse pod: "):
        plugin.pre_score(CycleState(), both, nodes, all_rows(nodes))


def test_an_unreadable_term_of_an_existing_pod_takes_its_list_with_it() -> None:
    lists = away(UNREADABLE, term("web", HOSTNAME), preferring=(weighted(7, term("web", HOSTNAME)),))
    nodes = cluster(there("db-0", "a1", lists))
    assert filtered(make(InterPodAffinity), new(), nodes) == [SKIP] * 4
    assert scored(make(InterPodAffinity), new(), nodes) == [-7, 0, 0, 0]


def test_states_that_were_never_written_are_missed_in_upstreams_words() -> None:
    plugin, nodes = make(InterPodAffinity), cluster()
    with pytest.raises(PluginError, match=r'^error reading "PreFilterInterPodAffinity" from cycleState: not found$'):
        plugin.filter(CycleState(), new(), nodes)
    with pytest.raises(PluginError, match=r'^failed to read "PreScoreInterPodAffinity" from cycleState: not found$'):
        plugin.score(CycleState(), new(), nodes, all_rows(nodes))


def test_a_deferred_resize_keeps_its_place_where_it_may_preempt() -> None:
    condition = {"type": "PodResizePending", "status": "True", "reason": "Deferred"}
    incoming = pod("new", affinity=near(term()), status={"conditions": [condition]})
    preempting = make(InterPodAffinity, version="1.37", InPlacePodVerticalScalingSchedulerPreemption=True)
    assert filtered(preempting, incoming, cluster()) == [SKIP] * 4
    assert list(preempting.filter(CycleState(), incoming, cluster())) == [SUCCESS] * 4
    assert len(reasons(make(InterPodAffinity, version="1.37"), incoming, cluster())) == 4


@pytest.mark.parametrize(
    ("affinity", "existing", "args", "raw"),
    [
        (near(preferring=(weighted(10, term()),)), {}, {}, [10, 10, 0, 0]),
        (away(preferring=(weighted(10, term()),)), {}, {}, [-10, -10, 0, 0]),
        (near(preferring=(weighted(10, term()), weighted(5, term(key=HOSTNAME)))), {}, {}, [15, 10, 0, 0]),
        (near(preferring=(weighted(10, term("cache")),)), {}, {}, None),
        (near(preferring=(weighted(10, term(key="meal")),)), {}, {}, None),
        # A sum of nothing is still a score, where no score at all is skipped.
        (
            near(preferring=(weighted(9, term()),)) | away(preferring=(weighted(9, term()),)),
            {},
            {},
            [0, 0, 0, 0],
        ),
        ({}, near(preferring=(weighted(3, term("web")),)), {}, [3, 3, 0, 0]),
        ({}, away(preferring=(weighted(3, term("web", HOSTNAME)),)), {}, [-3, 0, 0, 0]),
        ({}, near(term("web")), {}, [1, 1, 0, 0]),
        ({}, near(term("web")), {"hard_pod_affinity_weight": 70}, [70, 70, 0, 0]),
        ({}, near(term("web")), {"hard_pod_affinity_weight": 0}, None),
        ({}, away(term("web")), {}, None),
        ({}, near(term("web")), {"ignore_preferred_terms_of_existing_pods": True}, None),
        (
            near(preferring=(weighted(10, term("cache")),)),
            near(preferring=(weighted(3, term("web")),)),
            {"ignore_preferred_terms_of_existing_pods": True},
            [3, 3, 0, 0],
        ),
    ],
)
def test_scores(
    affinity: dict[str, Any], existing: dict[str, Any], args: dict[str, Any], raw: list[int] | None
) -> None:
    plugin = make(InterPodAffinity, InterPodAffinityArgs(**args))
    assert scored(plugin, new(affinity), cluster(there("db-0", "a1", existing))) == raw


@pytest.mark.parametrize(
    ("raw", "normalized"),
    [([-10, 0, 20], [0, 33, 100]), ([5, 5, 5], [0, 0, 0]), ([3, 0, 7], [42, 0, 100]), ([], [])],
)
def test_scores_are_stretched_between_0_and_100(raw: list[int], normalized: list[int]) -> None:
    plugin, state = make(InterPodAffinity), CycleState()
    nodes, incoming = cluster(there("db-0", "a1")), new(near(preferring=(weighted(1, term()),)))
    plugin.pre_score(state, incoming, nodes, all_rows(nodes))
    rows = all_rows(nodes)[: len(raw)]
    assert plugin.normalize_score(state, incoming, nodes, rows, np.array(raw, dtype=np.int64)).tolist() == normalized


def test_the_same_terms_are_filed_for_pods_that_come_later() -> None:
    plugin, nodes = make(InterPodAffinity), cluster(there("db-0", "a1", away(term("web", HOSTNAME))))
    assert reasons(plugin, new(), nodes) == {"a1": REPELLED}
    grown = nodes.assume(there("db-1", "b1", away(term("web", HOSTNAME))), 2)
    grown = grown.assume(there("db-2", "a2", away(term("web", "zone"))), 1)
    assert reasons(plugin, new(), grown) == {"a1": REPELLED, "a2": REPELLED, "b1": REPELLED}
    assert reasons(plugin, new(), nodes) == {"a1": REPELLED}


def test_a_pod_that_goes_takes_along_what_it_counted_for_each_term() -> None:
    plugin, state = make(InterPodAffinity), CycleState()
    assert isinstance(plugin, PreFilterExtensions)
    only = there("db-0", "a1")
    nodes, incoming = cluster(only), new(near(term(), term()), "db")
    plugin.pre_filter(state, incoming, nodes)
    plugin.remove_pod(state, incoming, only, 0, nodes)
    statuses = plugin.filter(state, incoming, nodes.remove_pod("default", "db-0"))
    assert [status.reasons for status in statuses] == [(), (), (), NOT_NEAR]


def test_a_nominated_pod_counts_once_it_is_added() -> None:
    plugin, state, nodes = make(InterPodAffinity), CycleState(), cluster(there("db-0", "a1"))
    assert isinstance(plugin, PreFilterExtensions)
    incoming = new(away(term(key=HOSTNAME)))
    plugin.pre_filter(state, incoming, nodes)
    nominated = pod("db-1", metadata={"labels": {"app": "db"}})
    plugin.add_pod(state, incoming, nominated, 2, nodes)
    assert [status.reasons for status in plugin.filter(state, incoming, nodes)] == [NEAR, (), NEAR, ()]
    (evidence,) = plugin.explain_filter(state, incoming, nodes, 2)
    assert evidence.text == "would be near to pods that the pod must be away from"


def test_evidence_says_where_the_pods_are_that_it_must_be_near_to() -> None:
    texts, hints = explained(make(InterPodAffinity), new(near(term())), cluster(there("db-0", "a1")), 2)
    assert texts == ["zone=zb has none of the pods matching app=db that the pod must be near to; za has"]
    assert hints == []


@pytest.mark.parametrize(
    ("wanted", "existing", "hints"),
    [
        (term(key="meal"), there("db-0", "a1"), ["no node carries the label `meal`"]),
        (term("DB"), there("db-0", "a1"), ["no pod has app=DB; did you mean app=db?"]),
        (
            term(labelSelector={"matchLabels": {"App": "db"}}),
            there("db-0", "a1"),
            ["no pod has a label App; did you mean app?"],
        ),
        (term(), there("db-0", "a1", namespace="b"), ["1 pod in b match, where the term does not look"]),
    ],
)
def test_evidence_names_near_misses(wanted: dict[str, Any], existing: api.Pod, hints: list[str]) -> None:
    _, found = explained(make(InterPodAffinity), new(near(wanted)), cluster(existing))
    assert found == hints


def test_evidence_says_that_no_pod_meets_all_terms() -> None:
    nodes = cluster(there("db-0", "a1"), there("cache-0", "a1", app="cache"))
    _, hints = explained(make(InterPodAffinity), new(near(term(), term("cache"))), nodes)
    assert hints == ["pods match this term, but none matches all terms of the pod's affinity"] * 2


def test_evidence_names_the_pods_that_it_must_be_away_from() -> None:
    nodes = cluster(*(there(f"db-{index}", "a1") for index in range(4)), there("old", "a2", **LEAVING))
    texts, hints = explained(make(InterPodAffinity), new(away(term())), nodes, 1)
    assert texts == [
        (
            "zone=za has pods matching app=db, which the pod must be away from: "
            "default/db-0, default/db-1, default/db-2 and 2 more"
        )
    ]
    assert hints == ["default/old is being deleted, and counts until it is gone"]


def test_evidence_names_the_pods_that_keep_it_away() -> None:
    plugin, state = make(InterPodAffinity), CycleState()
    nodes = cluster(there("db-0", "a1", away(term("web"))), there("db-1", "b1", away(term("cache"))))
    plugin.pre_filter(state, new(), nodes)
    (evidence,) = plugin.explain_filter(state, new(), nodes, 1)
    assert evidence.text == "zone=za has pods whose anti-affinity keeps the pod away: default/db-0"
    assert evidence.facts == {
        "rule": "existingAntiAffinity",
        "topologyKey": "zone",
        "domain": "za",
        "pods": ["default/db-0"],
        "podCount": 1,
    }


def test_evidence_tells_of_a_namespace_selector_that_selects_them_all() -> None:
    selector = {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}
    nodes = cluster(there("db-0", "a1", namespace="a"), namespace("a", team="x"))
    texts, hints = explained(
        make(InterPodAffinity, version="1.36.5"), new(away(term(namespaceSelector=selector))), nodes
    )
    assert texts == ["zone=za has pods matching app=db in any namespace, which the pod must be away from: a/db-0"]
    assert hints == [
        "kube-scheduler matches the namespaceSelector !team against no labels, too: every namespace counts"
    ]


OUTSIDE = "are not in zone=zb, where the pods matching app=db are"
CROWDED = "have pods matching app=web in the same zone, which the pod must be away from"
UNWELCOME = "near to 1 pod whose anti-affinity keeps the pod away: default/db-0"


@pytest.mark.parametrize(
    ("affinity", "rows", "clause"),
    [
        (near(term(key="meal")), [0, 1, 2, 3], "have no label meal, which no node carries"),
        (near(term("cache")), [0, 1, 2, 3], "are not near to pods matching app=cache, as no pod anywhere matches"),
        (near(term()), [0, 1, 3], OUTSIDE),
        (near(term()), [0, 1, 2], f"fail pod affinity rules: 2 {OUTSIDE}; 1 is {UNWELCOME}"),
        (near(term()), [3], "have no label zone"),
        (away(term("web")), [0, 1], CROWDED),
        (away(term("web")), [0, 1, 2], f"fail pod affinity rules: 2 {CROWDED}; 1 is {UNWELCOME}"),
        ({}, [2], f"are {UNWELCOME}"),
    ],
)
def test_rejected_nodes_are_summed_up(affinity: dict[str, Any], rows: list[int], clause: str) -> None:
    plugin, state = make(InterPodAffinity), CycleState()
    nodes = cluster(there("db-0", "b1", away(term("new"))), there("web-0", "a1", app="web"))
    incoming = new(affinity, "new")
    plugin.pre_filter(state, incoming, nodes)
    assert plugin.summarize(state, incoming, nodes, np.array(rows, dtype=np.intp)) == clause


def test_points_are_explained_by_domain() -> None:
    plugin, state = make(InterPodAffinity), CycleState()
    nodes = cluster(there("db-0", "a1", near(preferring=(weighted(3, term("web", HOSTNAME)),))))
    incoming = new(near(preferring=(weighted(10, term()),)))
    plugin.pre_score(state, incoming, nodes, all_rows(nodes))
    texts = [[each.text for each in plugin.explain_score(state, incoming, nodes, row)] for row in (0, 1, 2)]
    assert texts == [
        [
            "zone=za is worth 10 points: the pod prefers to be near pods matching app=db (+10 each)",
            "kubernetes.io/hostname=a1 is worth 3 points, all from the terms of existing pods",
        ],
        ["zone=za is worth 10 points: the pod prefers to be near pods matching app=db (+10 each)"],
        ["no preferred pod is near"],
    ]
