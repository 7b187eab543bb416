"""The settings of `bind --watch`: its flags together with a configuration."""

from __future__ import annotations

import platform
import uuid
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_sched.api.apimachinery.quantity import InvalidQuantity, value
from kubectl_sched.binding.second_scheduler.election_rules import JITTER_FACTOR, Terms
from kubectl_sched.binding.second_scheduler.queued_pod import Backoff
from kubectl_sched.config.duration import InvalidDuration, parse_duration
from kubectl_sched.config.types import LeaderElectionConfiguration
from kubectl_sched.errors import SchedError
from kubectl_sched.framework.cycle_budget import SERVICE, STEPS_A_SECOND, CycleLimits
from kubectl_sched.plugins.gang_scheduling import GangScheduling
from kubectl_sched.record import Record
from kubectl_sched.scheduler.group_membership import has_group_cycles
from kubectl_sched.sources.discovery.known_schedulers import lease_name

if TYPE_CHECKING:
    from kubectl_sched.config import Configuration, ResolvedProfile

_KUBE_SCHEDULERS_LEASE: Final = LeaderElectionConfiguration().resource_name


class WatchOptions(Record, frozen=True, kw_only=True):
    """The flags of the same names, as they were given; None or empty where they were not."""

    scheduler_name: str | None = None
    config: str | None = None
    kube_version: str | None = None
    feature_gates: str | None = None
    leader_elect: bool | None = None
    leader_elect_lease_duration: str | None = None
    leader_elect_renew_deadline: str | None = None
    leader_elect_retry_period: str | None = None
    leader_elect_resource_name: str | None = None
    leader_elect_resource_namespace: str | None = None
    listen: str | None = None
    cycle_work: str | None = None
    cycle_memory: str | None = None
    preempt: bool = False
    take_over: bool = False
    yes: bool = False
    quiet: bool = False
    as_json: bool = False
    """Each decision as a line of JSON on stdout, instead of a sentence on stderr."""


class Election(Record, frozen=True, kw_only=True):
    """The Lease of `namespace/name` and the terms on which it is held."""

    namespace: str
    name: str
    terms: Terms


class Settings(Record, frozen=True, kw_only=True):
    """All that is decided before anything is followed. No election: this program is taken to be the only one."""

    configuration: Configuration
    election: Election | None
    backoff: Backoff
    limits: CycleLimits

    @property
    def names(self) -> tuple[str, ...]:
        """The schedulerNames that are served."""
        return tuple(self.configuration.profiles)


def settings(options: WatchOptions, configuration: Configuration) -> Settings:
    """The flags and the configuration together. Raises SchedError for what makes no sense or is not served."""
    served = served_profiles(configuration, options)
    configuration = replace(configuration, profiles={each.scheduler_name: each for each in served})
    _check(configuration)
    backoff = Backoff(
        initial=float(configuration.pod_initial_backoff_seconds),
        maximum=float(configuration.pod_max_backoff_seconds),
        is_popped_early=configuration.features.enabled("SchedulerPopFromBackoffQ"),
        counts_every_attempt=not configuration.release.backoff_counts_rejections,
        flushes_gated=configuration.release.gated_pods_are_flushed,
    )
    return Settings(
        configuration=configuration,
        election=election(options, configuration),
        backoff=backoff,
        limits=cycle_limits(options),
    )


def check_flags(options: WatchOptions) -> None:
    """Raises SchedError for flags that make no sense whatever the configuration says."""
    if options.scheduler_name is None and options.config is None:
        raise SchedError("--watch serves the pods of one schedulerName: it needs --scheduler-name NAME, or --config")
    if options.scheduler_name == "":
        raise SchedError("--scheduler-name takes the schedulerName that pods ask for, and it is empty")
    for flag in ("lease-duration", "renew-deadline", "retry-period"):
        _seconds(flag, getattr(options, f"leader_elect_{flag.replace('-', '_')}"), 0.0)
    cycle_limits(options)
    if options.listen is not None:
        address(options.listen)


def cycle_limits(options: WatchOptions) -> CycleLimits:
    """Return the most that one cycle may take. Raises SchedError for what is no time or no amount of memory."""
    seconds = _duration("cycle-work", options.cycle_work, SERVICE.steps / STEPS_A_SECOND)
    if seconds * STEPS_A_SECOND < 1:
        raise SchedError("--cycle-work must be longer than 0s: no pod could be decided about")
    memory = SERVICE.memory
    if options.cycle_memory is not None:
        try:
            memory = value(options.cycle_memory)
        except InvalidQuantity:
            memory = 0
    if memory <= 0:
        raise SchedError(f"--cycle-memory {options.cycle_memory}: it takes an amount such as 256Mi")
    return replace(SERVICE, steps=int(seconds * STEPS_A_SECOND), memory=memory)


def address(text: str) -> tuple[str, int]:
    """`127.0.0.1:10259`, `:10259` (all interfaces) or `[::1]:0` (any free port) in two parts. Raises SchedError."""
    host, colon, port = text.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise SchedError(f"--listen {text}: it takes ADDRESS:PORT, such as 127.0.0.1:10259 or :10259")
    return host.strip("[]"), int(port)


def served_profiles(configuration: Configuration, options: WatchOptions) -> tuple[ResolvedProfile, ...]:
    """The profiles to serve: all of --config, the one that --scheduler-name names, or the only one under that name."""
    profiles, name = configuration.profiles, options.scheduler_name
    if name is None:
        return tuple(profiles.values())
    if name in profiles:
        return (profiles[name],)
    if len(profiles) == 1:
        return (replace(next(iter(profiles.values())), scheduler_name=name),)
    raise SchedError(f"--scheduler-name {name}: the configuration has only {', '.join(sorted(profiles))}")


def _check(configuration: Configuration) -> None:
    """Raises SchedError for what kube-scheduler would do and this scheduler does not."""
    if configuration.extenders:
        raise SchedError("bind --watch asks no extenders, and the configuration has some: take them out of it")
    for profile in configuration.profiles.values():
        serves_gangs = configuration.release.gangs_are_of_workloads or has_group_cycles(configuration)
        served = {GangScheduling.name} if serves_gangs else set()
        at_permit = [ref.name for ref in profile.plugins.get("permit", ()) if ref.name not in served]
        if at_permit:
            raise SchedError(
                f"bind --watch lets no pod wait in Permit, as {', '.join(at_permit)} of profile "
                f"{profile.scheduler_name} does: disable it there"
            )
        for unknown in profile.unknown_plugins:
            raise SchedError(
                f"profile {profile.scheduler_name} enables {unknown.name}, which is not here: pods would be bound "
                "without its say; take it out of the configuration"
            )


def election(options: WatchOptions, configuration: Configuration) -> Election | None:
    """The Lease of this scheduler, None without leader election. Raises SchedError where the times make no sense."""
    written = configuration.leader_election
    if not (written.leader_elect if options.leader_elect is None else options.leader_elect):
        return None
    terms = Terms(
        identity=identity(),
        lease_duration=_seconds("lease-duration", options.leader_elect_lease_duration, written.lease_duration.seconds),
        renew_deadline=_seconds("renew-deadline", options.leader_elect_renew_deadline, written.renew_deadline.seconds),
        retry_period=_seconds("retry-period", options.leader_elect_retry_period, written.retry_period.seconds),
    )
    _check_terms(terms)
    own = written.resource_name if written.resource_name != _KUBE_SCHEDULERS_LEASE else ""
    name = options.leader_elect_resource_name or own or lease_name(next(iter(configuration.profiles)))
    return Election(
        namespace=options.leader_elect_resource_namespace or written.resource_namespace, name=name, terms=terms
    )


def _check_terms(terms: Terms) -> None:
    """Raise SchedError for times that client-go's NewLeaderElector refuses."""
    if terms.lease_duration < 1:
        raise SchedError("--leader-elect-lease-duration must be at least 1s: a Lease holds whole seconds")
    if terms.lease_duration <= terms.renew_deadline:
        raise SchedError("--leader-elect-lease-duration must be longer than --leader-elect-renew-deadline")
    if terms.renew_deadline <= JITTER_FACTOR * terms.retry_period:
        raise SchedError(
            f"--leader-elect-renew-deadline must be longer than {JITTER_FACTOR:g} times --leader-elect-retry-period"
        )
    if terms.retry_period <= 0:
        raise SchedError("--leader-elect-retry-period must be longer than 0s")


def _seconds(flag: str, given: str | None, default: float) -> float:
    return _duration(f"leader-elect-{flag}", given, default)


def _duration(flag: str, given: str | None, default: float) -> float:
    if given is None:
        return default
    try:
        return parse_duration(given) / 1e9
    except InvalidDuration as wrong:
        raise SchedError(f"--{flag} {given}: {wrong}; it takes a duration such as 15s") from None


def identity() -> str:
    """Our identity in the Lease, as kube-scheduler has it: the host (in a pod its name), and something of our own."""
    return f"{platform.node()}_{uuid.uuid4()}"
