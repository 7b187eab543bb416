"""Small clusters for the tests of plugins: objects out of a few words, and the plugins of one minor over them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import numpy as np

from kubectl_sched.api.component_helpers.pod_requests import scheduler_options
from kubectl_sched.api.core import Node
from kubectl_sched.api.pod import Pod
from kubectl_sched.config import RELEASES, Features, KubeVersion
from kubectl_sched.framework.cycle_state import CycleState
from kubectl_sched.framework.handle import Handle
from kubectl_sched.framework.interface import FilterPlugin, PreFilterPlugin, PreScorePlugin, ScorePlugin
from kubectl_sched.framework.status import Code
from kubectl_sched.snapshot import build

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.framework.interface import Plugin
    from kubectl_sched.framework.status import Status
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Rows

P = TypeVar("P", bound="Plugin")

EXACT_MINORS = ("1.33", "1.34", "1.35", "1.36", "1.37")
ROOMY = {"cpu": "8", "memory": "16Gi", "pods": "110", "ephemeral-storage": "100Gi"}


def node(name: str = "w1", *, labels: Mapping[str, str] | None = None, **fields: Any) -> Node:
    """A node with `spec` or `status` fields in Kubernetes' own names; allocatable is ROOMY unless it is given."""
    spec_names = {"taints", "unschedulable", "providerID", "podPreemptionPolicy"}
    spec = {key: value for key, value in fields.items() if key in spec_names}
    status = {"allocatable": ROOMY} | {key: value for key, value in fields.items() if key not in spec_names}
    metadata = {"name": name, "labels": dict(labels or {})}
    return msgspec.convert({"metadata": metadata, "spec": spec, "status": status}, Node)


def pod(name: str = "web-0", *, on: str = "", metadata: Mapping[str, Any] | None = None, **spec: Any) -> Pod:
    """A pod with `spec` fields in Kubernetes' own names, bound to the node `on`, if any; `status` is one of them."""
    status = spec.pop("status", {})
    identity = {"name": name, "namespace": "default", "uid": f"uid-{name}", **(metadata or {})}
    bound = {"nodeName": on} if on else {}
    return msgspec.convert({"metadata": identity, "spec": {**bound, **spec}, "status": status}, Pod)


def requests(**amounts: str) -> dict[str, Any]:
    """The `containers` of a pod with one container that requests these (`_` in a name stands for `-`)."""
    named = {name.replace("_", "-"): amount for name, amount in amounts.items()}
    return {"containers": [{"name": "main", "resources": {"requests": named}}]}


@cache
def handle(version: str = "1.36", **gates: bool) -> Handle:
    """The handle of a plugin of that minor."""
    minor = KubeVersion.parse(version)
    return Handle(version=minor, release=RELEASES[minor], features=Features.for_version(minor, gates))


def make(kind: type[P], args: Any = None, version: str = "1.36", **gates: bool) -> P:
    """A plugin of that minor."""
    plugin: P = kind(args, handle(version, **gates))
    return plugin


def snapshot(*objects: KubernetesObject, version: str = "1.36") -> Snapshot:
    """The cluster of these objects, as that minor counts it."""
    release = handle(version).release
    options = scheduler_options(handle(version).features.enabled, release)
    nodes, left_out = build(objects, options, sidecar_ports_count=release.sidecar_ports_count)
    assert not left_out
    return nodes


def filtered(plugin: FilterPlugin, incoming: Pod, nodes: Snapshot) -> list[Status]:
    """The verdicts of one plugin's PreFilter and Filter on each node; a plugin that skips passes them all."""
    state = CycleState()
    if isinstance(plugin, PreFilterPlugin):
        status = plugin.pre_filter(state, incoming, nodes).status
        if status.code is Code.SKIP:
            return [status] * len(nodes)
        assert status.is_success
    return list(plugin.filter(state, incoming, nodes))


def reasons(plugin: FilterPlugin, incoming: Pod, nodes: Snapshot) -> dict[str, tuple[str, ...]]:
    """The reasons of each node that is rejected."""
    verdicts = zip(nodes.names, filtered(plugin, incoming, nodes), strict=True)
    return {name: status.reasons for name, status in verdicts if status.is_rejected}


def explained(plugin: FilterPlugin, incoming: Pod, nodes: Snapshot, row: int = 0) -> tuple[list[str], list[str]]:
    """The texts and the hints of the evidence against one node."""
    state = CycleState()
    if isinstance(plugin, PreFilterPlugin):
        plugin.pre_filter(state, incoming, nodes)
    evidence = plugin.explain_filter(state, incoming, nodes, row)
    return [each.text for each in evidence], [hint for each in evidence for hint in each.hints]


def all_rows(nodes: Snapshot) -> Rows:
    """Every row."""
    return np.arange(len(nodes), dtype=np.intp)


def scored(plugin: ScorePlugin, incoming: Pod, nodes: Snapshot, rows: Sequence[int] | None = None) -> list[int] | None:
    """The raw scores of a plugin, None where PreScore skips it."""
    state = CycleState()
    chosen = all_rows(nodes) if rows is None else np.array(rows, dtype=np.intp)
    if isinstance(plugin, PreScorePlugin) and plugin.pre_score(state, incoming, nodes, chosen).code is Code.SKIP:
        return None
    scores: list[int] = plugin.score(state, incoming, nodes, chosen).tolist()
    return scores
