"""Objects that the end of a cycle reserves for a pod besides room on its node: devices and volumes.

A reservation holds an object twice: as it is once the pod is bound, for a simulation that goes on from there, and as
the requests that PreBind sends to a server. Our objects hold only what the scheduler reads, so a request cannot be made
of the object alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec.structs import replace

from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.meta import KubernetesObject

JSON: TypeAlias = dict[str, Any]


class Write(Record, frozen=True, kw_only=True):
    """One request, in the order in which PreBind makes them.

    `verb` is `create` or `patch`. A create has the whole object as its body and no `name`, since the server draws one.
    A patch has a JSON merge patch (RFC 7386) of the object or of its `subresource` (`status`). A merge patch replaces
    whole lists, so the sender adds the `metadata.resourceVersion` that the list was read at. If the server answers 409,
    the cycle has to be run again.
    """

    verb: str
    kind: str
    namespace: str
    name: str
    body: JSON
    subresource: str = ""


class DevicesOfClass(Record, frozen=True, kw_only=True):
    """A request of a claim (`name`, or `name/alternative`) and the class of the devices that it got."""

    request: str
    class_name: str


class Reservation(Record, frozen=True, kw_only=True):
    """One object of a pod's as it will be, and what is written to make it so.

    `item.metadata.resource_version` is that of the object as the cycle saw it. An item that does not exist yet (the
    claim for extended resources) has an assumed name; `renamed` puts the one that the server drew into later writes.
    `chosen` is what drivers have to be told besides: see `kubectl_sched.dynamic_resource_allocation.device_configs`.
    `assumed` is the object as the other members of the pod's group find it in the same cycle, before anything is
    written, where that differs from `item`.
    """

    item: KubernetesObject
    assumed: KubernetesObject | None = None
    writes: tuple[Write, ...] = ()
    chosen: tuple[DevicesOfClass, ...] = ()


def renamed(writes: Sequence[Write], assumed: str, given: str) -> tuple[Write, ...]:
    """The writes with the name that the server gave to an object in the place of the one that was assumed."""
    return tuple(
        replace(each, name=given if each.name == assumed else each.name, body=_with_text(each.body, assumed, given))
        for each in writes
    )


def _with_text(value: Any, before: str, after: str) -> Any:
    if isinstance(value, dict):
        return {key: _with_text(each, before, after) for key, each in value.items()}
    if isinstance(value, list):
        return [_with_text(each, before, after) for each in value]
    return after if value == before else value
