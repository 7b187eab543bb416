"""Edits of the pod, of nodes or of the profile, and the cycle replayed with them."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from msgspec import structs
from msgspec.structs import replace

from kubectl_sched.api.apimachinery.quantity import parse_quantity
from kubectl_sched.api.component_helpers.resource_names import is_extended_resource_name, is_huge_page_resource_name
from kubectl_sched.api.meta import with_spec
from kubectl_sched.errors import SchedError
from kubectl_sched.framework.near_tolerations import toleration_text
from kubectl_sched.record import Record
from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.simulation.edited_cluster import Cluster
from kubectl_sched.simulation.node_edits import Edit as NodeFlag
from kubectl_sched.simulation.node_edits import apply
from kubectl_sched.snapshot.node_table import NodeTable
from kubectl_sched.suggestions.change import Change, Kind
from kubectl_sched.suggestions.trial import Trial

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_sched.api.affinity import Toleration
    from kubectl_sched.api.containers import Container
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot import Snapshot

V = TypeVar("V")


class Edit(Record, frozen=True, kw_only=True):
    """One change of what a cycle is run over; `text` is how a person would type it."""

    @property
    @abstractmethod
    def text(self) -> str:
        """The entry that parses to this edit."""

    @abstractmethod
    def applied(self, trial: Trial) -> Trial:
        """With the change. Raises SchedError, as one sentence, where there is nothing to change."""


class Tolerate(Edit, frozen=True, kw_only=True):
    """One toleration more."""

    toleration: Toleration

    @property
    def text(self) -> str:
        """The taint as kubectl writes it."""
        return f"tolerate {_toleration_entry(self.toleration)}"

    def applied(self, trial: Trial) -> Trial:
        """At the end of those that the pod has."""
        spec = trial.pod.spec
        if self.toleration in spec.tolerations:
            raise SchedError(f"the pod tolerates {_toleration_entry(self.toleration)} already")
        return structs.replace(trial, pod=with_spec(trial.pod, tolerations=(*spec.tolerations, self.toleration)))


class Untolerate(Edit, frozen=True, kw_only=True):
    """Without the tolerations of a key (and of an effect, unless that is empty)."""

    key: str
    effect: str = ""

    @property
    def text(self) -> str:
        """The taint as kubectl removes it."""
        return f"tolerate {self.key}{':' if self.effect else ''}{self.effect}-"

    def applied(self, trial: Trial) -> Trial:
        """All that match go."""
        spec = trial.pod.spec
        kept = tuple(each for each in spec.tolerations if each.key != self.key or self.effect not in {"", each.effect})
        if kept == spec.tolerations:
            has = ", ".join(toleration_text(each) for each in spec.tolerations) or "none"
            raise SchedError(f"the pod has no toleration {self.text.removeprefix('tolerate ')[:-1]}; it has {has}")
        return structs.replace(trial, pod=with_spec(trial.pod, tolerations=kept))


class Request(Edit, frozen=True, kw_only=True):
    """A container's request for one resource; None for nothing, an empty container for the one that is meant."""

    resource: str
    quantity: str | None
    container: str = ""

    @property
    def text(self) -> str:
        """`request cpu=500m`, `request sidecar cpu-`."""
        where = f"{self.container} " if self.container else ""
        what = f"{self.resource}-" if self.quantity is None else f"{self.resource}={self.quantity}"
        return f"request {where}{what}"

    def applied(self, trial: Trial) -> Trial:
        """The request, and the limit too where the API server wants both to be equal."""
        spec = trial.pod.spec
        index = self._container_meant(spec.containers)
        containers = (*spec.containers[:index], self._changed(spec.containers[index]), *spec.containers[index + 1 :])
        return structs.replace(trial, pod=with_spec(trial.pod, containers=containers))

    def _container_meant(self, containers: tuple[Container, ...]) -> int:
        """The one of that name; else the first that asks for the resource, else the first."""
        for index, container in enumerate(containers):
            if self.container == container.name or (
                not self.container and self.resource in container.resources.requests
            ):
                return index
        if self.container or not containers:
            names = ", ".join(each.name for each in containers)
            raise SchedError(f"the pod has no container{f' {self.container}; it has {names}' if names else ''}")
        return 0

    def _changed(self, container: Container) -> Container:
        resources = container.resources
        if self.quantity is None and self.resource not in resources.requests:
            raise SchedError(f"container {container.name} asks for no {self.resource}")
        requests = _with(resources.requests, self.resource, self.quantity)
        limits = resources.limits
        if is_extended_resource_name(self.resource) or is_huge_page_resource_name(self.resource):
            limits = _with(limits, self.resource, self.quantity)
        elif self.quantity is not None and self.resource in limits:
            limit = parse_quantity(limits[self.resource])
            if parse_quantity(self.quantity) > limit:
                raise SchedError(f"container {container.name} has a {self.resource} limit of {limit}: request no more")
        return structs.replace(container, resources=structs.replace(resources, requests=requests, limits=limits))


class LabelPod(Edit, frozen=True, kw_only=True):
    """A label of the pod; None takes it away."""

    key: str
    value: str | None

    @property
    def text(self) -> str:
        """The label as `kubectl label` takes it."""
        return f"label pod {_pair(self.key, self.value)}"

    def applied(self, trial: Trial) -> Trial:
        """Set, or gone."""
        metadata = trial.pod.metadata
        if self.value is None and self.key not in metadata.labels:
            raise SchedError(f"the pod has no label {self.key}")
        labels = _with(metadata.labels, self.key, self.value)
        return structs.replace(trial, pod=structs.replace(trial.pod, metadata=structs.replace(metadata, labels=labels)))


class Select(Edit, frozen=True, kw_only=True):
    """A key of the pod's nodeSelector; None takes it away."""

    key: str
    value: str | None

    @property
    def text(self) -> str:
        """`select pool=gpu`, `select pool-`."""
        return f"select {_pair(self.key, self.value)}"

    def applied(self, trial: Trial) -> Trial:
        """Set, or gone."""
        spec = trial.pod.spec
        selector = spec.node_selector or {}
        if self.value is None and self.key not in selector:
            raise SchedError(f"the pod's nodeSelector has no {self.key}")
        return structs.replace(trial, pod=with_spec(trial.pod, node_selector=_with(selector, self.key, self.value)))


class EditNodes(Edit, frozen=True, kw_only=True):
    """A taint, a label or a cordon of the nodes that a name, a pattern or a selector means, as `whatif` makes it.

    A NoExecute taint takes the pods off the node that do not tolerate it.
    """

    verb: str
    nodes: str
    change: str = ""

    @property
    def text(self) -> str:
        """The edit as kubectl takes it: `taint gpu-1 dedicated=db:NoSchedule`."""
        where = f"node {self.nodes}" if self.verb == "label" else self.nodes
        return f"{self.verb} {where} {self.change}".rstrip()

    def applied(self, trial: Trial) -> Trial:
        """Node by node; the rows stay what they were."""
        nodes = trial.nodes
        pods = list(nodes.existing_pods.pods)
        cluster = Cluster(dict(zip(nodes.names, nodes.node_objects, strict=True)), pods, [], admit=lambda pod: pod)
        value = f"{self.nodes}={self.change}" if self.change else self.nodes
        try:
            apply([NodeFlag(f"--{self.verb}", value)], cluster)
        except SchedError as error:
            told = str(error).replace(f"--{self.verb} {value}", self.text).removeprefix(f"--{self.verb}: ")
            raise SchedError(told) from None
        edited = replace(nodes, table=NodeTable(tuple(cluster.nodes.values()), saturates=nodes.table.saturates))
        if len(cluster.pods) < len(pods):
            staying = {pod.key for pod in cluster.pods}
            edited = edited.without(np.array([pod.key not in staying for pod in pods], dtype=np.bool_))
        return structs.replace(trial, nodes=edited)


class Weigh(Edit, frozen=True, kw_only=True):
    """Another weight for a score plugin."""

    plugin: str
    weight: int

    @property
    def text(self) -> str:
        """`weight ImageLocality=5`."""
        return f"weight {self.plugin}={self.weight}"

    def applied(self, trial: Trial) -> Trial:
        """Return the trial with that weight in the plugins' profile."""
        refs = trial.framework.profile.plugins.get("score", ())
        if all(each.name != self.plugin for each in refs):
            raise SchedError(f"the profile does not score by {self.plugin}")
        return trial.changed((Change(kind=Kind.WEIGH, text=self.text, weight=(self.plugin, self.weight)),))


class TakeUp(Edit, frozen=True, kw_only=True):
    """A suggested change."""

    change: Change

    @property
    def text(self) -> str:
        """The suggestion's own words."""
        return self.change.text

    def applied(self, trial: Trial) -> Trial:
        """Return the trial as it was replayed when the change was suggested."""
        return trial.changed((self.change,))


class Replay:
    """Replays one pod's cycle under edits. It keeps the last edited nodes, whose columns are then warm."""

    def __init__(self, base: ScheduleResult) -> None:
        self._base = base
        self._edited_nodes: tuple[tuple[Edit, ...], Snapshot] = ((), base.nodes)

    def __call__(self, edits: Sequence[Edit]) -> ScheduleResult:
        """Replay the cycle with the edits, in their order. Raises SchedError for one that cannot be made."""
        base = self._base
        if not edits:
            return base
        if not isinstance(base, CycleResult):
            raise SchedError("no profile serves this pod, so there is no cycle to replay")
        trial = Trial(pod=base.pod, nodes=self._nodes(base, edits), framework=base.framework)
        for edit in edits:
            if not _is_of_nodes(edit):
                trial = edit.applied(trial)
        replayed = trial.run(preempting=True)
        return replace(replayed, current_node=base.current_node)

    def _nodes(self, base: CycleResult, edits: Sequence[Edit]) -> Snapshot:
        """The nodes after the edits of nodes; whatever the pod and the profile are, these come out the same."""
        of_nodes = tuple(filter(_is_of_nodes, edits))
        if of_nodes != self._edited_nodes[0]:
            trial = Trial.of(base)
            for edit in of_nodes:
                trial = edit.applied(trial)
            self._edited_nodes = (of_nodes, trial.nodes)
        return self._edited_nodes[1]


def _is_of_nodes(edit: Edit) -> bool:
    if isinstance(edit, TakeUp):
        return edit.change.node_name is not None or bool(edit.change.evicts)
    return isinstance(edit, EditNodes)


def texts(edits: Iterable[Edit]) -> list[str]:
    """All of them as a person would type them."""
    return [edit.text for edit in edits]


def _with(mapping: dict[str, V], key: str, value: V | None) -> dict[str, V]:
    if value is None:
        return {each: mapping[each] for each in mapping if each != key}
    return {**mapping, key: value}


def _pair(key: str, value: str | None) -> str:
    return f"{key}-" if value is None else f"{key}={value}"


def _toleration_entry(toleration: Toleration) -> str:
    value = f"={toleration.value}" if toleration.operator == "Equal" else ""
    effect = f":{toleration.effect}" if toleration.effect else ""
    return f"{toleration.key}{value}{effect}"
