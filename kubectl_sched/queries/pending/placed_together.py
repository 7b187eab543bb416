"""The pending pods of an answer, placed one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.simulation.pending_together import together

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.simulation.pending_together import Together
    from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers


def placed_together(explanations: Sequence[Explanation], schedulers: ClusterSchedulers) -> Together | None:
    """Place the pending pods one after the other; None if not one scheduler serves them all."""
    pending = [each.result for each in explanations if each.awaits_its_own_cycle]
    serving = {schedulers.scheduler(result.pod) for result in pending}
    if len(pending) < 2 or len(serving) != 1:
        return None
    return together(pending, serving.pop(), schedulers.profile)
