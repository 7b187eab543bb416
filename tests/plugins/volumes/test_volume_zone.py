from __future__ import annotations

from typing import Any

import pytest

from kubectl_sched.framework.cycle_state import CycleState
from kubectl_sched.framework.status import SKIP, Code
from kubectl_sched.plugins.volume_zone import VolumeZone
from tests.plugins.clusters import all_rows, explained, filtered, make, node, pod, reasons, snapshot
from tests.plugins.storage_objects import ZONE, claim, node_in, storage_class, using, volume

BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
REJECTED = {"w1": ("node(s) had no available volume zone",)}


@pytest.mark.parametrize(
    ("of_volume", "of_node", "fits"),
    [
        ({ZONE: "a"}, {ZONE: "a"}, True),
        ({ZONE: "a"}, {ZONE: "b"}, False),
        ({ZONE: "a__b"}, {ZONE: "b"}, True),
        ({ZONE: "a__"}, {ZONE: "b"}, True),
        ({BETA_ZONE: "a"}, {ZONE: "a"}, True),
        ({ZONE: "a"}, {BETA_ZONE: "a"}, False),
        ({ZONE: "a"}, {REGION: "r"}, False),
        ({ZONE: "a"}, {}, True),
        ({ZONE: "a", REGION: "r"}, {ZONE: "a", REGION: "s"}, False),
    ],
)
def test_the_zones_of_the_volume_s_labels_bind_the_pod(
    of_volume: dict[str, str], of_node: dict[str, str], fits: bool
) -> None:
    nodes = snapshot(node(labels=of_node), claim("data", to="pv"), volume("pv", metadata={"labels": of_volume}))
    assert reasons(make(VolumeZone), pod(**using("data")), nodes) == ({} if fits else REJECTED)


def test_it_is_said_where_the_volume_and_the_node_are() -> None:
    labels = {"labels": {ZONE: "a__b"}}
    nodes = snapshot(node_in("c"), node(labels={REGION: "r"}), claim("data", to="pv"), volume("pv", metadata=labels))
    plugin, incoming = make(VolumeZone), pod(**using("data"))
    assert explained(plugin, incoming, nodes)[0] == ["is in zone c; volume pv (claim data) is in a or b"]
    assert explained(plugin, incoming, nodes, row=1)[0] == [f"has no label {ZONE}; volume pv (claim data) is in a or b"]


@pytest.mark.parametrize(
    ("objects", "reason", "told"),
    [
        ([], 'persistentvolumeclaim "data" not found', "no PersistentVolumeClaim was read"),
        ([claim("other")], 'persistentvolumeclaim "data" not found', ""),
        ([claim("data", to="pv")], 'persistentvolume "pv" not found', "no PersistentVolume was read"),
        ([claim("data", to="pv"), volume("other")], 'persistentvolume "pv" not found', ""),
        ([claim("data", storageClassName=None)], "PersistentVolumeClaim had no pv name and storageClass name", ""),
        ([claim("data")], 'storageclass.storage.k8s.io "slow" not found', "no StorageClass was read"),
        (
            [claim("data"), storage_class(volumeBindingMode=None)],
            'VolumeBindingMode not set for StorageClass "slow"',
            "",
        ),
        ([claim("data"), storage_class(volumeBindingMode="Immediate")], "PersistentVolume had no name", ""),
    ],
)
def test_a_volume_that_cannot_be_found_stops_the_pod(objects: list[Any], reason: str, told: str) -> None:
    plugin, nodes, incoming = make(VolumeZone), snapshot(node(), *objects), pod(**using("data"))
    status = plugin.pre_filter(CycleState(), incoming, nodes).status
    assert (status.code, status.reasons) == (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (reason,))
    assert plugin.filter(CycleState(), incoming, nodes)[0] == status
    evidence = plugin.explain_pre_filter(CycleState(), incoming, nodes)
    assert [each.text for each in evidence] == [f"the zone of claim default/data cannot be told: {told or reason}"]


@pytest.mark.parametrize(
    "objects", [[claim("data"), storage_class()], [claim("data", to="pv"), volume("pv")], [claim("data", to="pv")]]
)
def test_pods_are_skipped_whose_volumes_are_in_no_zone(objects: list[Any]) -> None:
    nodes = snapshot(node(), *objects, volume("pv"))
    assert filtered(make(VolumeZone), pod(**using("data")), nodes) == [SKIP]


def test_nodes_are_summed_up_by_the_volume_that_is_elsewhere() -> None:
    labels = {"labels": {ZONE: "a__b"}}
    nodes = snapshot(node_in("c"), node_in("d"), claim("data", to="pv"), volume("pv", metadata=labels))
    plugin, state, incoming = make(VolumeZone), CycleState(), pod(**using("data"))
    plugin.pre_filter(state, incoming, nodes)
    clause = plugin.summarize(state, incoming, nodes, all_rows(nodes))
    assert clause == "are not in zone a or b of volume pv (claim data)"
