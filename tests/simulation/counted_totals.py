"""Counts how often the totals of all nodes are looked at, which shows what is not judged again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.simulation.replicas.replica_scores import ReplicaScores

if TYPE_CHECKING:
    import pytest

    from kubectl_sched.snapshot.array_types import Integers


def counted_totals(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that gets one more each time."""
    asked: list[int] = []
    totals = ReplicaScores.totals

    def counted(scores: ReplicaScores) -> Integers:
        asked.append(1)
        return totals(scores)

    monkeypatch.setattr(ReplicaScores, "totals", counted)
    return asked
