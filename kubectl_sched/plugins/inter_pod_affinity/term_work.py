"""Counts the work that an incoming pod's affinity terms take, before it is done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.api.core import Namespace
from kubectl_sched.plugins.inter_pod_affinity.term_index import index_of
from kubectl_sched.plugins.inter_pod_affinity.terms import listed_terms

if TYPE_CHECKING:
    from collections.abc import Collection

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_budget import CycleBudget
    from kubectl_sched.plugins.inter_pod_affinity.terms import AffinityTerm
    from kubectl_sched.snapshot import Snapshot

_STEPS_TO_PARSE: Final = 10
_STEPS_A_TERM: Final = 20
_STEPS_TO_COMPARE: Final = 2
_PASSES: Final = 4
"""Operations on arrays of existing pods for each term."""

_BYTES_A_NODE: Final = 16
"""Of the columns and counts of one topology key."""


def spend_on_parsing(budget: CycleBudget, pod: Pod) -> None:
    """Count what it takes to parse all terms of the pod."""
    budget.spend(_STEPS_TO_PARSE * listed_terms(pod))


def spend_on_namespaces(budget: CycleBudget, terms: Collection[AffinityTerm], nodes: Snapshot) -> None:
    """Count what it takes to find the namespaces that the terms select."""
    selecting = sum(not term.namespace_selector.is_empty and not term.namespace_selector.nothing for term in terms)
    budget.spend(selecting * len(nodes.objects.all(Namespace)))


def charge_for_existing(budget: CycleBudget, pod: Pod, nodes: Snapshot) -> None:
    """Charge the namespaces of existing pods for the terms of theirs that the pod is compared with."""
    if budget.limits.charged is not None:
        for namespace, terms in index_of(nodes.existing_pods).asked(pod):
            budget.charge(namespace, _STEPS_TO_COMPARE * terms)


def spend_on_terms(budget: CycleBudget, terms: Collection[AffinityTerm], nodes: Snapshot) -> None:
    """Count what it takes to find the existing pods that each term means, and to count them by domain."""
    if not terms:
        return
    existing = nodes.existing_pods
    arrays, entries = existing.selection_work([term.selector for term in terms])
    keys = {term.topology_key for term in terms}
    budget.spend(_STEPS_A_TERM * len(terms))
    budget.spend_on_arrays(arrays, len(existing.identity.values))
    budget.spend_on_arrays(_PASSES * len(terms), len(existing))
    budget.spend_on_entries(entries + nodes.table.unread_labels(keys))
    budget.hold(_BYTES_A_NODE * len(keys) * len(nodes))
