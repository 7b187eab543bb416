"""The kube-scheduler pods of a cluster: the schedulerNames that each serves, or why it serves none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.schedulers import Lease
from kubectl_sched.config import KubeVersion, load_configuration, parse_feature_gates
from kubectl_sched.config.types import DEFAULT_SCHEDULER_NAME
from kubectl_sched.errors import SchedError
from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.record import Record
from kubectl_sched.sources.discovery.scheduler_configurations import ConfigurationSource, configuration_of
from kubectl_sched.sources.discovery.scheduler_flags import NAME, flags, is_scheduler

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from kubectl_sched.api.containers import Container
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.sources.dump.dump import Dump

_TAG = pattern(r":(v?\d{1,9}\.\d{1,9}(?:\.\d{1,9})?)(?!\d)")
_EMULATED = pattern(r"(?:^|,)(?:kube=)?(v?\d{1,9}\.\d{1,9})(?:,|$)")


class FoundScheduler(Record, frozen=True, kw_only=True):
    """One scheduler, of one replica or several."""

    kind: str
    namespace: str
    name: str
    pods: tuple[Pod, ...]
    image: str
    version: KubeVersion | None
    """None if the image's tag does not say it."""

    flags: Mapping[str, str]
    configuration: ConfigurationSource
    lease_key: str | None
    """`namespace/name` of the Lease by which a replica is elected; None without leader election."""

    lease: Lease | None = None
    problems: tuple[str, ...] = ()
    """The reasons why it serves no pods, a sentence each."""

    @property
    def emulated(self) -> KubeVersion | None:
        """The older minor whose feature gates it has, by its flag --emulated-version; None if they are its own."""
        found = _EMULATED.search(self.flags.get("emulated-version", ""))
        minor = KubeVersion.parse(found[1]) if found is not None else None
        return minor if minor is not None and (self.version is None or minor < self.version.of_minor) else None

    @property
    def key(self) -> str:
        """`Deployment kube-system/my-scheduler`."""
        return f"{self.kind} {self.namespace}/{self.name}"

    @property
    def serves(self) -> bool:
        """Report whether anything is known that keeps it from serving."""
        return not self.problems

    @property
    def is_known(self) -> bool:
        """Report whether its profiles come from its configuration, and are not assumed."""
        return self.configuration.document is not None or self.configuration.is_known

    @property
    def profiles(self) -> tuple[str, ...]:
        """The schedulerNames that it would serve."""
        profiles = (self.configuration.document or {}).get("profiles")
        names = [
            str(profile.get("schedulerName") or DEFAULT_SCHEDULER_NAME)
            for profile in (profiles if isinstance(profiles, list) else ())
            if isinstance(profile, dict)
        ]
        return tuple(dict.fromkeys(names)) or (DEFAULT_SCHEDULER_NAME,)

    @property
    def holds_lease(self) -> bool | None:
        """Report whether one of its pods holds its Lease, None if that cannot be told."""
        if self.lease is None or not self.lease.spec.holder_identity:
            return None
        holder = self.lease.spec.holder_identity.rpartition("_")[0] or self.lease.spec.holder_identity
        return any(_is_host(holder, pod) for pod in self.pods)


def _is_host(holder: str, pod: Pod) -> bool:
    """Report whether the pod's host name is the holder's: its own name, or on the host's network the node's."""
    if not pod.spec.host_network:
        return holder == pod.metadata.name
    node = pod.spec.node_name
    return holder in {node, pod.metadata.name} or node.startswith(f"{holder}.") or holder.startswith(f"{node}.")


def find_schedulers(dump: Dump) -> tuple[FoundScheduler, ...]:
    """Every kube-scheduler with a pod among the objects that is not about to go, in the order of their names."""
    groups: dict[tuple[str, str, str, str, tuple[str, ...]], list[Pod]] = {}
    for pod in dump.pods:
        container = scheduler_container(pod)
        if container is not None and not pod.has_ended and pod.metadata.deletion_timestamp is None:
            key = (*_group(pod), container.image, container.command)
            groups.setdefault(key, []).append(pod)
    leases = {item.key: item for item in dump.others if isinstance(item, Lease)} if groups else {}
    found = [_found(pods, key[:3], dump, leases) for key, pods in sorted(groups.items(), key=lambda each: each[0])]
    return tuple(_with_lease_problems(found))


def scheduler_container(pod: Pod) -> Container | None:
    """The container that is a kube-scheduler, None if there is none."""
    for container in pod.spec.containers:
        if (container.command or NAME in container.image) and is_scheduler(container):
            return container
    return None


def _group(pod: Pod) -> tuple[str, str, str]:
    """(kind, namespace, name) of what makes its replicas: a Deployment, or the static pods of the same name."""
    namespace = pod.metadata.namespace
    owner = pod.metadata.controller
    template_hash = pod.metadata.labels.get("pod-template-hash")
    if owner is not None and owner.kind == "ReplicaSet" and template_hash:
        return "Deployment", namespace, owner.name.removesuffix(f"-{template_hash}")
    if owner is not None and owner.kind != "Node":
        return owner.kind, namespace, owner.name
    suffix = f"-{pod.spec.node_name}" if pod.spec.node_name else ""
    return "static Pod" if pod.is_static else "Pod", namespace, pod.metadata.name.removesuffix(suffix)


def _found(pods: Sequence[Pod], group: tuple[str, str, str], dump: Dump, leases: Mapping[str, Lease]) -> FoundScheduler:
    container = scheduler_container(pods[0])
    assert container is not None  # noqa: S101 - that is how the pods were found
    given = flags(container)
    configuration = configuration_of(pods, given, dump, _version(container.image))
    key = _lease_key(given, configuration.document or {})
    kind, namespace, name = group
    found = FoundScheduler(
        kind=kind,
        namespace=namespace,
        name=name,
        pods=tuple(pods),
        image=container.image,
        version=_version(container.image),
        flags=given,
        configuration=configuration,
        lease_key=key,
        lease=leases.get(key or ""),
    )
    return replace(found, problems=tuple(_own_problems(found)))


def _version(image: str) -> KubeVersion | None:
    tag = _TAG.search(image)
    return KubeVersion.parse(tag[1]) if tag is not None else None


def _lease_key(given: Mapping[str, str], document: Mapping[str, Any]) -> str | None:
    written = document.get("leaderElection")
    election = written if isinstance(written, dict) else {}
    elects = given.get("leader-elect", election.get("leaderElect", True))
    if str(elects).lower() in {"false", "f", "0"}:
        return None
    name = given.get("leader-elect-resource-name") or given.get("lock-object-name") or election.get("resourceName")
    namespace = (
        given.get("leader-elect-resource-namespace")
        or given.get("lock-object-namespace")
        or election.get("resourceNamespace")
    )
    return f"{namespace or 'kube-system'}/{name or 'kube-scheduler'}"


def _own_problems(found: FoundScheduler) -> Iterator[str]:
    document = found.configuration.document
    if document is not None and found.version is not None and "config" in found.flags:
        yield from _unreadable(document, found.version, found)
    not_ready = [pod for pod in found.pods if pod.spec.node_name == ""]
    if len(not_ready) == len(found.pods):
        yield "none of its pods has a node"


def _unreadable(document: Mapping[str, Any], version: KubeVersion, found: FoundScheduler) -> Iterator[str]:
    """Return the reason why the scheduler's own image cannot read its configuration."""
    from kubectl_sched.config.decoding import serving

    api_version = str(document.get("apiVersion"))
    served = serving(api_version)
    if served and version.of_minor not in served:
        bound = f"{served[-1]} was the last" if served[-1] < version else f"{served[0]} is the first"
        yield f"its image is of {version}, which does not read {api_version}: {bound} that does"
        return
    try:
        gates = found.flags.get("feature-gates")
        load_configuration(document, version, parse_feature_gates(gates) if gates else None, found.emulated)
    except SchedError as error:
        if served:
            yield f"it cannot start: {error}"


def _with_lease_problems(found: Sequence[FoundScheduler]) -> Iterator[FoundScheduler]:
    """Of those that share one Lease only the one that holds it serves anybody."""
    for scheduler in found:
        others = [
            other
            for other in found
            if other is not scheduler and other.lease_key == scheduler.lease_key and scheduler.lease_key is not None
        ]
        told = _shared_lease(scheduler, others) if others else None
        yield replace(scheduler, problems=(*scheduler.problems, told)) if told else scheduler


def _shared_lease(scheduler: FoundScheduler, others: Sequence[FoundScheduler]) -> str | None:
    rivals = [other for other in others if set(other.profiles) != set(scheduler.profiles)]
    if not rivals or scheduler.holds_lease:
        return None
    holder = next((other for other in others if other.holds_lease), None)
    if holder is None and scheduler.profiles == (DEFAULT_SCHEDULER_NAME,):
        return None
    names = ", ".join(other.key for other in ([holder] if holder else rivals))
    held = (
        f"it stands by, as {scheduler.lease.spec.holder_identity} of {names} holds the Lease {scheduler.lease_key}"
        if holder is not None and scheduler.lease is not None
        else f"it shares the Lease {scheduler.lease_key} with {names}, so that only one of them ever serves"
    )
    return f"{held}: give it a leaderElection.resourceName of its own"
