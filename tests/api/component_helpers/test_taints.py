from __future__ import annotations

import pytest

from kubectl_sched.api.affinity import Toleration
from kubectl_sched.api.component_helpers.taints import Tolerations, tolerates
from kubectl_sched.api.core import Taint

DEDICATED = Taint(key="dedicated", value="gpu", effect="NoSchedule")


def toleration(operator: str = "", key: str = "", value: str = "", effect: str = "") -> Toleration:
    return Toleration(key=key, operator=operator, value=value, effect=effect)


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (toleration("Exists"), True),
        (toleration("Exists", effect="NoSchedule"), True),
        (toleration("Exists", effect="NoExecute"), False),
        (toleration("Exists", "dedicated"), True),
        (toleration("Exists", "other"), False),
        (toleration("Equal", "dedicated", "gpu"), True),
        (toleration("", "dedicated", "gpu", "NoSchedule"), True),
        (toleration("Equal", "dedicated", "cpu"), False),
        (toleration("Equal", "", "gpu"), True),
        (toleration("exists", "dedicated"), False),
    ],
)
def test_tolerates(asked: Toleration, answer: bool) -> None:
    assert tolerates(asked, DEDICATED) is answer


@pytest.mark.parametrize(
    ("operator", "wanted", "has", "answer"),
    [
        ("Gt", "5", "6", True),
        ("Gt", "5", "5", False),
        ("Lt", "5", "4", True),
        ("Lt", "5", "-4", True),
        ("Lt", "5", "5", False),
        ("Gt", "007", "8", False),
        ("Gt", "7", "08", False),
        ("Gt", "-0", "8", False),
        ("Gt", "+5", "8", False),
        ("Gt", "", "8", False),
        ("Gt", "5", "x", False),
        ("Lt", "99999999999999999999", "5", False),
    ],
)
def test_compares_numbers_only_with_the_feature(operator: str, wanted: str, has: str, answer: bool) -> None:
    taint = Taint(key="sla", value=has, effect="NoSchedule")
    asked = toleration(operator, "sla", wanted)
    assert tolerates(asked, taint, compare=True) is answer
    assert not tolerates(asked, taint)


def test_finds_the_first_taint_that_keeps_the_pod_off() -> None:
    soft = Taint(key="soft", effect="PreferNoSchedule")
    evicting = Taint(key="evicting", effect="NoExecute")
    taints = (soft, DEDICATED, evicting)
    assert Tolerations(each=()).first_untolerated(taints) == DEDICATED
    assert Tolerations(each=(toleration("Exists", "dedicated"),)).first_untolerated(taints) == evicting
    assert Tolerations(each=(toleration("Exists"),)).first_untolerated(taints) is None


def test_counts_what_the_pod_would_rather_avoid() -> None:
    taints = tuple(Taint(key=key, effect="PreferNoSchedule") for key in "abc")
    tolerations = (toleration("Exists", "a"), toleration("Exists", "b", effect="NoSchedule"))
    counted = Tolerations(each=tolerations).of_prefer_no_schedule()
    assert counted.each == tolerations[:1]
    assert counted.count_intolerable((*taints, DEDICATED)) == 2
