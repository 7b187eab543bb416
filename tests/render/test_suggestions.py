"""The effect of a change is stated only if a replay shows it, and the command does what was replayed."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubectl_sched.scheduler.schedule_one import schedule_one
from kubectl_sched.suggestions.change import Kind
from kubectl_sched.suggestions.suggestion import Scope
from kubectl_sched.suggestions.trial import Trial
from tests.examples import examples
from tests.plugins.clusters import node, pod, requests
from tests.render.worlds import explained, shown
from tests.scheduler.cycles import with_cycle

if TYPE_CHECKING:
    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.suggestions.suggestion import Suggestion

GPU_TAINT = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}
CORDON = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
BLUE = {"labelSelector": {"matchLabels": {"app": "blue"}}, "topologyKey": "rack"}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def spread(key: str) -> dict[str, Any]:
    constraint = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule"}
    return {"topologySpreadConstraints": [{**constraint, "labelSelector": {"matchLabels": {"app": "blue"}}}]}


def tolerating(**toleration: str) -> dict[str, Any]:
    return {"tolerations": [toleration]}


def host_port() -> dict[str, Any]:
    return {"containers": [{"name": "main", "ports": [{"containerPort": 80, "hostPort": 80}]}]}


UNREADY = {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}
BLUE_ON_W1 = pod("blue", on="w1", metadata={"labels": {"app": "blue"}})

CASES: dict[str, tuple[list[KubernetesObject], dict[str, Any], str]] = {
    "uncordon": (
        [node("w1", unschedulable=True, taints=[CORDON])],
        {},
        "after `kubectl uncordon w1` (whoever cordoned it wanted no new pods there).",
    ),
    "tolerate": (
        [node("w1", taints=[GPU_TAINT])],
        {},
        "with a toleration for dedicated=gpu:NoSchedule (only if the pod is meant to run there",
    ),
    "correct a toleration": (
        [node("w1", taints=[GPU_TAINT])],
        tolerating(key="dedicated", value="GPU", effect="NoSchedule"),
        "if it tolerated dedicated=gpu:NoSchedule, not only dedicated=GPU:NoSchedule.",
    ),
    "correct a value": (
        [node("w1", labels={"disk": "SSD"})],
        {"nodeSelector": {"disk": "ssd"}},
        "if its nodeSelector asked for disk=SSD instead of disk=ssd (the pod is re-created).",
    ),
    "correct a key": (
        [node("w1", labels={"disktype": "ssd"})],
        {"nodeSelector": {"disk-type": "ssd"}},
        "if its nodeSelector asked for disktype=ssd instead of disk-type=ssd (the pod is re-created).",
    ),
    "select less": (
        [node("w1")],
        {"nodeSelector": {"ssd": "yes"}},
        "without ssd=yes in its nodeSelector (the pod is re-created; it may then run on nodes without ssd=yes).",
    ),
    "leave out a key": (
        [node("w1", labels={"ssd": "no"})],
        {"nodeSelector": {"ssd": "yes"}},
        "without ssd=yes in its nodeSelector (the pod is re-created; it may then run on nodes without ssd=yes).",
    ),
    "request less": (
        [node("w1", allocatable={"cpu": "2", "memory": "4Gi", "pods": "10"})],
        requests(cpu="1", memory="6Gi"),
        (
            "if container main asked for 4Gi memory instead of 6Gi (the pod is re-created; it is then promised "
            "less memory, and is evicted or killed sooner when its node runs short)."
        ),
    ),
    "be near softly": (
        [node("w1"), node("w2"), BLUE_ON_W1],
        {"affinity": {"podAffinity": {REQUIRED: [BLUE]}}},
        "with its required pod affinity as a preference (the pod is re-created; it may then run far from",
    ),
    "spread softly over a key that is missing": (
        [node("w1")],
        spread("rack"),
        "with whenUnsatisfiable: ScheduleAnyway for rack (the pod is re-created; its pods may then be spread less",
    ),
    "spread softly": (
        [node("w1", labels={"zone": "a"}), node("w2", labels={"zone": "b"}, taints=[UNREADY]), BLUE_ON_W1],
        {**spread("zone"), "metadata": {"labels": {"app": "blue"}}},
        "with nodeTaintsPolicy: Honor for zone (the pod is re-created).",
    ),
    "free a port": (
        [node("w1"), pod("h", on="w1", **host_port())],
        host_port(),
        (
            "with hostPort 81 instead of 80 (the pod is re-created; whoever connects to port 80 of its node has "
            "to use 81)."
        ),
    ),
    "require less": (
        [node("w1", labels={"rack": "r"}), BLUE_ON_W1],
        {"affinity": {"podAntiAffinity": {REQUIRED: [BLUE]}}},
        "with its required pod anti-affinity as a preference",
    ),
}


def result_of(case: str) -> Explanation:
    objects, spec, _ = CASES[case]
    return explained([*objects, pod("web-0", **spec)])


@pytest.mark.parametrize("case", CASES)
def test_the_first_suggestion_is_the_mildest_change(case: str) -> None:
    first = result_of(case).suggestions[0]
    assert CASES[case][2] in first.text


@pytest.mark.parametrize("case", CASES)
def test_the_pod_fits_with_each_of_the_changes(case: str) -> None:
    result = result_of(case)
    for suggestion in result.suggestions:
        replayed = replay(result.result, suggestion)
        assert replayed.fits
        assert suggestion.nodes == replayed.best
        assert suggestion.feasible_count == len(replayed.feasible)


def replay(result: ScheduleResult, suggestion: Suggestion) -> ScheduleResult:
    trial = Trial.of(with_cycle(result)).changed(suggestion.changes)
    return schedule_one(trial.pod, trial.nodes, trial.framework)


@pytest.mark.parametrize(
    ("objects", "spec"),
    [
        ([node("w1")], requests(gpu="1")),
        (
            [node("w1", labels={"kubernetes.io/arch": "amd64"})],
            {"nodeSelector": {"topology.kubernetes.io/zone": "a", "kubernetes.io/arch": "arm64"}},
        ),
    ],
)
def test_nothing_is_suggested_that_would_not_help(objects: list[KubernetesObject], spec: dict[str, Any]) -> None:
    assert explained([*objects, pod("web-0", **spec)]).suggestions == ()


_LOCALLY = r"kubectl patch --local -f - -p '.*' -o json"
OWNERS = [
    (None, rf"kubectl get pod/web-0 -n default -o json \| {_LOCALLY} \| kubectl replace --force -f -"),
    ("Deployment", r"kubectl patch deployment/web -n default -p '.*'"),
    ("StatefulSet", r"kubectl patch statefulset/web -n default -p '.*' && kubectl delete pod/web-0 -n default"),
    ("DaemonSet", r"kubectl patch daemonset/web -n default -p '.*'"),
    ("ReplicaSet", r"kubectl patch replicaset/web -n default -p '.*' && kubectl delete pod/web-0 -n default"),
]


def owned(kind: str | None) -> dict[str, Any]:
    if kind is None:
        return {}
    name, real, labels = "web", kind, {}
    if kind == "Deployment":
        name, real, labels = "web-6f7d", "ReplicaSet", {"pod-template-hash": "6f7d"}
    owner = {"apiVersion": "apps/v1", "kind": real, "name": name, "uid": "u", "controller": True}
    return {"metadata": {"labels": labels, "ownerReferences": [owner]}}


@pytest.mark.parametrize(("kind", "pattern"), OWNERS, ids=[str(kind) for kind, _ in OWNERS])
def test_the_command_changes_what_made_the_pod(kind: str | None, pattern: str) -> None:
    result = explained([node("w1", labels={"disk": "SSD"}), pod("web-0", nodeSelector={"disk": "ssd"}, **owned(kind))])
    assert re.fullmatch(pattern, str(result.suggestions[0].commands[0]))


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("Job", "delete Job web and create it with its template changed by this patch"),
        ("Rollout", "change the template of Rollout web by this patch"),
    ],
)
def test_what_another_controller_makes_its_pods_of_is_changed_by_hand(kind: str, said: str) -> None:
    result = explained([node("w1", labels={"disk": "SSD"}), pod("web-0", nodeSelector={"disk": "ssd"}, **owned(kind))])
    first = result.suggestions[0]
    assert first.commands == ()
    (manual,) = first.manual
    assert manual.instruction == said
    assert json.loads(manual.document) == {"spec": {"nodeSelector": {"disk": "SSD"}}}


def test_a_pod_of_a_job_is_given_a_toleration_in_place() -> None:
    taint = {"key": "a.io/x", "effect": "NoSchedule"}
    result = explained([node("w1", taints=[taint]), pod("web-0", **owned("Job"))])
    first = result.suggestions[0]
    assert str(first.commands[0]).startswith("kubectl patch pod/web-0 ")
    assert (first.scope, first.recreates_pods) == (Scope.POD, False)


@pytest.mark.parametrize("limited", [True, False])
def test_a_pod_that_would_no_longer_be_guaranteed_is_said_not_to_be(limited: bool) -> None:
    amounts = {"cpu": "2", "memory": "1Gi"}
    resources = {"requests": amounts, **({"limits": amounts} if limited else {})}
    containers: dict[str, Any] = {"containers": [{"name": "main", "image": "nginx", "resources": resources}]}
    small = node("w1", allocatable={"cpu": "1", "memory": "8Gi", "pods": "10"})
    (less,) = (each for each in explained([small, pod("web-0", **containers)]).suggestions if each.changes[0].pod)
    assert ("no longer Guaranteed" in (less.caution or "")) == limited


def test_a_pod_of_the_same_controller_is_never_asked_to_go() -> None:
    rules = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "kubernetes.io/hostname"}
    away = {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [rules]}}}
    hostname = {"kubernetes.io/hostname": "w1"}
    fields: dict[str, Any] = {"metadata": {**owned("Deployment")["metadata"], "labels": {"app": "web"}}, **away}
    result = explained([node("w1", labels=hostname), pod("web-1", on="w1", **fields), pod("web-0", **fields)])
    assert [change.kind for each in result.suggestions for change in each.changes] == [Kind.ADD_NODE]


@pytest.mark.parametrize(
    "key",
    [
        "agentpool",
        "cloud.google.com/gke-nodepool",
        "eks.amazonaws.com/nodegroup",
        "karpenter.sh/nodepool",
        "kubernetes.azure.com/agentpool",
        "nvidia.com/gpu.product",
        "topology.ebs.csi.aws.com/zone",
        "topology.kubernetes.io/zone",
    ],
)
def test_a_label_that_is_not_peoples_own_is_not_put_on_a_node(key: str) -> None:
    result = explained([node("w1"), pod("web-0", nodeSelector={key: "a"})])
    assert all(change.kind is not Kind.LABEL for each in result.suggestions for change in each.changes)
    own = explained([node("w1"), pod("web-0", nodeSelector={"disk": "a"})])
    assert any(change.kind is Kind.LABEL for each in own.suggestions for change in each.changes)


def test_tolerations_that_admission_added_stay_out_of_the_command() -> None:
    added = {
        "key": "node.kubernetes.io/not-ready",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 300,
    }
    own = {"key": "a", "operator": "Exists"}
    result = explained([node("w1", taints=[GPU_TAINT]), pod("web-0", tolerations=[added, own], **owned("Deployment"))])
    words = shlex.split(str(result.suggestions[0].commands[0]))
    (patch,) = (json.loads(word) for word in words if word.startswith("{"))
    assert [each["key"] for each in patch["spec"]["template"]["spec"]["tolerations"]] == ["a", "dedicated"]


@settings(max_examples=examples(40), deadline=None)
@given(cpu=st.integers(1, 8000), used=st.integers(0, 4000), memory=st.integers(1, 2**34), taken=st.integers(0, 2**33))
def test_what_is_asked_for_less_is_as_much_as_fits(cpu: int, used: int, memory: int, taken: int) -> None:
    roomy = {"cpu": "4", "memory": "8Gi", "pods": "10"}
    other = pod("other", on="w1", **requests(cpu=f"{used}m", memory=str(taken)))
    result = explained(
        [node("w1", allocatable=roomy), other, pod("web-0", **requests(cpu=f"{cpu}m", memory=str(memory)))]
    )
    short = [cpu + used > 4000, memory + taken > 2**33]
    assert result.result.fits == (not any(short))
    if sum(short) == 1 and used < 4000 and 2**33 - taken >= 2**20:
        assert result.suggestions
        assert replay(result.result, result.suggestions[0]).fits


@pytest.mark.parametrize("case", ["correct a value", "request less", "free a port", "spread softly"])
def test_kubectl_itself_takes_the_patch(case: str, tmp_path: Any) -> None:
    import shutil

    if shutil.which("kubectl") is None:
        pytest.skip("needs kubectl")
    objects, spec, _ = CASES[case]
    words = shlex.split(str(explained([*objects, pod("web-0", **spec)]).suggestions[0].commands[0]))
    (patch,) = (word for word in words if word.startswith("{"))
    spec = {key: value for key, value in spec.items() if key != "metadata"}
    containers = [{"image": "x", **each} for each in spec.pop("containers", [{"name": "main"}])]
    manifest = tmp_path / "pod.json"
    whole = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web-0"},
        "spec": {"containers": containers, **spec},
    }
    manifest.write_text(json.dumps(whole))
    patched = subprocess.run(
        ["kubectl", "patch", "--local", "-f", str(manifest), "-p", patch, "-o", "json"],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    )
    assert patched.returncode == 0, patched.stderr
    assert json.loads(patched.stdout)["spec"] != whole["spec"]


@pytest.mark.parametrize("width", [80, 160, 100_000])
def test_a_command_in_a_sentence_stands_below_as_well(width: int) -> None:
    name = "node-with-a-name-as-long-as-clouds-give.example.com"
    result = explained([node(name, unschedulable=True), pod("web-0")])
    assert f"\n    kubectl uncordon {name}\n" in shown(result, width=width)
