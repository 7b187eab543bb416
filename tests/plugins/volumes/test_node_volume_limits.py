from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from kubectl_sched.api.storage import CSINode, PersistentVolumeClaim
from kubectl_sched.framework.cycle_state import CycleState
from kubectl_sched.framework.status import SKIP, SUCCESS, Code, error, unresolvable, unschedulable
from kubectl_sched.plugins.node_volume_limits.attachable_volumes import drivers_by_node
from kubectl_sched.plugins.node_volume_limits.plugin import NodeVolumeLimits
from tests.plugins.clusters import all_rows, explained, filtered, make, node, pod, snapshot
from tests.plugins.storage_objects import claim, csi_node, storage_class, stored, using, volume

FULL = unschedulable("node(s) exceed max volume count")


def disk(name: str, driver: str = "disk") -> list[Any]:
    """A claim and its volume of a driver."""
    source = {"driver": f"{driver}.csi.example", "volumeHandle": f"handle-{name}"}
    return [claim(name, to=f"pv-{name}"), volume(f"pv-{name}", csi=source)]


def attachment(name: str, volume_name: str, to: str = "w1") -> Any:
    spec = {"attacher": "disk.csi.example", "nodeName": to, "source": {"persistentVolumeName": volume_name}}
    return stored("VolumeAttachment", name, spec=spec)


def verdict(*objects: Any, incoming: Any = None, version: str = "1.36", **gates: bool) -> Any:
    nodes = snapshot(node("w1"), *objects, version=version)
    return filtered(make(NodeVolumeLimits, None, version, **gates), incoming or pod(**using("a")), nodes)[0]


@pytest.mark.parametrize(
    ("others", "limit", "status"),
    [
        ([], 1, SUCCESS),
        ([], 0, FULL),
        ([*disk("b"), pod("p", on="w1", **using("b"))], 2, SUCCESS),
        ([*disk("b"), pod("p", on="w1", **using("b"))], 1, FULL),
        ([*disk("b", driver="other"), pod("p", on="w1", **using("b"))], 1, SUCCESS),
        ([*disk("b"), pod("p", on="w1", **using("b")), pod("q", on="w1", **using("b"))], 2, SUCCESS),
        ([pod("p", on="w1", **using("a"))], 1, SUCCESS),
        ([pod("p", on="w1", **using("gone"))], 1, SUCCESS),
        ([*disk("b"), attachment("x", "pv-b")], 1, FULL),
        ([*disk("b"), attachment("x", "pv-b"), pod("p", on="w1", **using("b"))], 2, SUCCESS),
        ([*disk("b"), attachment("x", "pv-b", to="w2")], 1, SUCCESS),
        ([attachment("x", "pv-gone")], 1, SUCCESS),
        ([attachment("x", "pv-a")], 1, FULL),
        ([claim("b"), storage_class(), pod("p", on="w1", **using("b"))], 1, FULL),
        ([claim("b"), pod("p", on="w1", **using("b"))], 1, SUCCESS),
    ],
)
def test_volumes_of_pods_and_attachments_count_once_each(others: list[Any], limit: int, status: Any) -> None:
    assert verdict(*disk("a"), *others, csi_node("w1", disk=limit)) == status


@pytest.mark.parametrize(("limit", "attached", "spare"), [(2, 0, 0), (3, 0, 1), (6, 0, 4), (6, 1, 3), (6, 4, 0)])
def test_so_many_more_pods_as_are_spare_leave_the_verdict_as_it_is(limit: int, attached: int, spare: int) -> None:
    others = [
        item for index in range(attached) for item in (*disk(f"b{index}"), attachment(f"x{index}", f"pv-b{index}"))
    ]
    running = [pod(f"p{index}", on="w1", **using(f"d{index}")) for index in range(spare + 1)]
    disks = [item for index in range(spare + 1) for item in disk(f"d{index}")]
    objects = [*disk("a"), *others, *disks, csi_node("w1", disk=limit)]
    before = snapshot(node("w1"), *objects, running[0])
    assert make(NodeVolumeLimits).replica_help.spare(pod(**using("a")), before).tolist() == [spare]
    assert verdict(*objects, *running) == SUCCESS


@pytest.mark.parametrize("known", [[], [csi_node("w1", disk=None)], [csi_node("w1", other=0)]])
def test_without_a_limit_there_is_room(known: list[Any]) -> None:
    assert verdict(*disk("a"), *known) == SUCCESS


def test_limits_are_those_of_the_objects_that_are_judged() -> None:
    """The drivers of nodes are kept while CSINodes stay the same, and no longer."""
    plugin = make(NodeVolumeLimits)
    before = snapshot(node("w1"), node("w2"), *disk("a"), csi_node("w1", disk=1), csi_node("w2", disk=0))
    more = [claim("b", to="pv-a"), volume("pv-a", csi={"driver": "other", "volumeHandle": "a"})]
    judged = [before.objects, before.objects.with_these(type(more[0]), more[:1])]
    judged += [judged[1].with_these(CSINode, [csi_node("w1", disk=0)]), judged[1].replacing(CSINode, [])]
    judged.append(judged[0].with_these(type(more[1]), more[1:]))
    found = [filtered(plugin, pod(**using("a")), replace(before, objects=objects)) for objects in judged]
    assert list(map(list, found)) == [
        [SUCCESS, FULL], [SUCCESS, FULL], [FULL, FULL], [SUCCESS, SUCCESS], [SUCCESS, SUCCESS]
    ]  # fmt: skip


def test_csi_nodes_are_gone_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def counted(csi_nodes: Any, *rest: Any, **named: Any) -> Any:
        calls.append(len(csi_nodes))
        return drivers_by_node(csi_nodes, *rest, **named)

    monkeypatch.setattr("kubectl_sched.plugins.node_volume_limits.plugin.drivers_by_node", counted)
    plugin = make(NodeVolumeLimits)
    nodes = snapshot(node("w1"), *disk("a"), csi_node("w1", disk=1))
    for name in ("b", "c", "d"):
        nodes = replace(nodes, objects=nodes.objects.with_these(PersistentVolumeClaim, [claim(name)]))
        assert filtered(plugin, pod(**using("a")), nodes)[0] == SUCCESS
    assert calls == [1]


def test_it_is_said_which_limit_is_reached_and_who_uses_it_up() -> None:
    users = [pod("p", on="w1", **using("b", "c")), pod("q", on="w1", **using("d"))]
    objects = [*disk("a"), *disk("b"), *disk("c"), *disk("d"), *users, attachment("x", "pv-a"), csi_node("w1", disk=4)]
    texts, hints = explained(make(NodeVolumeLimits), pod(**using("a")), snapshot(node("w1"), *objects))
    assert texts == [
        (
            "takes 4 volumes of disk.csi.example and has 4 "
            "(3 used by 2 pods, largest: default/p 2; 1 attached that no pod there uses); the pod adds 1"
        )
    ]
    assert hints == [
        "the limit is allocatable.count of the driver in the node's CSINode",
        "1 of the pod's own volumes are attached to the node already; they are counted twice",
    ]


EBS = {"volumes": [{"name": "v", "awsElasticBlockStore": {"volumeID": "aws://z/vol-1"}}]}
PORTWORX = {"volumes": [{"name": "v", "portworxVolume": {"volumeID": "p"}}]}
BROKEN = {"volumes": [{"name": "v", "awsElasticBlockStore": {"volumeID": "aws://z/disk"}}]}


def known_driver(name: str, limit: int = 0, migrated: str = "") -> Any:
    annotations = {"storage.alpha.kubernetes.io/migrated-plugins": migrated} if migrated else {}
    drivers = [{"name": name, "allocatable": {"count": limit}}]
    return stored("CSINode", "w1", metadata={"annotations": annotations}, spec={"drivers": drivers})


@pytest.mark.parametrize(
    ("volumes", "csi", "version", "status"),
    [
        (EBS, known_driver("ebs.csi.aws.com"), "1.33", FULL),
        (EBS, known_driver("ebs.csi.aws.com"), "1.36", FULL),
        (PORTWORX, known_driver("pxd.portworx.com"), "1.35", SUCCESS),
        (PORTWORX, known_driver("pxd.portworx.com", migrated="kubernetes.io/portworx-volume"), "1.35", FULL),
        (PORTWORX, known_driver("pxd.portworx.com"), "1.36", FULL),
        (
            BROKEN,
            known_driver("ebs.csi.aws.com"),
            "1.36",
            error(
                "converting volume(v) from inline to csi: "
                "failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://z/disk)"
            ),
        ),
    ],
)
def test_in_tree_disks_count_as_their_driver_s(volumes: Any, csi: Any, version: str, status: Any) -> None:
    assert verdict(csi, incoming=pod(**volumes), version=version) == status


def test_a_claim_that_does_not_exist_rejects_the_node_for_good() -> None:
    assert verdict() == unresolvable('looking up PVC default/a: persistentvolumeclaim "a" not found')
    texts, _ = explained(make(NodeVolumeLimits), pod(**using("a")), snapshot(node("w1")))
    assert texts == ["volume v-a is claim default/a, which was not read, as no PersistentVolumeClaim was"]


def test_another_pod_s_ephemeral_claim_fails_the_cycle() -> None:
    user = pod("p", on="w1", volumes=[{"name": "v", "ephemeral": {}}])
    status = verdict(*disk("a"), claim("p-v"), user, csi_node("w1", disk=9))
    assert status == error("PVC default/p-v was not created for pod default/p (pod is not owner)")


@pytest.mark.parametrize(
    ("version", "gate", "spec", "installed", "rejected"),
    [
        ("1.34", None, {"preventPodSchedulingIfMissing": True}, False, False),
        ("1.35", True, {}, False, True),
        ("1.35", False, {}, False, False),
        ("1.36", True, {}, False, False),
        ("1.36", True, {"preventPodSchedulingIfMissing": True}, False, True),
        ("1.36", True, {"preventPodSchedulingIfMissing": True}, True, False),
        ("1.37", None, {"preventPodSchedulingIfMissing": True}, False, True),
    ],
)
def test_a_driver_may_have_to_be_on_the_node(
    version: str, gate: bool | None, spec: dict[str, bool], installed: bool, rejected: bool
) -> None:
    gates = {} if gate is None else {"VolumeLimitScaling": gate}
    objects = [*disk("a"), stored("CSIDriver", "disk.csi.example", spec=spec)]
    objects += [csi_node("w1", disk=1)] if installed else []
    reason = "disk.csi.example CSI driver is not installed on the node"
    assert verdict(*objects, version=version, **gates) == (unschedulable(reason) if rejected else SUCCESS)


@pytest.mark.parametrize(
    ("source", "skipped"),
    [({"emptyDir": {}}, True), ({"azureFile": {"shareName": "s"}}, False), ({"vsphereVolume": {}}, False)],
)
def test_pods_are_skipped_whose_volumes_are_never_attached(source: dict[str, Any], skipped: bool) -> None:
    incoming = pod(volumes=[{"name": "v", **source}])
    status = make(NodeVolumeLimits).pre_filter(CycleState(), incoming, snapshot(node("w1"))).status
    assert (status.code is Code.SKIP) is skipped
    assert verdict(incoming=incoming) == (SKIP if skipped else SUCCESS)


@pytest.mark.parametrize(
    ("drivers", "gates", "clause"),
    [
        ([csi_node("w1", disk=0)], {}, "have no room for more volumes of disk.csi.example"),
        (
            [stored("CSIDriver", "disk.csi.example", spec={"preventPodSchedulingIfMissing": True})],
            {"VolumeLimitScaling": True},
            "have no CSI driver disk.csi.example",
        ),
    ],
)
def test_nodes_are_summed_up_by_the_driver(drivers: list[Any], gates: dict[str, bool], clause: str) -> None:
    nodes = snapshot(node("w1"), *disk("a"), *drivers)
    plugin = make(NodeVolumeLimits, None, "1.36", **gates)
    assert plugin.summarize(CycleState(), pod(**using("a")), nodes, all_rows(nodes)) == clause
