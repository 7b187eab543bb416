"""The question of a what-if, and the manifests that it names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.apps import DaemonSet
from kubectl_sched.api.pod import Pod
from kubectl_sched.apiserver.field_validation import UnknownFields
from kubectl_sched.apiserver.manifests import Manifests, read_manifests
from kubectl_sched.controllers.controller_reference import controller_reference
from kubectl_sched.controllers.workload_pods import replicas_of
from kubectl_sched.record import Record
from kubectl_sched.simulation.queue_simulation import Choices
from kubectl_sched.simulation.workloads_to_place import Sizing
from kubectl_sched.sources.discovery.replay_setup import Replay
from kubectl_sched.sources.pod_selection import WORKLOAD_WORDS
from kubectl_sched.typed_paths import exists

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kubectl_sched.apiserver.server_dry_run import DryRun
    from kubectl_sched.queries.provisioning.new_nodes import NewNodesFlags
    from kubectl_sched.simulation.node_edits import Edit

    Report = Callable[[int, int], None]


class WhatIfQuestion(Record, frozen=True, kw_only=True):
    """The flags of the same names. `targets` are manifests by path, and `deployment/web` of the cluster itself."""

    targets: tuple[str, ...] = ()
    namespace: str = "default"
    unknown_fields: UnknownFields = UnknownFields.strict
    """The treatment of fields of manifests that Kubernetes does not know."""

    everywhere: bool = False
    """Look for workloads of the cluster in all namespaces."""

    sizing: Sizing = Sizing()
    edits: tuple[Edit, ...] = ()
    with_pending: bool = False
    find_nodes: str | None = None
    new_nodes: NewNodesFlags | None = None
    """The flags of --new-nodes; None without it."""

    label_selector: str | None = None
    """The labels of the objects of manifests, and of the pending pods, that are meant; None means all of them."""

    choices: Choices = Choices()
    replay: Replay = Replay()


def manifests_alone(question: WhatIfQuestion) -> Manifests | None:
    """Read the manifests where nothing else names pods to place; None where those of the cluster may come in, too.

    Raises SchedError for a manifest that would be refused.
    """
    adds_nodes = question.find_nodes is not None or question.new_nodes is not None  # and pods of DaemonSets on them
    of_cluster = question.edits or question.with_pending or question.choices.requeue_victims or adds_nodes
    if of_cluster or any(map(is_in_cluster, question.targets)):
        return None
    return manifests_of(question, question.targets, None)


def manifests_of(question: WhatIfQuestion, paths: Sequence[str], dry_run: DryRun | None) -> Manifests:
    """Read manifests as the question wants them read; `dry_run` is there with `--dry-run=server`."""
    return read_manifests(paths, question.namespace, dry_run, question.unknown_fields, question.label_selector)


def pods_as_written(manifests: Manifests) -> list[Pod]:
    """Return one pod of each workload, with the claims that it will have."""
    return [_daemon(item) if isinstance(item, DaemonSet) else replicas_of(item, ()).pod(0) for item in manifests.items]


def _daemon(item: DaemonSet) -> Pod:
    """Return its pod for whatever node."""
    owner = controller_reference(item, "apps/v1")
    return Pod(metadata=replace(item.metadata, owner_references=(owner,)), spec=item.spec.template.spec)


def is_in_cluster(target: str) -> bool:
    """Report whether a target is `deployment/web` of the cluster rather than a path."""
    word, slash, name = target.partition("/")
    known = word.lower().split(".")[0] in {*WORKLOAD_WORDS, "cronjob", "cronjobs", "cj"}
    return bool(slash) and known and "/" not in name and not exists(target)
