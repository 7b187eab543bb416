"""The command that lists modules newer than what was read, without a proxy."""

from __future__ import annotations

import pytest

from kubectl_sched.config.versions import SUPPORTED, KubeVersion, newest_patch
from tests.oracle.newer import Tag, read_up_to, to_read, to_read_beside, what_was_read

MINOR = KubeVersion(1, 36)


def test_what_was_read_is_not_listed() -> None:
    assert list(to_read([str(read_up_to(SUPPORTED[-1])), "v1.37.2", "v1.13.0", "v1.38.0-alpha.3", "latest"])) == []


@pytest.mark.parametrize(
    ("tag", "said"),
    [
        (f"v{KubeVersion(1, 36, newest_patch(MINOR).patch + 1)}", f"is newer than v{newest_patch(MINOR)}"),
        ("v1.38.0-rc.0", "is newer than v1.38.0-beta.0, the newest of 1.38 that was read"),
        ("v1.38.0", "is newer than v1.38.0-beta.0"),
        ("v1.39.0-alpha.0", "is of a minor that is not replayed"),
        (f"v{newest_patch(MINOR)}", "was read from the changelog alone"),
    ],
)
def test_what_is_to_be_read_is_listed(tag: str, said: str) -> None:
    (sentence,) = to_read([tag])
    assert sentence.startswith(tag)
    assert said in sentence


@pytest.mark.parametrize(
    ("module", "served", "newer"),
    [
        ("sigs.k8s.io/kueue", ["v0.16.9", "v0.18.4", "v0.19.2"], []),
        ("sigs.k8s.io/kueue", ["v0.18.5", "v0.19.2"], ["v0.18.5 is newer than v0.18.4"]),
        ("sigs.k8s.io/karpenter", ["v1.14.1", "v1.14.3", "v1.16.0"], ["v1.16.0 is newer than v1.15.0"]),
    ],
)
def test_newer_releases_of_karpenter_and_kueue_are_listed(module: str, served: list[str], newer: list[str]) -> None:
    assert list(to_read_beside(module, served)) == [f"{module} {each}, which was read" for each in newer]


def test_what_was_read_is_named() -> None:
    said = what_was_read()
    assert "k8s.io/kubernetes v1.33.13, " in said
    assert "sigs.k8s.io/kueue v0.18.4, v0.19.2" in said


def test_tags_are_ordered_as_they_appear() -> None:
    texts = ["v1.38.0-alpha.1", "v1.38.0-beta.0", "v1.38.0-beta.1", "v1.38.0-rc.0", "v1.38.0", "v1.38.1"]
    tags = [tag for text in reversed(texts) if (tag := Tag.parse(text)) is not None]
    assert [str(tag) for tag in sorted(tags)] == texts
