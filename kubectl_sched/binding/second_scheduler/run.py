"""`bind --watch` from its flags to its end: everything is put together, started, and stopped in order."""

from __future__ import annotations

import gc
import math
import os
import signal
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_sched.api.component_helpers.pod_requests import scheduler_options
from kubectl_sched.binding.binding_outcome import INTERRUPTED
from kubectl_sched.binding.second_scheduler.binding_workers import Binder
from kubectl_sched.binding.second_scheduler.cache import Cache
from kubectl_sched.binding.second_scheduler.decision_log import DecisionLog
from kubectl_sched.binding.second_scheduler.endpoints import EndpointServer
from kubectl_sched.binding.second_scheduler.followed_kinds import NOT_ENDED, watched_kinds
from kubectl_sched.binding.second_scheduler.leader_elector import Elector
from kubectl_sched.binding.second_scheduler.leader_fence import FencedServer
from kubectl_sched.binding.second_scheduler.loop_messages import Led, Stop
from kubectl_sched.binding.second_scheduler.loop_thread import run_in_thread
from kubectl_sched.binding.second_scheduler.metrics import Metrics
from kubectl_sched.binding.second_scheduler.pod_attempts import PodAttempts
from kubectl_sched.binding.second_scheduler.podgroups.membership import Membership
from kubectl_sched.binding.second_scheduler.podgroups.podgroup_attempts import PodGroupAttempts
from kubectl_sched.binding.second_scheduler.podgroups.waiting_gangs import WaitingGangs
from kubectl_sched.binding.second_scheduler.preflight import confirm, others, plan, refuse_if_served
from kubectl_sched.binding.second_scheduler.queueing_hints import PluginHints
from kubectl_sched.binding.second_scheduler.scheduling_loop import SchedulingLoop
from kubectl_sched.binding.second_scheduler.scheduling_queue import SchedulingQueue
from kubectl_sched.binding.second_scheduler.settings import settings
from kubectl_sched.binding.writer import Writer
from kubectl_sched.config.scheduler_name import scheduler_name_of
from kubectl_sched.framework.cycle_budget import Cancellation, ChargedWork
from kubectl_sched.own_error import take_noted
from kubectl_sched.safe_output import write_error
from kubectl_sched.scheduler.group_membership import has_group_cycles
from kubectl_sched.scheduler.scheduler import Scheduler
from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
from kubectl_sched.sources.discovery.replay_setup import Replay, configuration_for
from kubectl_sched.sources.live.client import Server
from kubectl_sched.sources.live.lister import Lister
from kubectl_sched.sources.live.reflector import Reflector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.binding.second_scheduler.loop_messages import Message
    from kubectl_sched.binding.second_scheduler.settings import Settings, WatchOptions
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.sources.dump.dump import Dump
    from kubectl_sched.sources.live.endpoint import Endpoint

_STOP_SECONDS: Final = 25.0
"""The longest that binding cycles may take to end; a pod has 30 s from SIGTERM to SIGKILL."""

_HEARD_SECONDS: Final = 10.0
"""The longest that a cycle may go on after a signal, or after the leadership is lost; then it is given up."""

_STUCK_SECONDS: Final = 60.0
"""A loop that has not gone round for so long is taken to hang."""

_EXPIRED_SECONDS: Final = 20.0
"""For how long a leader may have let its Lease run out before it counts as ill, as in kube-scheduler."""


def run_watch(endpoint: Endpoint, options: WatchOptions) -> int:
    """Serve pods until interrupted; gives the exit code: 0 after SIGTERM, 130 after Ctrl-C, 3 where it cannot go on.

    Raises SchedError for flags and configurations that make no sense, and where somebody else serves the pods already.
    """
    gc.enable()  # the program runs for good, so that garbage matters
    dump = _state(endpoint, takes_over=options.take_over)
    replay = Replay(config=options.config, kube_version=options.kube_version, feature_gates=options.feature_gates)
    chosen = settings(options, configuration_for(dump, replay))
    found = () if options.take_over else others(chosen, dump, ClusterSchedulers(dump, replay))
    log = DecisionLog(quiet=options.quiet, as_json=options.as_json)
    for sentence in (*dump.warnings, *chosen.configuration.warnings):
        log.problem(sentence)
    refuse_if_served(found)
    for line in plan(chosen, found, endpoint.server, preempts=options.preempt):
        log.note(line)
    if not options.yes:
        confirm()
    return _Program(endpoint, options, chosen, log).run()


def _state(endpoint: Endpoint, *, takes_over: bool) -> Dump:
    """Nodes, pods and how the schedulers among them are configured; only the server's version where nobody asks."""
    from kubectl_sched.sources.live.cluster_reader import read_live, read_version
    from kubectl_sched.sources.pod_selection import Selection

    if takes_over:
        from kubectl_sched.sources.dump.dump import Dump

        return Dump(server_version=read_version(Server(endpoint)), is_live=True)
    return read_live(endpoint, Selection(namespace=None, replays=False))


class _Program:
    """All parts of one run. The main thread is there for signals."""

    def __init__(self, endpoint: Endpoint, options: WatchOptions, settings: Settings, log: DecisionLog) -> None:
        configuration, election = settings.configuration, settings.election
        self._log = log
        pod_options = scheduler_options(configuration.features.enabled, configuration.release)
        kinds = watched_kinds(configuration.profiles.values(), configuration)
        self._server = FencedServer(endpoint, self._leads)
        self._reading = Server(endpoint)
        self._elector: Elector | None = None
        self._metrics = Metrics(settings.names, election.name if election is not None else "")
        cache = Cache(pod_options, sidecar_ports_count=configuration.release.sidecar_ports_count)
        limits = replace(settings.limits, cancellation=Cancellation(), charged=ChargedWork())
        scheduler = Scheduler(configuration, cache.snapshot({}), limits=limits)
        frameworks = _frameworks(settings, scheduler)
        hints = PluginHints(frameworks, cache.objects)
        membership = Membership(configuration, cache)
        order, gated_by = _order(frameworks, membership), _gated_by(frameworks, membership)
        queue = SchedulingQueue(order, gated_by, hints, settings.backoff, membership.queued_with, membership.preemptor)
        self._binder = Binder(
            Writer(self._server),
            self._tell,
            may_preempt=options.preempt,
        )
        pods = PodAttempts(frameworks, cache, queue, self._binder, self._metrics, log)
        if configuration.release.gangs_are_of_workloads:
            pods.gangs = WaitingGangs(cache, queue, self._binder)
        groups = PodGroupAttempts(scheduler, membership, cache, queue, may_preempt=options.preempt)
        self._scheduling_loop = SchedulingLoop(pods, groups if has_group_cycles(configuration) else None)
        if election is not None:
            # Half of what is left for renewing, so that a request that hangs leaves time for another.
            asking = Server(replace(endpoint, timeout=election.terms.renew_deadline / 2), attempts=1)
            self._elector = Elector(asking, election.namespace, election.name, election.terms, self._on_change, log)
        lister = self._lister = Lister(self._reading)
        self._reflectors = [
            Reflector(
                self._reading, lister, kind, self._scheduling_loop.inbox.put, NOT_ENDED if kind.name == "Pod" else ""
            )
            for kind in kinds
        ]
        self._listen = options.listen
        self._asked_to_stop = self._interrupted = False
        self._stop_by = math.inf
        """The time by which the loop has to have heard of a signal."""

    def run(self) -> int:
        checks = {"/healthz": self._ill, "/livez": self._ill, "/readyz": self._unready}
        serving = EndpointServer(self._listen, checks, self._metrics.text) if self._listen else None
        if serving is not None:
            self._log.note(f"Serves /healthz, /livez, /readyz and /metrics on {serving.at}.")
        try:
            with self._signals():
                for reflector in self._reflectors:
                    reflector.start()
                if self._elector is not None:
                    self._elector.start()
                else:
                    self._on_change(leads=True)
                stop = run_in_thread(self._scheduling_loop.run, lambda: self._stop_by)
                return self._end(self._scheduling_loop.asked_to_stop or stop)
        finally:
            if serving is not None:
                serving.close()

    def _end(self, stop: Stop) -> int:
        """Binding cycles first, then the Lease: nobody takes over while a binding of ours may still be written."""
        self._log.note(stop.reason)
        if stop.exit_code:
            self._server.stop()
        self._binder.stop()
        self._scheduling_loop.drain(_STOP_SECONDS)
        self._binder.close()
        self._server.stop()
        for reflector in self._reflectors:
            reflector.stop()
        self._lister.close()
        if self._elector is not None:
            self._elector.stop()
        # The log has told of what a plugin could not judge, so that it is no reason to end as if we had not gone on.
        write_error("".join(shown for _, shown in take_noted()))
        return INTERRUPTED if self._interrupted else stop.exit_code

    @contextmanager
    def _signals(self) -> Iterator[None]:
        def stop(number: int, _: object) -> None:
            if self._asked_to_stop:
                os._exit(128 + number)  # asked for twice: at once, whatever is under way
            self._asked_to_stop = True
            self._interrupted = number == signal.SIGINT
            self._stop_by = time.monotonic() + _HEARD_SECONDS
            name = signal.Signals(number).name
            self._scheduling_loop.ask_to_stop(Stop(f"{name}: ends once what is under way is over"))

        before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _tell(self, message: Message) -> None:
        self._scheduling_loop.inbox.put(message)

    def _leads(self) -> bool:
        return self._elector is None or self._elector.leads()

    def _on_change(self, leads: bool) -> None:
        self._scheduling_loop.inbox.put(Led(leads))
        if not leads:
            # At once, not when the loop comes to it: what waits to be sent again must not be.
            self._server.stop()
            self._stop_by = min(self._stop_by, time.monotonic() + _HEARD_SECONDS)
            self._scheduling_loop.ask_to_stop(Stop("the leadership is lost, so this replica ends", exit_code=3))

    def _ill(self) -> str:
        if time.monotonic() - self._scheduling_loop.alive_at > _STUCK_SECONDS:
            return "the scheduling loop hangs"
        if self._elector is not None and self._elector.is_stale(_EXPIRED_SECONDS):
            return "the Lease ran out and was not renewed"
        return ""

    def _unready(self) -> str:
        waits_for, down = self._scheduling_loop.waits_for, self._scheduling_loop.down
        if waits_for:
            return self._ill() or f"not listed yet: {', '.join(waits_for)}"
        return self._ill() or (f"not followed at the moment: {', '.join(down)}" if down else "")


def _frameworks(settings: Settings, scheduler: Scheduler) -> dict[str, Framework]:
    found = ((name, scheduler.framework(name)) for name in settings.names)
    return {name: framework for name, framework in found if framework is not None}


def _order(frameworks: dict[str, Framework], membership: Membership) -> Callable[[Pod], tuple[int | float | str, ...]]:
    """All profiles of a configuration have the same QueueSort, since they share one queue."""
    queue_key = next(iter(frameworks.values())).queue_sort_plugins[0].queue_key
    return lambda pod: queue_key(membership.as_queued(pod))


def _gated_by(frameworks: dict[str, Framework], membership: Membership) -> Callable[[Pod], str | None]:
    def gated_by(pod: Pod) -> str | None:
        status = frameworks[scheduler_name_of(pod)].run_pre_enqueue(pod, membership.seen_by_pre_enqueue(pod))
        return None if status.is_success else status.plugin

    return gated_by
