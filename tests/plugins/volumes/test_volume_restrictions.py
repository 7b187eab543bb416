from __future__ import annotations

from typing import Any

import pytest

from kubectl_sched.framework.cycle_state import CycleState
from kubectl_sched.framework.status import SKIP, Code
from kubectl_sched.plugins.volume_restrictions import PRE_FILTER_STATE, VolumeRestrictions
from tests.plugins.clusters import all_rows, explained, filtered, make, node, pod, reasons, snapshot
from tests.plugins.storage_objects import claim, using

NO_DISK = ("node(s) had no available disk",)
IN_USE = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
)


def mounting(**source: Any) -> dict[str, Any]:
    return {"volumes": [{"name": "data", **source}]}


@pytest.mark.parametrize(
    ("wanted", "mounted", "conflict"),
    [
        ({"gcePersistentDisk": {"pdName": "d"}}, {"gcePersistentDisk": {"pdName": "d"}}, True),
        ({"gcePersistentDisk": {"pdName": "d"}}, {"gcePersistentDisk": {"pdName": "e"}}, False),
        (
            {"gcePersistentDisk": {"pdName": "d", "readOnly": True}},
            {"gcePersistentDisk": {"pdName": "d", "readOnly": True}},
            False,
        ),
        ({"gcePersistentDisk": {"pdName": "d", "readOnly": True}}, {"gcePersistentDisk": {"pdName": "d"}}, True),
        (
            {"awsElasticBlockStore": {"volumeID": "d", "readOnly": True}},
            {"awsElasticBlockStore": {"volumeID": "d", "readOnly": True}},
            True,
        ),
        ({"iscsi": {"iqn": "q", "lun": 0}}, {"iscsi": {"iqn": "q", "lun": 1, "readOnly": True}}, True),
        ({"rbd": {"monitors": ["a", "b"], "image": "i"}}, {"rbd": {"monitors": ["b"], "image": "i"}}, True),
        ({"rbd": {"monitors": ["a"], "image": "i"}}, {"rbd": {"monitors": ["b"], "image": "i"}}, False),
        ({"rbd": {"monitors": ["a"], "image": "i"}}, {"rbd": {"monitors": ["a"], "image": "j"}}, False),
        ({"gcePersistentDisk": {"pdName": "d"}}, {"awsElasticBlockStore": {"volumeID": "d"}}, False),
    ],
)
def test_a_disk_of_another_pod_on_the_node_is_in_the_way(
    wanted: dict[str, Any], mounted: dict[str, Any], conflict: bool
) -> None:
    nodes = snapshot(node("w1"), node("w2"), pod("other", on="w1", **mounting(**mounted)))
    found = reasons(make(VolumeRestrictions), pod(**mounting(**wanted)), nodes)
    assert found == ({"w1": NO_DISK} if conflict else {})


def test_it_is_said_who_mounts_the_disk_and_who_would_write() -> None:
    disk = {"gcePersistentDisk": {"pdName": "d", "readOnly": True}}
    writer = pod("other", on="w1", **mounting(gcePersistentDisk={"pdName": "d"}))
    texts, hints = explained(make(VolumeRestrictions), pod(**mounting(**disk)), snapshot(node(), writer))
    assert texts == ["has default/other, which mounts gcePersistentDisk d, too"]
    assert hints == ["pods of one node share such a disk only read-only; default/other would write"]


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("1.33", ("node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode",)),
        ("1.34", IN_USE),
        ("1.37", IN_USE),
    ],
)
def test_a_read_write_once_pod_claim_in_use_rejects_every_node(version: str, reason: tuple[str, ...]) -> None:
    user = pod("other", on="w1", **using("data"))
    nodes = snapshot(node("w1"), node("w2"), claim("data", accessModes=["ReadWriteOncePod"]), user, version=version)
    plugin = make(VolumeRestrictions, version=version)
    assert reasons(plugin, pod(**using("data")), nodes) == {"w1": reason, "w2": reason}
    texts, _ = explained(plugin, pod(**using("data")), nodes, row=1)
    assert texts == ["claim default/data is ReadWriteOncePod, and default/other on w1 uses it"]


@pytest.mark.parametrize(
    ("modes", "user"),
    [
        (["ReadWriteOnce"], pod("other", on="w1", **using("data"))),
        (["ReadWriteOncePod"], pod("other", on="w1", **using("more"))),
        (["ReadWriteOncePod"], pod("other", on="w1", metadata={"namespace": "b"}, **using("data"))),
    ],
)
def test_pods_are_skipped_where_nothing_can_conflict(modes: list[str], user: Any) -> None:
    nodes = snapshot(node("w1"), claim("data", accessModes=modes), user)
    assert filtered(make(VolumeRestrictions), pod(**using("data")), nodes) == [SKIP]
    assert filtered(make(VolumeRestrictions), pod(), nodes) == [SKIP]


def test_added_pods_count_by_the_claim_s_name_whatever_their_namespace() -> None:
    user = pod("other", on="w1", **using("data"))
    stranger = pod("stranger", metadata={"namespace": "b"}, **using("data"))
    nodes = snapshot(node("w1"), claim("data", accessModes=["ReadWriteOncePod"]), user)
    plugin, state, incoming = make(VolumeRestrictions), CycleState(), pod(**using("data"))
    plugin.pre_filter(state, incoming, nodes)
    plugin.add_pod(state, incoming, stranger, 0, nodes)
    assert state.read(PRE_FILTER_STATE).conflicting_references == 2
    plugin.remove_pod(state, incoming, stranger, 0, nodes)
    plugin.remove_pod(state, incoming, user, 0, nodes)
    assert plugin.filter(state, incoming, nodes)[0].is_success


def test_a_claim_that_does_not_exist_stops_the_pod() -> None:
    plugin, nodes, incoming = make(VolumeRestrictions), snapshot(node()), pod(**using("data"))
    status = plugin.pre_filter(CycleState(), incoming, nodes).status
    assert status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    assert status.reasons == ('persistentvolumeclaim "data" not found',)
    evidence = plugin.explain_pre_filter(CycleState(), incoming, nodes)
    assert [each.text for each in evidence] == [
        "volume v-data is claim default/data, which was not read, as no PersistentVolumeClaim was"
    ]


def test_without_its_pre_filter_it_fails_as_upstream_does() -> None:
    status = make(VolumeRestrictions).filter(CycleState(), pod(**using("data")), snapshot(node()))[0]
    assert status.code is Code.ERROR
    assert status.message == 'cannot read "PreFilterVolumeRestrictions" from cycleState'


def test_nodes_are_summed_up_by_the_claim_or_disk_in_use() -> None:
    user = pod("other", on="w1", **using("data"))
    nodes = snapshot(node("w1"), node("w2"), claim("data", accessModes=["ReadWriteOncePod"]), user)
    plugin, state, incoming = make(VolumeRestrictions), CycleState(), pod(**using("data"))
    plugin.pre_filter(state, incoming, nodes)
    clause = plugin.summarize(state, incoming, nodes, all_rows(nodes))
    assert clause == "are shut out by ReadWriteOncePod claim default/data, which default/other on w1 uses"
    disk = mounting(gcePersistentDisk={"pdName": "d"})
    nodes = snapshot(node("w1"), pod("other", on="w1", **disk))
    clause = plugin.summarize(CycleState(), pod(**disk), nodes, all_rows(nodes))
    assert clause == "have pods that mount gcePersistentDisk d, too"
