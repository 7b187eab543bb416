"""Objects of a cluster, some of them replaced."""

from __future__ import annotations

from itertools import product

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


STEPS = ("with_these", "with_these_later", "replacing", "without", "of_class", "all", "get", "in_namespace")


def done(objects: Objects, step: str, number: int) -> Objects:
    """The objects after a step, the first or another; looking at some leaves them as they are."""
    volumes = [volume("a", f"{number}"), volume(f"{number}", f"{number}")]
    if step == "with_these_later":
        return objects.with_these_later(PersistentVolume, lambda: volumes)
    if step == "with_these":
        return objects.with_these(PersistentVolume, volumes)
    if step == "replacing":
        return objects.replacing(PersistentVolume, volumes)
    if step == "without":
        return objects.without(PersistentVolume, [("", "a")])
    if step == "of_class":
        return objects.with_these(StorageClass, [StorageClass(metadata=ObjectMeta(name=f"{number}"))])
    if step == "get":
        objects.get(PersistentVolume, "a")
    if step == "in_namespace":
        objects.in_namespace(PersistentVolume, "")
    if step == "all":
        objects.all(PersistentVolume)
    return objects


def test_objects_that_are_made_later_are_those_that_are_made_at_once() -> None:
    for steps in product(STEPS, repeat=3):
        later = at_once = Objects([volume("a"), volume("b")])
        for number, step in enumerate(steps):
            later, at_once = done(later, step, number), done(at_once, step.removesuffix("_later"), number)
        assert (modes(later), later.all(StorageClass)) == (modes(at_once), at_once.all(StorageClass)), steps


def test_objects_are_made_once_and_for_those_who_ask() -> None:
    asked = 0

    def made() -> list[PersistentVolume]:
        nonlocal asked
        asked += 1
        return [volume("b")]

    objects = Objects([volume("a")]).with_these_later(PersistentVolume, made)
    assert objects.all(StorageClass) == ()
    assert asked == 0
    assert modes(objects) == modes(objects) == [("a", ""), ("b", "")]
    assert objects.in_namespace(PersistentVolume, "") == objects.all(PersistentVolume)
    assert asked == 1
