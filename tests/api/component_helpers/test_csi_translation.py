from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kubectl_sched.api.component_helpers.csi_translation import (
    TranslationError,
    handle_of_inline,
    in_tree_plugin,
    translated,
)
from kubectl_sched.api.pod_volumes import Volume
from kubectl_sched.api.storage import PersistentVolume

ZONE = "topology.kubernetes.io/zone"
BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
BETA_REGION = "failure-domain.beta.kubernetes.io/region"
GKE_ZONE = "topology.gke.io/zone"


def volume(labels: dict[str, str] | None = None, **spec: Any) -> PersistentVolume:
    return msgspec.convert({"metadata": {"name": "pv", "labels": labels or {}}, "spec": spec}, PersistentVolume)


def affinity(*terms: dict[str, tuple[str, ...]]) -> dict[str, Any]:
    return {
        "required": {
            "nodeSelectorTerms": [
                {
                    "matchExpressions": [
                        {"key": key, "operator": "In" if values else "Exists", "values": values}
                        for key, values in term.items()
                    ]
                }
                for term in terms
            ]
        }
    }


def in_csi_form(given: PersistentVolume) -> PersistentVolume:
    plugin = in_tree_plugin(given.spec)
    assert plugin is not None
    return translated(given, plugin)


def terms_of(given: PersistentVolume) -> list[dict[str, tuple[str, ...]]]:
    selector = given.spec.node_affinity.required if given.spec.node_affinity else None
    terms = selector.node_selector_terms if selector else ()
    return [{each.key: each.values for each in term.match_expressions} for term in terms]


@pytest.mark.parametrize(
    ("source", "driver", "handle"),
    [
        ({"awsElasticBlockStore": {"volumeID": "vol-1"}}, "ebs.csi.aws.com", "vol-1"),
        ({"awsElasticBlockStore": {"volumeID": "aws://eu-west-1a/vol-1"}}, "ebs.csi.aws.com", "vol-1"),
        ({"awsElasticBlockStore": {"volumeID": "aws:///vol-1/"}}, "ebs.csi.aws.com", "vol-1"),
        (
            {"gcePersistentDisk": {"pdName": "disk"}},
            "pd.csi.storage.gke.io",
            "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/disk",
        ),
        ({"azureDisk": {"diskName": "d", "diskURI": "/uri", "kind": "managed"}}, "disk.csi.azure.com", "/uri"),
        ({"cinder": {"volumeID": "c"}}, "cinder.csi.openstack.org", "c"),
        ({"portworxVolume": {"volumeID": "p"}}, "pxd.portworx.com", "p"),
    ],
)
def test_each_plugin_has_a_driver_and_its_handles(source: dict[str, Any], driver: str, handle: str) -> None:
    csi = in_csi_form(volume(**source)).spec.csi
    assert csi is not None
    assert (csi.driver, csi.volume_handle) == (driver, handle)
    assert handle_of_inline(msgspec.convert({"name": "v", **source}, Volume)) == handle


@pytest.mark.parametrize(
    ("labels", "handle"),
    [
        ({ZONE: "eu-west1-a"}, "projects/UNSPECIFIED/zones/eu-west1-a/disks/disk"),
        ({BETA_ZONE: "eu-west1-b", ZONE: "eu-west1-a"}, "projects/UNSPECIFIED/zones/eu-west1-b/disks/disk"),
        ({ZONE: "eu-west1-a__eu-west1-b"}, "projects/UNSPECIFIED/regions/eu-west1/disks/disk"),
    ],
)
def test_a_gce_disk_is_named_by_its_zone_or_by_the_region_of_its_zones(labels: dict[str, str], handle: str) -> None:
    csi = in_csi_form(volume(labels, gcePersistentDisk={"pdName": "disk"})).spec.csi
    assert csi is not None
    assert csi.volume_handle == handle


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            volume(awsElasticBlockStore={"volumeID": "aws://eu/disk-1"}),
            "failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://eu/disk-1)",
        ),
        (
            volume({ZONE: "eu-west1-a__us-east1-c"}, gcePersistentDisk={"pdName": "disk"}),
            (
                "failed to get region from zones: "
                "multiple or no regions gotten from zones, got: map[eu-west1:{} us-east1:{}]"
            ),
        ),
        (
            volume({ZONE: "eu-west1-a__west"}, gcePersistentDisk={"pdName": "disk"}),
            "failed to get region from zones: zone in unexpected format, expected: {locale}-{region}-{zone}, got: west",
        ),
        (
            volume(azureDisk={"diskName": "d", "diskURI": "/uri", "kind": "Shared"}),
            "kind(Shared) is not supported in csi migration",
        ),
    ],
)
def test_what_has_no_csi_form_says_why_in_upstream_s_words(given: PersistentVolume, message: str) -> None:
    with pytest.raises(TranslationError) as failure:
        in_csi_form(given)
    assert str(failure.value) == message


@pytest.mark.parametrize(
    ("labels", "before", "after"),
    [
        ({}, None, []),
        ({}, affinity({ZONE: ("a",)}), [{GKE_ZONE: ("a",)}]),
        ({}, affinity({BETA_ZONE: ("a",), BETA_REGION: ("r",)}), [{GKE_ZONE: ("a",), REGION: ("r",)}]),
        ({}, affinity({ZONE: ("a",), BETA_REGION: ("r",)}), [{GKE_ZONE: ("a",), BETA_REGION: ("r",)}]),
        ({ZONE: "b-1-c__b-1-a"}, None, [{GKE_ZONE: ("b-1-a", "b-1-c")}]),
        (
            {ZONE: "a"},
            affinity({"x": ("y",)}, {"z": ()}),
            [{"x": ("y",), GKE_ZONE: ("a",)}, {"z": (), GKE_ZONE: ("a",)}],
        ),
        ({ZONE: "a"}, affinity({ZONE: ("b",)}), [{GKE_ZONE: ("b",)}]),
        ({BETA_ZONE: "a"}, affinity({ZONE: ()}), [{ZONE: ()}]),
    ],
)
def test_zones_become_the_driver_s_own_label(
    labels: dict[str, str], before: dict[str, Any] | None, after: list[dict[str, tuple[str, ...]]]
) -> None:
    spec = {"nodeAffinity": before} if before else {}
    assert terms_of(in_csi_form(volume(labels, gcePersistentDisk={"pdName": "disk"}, **spec))) == after


@pytest.mark.parametrize("source", [{"azureDisk": {"diskURI": "u"}}, {"portworxVolume": {"volumeID": "p"}}])
def test_drivers_without_a_label_of_their_own_keep_the_affinity(source: dict[str, Any]) -> None:
    given = volume({ZONE: "a"}, nodeAffinity=affinity({ZONE: ("b",)}), **source)
    assert in_csi_form(given).spec.node_affinity == given.spec.node_affinity
