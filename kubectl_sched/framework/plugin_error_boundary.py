"""Catches an exception in a plugin, so that it costs only that plugin's verdicts: a bug of ours, or an ended budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from kubectl_sched.errors import SchedError
from kubectl_sched.framework.cycle_budget import BudgetEnded
from kubectl_sched.framework.cycle_state import PluginError
from kubectl_sched.framework.interface import PreFilterResult
from kubectl_sched.framework.status import Code, Status, error
from kubectl_sched.own_error import HOW_TO_REPORT, error_in_one_line, note_error
from kubectl_sched.snapshot import Column

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.interface import FilterPlugin, PreFilterPlugin
    from kubectl_sched.framework.status import NodeToStatus
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Mask

EXPECTED: Final = (PluginError, SchedError)
"""The exceptions that a plugin may raise: upstream's errors, and bad input."""

COULD_NOT_JUDGE: Final = "could not be judged, by a bug in kubectl-sched"
NOT_JUDGED: Final = "was not judged"


class Unjudged(Exception):  # noqa: N818 - no verdict, which becomes a status
    """A plugin that scores or adds a pod failed unexpectedly: the rows that it could not judge, with their Unknown."""

    def __init__(self, statuses: Mapping[int, Status]) -> None:
        super().__init__("; ".join({f"{status.plugin}: {error_of(status)}" for status in statuses.values()}))
        self.statuses = statuses


def unknown(plugin: str, failure: BaseException) -> Status:
    """Return what stands for the verdict of a plugin that failed unexpectedly or ran out of its budget."""
    if isinstance(failure, BudgetEnded):
        return Status(Code.UNKNOWN, (NOT_JUDGED, str(failure)), plugin)
    if isinstance(failure, Unjudged):
        return next(iter(failure.statuses.values())).by(plugin)
    note_error(failure)
    return Status(Code.UNKNOWN, (COULD_NOT_JUDGE, error_in_one_line(failure)), plugin)


def error_of(status: Status) -> str:
    """Return the error behind an Unknown."""
    return status.reasons[-1]


def unjudged_rows(rows: Iterable[int], plugin: str, failure: BaseException) -> Unjudged:
    """Return what is raised where a plugin can judge none of the rows."""
    return Unjudged(dict.fromkeys(rows, unknown(plugin, failure)))


def is_unknown(status: Status) -> bool:
    """Report whether there is no verdict: a bug or an ended budget stands in its place."""
    return status.code is Code.UNKNOWN


def unknown_nodes(verdict: NodeToStatus) -> Mask:
    """bool[n]: the nodes that could not be judged."""
    return verdict.where(is_unknown)


def unknown_first(verdict: NodeToStatus, verdicts: Mapping[str, NodeToStatus]) -> NodeToStatus:
    """Return the verdict with Unknown wherever a plugin could not judge, even if another rejects the node."""
    for column in verdicts.values():
        if any(map(is_unknown, column.values)):
            rows = np.flatnonzero(unknown_nodes(column))
            verdict = verdict.with_each({int(row): column[int(row)] for row in rows})
    return verdict


def not_judged(verdict: NodeToStatus) -> str:
    """Return the clause that says how many nodes were not judged, by which plugins and why, after an ended budget."""
    errors = {status.plugin or "": error_of(status) for status, _ in verdict.counts() if is_unknown(status)}
    unjudged, nodes = int(unknown_nodes(verdict).sum()), "node" if len(verdict) == 1 else "nodes"
    why = "; ".join(dict.fromkeys(errors.values()))
    return f"{unjudged:,} of {len(verdict):,} {nodes} were not judged by {', '.join(errors)}: {why}"


def could_not_judge(verdict: NodeToStatus) -> str:
    """Return the clause that says how many nodes could not be judged, and which plugins failed with what."""
    errors = {status.plugin or "": error_of(status) for status, _ in verdict.counts() if is_unknown(status)}
    unjudged, nodes = int(unknown_nodes(verdict).sum()), "node" if len(verdict) == 1 else "nodes"
    failed = "; ".join(f"{plugin} failed with {text}" for plugin, text in errors.items())
    return f"{unjudged:,} of {len(verdict):,} {nodes} could not be judged ({failed}); {HOW_TO_REPORT}"


def pre_filtered(plugin: PreFilterPlugin, state: CycleState, pod: Pod, nodes: Snapshot) -> PreFilterResult:
    """Return the plugin's verdict on the pod as a whole; an error of its own, and Unknown for a bug."""
    try:
        state.budget.spend(1)
        return plugin.pre_filter(state, pod, nodes)
    except PluginError as failure:
        return PreFilterResult(status=error(str(failure)))
    except SchedError:
        raise
    except Exception as failure:  # noqa: BLE001 - a bug costs this plugin's verdicts alone
        return PreFilterResult(status=unknown(plugin.name, failure))


def filtered(plugin: FilterPlugin, state: CycleState, pod: Pod, nodes: Snapshot) -> NodeToStatus:
    """Return the plugin's verdict on each node; an error of its own, and Unknown for a bug or an ended budget."""
    try:
        state.budget.spend_on_arrays(1, len(nodes))
        return plugin.filter(state, pod, nodes)
    except PluginError as failure:
        return Column.filled(len(nodes), error(str(failure)))
    except SchedError:
        raise
    except BudgetEnded as ended:
        return Column.filled(len(nodes), unknown(plugin.name, ended))
    except Exception:  # noqa: BLE001 - it fails again on the nodes that it cannot judge
        return _judged_one_by_one(plugin, state, pod, nodes)


def _judged_one_by_one(plugin: FilterPlugin, state: CycleState, pod: Pod, nodes: Snapshot) -> NodeToStatus:
    """Return a plugin's verdict on each node by itself, Unknown where the plugin fails on it."""
    return Column.of(
        _judged(plugin, state, pod, nodes.take(np.array([row], dtype=np.intp))) for row in range(len(nodes))
    )


def _judged(plugin: FilterPlugin, state: CycleState, pod: Pod, node: Snapshot) -> Status:
    try:
        return plugin.filter(state, pod, node)[0]
    except PluginError as failure:
        return Status(Code.ERROR, (str(failure),))
    except SchedError:
        raise
    except Exception as failure:  # noqa: BLE001 - a bug on one node costs the verdict on that node alone
        return unknown(plugin.name, failure)
