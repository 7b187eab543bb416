"""Objects of a cluster, some of them replaced."""

from __future__ import annotations

from msgspec.structs import replace

from kubectl_sched.api.meta import ObjectMeta
from kubectl_sched.api.storage import PersistentVolume, StorageClass
from kubectl_sched.snapshot.objects import Objects


def volume(name: str, mode: str = "") -> PersistentVolume:
    item = PersistentVolume(metadata=ObjectMeta(name=name))
    return replace(item, spec=replace(item.spec, volume_mode=mode))


def modes(objects: Objects) -> list[tuple[str, str | None]]:
    return [(each.name, each.spec.volume_mode) for each in objects.all(PersistentVolume)]


def test_objects_take_the_places_of_those_of_their_names_and_new_ones_come_last() -> None:
    objects = Objects([volume("b"), volume("a")])
    changed = objects.with_these(PersistentVolume, [volume("c", "new"), volume("a", "new")])
    assert modes(changed) == [("b", ""), ("a", "new"), ("c", "new")]
    assert modes(changed.with_these(PersistentVolume, [volume("b", "newer")]))[0] == ("b", "newer")
    assert modes(objects) == [("b", ""), ("a", "")]
    found = changed.get(PersistentVolume, "a")
    assert found is not None
    assert found.spec.volume_mode == "new"


def test_an_object_takes_the_places_of_all_that_have_its_name() -> None:
    changed = Objects([volume("a"), volume("b"), volume("a")]).with_these(
        PersistentVolume, [volume("c", "new"), volume("a", "new")]
    )
    assert modes(changed) == [("a", "new"), ("b", ""), ("a", "new"), ("c", "new")]


def test_what_is_made_of_a_kind_is_kept_until_objects_of_that_kind_change() -> None:
    objects = Objects([volume("a"), StorageClass(metadata=ObjectMeta(name="fast"))])
    made = objects.derived(PersistentVolume, tuple)
    assert objects.with_these(StorageClass, []).derived(PersistentVolume, tuple) is made
    assert objects.without(StorageClass, [("", "fast")]).derived(PersistentVolume, tuple) is made
    assert objects.with_these(PersistentVolume, [volume("b")]).derived(PersistentVolume, tuple) != made
    assert objects.without(PersistentVolume, [("", "a")]).derived(PersistentVolume, tuple) == ()
