"""The changes of a what-if, and that its replay is the decision about the changed objects."""

from __future__ import annotations

from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from kubectl_sched.api.component_helpers.pod_requests import scheduler_options
from kubectl_sched.api.core import Node
from kubectl_sched.api.meta import with_spec
from kubectl_sched.api.pod import Pod
from kubectl_sched.config import load_configuration
from kubectl_sched.config.versions import KubeVersion
from kubectl_sched.errors import SchedError
from kubectl_sched.queries.explanation import Explanation, explanation_of
from kubectl_sched.render.answers.explanation_data import explanation_data
from kubectl_sched.render.sentences.headline import decision as decision_sentence
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.scheduler.scheduler import Scheduler
from kubectl_sched.shell_commands import label_node
from kubectl_sched.snapshot import build
from kubectl_sched.sources.dump.reader import read
from kubectl_sched.suggestions.trial import Trial
from kubectl_sched.tui import explorer_state
from kubectl_sched.tui.decision import Decision, context_of
from kubectl_sched.tui.typed_edits import FORMS, Context, parse
from tests.examples import examples
from tests.plugins.clusters import node as cluster_node
from tests.plugins.clusters import pod as cluster_pod
from tests.plugins.clusters import requests
from tests.scheduler.cycles import with_cycle
from tests.tui.driving import DEMO, decisions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.config import Configuration
    from kubectl_sched.scheduler.result import ScheduleResult

CONTEXT = Context(
    node="w1",
    plugins=("TaintToleration", "NodeResourcesFit", "ImageLocality"),
    resources=("cpu", "nvidia.com/gpu", "pods"),
)


@pytest.mark.parametrize(
    ("entry", "texts"),
    [
        ("tolerate gpu=true:NoSchedule", ["tolerate gpu=true:NoSchedule"]),
        ("tolerate gpu:NoExecute", ["tolerate gpu:NoExecute"]),
        ("tolerate gpu", ["tolerate gpu"]),
        ("tolerate gpu-", ["tolerate gpu-"]),
        ("tolerate gpu=true:NoSchedule-", ["tolerate gpu:NoSchedule-"]),
        ("request cpu=500m", ["request cpu=500m"]),
        ("request cpu=1,memory=1Gi", ["request cpu=1", "request memory=1Gi"]),
        ("request sidecar nvidia.com/gpu=2", ["request sidecar nvidia.com/gpu=2"]),
        ("request cpu-", ["request cpu-"]),
        ("label env=prod", ["label pod env=prod"]),
        ("label pod env-", ["label pod env-"]),
        ("kubectl label pods web-0 env=prod", ["label pod env=prod"]),
        ("label node pool=gpu", ["label node w1 pool=gpu"]),
        ("kubectl label nodes w2 pool=gpu zone-", ["label node w2 pool=gpu", "label node w2 zone-"]),
        (str(label_node("w2", "pool", "gpu", overwrite=True)), ["label node w2 pool=gpu"]),
        ("select pool=gpu", ["select pool=gpu"]),
        ("taint dedicated=db:NoSchedule", ["taint w1 dedicated=db:NoSchedule"]),
        ("kubectl taint nodes w2 dedicated-", ["taint w2 dedicated-"]),
        ("taint (zone=a,!gpu) dedicated:NoExecute-", ["taint (zone=a,!gpu) dedicated:NoExecute-"]),
        ("cordon", ["cordon w1"]),
        ("uncordon w2 gpu-*", ["uncordon w2", "uncordon gpu-*"]),
        ("weight fit=5", ["weight NodeResourcesFit=5"]),
        ("Weight imagelocality=2", ["weight ImageLocality=2"]),
    ],
)
def test_an_entry_is_read_as_kubectl_would(entry: str, texts: list[str]) -> None:
    edits = parse(entry, CONTEXT)
    assert [edit.text for edit in edits] == texts
    assert tuple(edit for text in texts for edit in parse(text, CONTEXT)) == edits


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("", "start with one of tolerate, request"),
        ("explode w1", "explode is none of tolerate, request"),
        *((verb, f"write {verb}") for verb in FORMS if verb not in {"cordon", "uncordon"}),
        ("tolerate gpu=true:Never", "the effect is one of NoSchedule, PreferNoSchedule, NoExecute"),
        ("tolerate =:", "an empty key"),
        ("tolerate a b=c d!", "name part must consist of"),
        ("request cpu", "write request"),
        ("request cpu=lots", "lots is no quantity"),
        ("request cpu=", "nothing is no quantity"),
        ("request cpu=-1", "a request is not negative"),
        ("request gpu=1", "gpu is no resource; there is nvidia.com/gpu"),
        ("label node w1", "write label"),
        ("label env", "write label"),
        ("label env=not/valid", "a valid label must be"),
        ("taint w1 dedicated=db", "the effect is one of"),
        ("taint w1 dedicated=db:Soon", "the effect is one of"),
        ("weight fit=0", "a whole number from 1 to 2147483647"),
        ("weight fit=99999999999999", "a whole number from 1 to 2147483647"),
        ("weight fit=²", "a whole number from 1 to 2147483647"),
        ("weight fti=2", "fti is no score plugin of this profile"),
        ("weight =2", "nothing is no score plugin"),
    ],
)
def test_a_wrong_entry_gets_one_clear_sentence(entry: str, told: str) -> None:
    with pytest.raises(SchedError, match=r"^[^\n]+$") as raised:
        parse(entry, CONTEXT)
    assert told in str(raised.value)


@given(st.text(max_size=40) | st.builds("{} {}".format, st.sampled_from(list(FORMS)), st.text(max_size=30)))
def test_no_entry_does_anything_but_parse_or_tell(entry: str) -> None:
    try:
        edits = parse(entry, CONTEXT)
    except SchedError:
        return
    assert edits


@cache
def configuration() -> Configuration:
    return load_configuration(None, KubeVersion.parse("1.36"))


def scheduler(objects: Sequence[KubernetesObject], configured: Configuration | None = None) -> Scheduler:
    chosen = configured or configuration()
    options = scheduler_options(chosen.features.enabled, chosen.release)
    return Scheduler(chosen, build(objects, options)[0])


@cache
def demo() -> tuple[KubernetesObject, ...]:
    return tuple(read([str(DEMO)]).objects)


@cache
def decision(name: str) -> Decision:
    made = scheduler(demo())
    pod = next(item for item in demo() if isinstance(item, Pod) and item.name == name)
    return Decision(explanation_of(made.schedule_one(pod), made), made)


def edited(name: str, *entries: str) -> ScheduleResult:
    about = decision(name)
    edits = [edit for entry in entries for edit in parse(entry, context_of(about.explanation.result, "gpu-2"))]
    return about.with_edits(edits).result


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("tolerate gpu-", "the pod has no toleration gpu; it has none"),
        ("request gpu nvidia.com/gpu=1", "the pod has no container gpu; it has main"),
        ("request ephemeral-storage-", "container main asks for no ephemeral-storage"),
        ("label env-", "the pod has no label env"),
        ("select env-", "the pod's nodeSelector has no env"),
        ("taint gpu-2 env-", "taint gpu-2 env-: gpu-2 has no taint env"),
        ("cordon gpu-9", "no node matches gpu-9; near it: gpu-1, gpu-2, gpu-3"),
    ],
)
def test_an_edit_that_cannot_be_made_says_why(entry: str, told: str) -> None:
    with pytest.raises(SchedError) as raised:
        edited("web-0", entry)
    assert str(raised.value) == told


def test_ages_count_from_the_time_of_the_state_where_a_node_is_asked_for() -> None:
    ending = {"deletionTimestamp": "2026-06-01T03:00:00Z", "deletionGracePeriodSeconds": 30}
    made = scheduler([cluster_node(), cluster_pod("old", on="w1", metadata=ending, **requests(cpu="7"))])
    explained_one = explanation_of(made.schedule_one(cluster_pod(**requests(cpu="2"))), made)

    def advice(now: str) -> str:
        about = Decision(explained_one, made, now)
        return " ".join(each.text for each in about.suggestions(about.explanation, "w1"))

    assert "by 2026-06-01T03:00:00Z at the latest" in advice("2026-06-01T03:00:10Z")
    assert "should have ended by 2026-06-01T03:00:00Z" in advice("2026-06-01T04:00:00Z")


def test_a_pod_without_containers_requests_nothing() -> None:
    trial = Trial.of(with_cycle(decision("web-0").explanation.result))
    (edit,) = parse("request cpu=1", CONTEXT)
    with pytest.raises(SchedError, match=r"^the pod has no container$"):
        edit.applied(structs.replace(trial, pod=with_spec(trial.pod, containers=())))


def test_a_toleration_lets_the_pod_onto_a_tainted_node() -> None:
    control_plane = "tolerate node-role.kubernetes.io/control-plane:NoSchedule"
    assert "TaintToleration" in {status.plugin for status in edited("web-0").rejections(0)}
    assert "TaintToleration" not in {status.plugin for status in edited("web-0", control_plane).rejections(0)}
    with pytest.raises(SchedError, match=r"tolerates .* already"):
        edited("web-0", control_plane, control_plane)


def test_a_request_of_an_extended_resource_takes_its_limit_along() -> None:
    container = edited("web-0", "request nvidia.com/gpu=2").pod.spec.containers[0]
    assert container.resources.requests["nvidia.com/gpu"] == "2"
    assert container.resources.limits["nvidia.com/gpu"] == "2"


@pytest.mark.parametrize(
    ("quantity", "limit", "is_refused"), [("2", "1500m", True), ("1500m", "1.5", False), ("2", None, False)]
)
def test_a_request_is_no_higher_than_its_limit(quantity: str, limit: str | None, is_refused: bool) -> None:
    trial = Trial.of(with_cycle(decision("web-0").explanation.result))
    (first, *others) = trial.pod.spec.containers
    resources = structs.replace(first.resources, limits={} if limit is None else {"cpu": limit})
    limited = with_spec(trial.pod, containers=(structs.replace(first, resources=resources), *others))
    (edit,) = parse(f"request cpu={quantity}", CONTEXT)
    said = pytest.raises(SchedError, match=f"has a cpu limit of {limit}: request no more")
    with said if is_refused else nullcontext():
        edit.applied(structs.replace(trial, pod=limited))


def test_a_no_execute_taint_takes_pods_off_the_node() -> None:
    before = edited("web-0")
    after = edited("web-0", "taint gpu-2 drill=now:NoExecute", "tolerate drill", "request nvidia.com/gpu=8")
    row = before.nodes.row_of["gpu-2"]
    assert before.nodes.requested("nvidia.com/gpu")[row] == 6
    assert after.nodes.requested("nvidia.com/gpu")[row] == 0
    assert after.best == ("gpu-2",)


def test_edits_of_nodes_do_not_reach_the_result_they_began_from() -> None:
    before = explained(decision("web-0").explanation.result)
    edited("web-0", "cordon gpu-*", "label node gpu-1 pool=cpu")
    assert explained(decision("web-0").explanation.result) == before


ENTRIES = [
    "tolerate node-role.kubernetes.io/control-plane:NoSchedule",
    "tolerate gpu=true:NoSchedule",
    "request cpu=100m",
    "request cpu=6",
    "request memory=64Mi",
    "request nvidia.com/gpu=2",
    "request nvidia.com/gpu=1",
    "label app=other",
    "label tier=front",
    "select pool=gpu",
    "select pool=general",
    "taint gpu-* busy=yes:NoSchedule",
    "taint general-1 busy=yes:NoExecute",
    "taint general-2 busy:PreferNoSchedule",
    "tolerate busy",
    "label node general-2 pool=gpu",
    "label node gpu-3 pool-",
    "cordon gpu-2",
    "cordon general-*",
    "uncordon (pool=gpu)",
    "weight TaintToleration=9",
    "weight fit=7",
    "weight podtopologyspread=1",
]
PODS = st.sampled_from(["web-0", "api-5d9c7b8f6d-m7c5t", "batch-1"])


@given(PODS, st.lists(st.sampled_from(ENTRIES), min_size=1, max_size=5, unique=True))
@settings(deadline=None, max_examples=examples(60))
def test_an_edited_replay_is_the_explanation_of_the_edited_objects(name: str, entries: list[str]) -> None:
    result = edited(name, *entries)
    framework = with_cycle(result).framework
    pods = {pod.key: pod for pod in result.nodes.existing_pods.pods}
    objects: list[KubernetesObject] = [*result.nodes.node_objects, *pods.values(), result.pod]
    objects += (
        item
        for item in demo()
        if not isinstance(item, Node) and not (isinstance(item, Pod) and (item.spec.node_name or item.name == name))
    )
    profiles = {framework.profile.scheduler_name: framework.profile}
    fresh = scheduler(objects, structs.replace(configuration(), profiles=profiles)).schedule_one(result.pod)
    assert explained(result) == explained(fresh)


def explained(result: ScheduleResult) -> dict[str, Any]:
    """Everything that is said of a result; which nodes are listed first is not part of it."""
    return explanation_data(Explanation(result=result), decision_sentence(result))


@given(PODS, st.lists(st.sampled_from(ENTRIES[:8]), max_size=4, unique=True), st.integers(0, 6))
@settings(deadline=None, max_examples=examples(30))
def test_undo_takes_back_what_an_edit_made_and_redo_makes_it_again(name: str, entries: list[str], undos: int) -> None:
    views = [explorer_state.opened(decision(name).explanation)]
    for entry in entries:
        edits = (*views[-1].edits, *parse(entry, context_of(views[0].result, "gpu-2")))
        views.append(explorer_state.edited(views[-1], edits, decision(name).with_edits(edits)))
    view = views[-1]
    for step in range(undos):
        view = explorer_state.undone(view)
        assert view.present == views[max(len(entries) - step - 1, 0)].present
    for _ in range(undos):
        view = explorer_state.redone(view)
    assert view == views[-1]


def test_an_edit_after_an_undo_leaves_nothing_to_redo() -> None:
    result = decision("web-0").explanation
    first = explorer_state.edited(explorer_state.opened(result), parse("label a=b", CONTEXT), result)
    other = explorer_state.edited(explorer_state.undone(first), parse("label a=c", CONTEXT), result)
    assert explorer_state.redone(other) == other
    assert explorer_state.undone(other).present == explorer_state.opened(result).present


def test_two_nodes_are_marked_at_most_and_the_oldest_mark_goes() -> None:
    view = explorer_state.opened(decision("web-0").explanation)
    for node in ("gpu-1", "gpu-2", "gpu-3"):
        view = explorer_state.marked(view, node)
    assert view.marked == ("gpu-2", "gpu-3")
    assert explorer_state.marked(view, "gpu-2").marked == ("gpu-3",)


def test_a_gated_pod_is_edited_as_its_controller_would_let_it_go_and_stays_gated() -> None:
    (about,) = decisions("train-0", source=Path("fixtures/gates/check-ready-with-updates.yaml"), namespace="team-a")
    before = about.explanation.result
    assert before.pod.spec.node_selector == {"instance-type": "spot", "cloud.google.com/gke-nodepool": "pool-7"}
    assert (before.outcome, list(before.feasible)) == (Outcome.GATED, [])
    entry = parse("label node spot-1 cloud.google.com/gke-nodepool=pool-7", context_of(before, "spot-1"))
    after = about.with_edits(entry).result
    assert (after.outcome, after.best) == (Outcome.GATED, ("spot-1",))
