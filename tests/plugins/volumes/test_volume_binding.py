from __future__ import annotations

from typing import Any

import pytest

from kubectl_sched.config.types import UtilizationShapePoint, VolumeBindingArgs
from kubectl_sched.framework.cycle_state import CycleState, PluginError
from kubectl_sched.framework.status import SKIP, SUCCESS, Code, error
from kubectl_sched.plugins.volume_binding.plugin import VolumeBinding
from tests.plugins.clusters import all_rows, explained, filtered, make, node, pod, reasons, scored, snapshot
from tests.plugins.storage_objects import ZONE, claim, in_zone, node_in, storage_class, stored, using, volume

ELSEWHERE = "node(s) didn't match PersistentVolume's node affinity"
NONE_TO_BIND = "node(s) didn't find available persistent volumes to bind"
TOO_LITTLE = "node(s) did not have enough free storage"
GONE = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
LOCAL = storage_class(provisioner="kubernetes.io/no-provisioner")
SHAPE = VolumeBindingArgs(
    shape=(UtilizationShapePoint(utilization=0, score=10), UtilizationShapePoint(utilization=100, score=0))
)


def pre_filter(*objects: Any, incoming: Any = None) -> Any:
    nodes = snapshot(node(), *objects)
    return make(VolumeBinding).pre_filter(CycleState(), incoming or pod(**using("data")), nodes).status


def actions(nodes: Any, incoming: Any, row: int = 0) -> list[tuple[str, str]]:
    plugin, state = make(VolumeBinding), CycleState()
    plugin.pre_filter(state, incoming, nodes)
    plugin.filter(state, incoming, nodes)
    return [(each.extension_point, each.action) for each in plugin.binding_actions(state, incoming, nodes, row)]


EPHEMERAL = pod(volumes=[{"name": "v", "ephemeral": {}}])
DELETED = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("incoming", "objects", "reason"),
    [
        (None, [], 'persistentvolumeclaim "data" not found'),
        (EPHEMERAL, [], 'waiting for ephemeral volume controller to create the persistentvolumeclaim "web-0-v"'),
        (
            EPHEMERAL,
            [claim("web-0-v")],
            "PVC default/web-0-v was not created for pod default/web-0 (pod is not owner)",
        ),
        (None, [claim("data", metadata=DELETED)], 'persistentvolumeclaim "data" is being deleted'),
        (
            None,
            [stored("PersistentVolumeClaim", "data", spec={"volumeName": "pv"}, status={"phase": "Lost"})],
            'persistentvolumeclaim "data" bound to non-existent persistentvolume "pv"',
        ),
        (None, [claim("data")], "pod has unbound immediate PersistentVolumeClaims"),
        (None, [claim("data", storageClassName="")], "pod has unbound immediate PersistentVolumeClaims"),
        (None, [claim("data", volumeName="pv"), LOCAL], "pod has unbound immediate PersistentVolumeClaims"),
        (
            None,
            [claim("data"), storage_class(volumeBindingMode="Immediate")],
            "pod has unbound immediate PersistentVolumeClaims",
        ),
    ],
)
def test_some_claims_stop_the_pod_whatever_the_node(incoming: Any, objects: list[Any], reason: str) -> None:
    incoming = incoming or pod(**using("data"))
    status = pre_filter(*objects, incoming=incoming)
    assert (status.code, status.reasons) == (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (reason,))
    assert make(VolumeBinding).explain_pre_filter(CycleState(), incoming, snapshot(node(), *objects))


@pytest.mark.parametrize(
    ("objects", "text"),
    [
        (
            [claim("data")],
            "claim default/data has no volume, and its storage class slow was not read, as no StorageClass was",
        ),
        (
            [claim("data", storageClassName=None)],
            "claim default/data has no storage class, so it waits for a volume without one",
        ),
        (
            [claim("data"), storage_class(volumeBindingMode="Immediate")],
            "claim default/data has no volume yet; disk.csi.example, the provisioner of class slow, makes it",
        ),
        (
            [claim("data", volumeName="pv")],
            "claim default/data names volume pv, which was not read, as no PersistentVolume was",
        ),
    ],
)
def test_it_is_said_why_an_immediate_claim_has_no_volume(objects: list[Any], text: str) -> None:
    nodes = snapshot(node(), *objects)
    evidence = make(VolumeBinding).explain_pre_filter(CycleState(), pod(**using("data")), nodes)
    assert [each.text for each in evidence] == [text]


def test_a_class_without_a_binding_mode_fails_the_cycle() -> None:
    with pytest.raises(PluginError, match=r'^VolumeBindingMode not set for StorageClass "slow"$'):
        pre_filter(claim("data"), storage_class(volumeBindingMode=None))


def test_pods_without_claims_are_skipped() -> None:
    assert pre_filter(incoming=pod(volumes=[{"name": "v", "emptyDir": {}}])) == SKIP
    assert pre_filter(incoming=pod()) == SKIP


def test_without_its_pre_filter_it_fails_as_upstream_does() -> None:
    with pytest.raises(PluginError, match=r"^not found$"):
        make(VolumeBinding).filter(CycleState(), pod(), snapshot(node()))


def test_a_bound_volume_keeps_the_pod_where_it_can_be_reached() -> None:
    nodes = snapshot(node_in("a"), node_in("b"), claim("data", to="pv"), volume("pv", nodeAffinity=in_zone("a")))
    incoming = pod(**using("data"))
    assert reasons(make(VolumeBinding), incoming, nodes) == {"node-b": (ELSEWHERE,)}
    texts, _ = explained(make(VolumeBinding), incoming, nodes, row=1)
    assert texts == [f"has {ZONE}=b; volume pv of claim data is reached only where {ZONE} in (a)"]
    assert actions(nodes, incoming) == []


def test_a_local_volume_is_on_one_node_and_it_is_said_so() -> None:
    expression = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["w1"]}
    affinity = {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
    nodes = snapshot(
        node("w2", labels={"kubernetes.io/hostname": "w2"}), claim("data", to="pv"), volume("pv", nodeAffinity=affinity)
    )
    _, hints = explained(make(VolumeBinding), pod(**using("data")), nodes)
    assert hints == ["pv is on w1 alone: the pod can run nowhere else while it keeps the claim"]


def test_a_bound_volume_that_is_gone_rejects_every_node() -> None:
    nodes = snapshot(node(), claim("data", to="pv"))
    assert reasons(make(VolumeBinding), pod(**using("data")), nodes) == {"w1": (GONE,)}
    assert explained(make(VolumeBinding), pod(**using("data")), nodes)[0] == [
        "claim data is bound to volume pv, which was not read, as no PersistentVolume was"
    ]


def test_reasons_stand_in_upstream_s_order() -> None:
    objects = [claim("data", to="pv"), volume("pv", nodeAffinity=in_zone("b")), claim("more"), LOCAL]
    found = reasons(make(VolumeBinding), pod(**using("more", "data")), snapshot(node_in("a"), *objects))
    assert found == {"node-a": (ELSEWHERE, NONE_TO_BIND)}


@pytest.mark.parametrize(
    ("candidate", "against"),
    [
        (volume("pv", phase="Released"), "is Released"),
        (volume("pv", capacity={"storage": "4Gi"}), "holds only 4Gi"),
        (volume("pv", volumeMode="Block"), "has volumeMode Block"),
        (volume("pv", accessModes=["ReadOnlyMany"]), "lacks access mode ReadWriteOnce"),
        (volume("pv", metadata=DELETED), "is being deleted"),
        (volume("pv", volumeAttributesClassName="gold"), "has volumeAttributesClassName gold"),
        (volume("pv", claimRef={"namespace": "b", "name": "data"}), "belongs to claim b/data"),
        (volume("pv", nodeAffinity=in_zone("b")), "is not reached from the node"),
    ],
)
def test_a_claim_without_a_fitting_volume_or_provisioner_finds_none(candidate: Any, against: str) -> None:
    nodes = snapshot(node_in("a"), candidate, claim("data"), LOCAL)
    assert reasons(make(VolumeBinding), pod(**using("data")), nodes) == {"node-a": (NONE_TO_BIND,)}
    assert explained(make(VolumeBinding), pod(**using("data")), nodes)[0] == [
        f"has no volume of class slow for claim data (5Gi): pv {against}"
    ]


def test_a_claim_s_selector_chooses_among_volumes() -> None:
    chosen, other = volume("pv-1", metadata={"labels": {"disk": "ssd"}}), volume("pv-0")
    wanted = claim("data", selector={"matchLabels": {"disk": "ssd"}})
    nodes = snapshot(node(), other, chosen, wanted, LOCAL)
    assert ("preBind", "bind volume pv-1 to claim default/data") in actions(nodes, pod(**using("data")))


def test_the_smallest_volumes_go_to_the_smallest_claims() -> None:
    volumes = [volume(f"pv-{size}", capacity={"storage": f"{size}Gi"}) for size in (9, 5, 7)]
    nodes = snapshot(node(), *volumes, claim("big", size="6Gi"), claim("small", size="1Gi"), LOCAL)
    assert actions(nodes, pod(**using("big", "small"))) == [
        ("reserve", "assume volume pv-5 bound to claim default/small"),
        ("reserve", "assume volume pv-7 bound to claim default/big"),
        ("preBind", "bind volume pv-5 to claim default/small"),
        ("preBind", "bind volume pv-7 to claim default/big"),
        ("preBind", "wait up to 600 s until default/small, default/big are bound"),
    ]


def test_a_volume_set_aside_for_the_claim_is_taken_or_none() -> None:
    reserved = volume(
        "pv-r", phase="Pending", claimRef={"namespace": "default", "name": "data"}, nodeAffinity=in_zone("a")
    )
    nodes = snapshot(node_in("a"), node_in("b"), volume("pv"), reserved, claim("data"), LOCAL)
    incoming = pod(**using("data"))
    assert reasons(make(VolumeBinding), incoming, nodes) == {"node-b": (NONE_TO_BIND,)}
    assert ("preBind", "bind volume pv-r to claim default/data") in actions(nodes, incoming)


def test_two_claims_cannot_have_the_same_volume() -> None:
    nodes = snapshot(node(), volume("pv"), claim("one"), claim("two"), LOCAL)
    incoming = pod(**using("one", "two"))
    assert reasons(make(VolumeBinding), incoming, nodes) == {"w1": (NONE_TO_BIND,)}
    assert explained(make(VolumeBinding), incoming, nodes)[0] == [
        "has no volume of class slow for claim two (5Gi): pv is taken for claim one"
    ]


def test_a_volume_is_provisioned_where_the_class_allows_it() -> None:
    terms = [{"matchLabelExpressions": [{"key": ZONE, "values": ["a", "c"]}]}]
    nodes = snapshot(node_in("a"), node_in("b"), claim("data"), storage_class(allowedTopologies=terms))
    incoming = pod(**using("data"))
    assert reasons(make(VolumeBinding), incoming, nodes) == {"node-b": (NONE_TO_BIND,)}
    assert explained(make(VolumeBinding), incoming, nodes, row=1)[0] == [
        f"has {ZONE}=b; class slow of claim data makes volumes only where {ZONE} in (a,c)"
    ]
    assert actions(nodes, incoming) == [
        ("reserve", "assume node node-a selected for claim default/data"),
        (
            "preBind",
            "select node-a for claim default/data, for which disk.csi.example provisions a volume of class slow",
        ),
        ("preBind", "wait up to 600 s until default/data is bound"),
    ]


def test_an_earlier_choice_of_node_binds_the_pod() -> None:
    chosen = claim("data", metadata={"annotations": {"volume.kubernetes.io/selected-node": "w1"}})
    nodes = snapshot(node("w1"), node("w2"), chosen, storage_class())
    assert reasons(make(VolumeBinding), pod(**using("data")), nodes) == {"w2": (NONE_TO_BIND,)}
    texts, _ = explained(make(VolumeBinding), pod(**using("data")), nodes, row=1)
    assert texts == ["is not w1, which an earlier cycle chose for the volume of claim data"]


def capacity(name: str, zone: str | None, size: str | None, **fields: Any) -> Any:
    topology = {} if zone is None else {"nodeTopology": {"matchLabels": {ZONE: zone}}}
    amount = {} if size is None else {"capacity": size}
    metadata = {"namespace": "kube-system"}
    return stored(
        "CSIStorageCapacity", name, metadata=metadata, storageClassName="slow", **topology, **amount, **fields
    )


TRACKED = stored("CSIDriver", "disk.csi.example", spec={"storageCapacity": True})


@pytest.mark.parametrize(
    ("objects", "fits"),
    [
        ([TRACKED], False),
        ([TRACKED, capacity("x", "a", "5Gi")], True),
        ([TRACKED, capacity("x", "a", "4Gi")], False),
        ([TRACKED, capacity("x", "b", "9Gi")], False),
        ([TRACKED, capacity("x", None, "9Gi")], False),
        ([TRACKED, capacity("x", "a", "9Gi", maximumVolumeSize="1Gi")], False),
        ([TRACKED, capacity("x", "a", None)], False),
        ([TRACKED, capacity("x", "a", None, maximumVolumeSize="5Gi")], True),
        ([stored("CSIDriver", "disk.csi.example", spec={"storageCapacity": False})], True),
        ([], True),
    ],
)
def test_tracked_capacity_must_suffice_for_the_node(objects: list[Any], fits: bool) -> None:
    nodes = snapshot(node_in("a"), claim("data"), storage_class(), *objects)
    found = reasons(make(VolumeBinding), pod(**using("data")), nodes)
    assert found == ({} if fits else {"node-a": (TOO_LITTLE,)})


def test_it_is_said_how_much_storage_there_is() -> None:
    nodes = snapshot(node_in("a"), claim("data"), storage_class(), TRACKED, capacity("x", "a", "4Gi"))
    texts, _ = explained(make(VolumeBinding), pod(**using("data")), nodes)
    assert texts == ["has at most 4Gi for a volume (kube-system/x); claim data wants 5Gi of class slow"]


@pytest.mark.parametrize(("version", "gates", "skipped"), [("1.36", {}, True), ("1.37", {}, False)])
def test_scoring_is_on_from_1_37(version: str, gates: dict[str, bool], skipped: bool) -> None:
    plugin = make(VolumeBinding, SHAPE, version, **gates)
    state = CycleState()
    nodes = snapshot(node(), version=version)
    plugin.pre_filter(state, pod(), nodes)
    assert plugin.pre_score(state, pod(), nodes, all_rows(nodes)) == (SKIP if skipped else SUCCESS)
    assert plugin.score(state, pod(), nodes, all_rows(nodes)).tolist() == [0]


@pytest.mark.parametrize(
    ("objects", "scores"),
    [
        ([LOCAL, volume("pv", capacity={"storage": "10Gi"})], [50, 50]),
        ([storage_class(), TRACKED, capacity("x", "a", "20Gi"), capacity("y", "b", "5Gi")], [75, 0]),
        ([storage_class()], [0, 0]),
    ],
)
def test_the_score_follows_how_full_the_storage_would_be(objects: list[Any], scores: list[int]) -> None:
    plugin, state = make(VolumeBinding, SHAPE, StorageCapacityScoring=True), CycleState()
    nodes, incoming = snapshot(node_in("a"), node_in("b"), claim("data"), *objects), pod(**using("data"))
    plugin.pre_filter(state, incoming, nodes)
    plugin.filter(state, incoming, nodes)
    assert plugin.score(state, incoming, nodes, all_rows(nodes)).tolist() == scores


def test_a_capacity_that_crashes_kube_scheduler_is_reported() -> None:
    objects = [storage_class(), TRACKED, capacity("x", "a", None, maximumVolumeSize="9Gi")]
    plugin, state = make(VolumeBinding, SHAPE, StorageCapacityScoring=True), CycleState()
    nodes, incoming = snapshot(node_in("a"), claim("data"), *objects), pod(**using("data"))
    plugin.pre_filter(state, incoming, nodes)
    plugin.filter(state, incoming, nodes)
    with pytest.raises(PluginError, match=r"kube-scheduler crashes .*CSIStorageCapacity kube-system/x has no capacity"):
        plugin.score(state, incoming, nodes, all_rows(nodes))


PLUGIN = "kubernetes.io/gce-pd"


@pytest.mark.parametrize(("migrated", "fits"), [("", False), (PLUGIN, True), (f"x,{PLUGIN}", True)])
def test_an_in_tree_volume_follows_its_driver_s_labels_where_it_is_migrated(migrated: str, fits: bool) -> None:
    annotations = {"storage.alpha.kubernetes.io/migrated-plugins": migrated} if migrated else {}
    known = stored("CSINode", "w1", metadata={"annotations": annotations})
    disk = volume("pv", nodeAffinity=in_zone("b-c-a"), gcePersistentDisk={"pdName": "d"})
    nodes = snapshot(node("w1", labels={"topology.gke.io/zone": "b-c-a"}), known, claim("data", to="pv"), disk)
    assert reasons(make(VolumeBinding), pod(**using("data")), nodes) == ({} if fits else {"w1": (ELSEWHERE,)})


def test_an_in_tree_volume_that_has_no_csi_form_fails_the_cycle() -> None:
    known = stored("CSINode", "w1", metadata={"annotations": {"storage.alpha.kubernetes.io/migrated-plugins": PLUGIN}})
    disk = volume("pv", metadata={"labels": {ZONE: "x__y"}}, gcePersistentDisk={"pdName": "d"})
    nodes = snapshot(node("w1"), known, claim("data", to="pv"), disk)
    reason = "zone in unexpected format, expected: {locale}-{region}-{zone}, got: x"
    assert filtered(make(VolumeBinding), pod(**using("data")), nodes) == [
        error(f"could not translate pv: failed to get region from zones: {reason}")
    ]


@pytest.mark.parametrize(
    ("version", "gate", "found"),
    [
        ("1.33", False, "unsupported volumeAttributesClassName is set on claim default/data when the feature-gate "),
        ("1.33", True, ""),
        ("1.34", None, ""),
    ],
)
def test_attribute_classes_need_their_gate(version: str, gate: bool | None, found: str) -> None:
    gates = {} if gate is None else {"VolumeAttributesClass": gate}
    objects = [claim("data", volumeAttributesClassName="gold"), volume("pv", volumeAttributesClassName="gold"), LOCAL]
    nodes = snapshot(node(), *objects, version=version)
    status = filtered(make(VolumeBinding, None, version, **gates), pod(**using("data")), nodes)[0]
    assert status.message.startswith(found)
    assert (status.code is Code.ERROR) is bool(found)


def test_scoring_without_pre_filter_fails_as_upstream_does_unless_nothing_is_scored() -> None:
    off, state, nodes = make(VolumeBinding), CycleState(), snapshot(node())
    assert off.score(state, pod(), nodes, all_rows(nodes)).tolist() == [0]
    plugin = make(VolumeBinding, SHAPE, StorageCapacityScoring=True)
    with pytest.raises(PluginError, match=r"^not found$"):
        scored(plugin, pod(), snapshot(node()))


@pytest.mark.parametrize(
    ("objects", "clause"),
    [
        (
            [claim("data", to="pv"), volume("pv", nodeAffinity=in_zone("c"))],
            f"do not reach volume pv of claim data, which is only where {ZONE} in (c)",
        ),
        (
            [claim("data", to="pv")],
            "are of no use: claim data is bound to volume pv, which was not read, as no PersistentVolume was",
        ),
        ([claim("data"), LOCAL], "have no volume of class slow for claim data (5Gi): there is none"),
    ],
)
def test_nodes_are_summed_up_by_what_they_lack_in_common(objects: list[Any], clause: str) -> None:
    nodes, incoming = snapshot(node_in("a"), node_in("b"), *objects), pod(**using("data"))
    plugin, state = make(VolumeBinding), CycleState()
    plugin.pre_filter(state, incoming, nodes)
    assert plugin.summarize(state, incoming, nodes, all_rows(nodes)) == clause


def test_a_label_that_no_node_has_is_pointed_out() -> None:
    nodes = snapshot(node(), claim("data", to="pv"), volume("pv", nodeAffinity=in_zone("a")))
    _, hints = explained(make(VolumeBinding), pod(**using("data")), nodes)
    assert hints == [f"no node carries the label `{ZONE}`"]
