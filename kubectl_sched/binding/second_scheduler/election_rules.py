"""The rules of client-go's leader election, as functions of what was seen and when.

Answers to tools/leaderelection/leaderelection.go. Times in a Lease are the writers' own and are never
compared with ours: what counts is for how long we have seen a record unchanged, by our monotonic clock.
"""

from __future__ import annotations

import msgspec

from kubectl_sched.record import Record

JITTER_FACTOR = 1.2
"""A candidate asks for the Lease after once to 2.2 times the retry period."""


class Terms(Record, frozen=True, kw_only=True):
    """The durations of the election, in seconds."""

    identity: str
    lease_duration: float = 15.0
    """Another replica takes the Lease once it has not seen it change for so long."""
    renew_deadline: float = 10.0
    """The leader gives up when it could not renew for so long."""
    retry_period: float = 2.0


class LeaseSpec(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The spec of a coordination.k8s.io/v1 Lease, with all that is written to it."""

    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None

    @property
    def holder(self) -> str:
        """The holder; empty if it was given up."""
        return self.holder_identity or ""


class Observed(Record, frozen=True, kw_only=True):
    """A record, and since when we know it as it is; no record where there is no Lease yet."""

    record: LeaseSpec | None = None
    since: float = 0.0


def observe(before: Observed, record: LeaseSpec | None, now: float) -> Observed:
    """Return what is known after the Lease was read: only a record that has changed is a sign of life."""
    return before if record == before.record and record is not None else Observed(record=record, since=now)


def may_take(observed: Observed, terms: Terms, now: float) -> bool:
    """Report whether we may take the Lease: it is ours, nobody's, or its holder was silent for too long."""
    record = observed.record
    if record is None or record.holder in {"", terms.identity}:
        return True
    return observed.since + float(record.lease_duration_seconds or 0) < now


def taken(record: LeaseSpec | None, terms: Terms, time: str) -> LeaseSpec:
    """The record by which we hold the Lease from `time` (RFC 3339 with microseconds) on."""
    before = record or LeaseSpec()
    ours = record is not None and before.holder == terms.identity
    transitions = before.lease_transitions or 0
    return LeaseSpec(
        holder_identity=terms.identity,
        lease_duration_seconds=int(terms.lease_duration),
        acquire_time=before.acquire_time if ours else time,
        renew_time=time,
        lease_transitions=transitions if ours or record is None else transitions + 1,
    )


def released(record: LeaseSpec, time: str) -> LeaseSpec:
    """The record by which we give the Lease up, so that nobody has to wait for its end."""
    return LeaseSpec(
        holder_identity="",
        lease_duration_seconds=1,
        acquire_time=time,
        renew_time=time,
        lease_transitions=record.lease_transitions,
    )


def leads(renewed_at: float | None, terms: Terms, now: float) -> bool:
    """Report whether who last renewed the Lease at that time may still act on it; None is who never held it."""
    return renewed_at is not None and now < renewed_at + terms.renew_deadline
