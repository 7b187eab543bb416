"""Texts of other components: each is known, told apart from kube-scheduler's, and found in what people paste."""

from __future__ import annotations

import re

import pytest

from kubectl_sched.diagnostics.messages.component_statements import statements_in
from kubectl_sched.diagnostics.messages.decoder import parse
from kubectl_sched.diagnostics.messages.other_components import (
    component_reasons,
    entry_named,
    longest_literal,
    pattern_of,
)
from kubectl_sched.diagnostics.messages.reason_catalogue import all_reasons
from kubectl_sched.errors import SchedError
from tests.program import run

REASONS = list(component_reasons())
SPELLINGS = [(reason, spelling) for reason in REASONS for spelling in reason.spellings]


SAID_BY_BOTH = {'storageclass.storage.k8s.io "<name>" not found'}


def sample(spelling: str) -> str:
    """A text of this spelling."""
    return re.sub(r"<(\.\.\.|[a-z_]+)>", "x", spelling)


def test_a_spelling_is_taken_for_its_own_reason() -> None:
    for reason, spelling in SPELLINGS:
        if spelling == "pod didn't trigger scale-up":
            continue  # its reasons follow and are said one by one
        (statement,) = statements_in(f"Warning: {sample(spelling)}")
        assert statement.component == reason.component, spelling
        assert statement.meaning is not None, spelling
        assert statement.meaning.name == reason.name, spelling
        for text in (statement.meaning.says, statement.meaning.helps):
            assert not re.search(r"[{}]|  | [,.;:]|[ :=]$", text), text


def test_each_entry_says_something() -> None:
    for reason in REASONS:
        assert reason.spellings, reason.title
        for text in (reason.component, reason.says, reason.how, reason.upstream):
            assert text, reason.title
        assert reason.how.endswith("."), reason.title
        assert not reason.says.endswith("."), reason.title
        assert not reason.helps.endswith("."), reason.title
        for spelling in reason.spellings:
            assert len(longest_literal(spelling)) > 5, spelling


def test_each_place_of_a_spelling_is_bounded() -> None:
    """No part of a pattern repeats without a bound, and no spelling has two places of several words in a row."""
    for _, spelling in SPELLINGS:
        assert not re.search(r"(?<!\\)[*+]", pattern_of(spelling).pattern), spelling


@pytest.mark.parametrize(
    "text", ["x" * 16_000, "incompatible requirements, " * 500, "usage per " * 1_600, '"' * 16_000]
)
def test_a_hostile_text_has_at_most_fifty_statements(text: str) -> None:
    assert len(statements_in(f"maximum {text}")) <= 50


DESCRIBED = """
  Type     Reason              Age  From                     Message
  ----     ------              ---- ----                     -------
  Warning  FailedScheduling    12m  default-scheduler        0/3 nodes are available: 3 Insufficient cpu.
  Normal   NotTriggerScaleUp   10m  cluster-autoscaler       pod didn't trigger scale-up: 2 Insufficient cpu, 1 max node group size reached
  Warning  FailedScheduling    5m   karpenter                Failed to schedule pod, incompatible with nodepool "gpu", did not tolerate taint (taint=gpu:NoSchedule); incompatible with nodepool "default", incompatible requirements, label "tier" does not have known values
  Warning  FailedAttachVolume  2m   attachdetach-controller  Multi-Attach error for volume "pvc-1" Volume is already used by pod(s) web-1, web-2
  Warning  FailedMount         1m   kubelet                  MountVolume.SetUp failed for volume "cert" : secret "tls" not found
"""  # noqa: E501 - as kubectl prints it


def test_all_components_of_one_description_are_told_apart() -> None:
    said = [
        (each.component, each.groups, each.meaning.name if each.meaning else None) for each in statements_in(DESCRIBED)
    ]
    assert said == [
        ("cluster-autoscaler", 2, "InsufficientResource"),
        ("cluster-autoscaler", 1, "GroupIsAtItsMaximum"),
        ("Karpenter", None, "TaintOfTheNodePool"),
        ("Karpenter", None, "LabelNoNodePoolHas"),
        ("attachdetach-controller", None, "VolumeIsAttachedElsewhere"),
        ("kubelet", None, "ObjectForAVolumeIsMissing"),
    ]
    assert [clause.text for clause in parse(DESCRIBED).clauses] == ["Insufficient cpu"]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (
            "Pod was rejected: Node didn't have enough resource: cpu, requested: 500, used: 3803, capacity: 3920",
            ("cpu", "500", "3803", "3920"),
        ),
        (
            (
                'Error creating: pods "q-1" is forbidden: exceeded quota: compute, requested: requests.cpu=2, '
                "used: requests.cpu=9, limited: requests.cpu=10"
            ),
            ("compute", "requests.cpu=2", "requests.cpu=9 of requests.cpu=10"),
        ),
        (
            (
                'failed to provision volume with StorageClass "gp2": error generating accessibility requirements: '
                "no topology key found on CSINode ip-1"
            ),
            ("ip-1", "CSI driver"),
        ),
        ('storageclass.storage.k8s.io "fast" not found', ("fast",)),
        (
            (
                "couldn't assign flavors to pod set main: insufficient quota for cpu in flavor spot, previously "
                "considered podsets requests (0) + current podset request (64) > maximum capacity (32)"
            ),
            ("cpu", "spot", "64"),
        ),
        (
            (
                'Failed to schedule pod, incompatible with nodepool "a", unsatisfiable topology constraint for '
                "topology spread, key=topology.kubernetes.io/zone (counts = map[a:3 b:1], podDomains = x"
            ),
            ("topology.kubernetes.io/zone", "spread"),
        ),
        (
            (
                "Allocate failed due to not enough cpus available to satisfy request: requested=8, available=6, "
                "which is unexpected"
            ),
            ("8 CPUs", "6 are left"),
        ),
        (
            (
                'Pod resize Infeasible: {"error":"Node didn\'t have enough capacity: cpu, requested: 64000, '
                'capacity: 16000"}'
            ),
            ("never grant",),
        ),
        (
            (
                "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor a100, "
                "4 more needed"
            ),
            ("4 more", "nvidia.com/gpu", "a100"),
        ),
    ],
)
def test_a_meaning_has_the_names_and_numbers_of_its_text(text: str, facts: tuple[str, ...]) -> None:
    (statement,) = statements_in(text)
    assert statement.meaning is not None
    for fact in facts:
        assert fact in statement.meaning.says


def test_a_text_of_kube_scheduler_is_none_of_another_component() -> None:
    assert statements_in("0/3 nodes are available: 1 Too many pods, 2 node(s) had untolerated taint {a: b}.") == ()
    for reason in all_reasons():
        for spelling in reason.spellings:
            if spelling not in SAID_BY_BOTH:
                assert statements_in(sample(spelling)) == (), spelling


def test_a_name_is_that_of_one_entry() -> None:
    names = [*(each.name for each in REASONS), *(each.name for each in all_reasons())]
    assert len(names) == len(set(names))
    for reason in REASONS:
        assert entry_named(reason.name) is reason


def test_the_status_of_a_refused_pod_is_a_message() -> None:
    """`kubectl get pods` shows it in place of the text."""
    shown = run("explain", "message", "OutOfcpu")
    assert shown.returncode == 0
    assert "the kubelet refused the pod after it was bound" in " ".join(shown.stdout.split())
    several = run("message", "UnexpectedAdmissionError")
    assert (several.returncode, "NoHealthyDevices" in several.stderr) == (2, True)


def test_kube_scheduler_is_not_told_apart_from_itself() -> None:
    said = run("message", "Preempted by pod 5a8e on node n1").stdout
    assert "kube-scheduler says:" in said


def test_an_entry_is_found_by_the_reason_of_its_event() -> None:
    assert entry_named("OutOfcpu").title == "Kubelet is out of a resource"
    assert entry_named("TopologyAffinityError").title == "NUMA nodes do not fit"
    with pytest.raises(SchedError, match="VolumeIsAttachedElsewhere, VolumeWaitsForItsOldNode"):
        entry_named("FailedAttachVolume")
    with pytest.raises(SchedError, match="near it: QuotaExceeded"):
        entry_named("QuotaExceded")
