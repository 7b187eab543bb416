"""Feature gates, as kube-scheduler's --feature-gates takes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_sched.config import SUPPORTED, FeatureGateError, Features, KubeVersion, parse_feature_gates
from kubectl_sched.config.features import gates_of_scheduler, known_gate, known_gates, row_of

versions = st.sampled_from(SUPPORTED)


@pytest.mark.parametrize(
    ("name", "states"),
    [
        ("DynamicResourceAllocation", {"1.25": None, "1.26": "Alpha-", "1.32": "Beta-", "1.34": "GA+", "1.36": "GA+!"}),
        ("StorageCapacityScoring", {"1.32": None, "1.33": "Alpha-", "1.36": "Alpha-", "1.37": "Beta+"}),
        ("SidecarContainers", {"1.27": None, "1.28": "Alpha-", "1.29": "Beta+", "1.36": "GA+!", "1.37": None}),
    ],
)
def test_gates_change_by_minor(name: str, states: dict[str, str | None]) -> None:
    def shown(version: str) -> str | None:
        gate = known_gate(name, KubeVersion.parse(version))
        return None if gate is None else f"{gate.stage}{'+' if gate.default else '-'}{'!' if gate.locked else ''}"

    assert {version: shown(version) for version in states} == states


def test_a_feature_is_off_before_its_gate_and_stays_on_after_it() -> None:
    assert [Features.for_version(version).enabled("SidecarContainers") for version in SUPPORTED] == [
        version >= KubeVersion(1, 29) for version in SUPPORTED
    ]


def test_what_never_was_a_gate_cannot_be_asked() -> None:
    with pytest.raises(KeyError):
        Features.for_version(SUPPORTED[-1]).enabled("NoSuchThing")


@pytest.mark.parametrize(
    ("text", "gates"),
    [
        ("", {}),
        ("A=true,B=false", {"A": True, "B": False}),
        (" A = T ,, B=0,", {"A": True, "B": False}),
        ("kube:A=T, kube : B=0", {"A": True, "B": False}),
        (":A=true", {"A": True}),
        ("A=true,A=false", {"A": False}),
    ],
)
def test_the_flag_is_read(text: str, gates: dict[str, bool]) -> None:
    assert parse_feature_gates(text) == gates


@pytest.mark.parametrize(
    ("text", "upstream"),
    [
        ("A", "missing bool value for A"),
        ("A=true,other:B=true", "component not registered: other"),
        (
            "A=true,kube:B=true",
            "set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use",
        ),
        ("A=maybe", 'invalid value of A=maybe, err: strconv.ParseBool: parsing "maybe": invalid syntax'),
    ],
)
def test_the_flag_is_refused(text: str, upstream: str) -> None:
    with pytest.raises(FeatureGateError) as refused:
        parse_feature_gates(text)
    assert refused.value.reason == upstream


@pytest.mark.parametrize(
    ("version", "overrides", "upstream", "advice"),
    [
        ("1.36", {"Nope": True}, "unrecognized feature gate: Nope", ""),
        ("1.36", {"SidecarContainer": True}, "unrecognized feature gate: SidecarContainer", "mean SidecarContainers?"),
        ("1.37", {"SidecarContainers": True}, "unrecognized feature gate: SidecarContainers", "until 1.36"),
        ("1.33", {"GangScheduling": True}, "unrecognized feature gate: GangScheduling", "from 1.35"),
        (
            "1.36",
            {"DynamicResourceAllocation": False},
            "cannot set feature gate DynamicResourceAllocation to false, feature is locked to true",
            "",
        ),
        (
            "1.36",
            {"GangScheduling": True},
            "GangScheduling is enabled, but depends on features that are disabled: [GenericWorkload]",
            "",
        ),
    ],
)
def test_gates_are_refused(version: str, overrides: dict[str, bool], upstream: str, advice: str) -> None:
    with pytest.raises(FeatureGateError) as refused:
        Features.for_version(KubeVersion.parse(version), overrides)
    assert refused.value.reason == upstream
    assert advice in refused.value.advice


def test_dependencies_are_not_checked_before_1_35() -> None:
    features = Features.for_version(
        KubeVersion(1, 34), {"DRAExtendedResource": True, "DynamicResourceAllocation": False}
    )
    assert features.enabled("DRAExtendedResource")


@given(versions)
def test_all_alpha_turns_alpha_gates_on_but_not_those_named(version: KubeVersion) -> None:
    alpha = [gate.name for gate in known_gates(version) if gate.stage == "Alpha"]
    features = Features(version, Features.for_version(version, {"AllAlpha": False, alpha[0]: True}).switched)
    assert features.enabled(alpha[0])
    assert not any(features.enabled(name) for name in alpha[1:])


@given(versions)
def test_every_default_is_accepted_as_an_override_and_changes_nothing(version: KubeVersion) -> None:
    gates = known_gates(version)
    usual = Features.for_version(version)
    spelled = Features.for_version(version, {gate.name: gate.default for gate in gates})
    assert [spelled.enabled(gate.name) for gate in gates] == [usual.enabled(gate.name) for gate in gates]


def test_the_table_names_known_gates() -> None:
    rows = {gate.name: row_of(gate.name) for version in SUPPORTED for gate in known_gates(version)}
    needed = {
        name for row in rows.values() for change in row.dependencies.split() for name in change[3:].split(",") if name
    }
    assert len(needed) > 10
    assert needed <= set(rows)
    assert {row.reader for row in rows.values()} == {"", "scheduler"}
    assert len(gates_of_scheduler()) > 50
