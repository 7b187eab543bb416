"""`whatif`: where pods go in a cluster that is edited, and what manifests would be there once applied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.meta import with_spec
from kubectl_sched.api.pod import Pod
from kubectl_sched.apiserver.applied_objects import with_made
from kubectl_sched.apiserver.manifests import Manifests
from kubectl_sched.apiserver.refused_manifest import RefusedError
from kubectl_sched.config.types import DEFAULT_SCHEDULER_NAME
from kubectl_sched.queries.unread_placements import with_unread_left_open
from kubectl_sched.queries.what_if.question import WhatIfQuestion, is_in_cluster, manifests_of
from kubectl_sched.queries.what_if.stages import Stages
from kubectl_sched.record import Record
from kubectl_sched.simulation.edited_cluster import Cluster
from kubectl_sched.simulation.node_edits import DRAIN, apply
from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
from kubectl_sched.sources.dump.completeness import completeness

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kubectl_sched.api.core import Node
    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.apiserver.server_dry_run import DryRun
    from kubectl_sched.queries.drain import DrainAnswer
    from kubectl_sched.simulation.node_edits import Edit
    from kubectl_sched.simulation.placements import Placement
    from kubectl_sched.simulation.what_if_result import WhatIfResult
    from kubectl_sched.sources.dump.dump import Dump

    Report = Callable[[int, int], None]


class WhatIfAnswer(Record, frozen=True, kw_only=True):
    """The result, the minor that was replayed, and sentences about the state and the configuration."""

    result: WhatIfResult
    kubernetes_version: str
    notes: tuple[str, ...]
    kubernetes_patch: str | None = None
    changing: tuple[str, ...] = ()
    """The notes that change the answer: kinds that are missing, unknown fields, an old dump."""
    pending: frozenset[str] = frozenset()
    """The keys of the pods that have no node at present."""
    edits: tuple[Edit, ...] = ()
    """The edits of the question: the premise."""

    is_idle: bool = False
    """The edits leave everything as it is."""

    drain: DrainAnswer | None = None
    """The plan of the drains among the edits, on the cluster with the other edits and nothing else."""


def what_if(
    question: WhatIfQuestion,
    dump: Dump,
    dry_run: DryRun | None = None,
    report: Report | None = None,
    manifests: Manifests | None = None,
) -> WhatIfAnswer:
    """Place everything that the question names; `dry_run` is there with `--dry-run=server`.

    `manifests` are the question's, where they have been read before.

    Raises SchedError for a manifest that would be refused or an edit that cannot be made.
    """
    schedulers = ClusterSchedulers(dump, question.replay, question.choices.profile)
    schedulers.check_profile()
    if manifests is None:
        paths = [target for target in question.targets if not is_in_cluster(target)]
        manifests = Manifests()
        if paths:
            manifests = manifests_of(question, paths, dry_run)
    stages = Stages(question, dump, lambda name: schedulers.assumed(name).configuration, dry_run, manifests)
    try:
        result = stages.answer(report)
    except RefusedError as error:
        raise error.beside(stages.misspelt) from None
    release = schedulers.assumed(question.choices.profile or DEFAULT_SCHEDULER_NAME).configuration.release
    first = result.simulated.first_unplaced
    result, unread = with_unread_left_open(result, replace(dump, objects=stages.objects))
    lacking = completeness(dump, [first] if first is not None else [], told=[each.kind for each in unread])
    missing = tuple(each.sentence for each in unread)
    return WhatIfAnswer(
        result=result,
        kubernetes_version=str(release.version),
        kubernetes_patch=release.patch_name,
        notes=(*missing, *schedulers.notes, *lacking.notes, *dump.warnings, *schedulers.warnings),
        changing=(*missing, *stages.misspelt, *dump.limits, *lacking.changing),
        pending=frozenset(each.key for each in dump.objects if isinstance(each, Pod) and not each.spec.node_name),
        edits=question.edits,
        is_idle=bool(question.edits) and not result.simulated.placements and _is_idle(question.edits, stages.objects),
        drain=stages.drain_plan(dump) if any(edit.flag == DRAIN for edit in question.edits) else None,
    )


def _is_idle(edits: Sequence[Edit], objects: Sequence[KubernetesObject]) -> bool:
    """Report whether the edits leave the nodes and their pods as they are."""
    cluster = Cluster.of(objects, lambda pod: pod)
    nodes, pods = _nodes(cluster), len(cluster.pods)
    apply(edits, cluster)
    return _nodes(cluster) == nodes and len(cluster.pods) == pods


def _nodes(cluster: Cluster) -> list[Node]:
    """Return the nodes with their taints in one order, which a cordon changes."""
    nodes = cluster.nodes.values()
    return [with_spec(node, taints=tuple(sorted(node.spec.taints, key=str))) for node in nodes]


class AppliedManifests(Record, frozen=True, kw_only=True):
    """A dump as it would be if manifests were applied: one pod of each workload is pending in it."""

    dump: Dump
    paths: tuple[str, ...]
    pods: tuple[Pod, ...]
    """One pod of each workload that is admitted."""

    refused: tuple[Placement, ...]
    """The pods that a ResourceQuota does not admit."""


def with_manifests(question: WhatIfQuestion, dump: Dump) -> AppliedManifests:
    """Return the dump once the manifests, which are the question's targets, are applied.

    Raises what `what_if` raises.
    """
    schedulers = ClusterSchedulers(dump, question.replay, question.choices.profile)
    manifests = manifests_of(question, question.targets, None)
    stages = Stages(question, dump, lambda name: schedulers.assumed(name).configuration, None, manifests)
    materialized = stages.materialized()
    pods = tuple(workload.pods[0] for workload in materialized.workloads if workload.pods)
    names = {pod.key for pod in pods}
    cluster = (item for item in materialized.cluster.objects if not (isinstance(item, Pod) and item.key in names))
    applied = replace(dump, objects=(*with_made(list(cluster), materialized.made), *pods))
    return AppliedManifests(dump=applied, paths=question.targets, pods=pods, refused=materialized.refused)
