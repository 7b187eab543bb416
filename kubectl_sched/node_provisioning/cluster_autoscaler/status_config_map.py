"""The ConfigMap `cluster-autoscaler-status`: YAML since 1.30, lines of text before (clusterstate/api)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from kubectl_sched.api.meta import Int64, Part
from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_OLD_HEAD = "Cluster-autoscaler status at "
_NAME = pattern(r" {2}Name: {1,8}(\S.*)")
_HEALTH = pattern(
    r" {2}Health: {1,6}(\w+) \(ready=(\d{1,9}) unready=(\d{1,9}) .*longUnregistered=(\d{1,9}) "
    r"cloudProviderTarget=(-?\d{1,9}) \(minSize=(\d{1,9}), maxSize=(\d{1,9})\)\)"
)
_SCALE_UP = pattern(r" {2}ScaleUp: {1,5}(\w+).*")
_SCALE_DOWN = pattern(r" {2}ScaleDown: {1,5}(\w+) \(candidates=(\d{1,9})\).*")


class GroupStatus(Record, frozen=True, kw_only=True):
    """A node group as the autoscaler last saw it."""

    name: str
    size: int
    """The number of nodes that the cloud was asked for."""

    min: int
    max: int
    upcoming: int
    """The number of these that have not registered."""

    health: str
    scale_up: str
    error_code: str = ""
    """The cloud's code of the error after which the group is in backoff."""

    scale_down: str = ""
    """CandidatesPresent or NoCandidates; empty if the status does not say it."""

    candidates: int = 0
    """The number of nodes that the autoscaler would remove."""


def is_of_lines(text: str) -> bool:
    """Report whether the status is of the older format, which is no YAML."""
    return text.startswith(_OLD_HEAD)


def groups_of_lines(text: str) -> tuple[GroupStatus, ...]:
    """Read the groups of the older format; a group without its counts is left out."""
    lines = text.splitlines()
    groups = {each.name: each for each in _of_lines(lines)}
    for name, status, candidates in _scale_downs(lines):
        if name in groups:
            groups[name] = replace(groups[name], scale_down=status, candidates=candidates)
    return tuple(groups.values())


def groups_of_document(document: Mapping[str, Any]) -> tuple[GroupStatus, ...]:
    """Read the groups of the newer format. Raises msgspec.ValidationError for a field of the wrong type."""
    return tuple(
        GroupStatus(
            name=each.name,
            size=each.health.cloud_provider_target,
            min=each.health.min_size,
            max=each.health.max_size,
            upcoming=max(0, each.health.cloud_provider_target - each.health.node_counts.present),
            health=each.health.status,
            scale_up=each.scale_up.status,
            error_code=each.scale_up.backoff_info.error_code,
            scale_down=each.scale_down.status,
            candidates=each.scale_down.candidates,
        )
        for each in msgspec.convert(document, _Status).node_groups
    )


def document_of(groups: tuple[GroupStatus, ...]) -> dict[str, Any]:
    """Return a status of the newer format with these groups and nothing else."""
    return {
        "autoscalerStatus": "Running",
        "nodeGroups": [
            {
                "name": each.name,
                "health": {
                    "status": each.health,
                    "nodeCounts": {"registered": {"ready": each.size - each.upcoming}},
                    "cloudProviderTarget": each.size,
                    "minSize": each.min,
                    "maxSize": each.max,
                },
                "scaleUp": {"status": each.scale_up, "backoffInfo": {"errorCode": each.error_code}},
                "scaleDown": {"status": each.scale_down, "candidates": each.candidates},
            }
            for each in groups
        ],
    }


def _of_lines(lines: list[str]) -> Iterator[GroupStatus]:
    name = ""
    counts: tuple[str, ...] = ()
    for line in lines:
        if found := _NAME.fullmatch(line):
            name, counts = found[1].strip(), ()
        elif found := _HEALTH.fullmatch(line):
            counts = found.groups()
        elif name and counts and (found := _SCALE_UP.fullmatch(line)):
            ready, unready, long_unregistered, size, smallest, largest = map(int, counts[1:])
            yield GroupStatus(
                name=name,
                size=size,
                min=smallest,
                max=largest,
                upcoming=max(0, size - ready - unready - long_unregistered),
                health=counts[0],
                scale_up=found[1],
            )
            name = ""


def _scale_downs(lines: list[str]) -> Iterator[tuple[str, str, int]]:
    """Yield each group's name with the status and the number of its candidates for removal."""
    name = ""
    for line in lines:
        if found := _NAME.fullmatch(line):
            name = found[1].strip()
        elif name and (found := _SCALE_DOWN.fullmatch(line)):
            yield name, found[1], int(found[2])


class _Unready(Part, frozen=True):
    total: Int64 = 0


class _Registered(Part, frozen=True):
    ready: Int64 = 0
    suspended: Int64 = 0
    unready: _Unready = _Unready()


class _NodeCounts(Part, frozen=True):
    registered: _Registered = _Registered()
    long_unregistered: Int64 = 0

    @property
    def present(self) -> int:
        """The nodes that are not on their way (calculateUpcomingNodesInNodeGroup)."""
        known = self.registered
        return known.ready + known.unready.total + known.suspended + self.long_unregistered


class _Health(Part, frozen=True):
    status: str = ""
    node_counts: _NodeCounts = _NodeCounts()
    cloud_provider_target: Int64 = 0
    min_size: Int64 = 0
    max_size: Int64 = 0


class _BackoffInfo(Part, frozen=True):
    error_code: str = ""


class _ScaleUp(Part, frozen=True):
    status: str = ""
    backoff_info: _BackoffInfo = _BackoffInfo()


class _ScaleDown(Part, frozen=True):
    status: str = ""
    candidates: Int64 = 0


class _NodeGroup(Part, frozen=True):
    name: str = ""
    health: _Health = _Health()
    scale_up: _ScaleUp = _ScaleUp()
    scale_down: _ScaleDown = _ScaleDown()


class _Status(Part, frozen=True):
    node_groups: tuple[_NodeGroup, ...] = ()
