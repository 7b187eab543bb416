"""Cuts objects to the fields that are listed, and the messages in them to the texts of known controllers."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
from msgspec import structs

from kubectl_sched.api.core import ConfigMap, Event
from kubectl_sched.api.meta import Condition
from kubectl_sched.config.config_map import configuration_keys
from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.sources.discovery.cluster_autoscalers import readable_groups, status_text
from kubectl_sched.sources.discovery.scheduler_flags import kept_flags
from kubectl_sched.sources.export.exported_fields import (
    holds_text,
    sections,
    structs_in,
    treatment,
    types_of_fields,
)
from kubectl_sched.sources.export.kept_configuration import kept_text
from kubectl_sched.sources.export.kept_messages import LEFT_OUT, kept_message

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.api.meta import KubernetesObject

_SCHEDULERS_CONDITIONS: Final = ("PodScheduled", "PodGroup")
_SCHEDULERS_EVENTS: Final = frozenset({"FailedScheduling", "NotTriggerScaleUp"})
_WORD: Final = pattern(r"[A-Za-z0-9][\w./:-]{0,127}", re.ASCII)
_TREATED: Final = frozenset({"inside", "message", "word", "flags", "configuration", "never"})
"""The treatments of fields that a snapshot does not hold just as they are."""


def is_kept_kind(kind: type[KubernetesObject]) -> bool:
    """Report whether objects of the kind are listed."""
    return kind.__name__ in sections()["kinds"]


class FieldCutter:
    """Returns objects with nothing in them but what is listed.

    `own_reasons` cuts a scheduler's message to the reasons that are kube-scheduler's.
    """

    def __init__(self, own_reasons: Callable[[str], str]) -> None:
        self._own_reasons = own_reasons
        self._kind = ""

    def cut(self, item: KubernetesObject) -> KubernetesObject:
        """Return the object as the snapshot holds it."""
        self._kind = f"Event:{item.reason}" if isinstance(item, Event) else type(item).__name__
        changed: KubernetesObject = self._struct(item)
        return changed

    def _struct(self, value: Any) -> Any:
        kind: type[msgspec.Struct] = type(value)
        changes: dict[str, Any] = {}
        for step in _steps(kind):
            before = getattr(value, step.field)
            if not before:
                continue
            after = self._cut(step, value, before)
            if after != before:
                changes[step.field] = after
        return structs.replace(value, **changes) if changes else value

    def _cut(self, step: _Step, holder: Any, value: Any) -> Any:
        match step.treatment:
            case "inside":
                return self._inside(value)
            case "message":
                return self._message(holder, value)
            case "word":
                return value if _WORD.fullmatch(value) else ""
            case "flags":
                return kept_flags(value)
            case "configuration":
                return _kept_data(value) if isinstance(holder, ConfigMap) else kept_text(value)
            case _:
                return step.nothing

    def _inside(self, value: Any) -> Any:
        if isinstance(value, msgspec.Struct):
            return self._struct(value)
        if isinstance(value, tuple):
            return tuple(map(self._inside, value))
        return {key: self._inside(each) for key, each in value.items()} if isinstance(value, dict) else value

    def _message(self, holder: Any, text: str) -> str:
        """Return a message of the scheduler by its reasons, one of other programs by their known texts."""
        if text in {getattr(holder, "reason", ""), LEFT_OUT}:
            return text if _WORD.fullmatch(text) else LEFT_OUT
        by_scheduler = isinstance(holder, Condition) and holder.type.startswith(_SCHEDULERS_CONDITIONS)
        if by_scheduler or (isinstance(holder, Event) and holder.reason in _SCHEDULERS_EVENTS):
            kept = self._own_reasons(text)
            if kept:
                return kept
        return kept_message(self._kind, text)


class _Step(NamedTuple):
    """A field that is not always kept just as it is, its treatment, and its value when it is left out."""

    field: str
    treatment: str
    nothing: Any


@cache
def _steps(kind: type[msgspec.Struct]) -> tuple[_Step, ...]:
    """Return the steps for a type; a field that holds Structs is looked into, one that is not listed is left out."""
    return tuple(
        _Step(field.name, found, field.default_factory() if field.default is msgspec.NODEFAULT else field.default)
        for field in types_of_fields(kind)
        if (found := treatment(kind, field.name) or _unlisted(field)) in _TREATED
    )


def _unlisted(field: msgspec.structs.FieldInfo) -> str:
    if holds_text(field.type):
        return "never"
    return "inside" if any(_steps(each) for each in structs_in(field.type)) else ""


def _kept_data(data: dict[str, str]) -> dict[str, str]:
    """The data of a ConfigMap: scheduler configurations, and of cluster-autoscaler's status the sizes of groups."""
    status = ConfigMap(data=data).autoscaler_status
    if status:
        return {"status": status_text(readable_groups(status))}
    return {key: kept_text(data[key]) for key in configuration_keys(data)}
