"""The schedulers of a cluster: the configuration that each pod is replayed with, and the evidence for it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import structs
from msgspec.structs import replace

from kubectl_sched.api.pod import Pod
from kubectl_sched.config import KubeVersion, load_configuration, parse_feature_gates
from kubectl_sched.config.scheduler_name import scheduler_name_of
from kubectl_sched.config.types import DEFAULT_SCHEDULER_NAME
from kubectl_sched.errors import SchedError
from kubectl_sched.record import Record
from kubectl_sched.sources.discovery.known_schedulers import PRODUCTS, product_pods
from kubectl_sched.sources.discovery.kubernetes_version import detect_version
from kubectl_sched.sources.discovery.replay_setup import configuration_for, scheduler_for
from kubectl_sched.sources.discovery.scheduler_configurations import ConfigurationSource, of_unseen_scheduler
from kubectl_sched.sources.discovery.serving_schedulers import SeenSchedulers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_sched.api.schedulers import Lease
    from kubectl_sched.config import Configuration
    from kubectl_sched.framework.handle import ExtenderClient
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.scheduler.scheduler import Scheduler
    from kubectl_sched.sources.discovery.kube_schedulers import FoundScheduler
    from kubectl_sched.sources.discovery.replay_setup import Replay
    from kubectl_sched.sources.dump.dump import Dump
    from kubectl_sched.sources.pod_surroundings import Surroundings

_NO_SCHEDULER = (
    "no kube-scheduler is seen, and none has looked at a pod that waits",
    "one with a profile default-scheduler would serve it",
)

_OWN = "the KubeSchedulerConfiguration in the dump"
_NOT_USED = f"{_OWN} is not used, as the schedulers there have others; --config FILE uses it"

_FETCH = " (`kubectl sched schedulers` prints the command that fetches it, for --config scheduler.yaml)"
"""Commands stand on lines of their own, where nothing wraps them; notes are wrapped."""


class Assumed(Record, frozen=True, kw_only=True):
    """A configuration, and one line that says why it was taken, which is empty if --config was given."""

    configuration: Configuration
    evidence: str
    is_of_dump: bool = False
    """The configuration lay in the dump as a file of its own."""


class ClusterSchedulers:
    """The schedulers of a cluster, each made when a pod first asks for it. `--config` overrides what is found."""

    def __init__(
        self, dump: Dump, replay: Replay, profile: str | None = None, extender_client: ExtenderClient | None = None
    ) -> None:
        self.dump = dump
        self._client = extender_client
        self._replay = replay
        self.profile = profile
        self._assumed: dict[str, Assumed] = {}
        self._schedulers: dict[str, Scheduler] = {}
        self._keys: dict[str, str] = {}
        self.left_out: dict[str, None] = {}
        self.seen = SeenSchedulers(dump)
        self.used: dict[str, Assumed] = {}
        """The configuration that was assumed for each schedulerName."""

    def schedule_one(self, pod: Pod) -> ScheduleResult:
        """Run the cycle for the pod by the scheduler that serves it."""
        return self.scheduler(pod).schedule_one(pod, self.profile)

    def cycle(self, pod: Pod) -> ScheduleResult:
        """Run the cycle for the pod, taken off its node first."""
        scheduler = self.scheduler(pod)
        without = scheduler.nodes.remove_pod(pod.metadata.namespace, pod.metadata.name)
        return scheduler.cycle(pod, without, self.profile)

    def scheduler(self, pod: Pod) -> Scheduler:
        """The scheduler that serves the pod, or the default one if nobody does."""
        name = self.profile or scheduler_name_of(pod)
        assumed, key = self.assumed(name), self._keys[name]
        if key not in self._schedulers:
            self._schedulers[key], left_out = scheduler_for(self.dump, assumed.configuration, self._client)
            self.left_out.update(dict.fromkeys(left_out))
        return self._schedulers[key]

    @property
    def default_scheduler(self) -> Scheduler:
        """The scheduler of default-scheduler."""
        return self.scheduler(Pod())

    def check_profile(self) -> None:
        """Raises SchedError for a --profile that no configuration has."""
        if self.profile is not None:
            profiles = self.assumed(self.profile).configuration.profiles
            if self.profile not in profiles:
                raise SchedError(f"--profile {self.profile}: the configuration has only {', '.join(sorted(profiles))}")

    def assumed(self, scheduler_name: str) -> Assumed:
        """The configuration for pods of that schedulerName."""
        if scheduler_name not in self.used:
            self._keys[scheduler_name], self.used[scheduler_name] = self._found_for(scheduler_name)
        return self.used[scheduler_name]

    def _found_for(self, scheduler_name: str) -> tuple[str, Assumed]:
        """Return the configuration and a key of what it was taken from."""
        owner = lease = None
        if self._replay.config is None:
            owner = self.seen.owner(scheduler_name)
            lease = self.seen.lease_of_unseen(scheduler_name)
        key = owner.key if owner is not None else f"Lease {lease.key}" if lease is not None else ""
        if key not in self._assumed:
            if owner is not None:
                self._assumed[key] = self._of(owner)
            elif lease is not None:
                self._assumed[key] = self._of_watcher(scheduler_name, lease)
            else:
                self._assumed[key] = self._of_nobody()
        return key, self._assumed[key]

    def may_serve(self, scheduler_name: str) -> list[FoundScheduler]:
        """The schedulers that may have a profile of the name; none where --config says what counts."""
        return self.seen.may_serve(scheduler_name) if self._replay.config is None else []

    def _of(self, owner: FoundScheduler) -> Assumed:
        source = owner.configuration
        version = self._version or owner.version or detect_version(self.dump)
        gates = self._replay.feature_gates or owner.flags.get("feature-gates")
        emulated = owner.emulated if self._version is None else None
        as_of = f", emulating {emulated}" if emulated is not None else ""
        what = f"{owner.key} ({owner.version or 'version unknown'}{as_of})"
        if source.document is not None:
            try:
                configuration = load_configuration(source.document, version, _gates(gates), emulated)
            except SchedError as error:
                assumed = self._loaded(None, version, None, emulated)
                return Assumed(
                    configuration=assumed,
                    evidence=f"default profile assumed: that of {what} in {source.source} is refused: {error}",
                )
            if "config" not in owner.flags:
                return Assumed(
                    configuration=configuration, evidence=f"default profile, as {what} runs with {source.source}"
                )
            return Assumed(configuration=configuration, evidence=f"profiles of {what}, as {source.source} has them")
        own = self.dump.scheduler_configuration
        if own is not None and not source.is_known:
            configuration = self._loaded(own, version, gates, emulated)
            return Assumed(
                configuration=configuration, evidence=f"profiles of {what}, as {_OWN} has them", is_of_dump=True
            )
        configuration = self._loaded(None, version, gates, emulated)
        if source.is_known:
            return Assumed(
                configuration=configuration, evidence=f"default profile, as {what} runs with {source.source}"
            )
        more = _FETCH if source.commands else f": {source.problem}"
        return Assumed(
            configuration=configuration,
            evidence=f"default profile assumed: {what} has its configuration from {source.source}{more}",
        )

    def _loaded(
        self,
        document: Mapping[str, Any] | None,
        version: KubeVersion | None,
        gates: str | None,
        emulated: KubeVersion | None,
    ) -> Configuration:
        """Load a configuration with a scheduler's gates, or without those where they are refused."""
        try:
            return load_configuration(document, version, _gates(gates), emulated)
        except SchedError:
            if gates == self._replay.feature_gates:
                raise
            return load_configuration(document, version, _gates(self._replay.feature_gates), emulated)

    def _of_nobody(self) -> Assumed:
        """Nothing that was found has the name, or --config says what counts."""
        replay = self._replay
        if replay.config is not None:
            return Assumed(configuration=configuration_for(self.dump, replay), evidence="")
        own = self.dump.scheduler_configuration
        if own is not None:
            version = self._version or detect_version(self.dump)
            return Assumed(
                configuration=load_configuration(own, version, _gates(replay.feature_gates)),
                evidence=f"profiles as {_OWN} has them",
                is_of_dump=True,
            )
        if self.seen.found:
            return Assumed(
                configuration=configuration_for(self.dump, replay),
                evidence="default profile assumed where no scheduler is seen that serves a pod",
            )
        source = of_unseen_scheduler(self.dump)
        return self._of_unseen(source)

    def _of_unseen(self, source: ConfigurationSource) -> Assumed:
        if source.document is not None:
            version = self._version or detect_version(self.dump)
            configuration = load_configuration(source.document, version, _gates(self._replay.feature_gates))
            return Assumed(configuration=configuration, evidence=f"profiles as {source.source} has them")
        lease = self.seen.renewed_lease
        renewed = f"; {lease.spec.holder_identity} renews the Lease {lease.key}" if lease is not None else ""
        told = f"default profile assumed: {source.source}{renewed}{_FETCH if source.commands else ''}"
        return Assumed(configuration=configuration_for(self.dump, self._replay), evidence=told)

    def _of_watcher(self, scheduler_name: str, lease: Lease) -> Assumed:
        """The default profile under the name that is served, as `bind --watch` has it without a configuration."""
        configuration = configuration_for(self.dump, self._replay)
        profile = structs.replace(configuration.profiles[DEFAULT_SCHEDULER_NAME], scheduler_name=scheduler_name)
        told = (
            f"default profile assumed: {lease.spec.holder_identity} renews the Lease {lease.key}, and what it runs "
            "with cannot be seen; --config FILE gives it"
        )
        return Assumed(configuration=structs.replace(configuration, profiles={scheduler_name: profile}), evidence=told)

    @cached_property
    def _version(self) -> KubeVersion | None:
        given = self._replay.kube_version
        return KubeVersion.parse(given) if given is not None else None

    def scheduler_at_decision(self, pod: Pod, around: Surroundings) -> Scheduler:
        """Return the pod's scheduler over the cluster without what is younger than its placement, if that is known."""
        at = around.placed_at(pod)
        if not pod.spec.node_name or not at:
            return self.scheduler(pod)
        name = self.profile or scheduler_name_of(pod)
        before = replace(self.dump, objects=tuple(around.before(at, pod)))
        scheduler, left_out = scheduler_for(before, self.assumed(name).configuration, self._client)
        self.left_out.update(dict.fromkeys(left_out))
        return scheduler

    def missing_scheduler(self, pod: Pod) -> tuple[str, ...]:
        """Return why no scheduler serves the pod, and which there are; empty if one does or must be assumed to."""
        seen, name = self.seen, scheduler_name_of(pod)
        owner = seen.owner(name)
        if owner is not None:
            first, rest = owner.problems[:1], owner.problems[1:]
            return (*(f"{owner.key} has the profile {name}, but {problem}" for problem in first), *rest)
        if name == DEFAULT_SCHEDULER_NAME:
            return _NO_SCHEDULER if seen.lacks_default else ()
        if product_pods(name, seen.pods) or name in self.assumed(name).configuration.profiles or self.may_serve(name):
            return ()
        product = f" ({PRODUCTS[name].name})" if name in PRODUCTS else ""
        there = ", ".join(dict.fromkeys(profile for each in seen.found if each.serves for profile in each.profiles))
        there = there or ("" if seen.lacks_default else DEFAULT_SCHEDULER_NAME)
        return (
            f"no scheduler found that serves {name}{product}",
            f"there is {there}" if there else "there is no scheduler at all",
        )

    @property
    def notes(self) -> list[str]:
        """A line for each configuration that was taken, and on what evidence."""
        taken = [*self._of_others, *(each.evidence for each in self._taken if each.evidence)]
        return [*taken, _NOT_USED] if self._passes_over_own else taken

    @property
    def _of_others(self) -> Iterator[str]:
        """Yield the schedulers that serve, or may serve, the pods that cannot be replayed."""
        for name in self.used:
            pods = product_pods(name, self.seen.pods) if self.seen.owner(name) is None else []
            if pods:
                product = f"{PRODUCTS[name].name} ({pods[0].key})"
                yield f"{name} is {product}, no kube-scheduler: what it decides is not replayed"
                continue
            for scheduler in self.may_serve(name):
                source = scheduler.configuration
                how = _FETCH if source.commands else f" ({source.problem})"
                yield f"{scheduler.key} may serve {name}: its configuration is {source.source}{how}"

    @property
    def warnings(self) -> list[str]:
        """The warnings of these configurations, and what had to be left out."""
        return [*(warning for each in self._taken for warning in each.configuration.warnings), *self.left_out]

    @property
    def _taken(self) -> list[Assumed]:
        return list({self._keys[name]: each for name, each in self.used.items()}.values())

    @property
    def _passes_over_own(self) -> bool:
        """Report whether a configuration lies in the dump, and every scheduler that was asked for has another."""
        own = self.dump.scheduler_configuration
        if own is None or self._replay.config is not None or not self.used:
            return False
        return not any(each.is_of_dump for each in self.used.values())


def _gates(text: str | None) -> dict[str, bool] | None:
    return dict(parse_feature_gates(text)) if text else None
