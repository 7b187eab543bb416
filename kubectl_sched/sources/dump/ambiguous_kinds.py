"""Kinds of several API groups that objects spell alike, such as Workload, PodGroup and Queue."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, cast

import msgspec

from kubectl_sched.api.meta import KubernetesObject
from kubectl_sched.sources.dump.undecoded_values import typed
from kubectl_sched.sources.kinds import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_EMPTY = msgspec.Raw(b"{}")


class Namesake(KubernetesObject, frozen=True):
    """An object whose kind is not known before its apiVersion is."""

    spec: msgspec.Raw = _EMPTY
    status: msgspec.Raw = _EMPTY


@cache
def namesake(spelled: str) -> type[Namesake]:
    """Return the type of all objects that spell their kind so."""
    made = msgspec.defstruct(f"{spelled}Namesake", [], bases=(Namesake,), frozen=True, tag_field="kind", tag=spelled)
    return cast("type[Namesake]", made)


def told_apart(objects: list[KubernetesObject]) -> list[KubernetesObject]:
    """Return the objects, each namesake as the kind of its own group; those of groups that are not read are left out.

    Raises msgspec.ValidationError for one that is not as its kind should be.
    """
    return list(_told_apart(objects)) if any(isinstance(item, Namesake) for item in objects) else objects


def _told_apart(objects: Iterable[KubernetesObject]) -> Iterator[KubernetesObject]:
    for item in objects:
        if not isinstance(item, Namesake):
            yield item
            continue
        kind = kind_of(item.api_version, str(type(item).__struct_config__.tag))
        if kind is not None:
            yield typed(msgspec.Raw(msgspec.json.encode(item)), kind.type)
