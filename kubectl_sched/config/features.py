"""Feature gates of each minor, their defaults, and their values under `--feature-gates`.

Answers to k8s.io/component-base/featuregate/feature_gate.go; the table is feature_gates.txt.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from kubectl_sched.config.refusal import FeatureGateError
from kubectl_sched.config.versions import KubeVersion
from kubectl_sched.data_lines import data_lines

Stage: TypeAlias = Literal["Alpha", "Beta", "GA", "Deprecated"]

_TABLE: Final = Path(__file__).with_name("feature_gates.txt")
_STAGES: Final[dict[str, Stage]] = {"A": "Alpha", "B": "Beta", "G": "GA", "D": "Deprecated"}
_ALL: Final[dict[str, Stage]] = {"AllAlpha": "Alpha", "AllBeta": "Beta"}
_CHECKS_DEPENDENCIES: Final = KubeVersion(1, 35)
_COMPONENT: Final = "kube"
TRUE: Final = frozenset({"1", "t", "T", "TRUE", "true", "True"})
"""The words that Go's strconv.ParseBool takes for true."""

_FALSE: Final = frozenset({"0", "f", "F", "FALSE", "false", "False"})


class Row(NamedTuple):
    """A line of the table: changes and dependencies by minor, and a mark of the gates that the scheduler reads."""

    changes: str
    dependencies: str = ""
    reader: str = ""


class Gate(msgspec.Struct, frozen=True):
    """One gate in one minor."""

    name: str
    stage: Stage
    default: bool
    locked: bool = False


class Features(msgspec.Struct, frozen=True):
    """The features that are on. Make one with `for_version`."""

    version: KubeVersion
    switched: Mapping[str, bool] = {}
    """The gates that --feature-gates sets, AllAlpha and AllBeta spelled out."""

    @classmethod
    def for_version(cls, version: KubeVersion, overrides: Mapping[str, bool] | None = None) -> Features:
        """Return the features of `version` with `overrides`; raise FeatureGateError for what is refused."""
        features = cls(version, _switched(version, overrides or {}))
        if overrides and version >= _CHECKS_DEPENDENCIES:
            _check_dependencies(features)
        return features

    def enabled(self, name: str) -> bool:
        """Report whether a feature is on: off before its gate exists, as it last was after the gate is gone.

        A name that never was a gate is a KeyError, as it is a panic upstream.
        """
        switched = self.switched.get(name)
        return _last_default(name, self.version) if switched is None else switched


def known_gate(name: str, version: KubeVersion) -> Gate | None:
    """Return a gate as `version` knows it, None if it does not."""
    state = _state(row_of(name).changes, version) if name in _lines() else ""
    if state in {"", "x"}:
        return None
    return Gate(name, _STAGES[state[0]], state[1] == "+", state.endswith("!"))


def known_gates(version: KubeVersion) -> tuple[Gate, ...]:
    """Return every gate of kube-scheduler's binary in `version`, by name, without AllAlpha and AllBeta."""
    return tuple(gate for name in _lines() if (gate := known_gate(name, version)) is not None)


def parse_feature_gates(text: str) -> dict[str, bool]:
    """Read `A=true,B=false` as kube-scheduler's flag does; raise FeatureGateError for what it cannot read."""
    gates: dict[str, bool] = {}
    for item in _of_kubernetes(text):
        name, equals, value = (part.strip() for part in item.partition("="))
        if not equals:
            raise FeatureGateError(f"missing bool value for {name}", f"write {name}=true or {name}=false")
        if value not in TRUE | _FALSE:
            raise FeatureGateError(
                f'invalid value of {name}={value}, err: strconv.ParseBool: parsing "{value}": invalid syntax'
            )
        gates[name] = value in TRUE
    return gates


def _of_kubernetes(text: str) -> list[str]:
    """Return the items without the component that they may begin with, which must be Kubernetes itself."""
    by_component: dict[str, list[str]] = {}
    for item in filter(None, text.split(",")):
        component, colon, gate = item.partition(":")
        by_component.setdefault(component.strip() if colon else "", []).append(gate if colon else item)
    for component in by_component:
        if component not in {"", _COMPONENT}:
            advice = f"write the gates of kube-scheduler without a component, or with {_COMPONENT}:"
            raise FeatureGateError(f"component not registered: {component}", advice)
    if len(by_component) > 1:
        raise FeatureGateError(
            f"set {_COMPONENT} feature gates with default empty prefix or {_COMPONENT}: prefix consistently, "
            "do not mix use"
        )
    return [item for items in by_component.values() for item in items]


def gates_of_scheduler() -> tuple[str, ...]:
    """Return the gates that the scheduler or one of its plugins reads; others change nothing here."""
    return tuple(name for name in _lines() if row_of(name).reader)


@cache
def _lines() -> dict[str, str]:
    """Read the table: by gate the rest of its line."""
    return dict(line.split(" | ", 1) for line in data_lines(_TABLE))


@cache
def row_of(name: str) -> Row:
    """Return a gate's row. A name that never was a gate is a KeyError."""
    return Row(*(cell.strip() for cell in _lines()[name].split("|")))


class _Change(NamedTuple):
    """A change of a row's cell: the release that brings it, and what holds from there on."""

    since: KubeVersion
    state: str


@cache
def _changes(cell: str) -> tuple[_Change, ...]:
    """Return the changes of a cell, oldest first; one that names no patch release came with the first one."""
    found = (re.fullmatch(r"(\d\d)(?:\.(\d+))?(\S+)", change) for change in cell.split())
    return tuple(_Change(KubeVersion(1, int(each[1]), int(each[2] or 0)), each[3]) for each in found if each)


def _state(cell: str, version: KubeVersion) -> str:
    """Return the last change up to a version, such as `B-` or `:GateThatItNeeds`; empty before the first.

    A minor without a patch means its newest one.
    """
    state = ""
    for change in _changes(cell):
        if change.since > version and (version.names_patch or change.since.of_minor > version):
            break
        state = change.state
    return state


@cache
def _last_default(name: str, version: KubeVersion) -> bool:
    """Return a gate's default, off before it exists and as it last was once it is gone."""
    cell = row_of(name).changes
    state = _state(cell, version)
    if state == "x":
        state = _changes(cell)[-2].state
    return state[1:2] == "+"


def _switched(version: KubeVersion, overrides: Mapping[str, bool]) -> dict[str, bool]:
    """Check each override and spell AllAlpha and AllBeta out for the gates that are not named themselves."""
    errors: list[str] = []
    for name, on in overrides.items():
        gate = known_gate(name, version)
        if name in _ALL:
            continue
        if gate is None:
            raise FeatureGateError(f"unrecognized feature gate: {name}", _hint(name, version))
        if gate.locked and gate.default != on:
            errors.append(f"cannot set feature gate {name} to {_go(on)}, feature is locked to {_go(gate.default)}")
    _raise_aggregated(errors)
    switched = {
        gate.name: overrides[everything]
        for everything, stage in _ALL.items()
        if everything in overrides
        for gate in known_gates(version)
        if gate.stage == stage
    }
    return {**switched, **overrides}


def _check_dependencies(features: Features) -> None:
    errors: list[str] = []
    for name in _lines():
        needs = _state(row_of(name).dependencies, features.version).removeprefix(":")
        if not needs or known_gate(name, features.version) is None or not features.enabled(name):
            continue
        off = [need for need in needs.split(",") if not features.enabled(need)]
        if off:
            errors.append(f"{name} is enabled, but depends on features that are disabled: [{' '.join(off)}]")
    _raise_aggregated(errors)


def _raise_aggregated(errors: list[str]) -> None:
    """Raise what upstream aggregates: one error as it is, several in brackets."""
    if errors:
        raise FeatureGateError(errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]")


def _hint(name: str, version: KubeVersion) -> str:
    """Say when Kubernetes has such a gate, or which name was meant."""
    if name in _lines():
        first, last = (_changes(row_of(name).changes)[end].since for end in (0, -1))
        since = f"from {_named(first)}" if first > version else f"until 1.{last.minor - 1}"
        return f"Kubernetes has it {since}, this is {version}"
    from difflib import get_close_matches

    near = get_close_matches(name, [gate.name for gate in known_gates(version)], n=1)
    return f"did you mean {near[0]}?" if near else ""


def _named(version: KubeVersion) -> KubeVersion:
    """Return the minor for its first patch release."""
    return version if version.patch else version.of_minor


def _go(value: bool) -> str:
    return "true" if value else "false"
