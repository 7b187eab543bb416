"""The preflight of `bind --watch`: its plan, other schedulers of the same name, and the question."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.pod import Pod, PodSpec
from kubectl_sched.api.schedulers import Lease
from kubectl_sched.binding.active_scheduler import RUNNING, active_scheduler
from kubectl_sched.errors import SchedError
from kubectl_sched.record import Record
from kubectl_sched.render.safe_text import listed
from kubectl_sched.safe_output import write_error
from kubectl_sched.scheduler.group_membership import has_group_cycles

if TYPE_CHECKING:
    from kubectl_sched.binding.second_scheduler.settings import Settings
    from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
    from kubectl_sched.sources.dump.dump import Dump


class ServedElsewhere(Record, frozen=True, kw_only=True):
    """Another scheduler of a name, as far as can be told."""

    name: str
    state: str
    evidence: str


class RefusedError(SchedError):
    """Somebody else serves the pods already."""

    exit_code = 1


def others(settings: Settings, dump: Dump, schedulers: ClusterSchedulers) -> tuple[ServedElsewhere, ...]:
    """Find other schedulers of each of our names. Replicas of our own, who hold the same Lease as we, are no others."""
    own = f"{settings.election.namespace}/{settings.election.name}" if settings.election is not None else None
    foreign = tuple(item for item in dump.objects if not (isinstance(item, Lease) and item.key == own))
    without = replace(dump, objects=foreign)
    found = []
    for name in settings.names:
        said = active_scheduler(Pod(spec=PodSpec(scheduler_name=name)), without, schedulers, datetime.now(UTC))
        found.append(ServedElsewhere(name=name, state=said.state, evidence=said.evidence))
    return tuple(found)


def refuse_if_served(found: tuple[ServedElsewhere, ...]) -> None:
    """Raises RefusedError where a scheduler that runs serves one of the names."""
    for each in found:
        if each.state == RUNNING:
            raise RefusedError(
                f"{each.name} is served already ({each.evidence}): two schedulers that do not know of each other fill "
                "the same nodes; --take-over serves it all the same"
            )


def plan(settings: Settings, found: tuple[ServedElsewhere, ...], server: str, *, preempts: bool) -> list[str]:
    """Return the plan, a line each: the names that are served, other schedulers, and the writes."""
    election = settings.election
    lines = [
        (
            f"Serves the pods of schedulerName {listed(settings.names)} at {server}, as kube-scheduler "
            f"{settings.configuration.version} does, until interrupted."
        )
    ]
    lines += [f"Who else serves {each.name}: {each.state} ({each.evidence})." for each in found]
    if election is not None:
        lines.append(f"Leads by the Lease {election.namespace}/{election.name}; other replicas stand by.")
    else:
        lines.append("No leader election: nobody else may run with these names.")
    victims = ", deletions of pods of lower priority and their DisruptionTarget condition" if preempts else ""
    groups = ", the condition of PodGroups" if has_group_cycles(settings.configuration) else ""
    lines.append(
        f"Writes: bindings, events, the pods' PodScheduled condition and nominatedNodeName{groups}{victims}; for pods "
        "with volumes or devices also PersistentVolumes, PersistentVolumeClaims and ResourceClaims."
    )
    return lines


def confirm() -> None:
    """Ask on the terminal. Raises SchedError where there is none, or the answer is no."""
    if not sys.stdin.isatty():
        raise SchedError("bind --watch asks before it begins, and there is no terminal to ask on: add --yes")
    write_error("Go on? [y/N] ")
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        raise RefusedError("nothing was done")
