"""Differences between a resolved profile and the default profile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from kubectl_sched.config.duration import format_duration
from kubectl_sched.config.plugin_table import EXTENSION_POINTS
from kubectl_sched.config.types import Duration, OutOfTreeArgs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_sched.config.profiles import PluginRef, ResolvedProfile
    from kubectl_sched.config.types import Args

RUN_ORDER = (
    "queueSort",
    "preEnqueue",
    "preFilter",
    "filter",
    "postFilter",
    "preScore",
    "score",
    "reserve",
    "permit",
    "preBind",
    "bind",
    "postBind",
    *EXTENSION_POINTS[-3:],
)
"""The extension points as a pod meets them; those of pod groups last."""


class PluginDifference(msgspec.Struct, frozen=True):
    """One plugin at one extension point: `difference` is added, removed, moved or weight; empty where there is none."""

    name: str
    weight: int
    default_weight: int | None
    difference: str


def compare(profile: ResolvedProfile, default: ResolvedProfile) -> dict[str, tuple[PluginDifference, ...]]:
    """Each extension point's plugins in order, each with its difference; those that were taken out come last."""
    points = {*profile.plugins, *default.plugins}
    return {
        point: _at(profile.plugins.get(point, ()), default.plugins.get(point, ()))
        for point in RUN_ORDER
        if point in points
    }


def _at(refs: Sequence[PluginRef], defaults: Sequence[PluginRef]) -> tuple[PluginDifference, ...]:
    weights = {ref.name: ref.weight for ref in defaults}
    present = {ref.name for ref in refs}
    in_place = _longest_common([ref.name for ref in refs if ref.name in weights], [*weights])

    def difference(ref: PluginRef) -> str:
        if ref.name not in weights:
            return "added"
        if ref.weight != weights[ref.name]:
            return "weight"
        return "" if ref.name in in_place else "moved"

    kept = [PluginDifference(ref.name, ref.weight, weights.get(ref.name), difference(ref)) for ref in refs]
    gone = [PluginDifference(ref.name, 0, ref.weight, "removed") for ref in defaults if ref.name not in present]
    return (*kept, *gone)


def _longest_common(names: Sequence[str], reference: Sequence[str]) -> frozenset[str]:
    """The most of the names that can stay where they are: their longest run in the reference's order."""
    place = {name: index for index, name in enumerate(reference)}
    runs: list[tuple[str, ...]] = []
    for name in names:
        before = [run for run in runs if place[run[-1]] < place[name]]
        runs.append((*_longest(before), name))
    return frozenset(_longest(runs))


def _longest(runs: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    return max(runs, key=len, default=())


def args_document(args: Args) -> dict[str, Any]:
    """A plugin's arguments as a configuration would write them, defaults written out."""
    if isinstance(args, OutOfTreeArgs):
        return dict(args.document)
    return {
        name: _document(getattr(args, field))
        for field, name in zip(args.__struct_fields__, args.__struct_encode_fields__, strict=True)
        if getattr(args, field) is not None
    }


def _document(value: object) -> Any:
    if isinstance(value, Duration):
        return format_duration(value.nanoseconds)
    if isinstance(value, tuple):
        return [_document(item) for item in value]
    if isinstance(value, msgspec.Struct) and type(value).__module__ == Duration.__module__:
        fields = zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True)
        return {name: _document(item) for field, name in fields if (item := getattr(value, field)) is not None}
    return msgspec.to_builtins(value)


def differing_args(profile: ResolvedProfile, default: ResolvedProfile) -> Mapping[str, dict[str, Any]]:
    """Plugin -> those of its arguments that are not as the default profile has them."""
    differing: dict[str, dict[str, Any]] = {}
    for name, args in profile.args.items():
        usual = args_document(default.args[name]) if name in default.args else {}
        changed = {field: value for field, value in args_document(args).items() if usual.get(field) != value}
        if changed:
            differing[name] = changed
    return differing
