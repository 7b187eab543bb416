from __future__ import annotations

from typing import Any

import pytest

from kubectl_sched.framework.cycle_state import CycleState, PluginError
from kubectl_sched.framework.status import SKIP
from kubectl_sched.plugins.node_declared_features import NodeDeclaredFeatures
from tests.plugins.clusters import explained, filtered, make, node, pod, reasons, snapshot

RESTARTS: dict[str, Any] = {
    "containers": [{"name": "main", "restartPolicyRules": [{"action": "RestartAllContainers", "exitCodes": {}}]}]
}
OWN_USERS: dict[str, Any] = {"hostNetwork": True, "hostUsers": False}
BIND_MOUNT: dict[str, Any] = {
    "containers": [{"name": "main", "volumeMounts": [{"name": "v", "bindMountOptions": ["noexec"]}]}]
}
FEATURES = {
    "RestartAllContainersOnContainerExits": RESTARTS,
    "UserNamespacesHostNetworkSupport": OWN_USERS,
    "VolumeBindMountOptions": BIND_MOUNT,
}
KNOWN_SINCE = {
    "RestartAllContainersOnContainerExits": 35,
    "UserNamespacesHostNetworkSupport": 36,
    "VolumeBindMountOptions": 37,
}


def plugin(version: str) -> NodeDeclaredFeatures:
    gates = {"NodeDeclaredFeatures": True} if version == "1.35" else {}
    return make(NodeDeclaredFeatures, version=version, **gates)


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("minor", [35, 36, 37])
def test_each_minor_infers_the_features_it_knows(minor: int, feature: str) -> None:
    nodes = snapshot(node("plain"), node("able", declaredFeatures=["Other", feature]))
    rejected = set(reasons(plugin(f"1.{minor}"), pod(**FEATURES[feature]), nodes))
    assert rejected == ({"plain"} if minor >= KNOWN_SINCE[feature] else set())


def test_the_reason_named_the_features_in_1_35() -> None:
    nodes = snapshot(node("w1"))
    named = "node declared features check failed - unsatisfied requirements: RestartAllContainersOnContainerExits"
    assert reasons(plugin("1.35"), pod(**RESTARTS), nodes) == {"w1": (named,)}
    assert reasons(plugin("1.36"), pod(**RESTARTS), nodes) == {"w1": ("node(s) didn't match Pod's required features",)}


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"hostNetwork": True},
        {"hostUsers": False},
        {"hostNetwork": True, "hostUsers": True},
        {"containers": [{"name": "main", "restartPolicyRules": [{"action": "Restart"}]}]},
    ],
)
def test_pods_that_need_nothing_special_are_skipped(spec: dict[str, Any]) -> None:
    assert filtered(plugin("1.36"), pod(**spec), snapshot(node())) == [SKIP]


def test_with_the_gate_off_it_skips() -> None:
    assert filtered(make(NodeDeclaredFeatures, version="1.35"), pod(**RESTARTS), snapshot(node())) == [SKIP]


def test_filter_without_prefilter_fails_in_upstream_s_words() -> None:
    words = 'error reading "PreFilterNodeDeclaredFeatures" from cycle-state: not found'
    with pytest.raises(PluginError, match=words):
        plugin("1.36").filter(CycleState(), pod(**RESTARTS), snapshot(node()))


def test_evidence_names_the_feature_and_its_reason() -> None:
    (text,), hints = explained(plugin("1.36"), pod(**OWN_USERS), snapshot(node()))
    assert text == (
        "does not declare the feature UserNamespacesHostNetworkSupport, "
        "needed as the pod has hostNetwork: true with hostUsers: false"
    )
    assert hints == ["no node declares UserNamespacesHostNetworkSupport"]
