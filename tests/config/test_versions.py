"""Versions, the table of what differs between them, and the page that shows it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_sched.config import NEWEST, RELEASES, SUPPORTED, KubeVersion, Release, load_configuration, nearest
from kubectl_sched.config.plugin_table import extension_points, in_tree_plugins
from kubectl_sched.config.versions import changing_patches, newest_patch
from kubectl_sched.config.versions_page import page
from kubectl_sched.errors import SchedError


@pytest.mark.parametrize("text", ["1.36", "v1.36", "1.36+", " 1.36 ", "1.36.x"])
def test_a_minor_is_read_as_kubernetes_writes_it(text: str) -> None:
    assert KubeVersion.parse(text) == KubeVersion(1, 36)


@pytest.mark.parametrize("text", ["1.36.2", "v1.36.2", "1.36.2-gke.100", "v1.36.2-eks-abc", "v1.36.2+k3s1", " 1.36.2 "])
def test_a_patch_is_read_whatever_a_vendor_adds(text: str) -> None:
    assert KubeVersion.parse(text) == KubeVersion(1, 36, 2)


@pytest.mark.parametrize("text", ["", "1", "1.", "latest", "x1.36", "1.36x"])
def test_other_texts_are_no_versions(text: str) -> None:
    with pytest.raises(SchedError, match="is not a Kubernetes version"):
        KubeVersion.parse(text)


@given(st.integers(0, 9), st.integers(0, 99), st.integers(0, 99))
def test_a_version_is_read_as_it_is_written(major: int, minor: int, patch: int) -> None:
    for version in KubeVersion(major, minor), KubeVersion(major, minor, patch):
        assert KubeVersion.parse(str(version)) == version


def test_versions_are_ordered_by_number() -> None:
    assert KubeVersion(1, 9) < KubeVersion(1, 22) < KubeVersion(1, 36) < KubeVersion(1, 36, 0) < KubeVersion(1, 36, 10)
    assert KubeVersion(1, 36, 10) < KubeVersion(1, 37) < KubeVersion(2, 0)


@pytest.mark.parametrize(
    ("version", "taken", "warning"),
    [
        ("1.36", "1.36", None),
        ("1.33", "1.33", None),
        ("1.32", "1.32", "approximately"),
        ("1.22", "1.22", "approximately"),
        ("1.21", "1.22", "is not supported; replaying 1.22, the nearest one that is, approximately: its own plugins"),
        ("1.36.2", "1.36.2", None),
        ("1.36.99", str(newest_patch(KubeVersion(1, 36))), "1.36.99 is newer than any patch known; replaying 1.36."),
        ("1.99.1", str(SUPPORTED[-1]), f"is not supported; replaying {SUPPORTED[-1]}"),
        ("1.99", str(SUPPORTED[-1]), f"is not supported; replaying {SUPPORTED[-1]}"),
        ("1.38", "1.38", "Kubernetes 1.38 is replayed as of v1.38.0-beta.0, before its release"),
        ("1.38.0-rc.1", "1.38.0", "Kubernetes 1.38.0 is replayed as of v1.38.0-beta.0, before its release"),
    ],
)
def test_the_nearest_supported_version_is_taken(version: str, taken: str, warning: str | None) -> None:
    chosen, said = nearest(KubeVersion.parse(version))
    assert str(chosen) == taken
    assert said is None if warning is None else warning in (said or "")


@pytest.mark.parametrize("version", SUPPORTED, ids=str)
def test_the_default_plugins_are_in_tree(version: KubeVersion) -> None:
    known = in_tree_plugins(version)
    assert {plugin.name for plugin in RELEASES[version].multi_point} <= set(known)
    assert set().union(*known.values()) <= set(extension_points(version))


def test_without_a_patch_the_newest_is_replayed() -> None:
    minor = KubeVersion(1, 36)
    assert RELEASES[minor] is RELEASES[newest_patch(minor)]
    assert RELEASES[KubeVersion(1, 30)].patch is None


def test_a_minor_that_is_not_released_is_named_by_its_tag_and_never_assumed() -> None:
    for version in KubeVersion(1, 38), KubeVersion(1, 38, 0):
        assert (RELEASES[version].name, RELEASES[version].patch_name) == ("1.38.0-beta.0", "1.38.0-beta.0")
    assert KubeVersion(1, 38) not in {NEWEST, load_configuration(None).version}
    document = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    assert load_configuration(document).version == NEWEST


@pytest.mark.parametrize("minor", SUPPORTED, ids=str)
def test_each_patch_of_the_table_changes_something(minor: KubeVersion) -> None:
    for patch in changing_patches(minor):
        before, after = RELEASES[KubeVersion(1, patch.minor, patch.patch - 1)], RELEASES[patch]
        assert patch <= newest_patch(minor)
        assert replace(before, patch=patch) != after


@pytest.mark.parametrize("version", SUPPORTED, ids=str)
def test_the_table_holds_values_of_the_declared_types(version: KubeVersion) -> None:
    release = RELEASES[version]
    assert msgspec.convert(msgspec.to_builtins(release), Release) == release


@pytest.mark.parametrize("version", SUPPORTED, ids=str)
def test_every_minor_has_a_default_profile(version: KubeVersion) -> None:
    (profile,) = load_configuration(None, version).profiles.values()
    assert [plugin.name for plugin in profile.plugins["queueSort"]] == ["PrioritySort"]
    assert all(plugin.weight > 0 for plugin in profile.plugins["score"])
    assert not profile.unknown_plugins


def test_the_page_on_versions_is_current() -> None:
    """If not: python -m kubectl_sched.config.versions_page > docs/versions.md."""
    assert (Path(__file__).parents[2] / "docs" / "versions.md").read_text(encoding="utf-8") == page()
