"""Extension points of each in-tree plugin in each minor, which upstream declares by Go interfaces.

Answers to the plugins' own sources and to pkg/scheduler/framework/plugins/registry.go. Gates do not matter here: a
plugin whose feature is off still has its methods.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kubectl_sched.data_lines import data_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_sched.config.versions import KubeVersion

EXTENSION_POINTS: Final = (
    "preFilter",
    "filter",
    "postFilter",
    "reserve",
    "preScore",
    "score",
    "preBind",
    "bind",
    "postBind",
    "permit",
    "preEnqueue",
    "queueSort",
    "placementGenerate",
    "placementScore",
    "placementFeasible",
    "podGroupPostFilter",
)
"""In the order in which kube-scheduler fills them, and so meets a mistake first."""

INTERFACES: Final = {point: f"{point[0].upper()}{point[1:]}Plugin" for point in EXTENSION_POINTS}
"""The Go interface of an extension point, as error texts name it."""

_ADDED_POINTS: Final = {
    "preEnqueue": 26,
    "placementGenerate": 36,
    "placementScore": 36,
    "podGroupPostFilter": 37,
    "placementFeasible": 38,
}

_TABLE: Final = Path(__file__).with_name("plugin_points.txt")


@cache
def in_tree_plugins(version: KubeVersion) -> Mapping[str, frozenset[str]]:
    """Return the plugins that kube-scheduler is built with in `version`, each with its extension points."""
    return {
        name: frozenset(point for point, served in map(_split, points.split()) if _within(served, version))
        for (name, served_plugin), points in (_row(line) for line in data_lines(_TABLE))
        if _within(served_plugin, version)
    }


def extension_points(version: KubeVersion) -> tuple[str, ...]:
    """Return the extension points that `version` has, in the order in which kube-scheduler fills them."""
    return tuple(point for point in EXTENSION_POINTS if version.minor >= _ADDED_POINTS.get(point, 0))


def _row(line: str) -> tuple[tuple[str, str], str]:
    """Return a plugin, its minors, and its extension points."""
    plugin, points = line.split(" | ")
    return _split(plugin), points


def _split(entry: str) -> tuple[str, str]:
    name, _, served = entry.partition(":")
    return name, served


def _within(served: str, version: KubeVersion) -> bool:
    """Report whether a minor is in `26`, `26-31` or the empty text, which is always."""
    if not served:
        return True
    first, _, last = served.partition("-")
    return int(first) <= version.minor <= int(last or first if "-" in served else version.minor)
