"""The table of groups: how many pods, how old, why, what helps, what they wait for, and whose they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.render.ages import age
from kubectl_sched.render.safe_text import listed
from kubectl_sched.render.sentences.group_sentences import cause_in_words, waits_for, what_helps
from kubectl_sched.render.table import Column, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.queries.triage import Group

NONE = "-"
_NOT_SEARCHED = "…"


def group_table(groups: Sequence[Group], at: str | None) -> Table[Group]:
    """Return a row for each group; ages count from the moment `at`."""
    return Table(
        columns=(
            Column(heading="Pods", cell=lambda group: f"{len(group.explanations):,}", kind="number"),
            Column(heading="Oldest", cell=lambda group: age(group.oldest, at) or NONE, kind="number"),
            Column(heading="Why", cell=cause_in_words, kind="words"),
            Column(heading="What helps", cell=_helps, kind="words"),
            Column(heading="Waiting for", cell=lambda group: waits_for(group) or NONE, kind="words"),
            Column(heading="Workloads", cell=workloads_in_words, kind="words"),
        ),
        rows=groups,
    )


def _helps(group: Group) -> str:
    return _NOT_SEARCHED if group.suggestions is None else what_helps(group) or NONE


def workloads_in_words(group: Group) -> str:
    """`ml/Job/train, ml/Deployment/notebook and research/Pod/eval`."""
    return listed([f"{namespace}/{name}" for namespace, name in group.workloads])
