"""cluster-autoscaler's part of `explain --new-nodes`: the node groups that it would let grow for a pod."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.core import Node
from kubectl_sched.config import load_configuration, parse_feature_gates
from kubectl_sched.diagnostics.messages.scale_up_text import ScaleUpReason, scale_up_reasons
from kubectl_sched.errors import SchedError
from kubectl_sched.node_provisioning.cluster_autoscaler.node_groups import AKS, GKE, node_groups
from kubectl_sched.queries.provisioning.node_group_replay import CREATED, GroupVerdict, NodeGroupReplay, Said
from kubectl_sched.queries.provisioning.provisioner_advice import (
    ProvisionerAdvice,  # noqa: TC001 - the JSON Schema is made from the types
)
from kubectl_sched.record import CachingRecord
from kubectl_sched.sources.discovery.cluster_autoscalers import FoundAutoscaler, find_autoscaler
from kubectl_sched.sources.discovery.kubernetes_version import detect_version

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.core import Event
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.config import Configuration
    from kubectl_sched.sources.dump.dump import Dump

_MANAGED = (GKE, *AKS)
"""The labels of providers that run cluster-autoscaler where its pod cannot be seen."""


class ClusterAutoscalerAnswer(CachingRecord, frozen=True, kw_only=True):
    """Describes what cluster-autoscaler would do for a pod."""

    groups: tuple[GroupVerdict, ...]
    version: str
    event: tuple[ScaleUpReason, ...] = ()
    """The reasons of the newest NotTriggerScaleUp event about the pod."""

    assumed: tuple[str, ...] = ()
    balance: tuple[str, ...] = ()
    """Sentences about the balance of the groups that could grow."""

    @property
    def advice(self) -> tuple[ProvisionerAdvice, ...]:
        """The changes to node groups that would help the pod."""
        return tuple(each for group in self.groups for each in group.advice)


class NodeGroupFlags(CachingRecord, frozen=True, kw_only=True):
    """The flags --node-group-label and --node-template."""

    label: str | None = None
    templates: tuple[Node, ...] = ()

    @property
    def are_given(self) -> bool:
        """Report whether either flag was given."""
        return self.label is not None or bool(self.templates)


def cluster_autoscaler_answer(
    pod: Pod, dump: Dump, flags: NodeGroupFlags, events: Sequence[Event] = (), *, in_full: bool = True
) -> ClusterAutoscalerAnswer | None:
    """Judge each node group by its template; None if no cluster-autoscaler is seen and no flag asks for one.

    Only the full answer is about a provider that runs one where it cannot be seen.
    """
    found = find_autoscaler(dump)
    nodes = [item for item in dump.objects if isinstance(item, Node)]
    if found is None:
        is_managed = in_full and any(label in node.metadata.labels for node in nodes for label in _MANAGED)
        if not flags.are_given and not is_managed:
            return None
        found = FoundAutoscaler()
    groups = node_groups(nodes, flags.templates, found.groups or (), flags.label)
    if not groups:
        return None
    configuration, assumed = _configuration(found, dump)
    newest = next((each for each in events if each.reason == "NotTriggerScaleUp"), None)
    said = scale_up_reasons(newest.text) if newest is not None else ()
    grown = next((each.text for each in events if each.reason == "TriggeredScaleUp"), "")
    replay = NodeGroupReplay(pod, dump, found, groups, configuration, Said(_said_of_all(said, len(groups)), grown))
    verdicts = tuple(map(replay.verdict, groups))
    growing = [group for group, each in zip(groups, verdicts, strict=True) if each.verdict == CREATED]
    return ClusterAutoscalerAnswer(
        groups=verdicts,
        balance=tuple(replay.balance(growing)) if in_full and found.has_pod else (),
        version=str(configuration.version),
        event=said,
        assumed=assumed,
    )


def _said_of_all(event: Sequence[ScaleUpReason], groups: int) -> str:
    """Return the one reason that the autoscaler's event counts for all groups; empty if it does not."""
    reason = event[0] if len(event) == 1 else None
    return reason.reason if reason is not None and reason.groups == groups else ""


def _configuration(found: FoundAutoscaler, dump: Dump) -> tuple[Configuration, tuple[str, ...]]:
    """The configuration of the scheduler in the autoscaler, and what is assumed about both."""
    assumed = ["which group its expander takes is not predicted", "the first good node by name is a group's template"]
    version = found.version
    if version is None:
        version = detect_version(dump)
        assumed.append("the scheduler in it is of the cluster's own version")
    if not found.has_pod:
        assumed.append("its flags have their defaults")
    if found.groups is None:
        why = f"cannot be read ({found.problem})" if found.problem else "is not seen"
        assumed.append(f"cluster-autoscaler-status {why}, so the sizes and the health of groups are not known")
    document = found.configuration.document if found.configuration is not None else None
    if found.configuration is not None and document is None:
        assumed.append(f"its scheduler has the default configuration, as {found.configuration.source} is not known")
    try:
        gates = parse_feature_gates(found.feature_gates) if found.feature_gates else None
        return load_configuration(document, version, gates), tuple(assumed)
    except SchedError as error:
        assumed.append(f"its scheduler has the default configuration, as its own is refused: {error}")
        return load_configuration(None, version, None), tuple(assumed)
