"""The source of a kube-scheduler's configuration, and the command that fetches one that was not read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubectl_sched.api.core import ConfigMap, Node
from kubectl_sched.api.schedulers import Scheduler as OpenShiftScheduler
from kubectl_sched.api.schedulers import SchedulerConfiguration, SchedulerLog
from kubectl_sched.errors import SchedError
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.config import KubeVersion
    from kubectl_sched.shell_commands import ShellCommand
    from kubectl_sched.sources.dump.dump import Dump

_API_VERSIONS = tuple(f"kubescheduler.config.k8s.io/{version}" for version in ("v1", "v1beta3", "v1beta2"))

_STATIC_POD_CONFIG_MAPS = "/static-pod-resources/configmaps/"
"""The folder on a static pod's host in which OpenShift's operator writes each ConfigMap under its name."""

_MANAGED = {
    "eks.amazonaws.com/": "EKS runs kube-scheduler where it cannot be seen, with the default profile",
    "cloud.google.com/gke-": "GKE runs kube-scheduler where it cannot be seen",
    "kubernetes.azure.com/": "AKS runs kube-scheduler where it cannot be seen",
}


class ConfigurationSource(Record, frozen=True, kw_only=True):
    """A configuration, or why there is none."""

    source: str
    """In words: `ConfigMap kube-system/my-scheduler-config`, `no --config`, `the host file /etc/kubernetes/s.yaml`."""

    document: Mapping[str, Any] | None = None
    commands: tuple[ShellCommand, ...] = ()
    """Commands that fetch a configuration that is not among the objects. Any one of them is enough."""

    problem: str | None = None

    @property
    def is_known(self) -> bool:
        """Report whether nothing has to be assumed."""
        return not self.commands and self.problem is None


def configuration_of(
    pods: Sequence[Pod], flags: Mapping[str, str], dump: Dump, version: KubeVersion | None
) -> ConfigurationSource:
    """The configuration that the replicas' `--config` names, in the words of the log of one of them if need be."""
    path = flags.get("config")
    if path is None:
        return _without_file(flags, version)
    source = _of_file(pods[0], path, dump)
    return source if source.is_known else _logged(pods, dump) or source


def _logged(pods: Sequence[Pod], dump: Dump) -> ConfigurationSource | None:
    keys = {pod.key for pod in pods}
    for item in dump.objects:
        if isinstance(item, SchedulerLog) and item.key in keys:
            source = f"the log of {item.key}"
            try:
                return ConfigurationSource(source=source, document=parsed(item.spec.raw_config, source))
            except SchedError:
                continue  # it was cut off
    return None


def _of_file(pod: Pod, path: str, dump: Dump) -> ConfigurationSource:
    found = _mounted(pod, path, dump)
    if len(found) == 1:
        config_map, key = found[0]
        source = f"ConfigMap {config_map.key}"
        try:
            return ConfigurationSource(source=source, document=parsed(config_map.data[key], source))
        except SchedError as error:
            return ConfigurationSource(source=source, problem=str(error))
    if len(found) > 1:
        names = ", ".join(sorted({config_map.key for config_map, _ in found}))
        return ConfigurationSource(source=path, problem=f"several ConfigMaps may be {path}: {names}")
    mounted = [volume.config_map.name for volume in pod.spec.volumes if volume.config_map is not None]

    from kubectl_sched.shell_commands import get_config_map, get_configz, read_host_file

    if mounted:
        namespace, name = pod.metadata.namespace, mounted[0]
        source = f"ConfigMap {namespace}/{name}, which was not read"
        return _fetched_by(source, get_config_map(namespace, name))
    fetches = read_host_file(pod.spec.node_name, path), get_configz(pod.metadata.namespace, pod.metadata.name)
    return _fetched_by(f"the host file {path}", *fetches)


def _fetched_by(source: str, *commands: ShellCommand | None) -> ConfigurationSource:
    """Return the commands. There is none with a name that Kubernetes would not accept."""
    given = tuple(command for command in commands if command is not None)
    problem = None if given else "no command fetches it, since Kubernetes would not accept a name in it"
    return ConfigurationSource(source=source, commands=given, problem=problem)


def _without_file(flags: Mapping[str, str], version: KubeVersion | None) -> ConfigurationSource:
    policy = next((flags[name] for name in ("policy-configmap", "policy-config-file") if name in flags), None)
    if policy is not None:
        told = f"the Policy {policy} was last read by kube-scheduler 1.22 and is not replayed"
        return ConfigurationSource(source=f"the Policy {policy}", problem=told)
    name = flags.get("scheduler-name")
    if name is None:
        return ConfigurationSource(source="no --config")

    from kubectl_sched.config.decoding import serving

    minor = version.of_minor if version is not None else None
    api_version = next((each for each in _API_VERSIONS if minor in serving(each)), _API_VERSIONS[0])
    document = {
        "apiVersion": api_version,
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": name}],
    }
    return ConfigurationSource(source=f"no --config, but --scheduler-name={name}", document=document)


def _mounted(pod: Pod, path: str, dump: Dump) -> list[tuple[ConfigMap, str]]:
    """The ConfigMaps, each with its key, that may be the file: by its name where there is a choice."""
    file = path.rpartition("/")[2]
    names = {volume.config_map.name: volume.config_map for volume in pod.spec.volumes if volume.config_map is not None}
    wanted = set(static_pod_config_maps(pod, path) or names)
    if not wanted:
        return []
    found = []

    from kubectl_sched.config.config_map import configuration_keys

    for item in dump.objects:
        if (
            isinstance(item, ConfigMap)
            and item.metadata.name in wanted
            and item.metadata.namespace == pod.metadata.namespace
        ):
            mounted = names.get(item.metadata.name)
            paths = {each.key: each.path for each in mounted.items} if mounted is not None else {}
            found += [(item, key, paths.get(key, key)) for key in configuration_keys(item.data)]
    named = [(item, key) for item, key, as_file in found if as_file.rpartition("/")[2] == file]
    named = named or [(item, key) for item, key, _ in found]
    return _of_own_revision(pod, named)


def static_pod_config_maps(pod: Pod, path: str) -> tuple[str, ...]:
    """The ConfigMaps, the best one first, that OpenShift's operator writes to the file; none for any other file.

    `config-7` is what revision 7 of the static pod runs, `config` what the next one will.
    """
    if _STATIC_POD_CONFIG_MAPS not in path:
        return ()
    name = path.rpartition("/")[0].rpartition("/")[2]
    revision = pod.metadata.labels.get("revision")
    return (f"{name}-{revision}", name) if revision else (name,)


def _of_own_revision(pod: Pod, found: list[tuple[ConfigMap, str]]) -> list[tuple[ConfigMap, str]]:
    revision = pod.metadata.labels.get("revision")
    own = [each for each in found if revision and each[0].metadata.name.endswith(f"-{revision}")]
    return own or found


def parsed(text: str, source: str) -> Mapping[str, Any]:
    """The text of a configuration file. Raises SchedError where it is none."""
    from kubectl_sched.sources.configuration_file import first_document  # YAML is slow to import

    document = first_document(text.encode(), source).document
    if not document:
        raise SchedError(f"{source}: it must hold one KubeSchedulerConfiguration")
    return document


def of_unseen_scheduler(dump: Dump) -> ConfigurationSource:
    """Return the configuration source of a scheduler whose pod is not among the objects."""
    for item in dump.others:
        if isinstance(item, SchedulerConfiguration):
            source = f"SchedulerConfiguration {item.metadata.name} of AKS"
            try:
                return ConfigurationSource(source=source, document=parsed(item.spec.raw_config, source))
            except SchedError as error:
                return ConfigurationSource(source=source, problem=str(error))
        if isinstance(item, OpenShiftScheduler) and item.spec.profile:
            from kubectl_sched.shell_commands import get_config_map

            source = f"OpenShift's Scheduler: profile {item.spec.profile}"
            return _fetched_by(source, get_config_map("openshift-kube-scheduler", "config"))
    managed = _managed_by([item for item in dump.others if isinstance(item, Node)])
    if managed is None:
        return ConfigurationSource(source="no kube-scheduler pod found")
    if not managed.startswith("AKS"):
        return ConfigurationSource(source=managed)
    from kubectl_sched.shell_commands import get_aks_configuration

    return _fetched_by(managed, get_aks_configuration())


def _managed_by(nodes: Sequence[Node]) -> str | None:
    for prefix, told in _MANAGED.items():
        if any(label.startswith(prefix) for node in nodes[:20] for label in node.metadata.labels):
            return told
    return None
