"""`capacity`: the room that a cluster has left, by pool and zone, and how many more pods of its workloads fit."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.api.affinity import Toleration
from kubectl_sched.api.meta import ObjectMeta
from kubectl_sched.api.pod import Pod, PodSpec
from kubectl_sched.config.types import DEFAULT_SCHEDULER_NAME
from kubectl_sched.plugins.node_resources.fit import NodeResourcesFit
from kubectl_sched.queries.nodes_by_pool import CONDITION_TAINT
from kubectl_sched.queries.room.pool_room import pools_of
from kubectl_sched.queries.room.quota_room import about_quotas
from kubectl_sched.queries.room.reached_nodes import ANY, MOST_ASKED, largest_first, reached_nodes
from kubectl_sched.queries.room.shape_room import shape_capacity
from kubectl_sched.queries.room.shapes import SHOWN, parse_shape, pending_shapes, shapes_of
from kubectl_sched.queries.unreadable_kinds import UnreadableKinds
from kubectl_sched.record import CachingRecord, Record
from kubectl_sched.simulation.pod_capacity import MOST_REPLAYED
from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
from kubectl_sched.sources.discovery.replay_setup import Replay
from kubectl_sched.sources.dump.completeness import old_age
from kubectl_sched.sources.pod_selection import Selection, select

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_sched.queries.room.pool_room import Pool
    from kubectl_sched.queries.room.shape_room import ShapeCapacity
    from kubectl_sched.queries.room.shapes import Shape
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Mask
    from kubectl_sched.sources.dump.dump import Dump

_MOST_PENDING = 200
"""No more pending workloads than this are replayed, those with most pending pods first."""


class CapacityQuestion(Record, frozen=True, kw_only=True):
    """The flags of the same names; without shapes the workloads that there are, of one namespace if it is given."""

    shapes: tuple[str, ...] = ()
    namespace: str | None = None
    selector: str | None = None
    profile: str | None = None
    replay: Replay = Replay()


class CapacityAnswer(CachingRecord, frozen=True, kw_only=True):
    """The shapes, the pools by zone in the order of their first nodes, and sentences about what was assumed."""

    shapes: tuple[ShapeCapacity, ...]
    pools: tuple[Pool, ...]
    is_of_flags: bool = False
    """The shapes are those of --shape, and what is stranded is asked of them alone."""

    kubernetes_version: str
    notes: tuple[str, ...]
    kubernetes_patch: str | None = None
    changing: tuple[str, ...] = ()
    """The notes that change the answer."""

    @property
    def is_known(self) -> bool:
        """Report whether no shape rests on a kind that was not read."""
        return all(each.is_known for each in self.shapes)


def capacity(question: CapacityQuestion, dump: Dump) -> CapacityAnswer:
    """Count what is free, and replay how much of it pods can use.

    Raises SchedError for an unreadable shape or an unknown profile.
    """
    schedulers = ClusterSchedulers(dump, question.replay, question.profile)
    schedulers.check_profile()
    shapes, notes = _shapes(question, dump, schedulers)
    unreadable = UnreadableKinds(dump=dump)
    found = [shape_capacity(shape, schedulers, unreadable) for shape in shapes]
    nodes = schedulers.default_scheduler.nodes
    if question.shapes:
        reached: Mapping[str, Mask] = _reached_by(found)
    else:
        asked = largest_first(shapes_of(dump.pods), nodes)
        if len(asked) > MOST_ASKED:
            notes.append(f"stranded: the largest {MOST_ASKED:,} of {len(asked):,} distinct requests were asked")
        reached = reached_nodes(asked[:MOST_ASKED], schedulers)
    found_pools = pools_of(nodes, found, _open_nodes(nodes, schedulers), reached)
    old = old_age(dump)
    said = (*old, *notes, *_about(found), *schedulers.notes, *dump.warnings, *schedulers.warnings)
    release = schedulers.assumed(question.profile or DEFAULT_SCHEDULER_NAME).configuration.release
    return CapacityAnswer(
        shapes=tuple(found),
        pools=found_pools,
        is_of_flags=bool(question.shapes),
        kubernetes_version=str(release.version),
        kubernetes_patch=release.patch_name,
        changing=(
            *old,
            *dump.limits,
            *dict.fromkeys(kind.sentence for each in found for kind in each.unread),
            *about_quotas(found, dump.objects),
        ),
        notes=said,
    )


def _shapes(question: CapacityQuestion, dump: Dump, schedulers: ClusterSchedulers) -> tuple[list[Shape], list[str]]:
    if question.shapes:
        shapes = [parse_shape(text, question.namespace or "default") for text in question.shapes]
        twice = next((name for name, times in Counter(each.name for each in shapes).items() if times > 1), None)
        notes = ["a shape of --shape tolerates no taints and chooses no nodes"]
        return shapes, notes if twice is None else [*notes, f"several shapes are called {twice}"]
    pods = select(dump.objects, Selection(namespace=question.namespace, label_selector=question.selector))
    pending = pending_shapes(pods)
    waiting = {shape.name for shape in pending}
    nodes = schedulers.default_scheduler.nodes
    running = largest_first([each for each in shapes_of(pods) if each.running and each.name not in waiting], nodes)
    return [*pending[:_MOST_PENDING], *running[:SHOWN]], list(_left_out(pending, running))


def _left_out(pending: Sequence[Shape], running: Sequence[Shape]) -> Iterator[str]:
    more = len(pending) - _MOST_PENDING
    if more > 0:
        yield f"{more:,} more pending workloads are left out: -n narrows to a namespace, -l to labels"
    more = len(running) - SHOWN
    if more > 0:
        yield f"{more:,} smaller shapes of running pods are left out: -n narrows to a namespace, --shape asks for one"


def _reached_by(shapes: Sequence[ShapeCapacity]) -> dict[str, Mask]:
    """Return by resource the nodes that a pod of a shape which requests it fits on; ANY for any of the shapes."""
    found: dict[str, Mask] = {}
    for each in shapes:
        mask = each.capacity.first.feasible_mask
        for name in (ANY, *each.requests):
            found[name] = found[name] | mask if name in found else mask
    return found


def _open_nodes(nodes: Snapshot, schedulers: ClusterSchedulers) -> Mask:
    """bool[n]: the nodes that a pod without requests may use which tolerates all taints but those of conditions.

    A node that has as many pods as it takes is one of them, and full.
    """
    keys = {taint.key for taints in nodes.taints.values for taint in taints}
    tolerations = tuple(
        Toleration(key=key, operator="Exists") for key in sorted(keys) if not key.startswith(CONDITION_TAINT)
    )
    spec = PodSpec(tolerations=tolerations, scheduler_name=DEFAULT_SCHEDULER_NAME, preemption_policy="Never")
    pod = Pod(metadata=ObjectMeta(name="empty", namespace="default", uid="empty"), spec=spec)
    masks = schedulers.default_scheduler.cycle(pod, nodes, schedulers.profile).rejection_masks
    found: Mask = np.ones(len(nodes), dtype=np.bool_)
    for plugin, mask in masks.items():
        if plugin != NodeResourcesFit.name:
            found &= ~mask
    return found


def _about(shapes: Sequence[ShapeCapacity]) -> Iterator[str]:
    for each in shapes:
        if each.shape.left_aside:
            yield f"{each.shape.name}: {' and '.join(each.shape.left_aside)} are left aside, as one more has its own"
    if any(each.capacity.at_least for each in shapes):
        yield f"pods that look at each other are placed one after the other, at most {MOST_REPLAYED:,} of a shape"
