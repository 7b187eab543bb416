"""Runs leader election in its own thread: reads and writes the Lease according to `election_rules`."""

from __future__ import annotations

import random
import threading
import time
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import msgspec

from kubectl_sched.api.decoders import UNDECODABLE
from kubectl_sched.binding.second_scheduler.election_rules import (
    JITTER_FACTOR,
    LeaseSpec,
    Observed,
    Terms,
    leads,
    may_take,
    observe,
    released,
    taken,
)
from kubectl_sched.binding.timestamps import micro_time_now
from kubectl_sched.errors import SchedError
from kubectl_sched.sources.live.live_errors import ClusterError, ResponseError

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.binding.second_scheduler.decision_log import DecisionLog
    from kubectl_sched.sources.live.client import Server

_API = "/apis/coordination.k8s.io/v1"


class Elector:
    """One candidate. `on_change` is told True once it leads, and False once it no longer does, which is for good.

    `server` should try nothing twice and give up on a request before the renew deadline: trying again is done here.
    """

    def __init__(
        self,
        server: Server,
        namespace: str,
        name: str,
        terms: Terms,
        on_change: Callable[[bool], None],
        log: DecisionLog,
    ) -> None:
        self._server = server
        self._collection = f"{_API}/namespaces/{namespace}/leases"
        self._name = name
        self._terms = terms
        self._on_change = on_change
        self._log = log
        self._stopped = threading.Event()
        self._observed = Observed()
        self._lease: dict[str, Any] = {}
        self._renewed_at: float | None = None
        self._reported = ""
        self._thread = threading.Thread(target=self._run, name="leader-election", daemon=True)

    def start(self) -> None:
        """Become a candidate."""
        self._thread.start()

    def stop(self) -> None:
        """Stand no longer; the Lease is given up where we hold it."""
        self._stopped.set()
        self._thread.join(self._terms.renew_deadline)

    def leads(self) -> bool:
        """Report whether we may act right now; asked before each write."""
        return leads(self._renewed_at, self._terms, time.monotonic())

    def is_stale(self, tolerated_seconds: float) -> bool:
        """Report whether we hold a Lease that ran out long ago, as in a program that hangs (HealthzAdaptor)."""
        renewed_at = self._renewed_at
        limit = self._terms.lease_duration + tolerated_seconds
        return renewed_at is not None and time.monotonic() - renewed_at > limit

    def _run(self) -> None:
        try:
            self._stand()
        except BaseException:
            self._renewed_at = None
            self._on_change(False)
            raise

    def _stand(self) -> None:
        while not self._try():
            pause = self._terms.retry_period * (1 + JITTER_FACTOR * random.random())  # noqa: S311 - no secret
            if self._stopped.wait(pause):
                return
        self._on_change(True)
        self._renew()
        self._renewed_at = None
        if self._stopped.is_set():
            self._release()
        self._on_change(False)

    def _renew(self) -> None:
        """Until it no longer succeeds for as long as the deadline, or we are stopped."""
        while not self._stopped.wait(self._terms.retry_period):
            if not self._try() and not self.leads():
                return

    def _try(self) -> bool:
        """One attempt to take or to renew the Lease."""
        began = time.monotonic()
        try:
            done = self._take_or_renew(began)
        except SchedError as error:  # a file of credentials may be missing while it is renewed
            if not self._stopped.is_set():
                self._log.problem(f"the Lease cannot be read or written: {error}")
            return False
        self._report()
        if done:
            self._renewed_at = began
        return done

    def _take_or_renew(self, now: float) -> bool:
        """Report whether the Lease is ours afterwards. A leader writes at once, and reads only if that is refused."""
        record = self._observed.record
        if record is not None and record.holder == self._terms.identity and self.leads():
            try:
                self._write(taken(record, self._terms, micro_time_now()), now)
            except ResponseError as refused:
                self._log.problem(f"the Lease could not be renewed at once: {refused.message}")
            else:
                return True
        self._read()
        if not may_take(self._observed, self._terms, now):
            return False
        self._write(taken(self._observed.record, self._terms, micro_time_now()), now)
        return True

    def _read(self) -> None:
        """Look at the Lease. It counts from the answer on: its holder may have renewed it while that was under way."""
        try:
            answer = self._server.get(f"{self._collection}/{self._name}")
        except ResponseError as error:
            if error.status != HTTPStatus.NOT_FOUND:
                raise
            self._lease = {}
            self._observed = Observed()
            return
        self._lease, record = _lease_in(answer)
        self._observed = observe(self._observed, record, time.monotonic())

    def _write(self, record: LeaseSpec, now: float) -> None:
        """Create the Lease, or replace it at the resourceVersion that we know, keeping whatever else it holds."""
        if self._lease:
            body = self._lease | {"spec": (self._lease.get("spec") or {}) | _written(record)}
            answer = self._server.write("PUT", f"{self._collection}/{self._name}", msgspec.json.encode(body))
        else:
            body = {
                "apiVersion": "coordination.k8s.io/v1",
                "kind": "Lease",
                "metadata": {"name": self._name},
                "spec": _written(record),
            }
            answer = self._server.write("POST", self._collection, msgspec.json.encode(body))
        self._lease, stored = _lease_in(answer)
        self._observed = Observed(record=stored, since=now)

    def _release(self) -> None:
        record = self._observed.record
        if record is None or record.holder != self._terms.identity:
            return
        try:
            self._write(released(record, micro_time_now()), time.monotonic())
        except SchedError as error:
            self._log.problem(f"the Lease could not be given up, so that others wait for its end: {error}")

    def _report(self) -> None:
        holder = self._observed.record.holder if self._observed.record is not None else ""
        if holder != self._reported:
            self._reported = holder
            self._log.note(_about(holder, self._terms.identity))


def _lease_in(answer: bytes) -> tuple[dict[str, Any], LeaseSpec]:
    """The whole Lease, and what of it the election is about. Raises ClusterError for what is none."""
    try:
        lease = msgspec.json.decode(answer, type=dict[str, Any])
        return lease, msgspec.convert(lease.get("spec") or {}, LeaseSpec)
    except UNDECODABLE:
        raise ClusterError("the server's answer is no Lease") from None


def _about(holder: str, identity: str) -> str:
    if not holder:
        return "the Lease was given up"
    return f"{identity} leads" if holder == identity else f"{holder} leads, and this one stands by"


def _written(record: LeaseSpec) -> dict[str, Any]:
    """Return the record as JSON; null takes a field away."""
    return {
        "holderIdentity": record.holder_identity,
        "leaseDurationSeconds": record.lease_duration_seconds,
        "acquireTime": record.acquire_time,
        "renewTime": record.renew_time,
        "leaseTransitions": record.lease_transitions,
    }
