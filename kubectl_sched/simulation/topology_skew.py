"""The skew of a workload's pods over the domains of a topology."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kubectl_sched.api.component_helpers.node_affinity import RequiredNodeAffinity
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.snapshot import Snapshot

_DEFAULTS = ("kubernetes.io/hostname", "topology.kubernetes.io/zone")
"""Over these kube-scheduler spreads what does not say otherwise."""


class Skew(Record, frozen=True, kw_only=True):
    """The most pods of a domain less the fewest, before and after."""

    topology_key: str
    before: int
    after: int


def skews(pod: Pod, nodes: Snapshot, before: Sequence[str], after: Sequence[str]) -> Iterator[Skew]:
    """For each topology key that the pod names, or by default, the skew over the nodes that its affinity admits.

    `before` and `after` are the node names of the workload's pods, one for each pod.
    """
    required = RequiredNodeAffinity.of(pod)
    admitted = [node for node in nodes.node_objects if required.matches(node.metadata.labels, node.name)]
    keys = dict.fromkeys(each.topology_key for each in pod.spec.topology_spread_constraints) or _DEFAULTS
    for key in keys:
        domain_of = {node.name: node.metadata.labels[key] for node in admitted if key in node.metadata.labels}
        if domain_of:
            yield Skew(topology_key=key, before=_skew(domain_of, before), after=_skew(domain_of, after))


def _skew(domain_of: dict[str, str], names: Iterable[str]) -> int:
    counts = Counter(dict.fromkeys(domain_of.values(), 0))
    counts.update(domain_of[name] for name in names if name in domain_of)
    return max(counts.values()) - min(counts.values())
