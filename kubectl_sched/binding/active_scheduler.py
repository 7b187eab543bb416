"""The scheduler that serves a pod already, so that binding it by hand would be a race."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.apimachinery.timestamps import moment
from kubectl_sched.api.pod import Pod
from kubectl_sched.api.schedulers import Lease
from kubectl_sched.config.scheduler_name import scheduler_name_of
from kubectl_sched.config.types import DEFAULT_SCHEDULER_NAME
from kubectl_sched.record import Record
from kubectl_sched.sources.discovery.known_schedulers import lease_name, product_pods

if TYPE_CHECKING:
    from datetime import datetime

    from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
    from kubectl_sched.sources.dump.dump import Dump

RUNNING, STOPPED, UNKNOWN = "running", "stopped", "unknown"

_CLOCK_SECONDS = 5.0
"""The most that this machine's clock may be off."""

_LEASE_SECONDS = 15
_DEFAULT_LEASE = "kube-scheduler"


class ActiveScheduler(Record, frozen=True, kw_only=True):
    """`state` is running, stopped or unknown; `evidence` is a clause that says why."""

    state: str
    evidence: str


def active_scheduler(pod: Pod, dump: Dump, schedulers: ClusterSchedulers, now: datetime) -> ActiveScheduler:
    """Find who serves the pod's schedulerName, by a Lease that is renewed or a scheduler's pod that is ready."""
    name = scheduler_name_of(pod)
    owner = schedulers.seen.owner(name)
    if owner is not None and owner.problems:
        return ActiveScheduler(state=STOPPED, evidence=f"{owner.key} has the profile {name}, but {owner.problems[0]}")
    owned = owner.lease_key if owner is not None else None
    leases = [item for item in dump.objects if isinstance(item, Lease) and _is_of(item, name, owned)]
    held = next((lease for lease in leases if _is_renewed(lease, now)), None)
    if held is not None:
        return ActiveScheduler(
            state=RUNNING, evidence=f"{held.spec.holder_identity} holds the Lease {held.key} and renews it"
        )
    seen = [item for item in dump.objects if isinstance(item, Pod)]
    pods = owner.pods if owner is not None else product_pods(name, seen)
    ready = next((each for each in pods if _is_ready(each)), None)
    if ready is not None:
        return ActiveScheduler(state=RUNNING, evidence=f"its pod {ready.key} is ready")
    if pods:
        return ActiveScheduler(state=STOPPED, evidence=f"its pod {pods[0].key} is not ready")
    if leases:
        renewed = leases[0].spec.renew_time
        return ActiveScheduler(
            state=STOPPED, evidence=f"nobody renews the Lease {leases[0].key}{f' since {renewed}' if renewed else ''}"
        )
    return ActiveScheduler(state=UNKNOWN, evidence="neither a Lease nor a pod of a scheduler tells")


def _is_of(lease: Lease, name: str, owned: str | None) -> bool:
    if owned is not None:
        return lease.key == owned
    return lease.name in {_DEFAULT_LEASE if name == DEFAULT_SCHEDULER_NAME else name, lease_name(name)}


def _is_renewed(lease: Lease, now: datetime) -> bool:
    """Report whether somebody holds it and has renewed it within its duration."""
    renewed = moment(lease.spec.renew_time)
    if not lease.spec.holder_identity or renewed is None:
        return False
    duration = lease.spec.lease_duration_seconds or _LEASE_SECONDS
    return (now - renewed).total_seconds() <= duration + _CLOCK_SECONDS


def _is_ready(pod: Pod) -> bool:
    ready = any(each.type == "Ready" and each.status == "True" for each in pod.status.conditions)
    return ready and pod.metadata.deletion_timestamp is None and not pod.has_ended
