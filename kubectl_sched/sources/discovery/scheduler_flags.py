"""Finds the containers of schedulers and autoscalers, and their flags.

Of other command lines nothing is kept, but for the admission plugins that a kube-apiserver turns on, and of other pods
nothing of the ConfigMaps that they mount.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import force_setattr

from kubectl_sched.api.apps import Deployment, PodTemplateSpec
from kubectl_sched.api.core import ConfigMap
from kubectl_sched.api.karpenter import NodePool
from kubectl_sched.api.pod import Pod
from kubectl_sched.lazy_pattern import pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kubectl_sched.api.containers import Container
    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.api.pod import PodSpec

NAME = "kube-scheduler"

FLAGS = frozenset(
    {
        "algorithm-provider",
        "config",
        "emulated-version",
        "feature-gates",
        "kube-api-qps",
        "leader-elect",
        "leader-elect-resource-lock",
        "leader-elect-resource-name",
        "leader-elect-resource-namespace",
        "lock-object-name",
        "lock-object-namespace",
        "policy-config-file",
        "policy-configmap",
        "policy-configmap-namespace",
        "scheduler-name",
        "use-legacy-policy-config",
    }
)
"""Flags of kube-scheduler, of all versions, that decide which pods are served and how."""

AUTOSCALER = "cluster-autoscaler"

AUTOSCALER_FLAGS = frozenset(
    {
        "balance-similar-node-groups",
        "balancing-ignore-label",
        "balancing-label",
        "max-allocatable-difference-ratio",
        "max-free-difference-ratio",
        "memory-difference-ratio",
        "enable-provisioning-requests",
        "expendable-pods-priority-cutoff",
        "ignore-daemonsets-utilization",
        "ignore-mirror-pods-utilization",
        "scale-down-delay-after-add",
        "scale-down-enabled",
        "scale-down-gpu-utilization-threshold",
        "scale-down-unneeded-time",
        "scale-down-unready-enabled",
        "scale-down-utilization-threshold",
        "skip-nodes-with-local-storage",
        "skip-nodes-with-system-pods",
        "feature-gates",
        "force-ds",
        "ignore-taint",
        "max-nodes-total",
        "scale-from-unschedulable",
        "scheduler-config-file",
        "startup-taint",
        "startup-taint-prefix",
        "status-taint",
    }
)
"""Flags of cluster-autoscaler that decide whether a node group grows for a pod."""

KARPENTER = "karpenter"

KARPENTER_FLAGS = frozenset(
    {"feature-gates", "ignore-dra-requests", "min-values-policy", "preference-policy", "scheduler-config"}
)
"""Flags of Karpenter that decide whether it makes a node for a pod; they may be environment variables, too."""

API_SERVER = "kube-apiserver"
_GATES = "feature-gates"
_ADMISSION = "enable-admission-plugins"
_PROGRAMS = frozenset({NAME, AUTOSCALER, KARPENTER, API_SERVER})
_KEPT_FLAGS = FLAGS | AUTOSCALER_FLAGS | (KARPENTER_FLAGS - {"scheduler-config"}) | {_ADMISSION}
_BOOLEAN = frozenset(
    {
        "balance-similar-node-groups",
        "enable-provisioning-requests",
        "force-ds",
        "leader-elect",
        "scale-from-unschedulable",
        "use-legacy-policy-config",
    }
)
_IMAGE = pattern(r"(?:^|/)kube-scheduler(?:-(?:amd64|arm64|arm|ppc64le|s390x))?(?:[:@]|$)")
_AUTOSCALER_IMAGE = pattern(r"(?:^|/)cluster-autoscaler(?:-(?:amd64|arm64|s390x))?(?:[:@]|$)")
_KARPENTER_IMAGE = pattern(r"(?:^|/)karpenter(?:-[a-z-]+)?(?:/controller)?(?:[:@]|$)")
_QUOTES = str.maketrans("", "", "'\"")


def shows_autoscaler(item: KubernetesObject) -> bool:
    """Report whether it is a NodePool of Karpenter, or cluster-autoscaler's pod or status."""
    if isinstance(item, Pod):
        return not item.has_ended and any(map(is_autoscaler, item.spec.containers))
    return isinstance(item, NodePool) or (isinstance(item, ConfigMap) and bool(item.autoscaler_status))


def keep_scheduler_flags(item: KubernetesObject) -> None:
    """Drop the command lines of a pod or a workload just decoded, but for the flags of kube-schedulers in it."""
    if type(item) is Pod:
        _keep(item.spec)
        return
    spec = getattr(item, "spec", None)
    job = getattr(spec, "job_template", None)
    template = getattr(spec if job is None else job.spec, "template", None)
    for each in (template, *(pod_set.template for pod_set in getattr(spec, "pod_sets", ()))):
        if isinstance(each, PodTemplateSpec):
            _keep(each.spec)


def _keep(spec: PodSpec) -> None:
    keeps_volumes = False
    for container in spec.containers:
        command, args, image = container.command, container.args, container.image
        if command or args or KARPENTER in image:
            kept = tuple(_kept_flags(container))
            if kept or command:
                force_setattr(container, "command", kept)
            if args:
                force_setattr(container, "args", ())
            command = kept
        if command or NAME in image or AUTOSCALER in image:
            keeps_volumes = keeps_volumes or is_scheduler(container) or is_autoscaler(container)
    for container in (*spec.init_containers, *spec.ephemeral_containers):
        if container.command or container.args:
            force_setattr(container, "command", ())
            force_setattr(container, "args", ())
    if spec.volumes and not keeps_volumes:
        _drop_config_maps(spec)


def _drop_config_maps(spec: PodSpec) -> None:
    for volume in spec.volumes:
        if volume.config_map is not None:
            force_setattr(volume, "config_map", None)


def _kept_flags(container: Container) -> Iterable[str]:
    """Return the flags that are kept; the shortest way is that of the many containers that have none."""
    text = "\n".join((container.image, *container.command, *container.args))
    if (
        "kube" not in text
        and "karpenter" not in text
        and "autoscaler" not in text
        and "'" not in text
        and '"' not in text
    ):
        return ()
    if is_karpenter(container) or container.command[:1] == (KARPENTER,):
        return _kept_of_karpenter(container)
    return _kept(container, "\n".join((*container.command, *container.args)))


def kept_flags(command: Sequence[str]) -> tuple[str, ...]:
    """Return the flags of a command that readers keep, after the name of the program."""
    return tuple(
        each
        for each in command
        if each in _PROGRAMS or (each.startswith("--") and each[2:].partition("=")[0] in _KEPT_FLAGS)
    )


def is_scheduler(container: Container) -> bool:
    """Report whether the container runs kube-scheduler, as its command or else its image says."""
    return container.command[:1] == (NAME,) or (NAME in container.image and bool(_IMAGE.search(container.image)))


def is_autoscaler(container: Container) -> bool:
    """Report whether the container runs cluster-autoscaler, as its command or else its image says."""
    return container.command[:1] == (AUTOSCALER,) or (
        AUTOSCALER in container.image and bool(_AUTOSCALER_IMAGE.search(container.image))
    )


def is_karpenter(container: Container) -> bool:
    """Report whether the container runs Karpenter, as its image says."""
    return KARPENTER in container.image and bool(_KARPENTER_IMAGE.search(container.image))


def runs_karpenter(item: KubernetesObject) -> bool:
    """Report whether Karpenter runs in the pod, or in those that the Deployment makes."""
    return any(map(is_karpenter, containers_of(item)))


def containers_of(item: KubernetesObject) -> Sequence[Container]:
    """Return the containers of a pod, or of the pods that a Deployment makes; none of anything else."""
    if type(item) is Pod:
        return item.spec.containers
    return item.spec.template.spec.containers if isinstance(item, Deployment) else ()


def karpenter_flags(container: Container) -> Mapping[str, str] | None:
    """The settings of Karpenter by the names of its flags, the last of each; None for any other container."""
    return dict(_flags(container.command[1:], KARPENTER_FLAGS)) if container.command[:1] == (KARPENTER,) else None


def autoscaler_flags(container: Container) -> Mapping[str, tuple[str, ...]]:
    """The flags of a cluster-autoscaler by name, without dashes, with all values of each."""
    found: dict[str, tuple[str, ...]] = {}
    for name, value in _flags(container.command[1:], AUTOSCALER_FLAGS):
        found[name] = (*found.get(name, ()), value)
    return found


def flags(container: Container) -> Mapping[str, str]:
    """A kube-scheduler's flags by name, without dashes; the last of several counts, but for gates, which add up."""
    found: dict[str, str] = {}
    for name, value in _flags(container.command[1:]):
        found[name] = f"{found[name]},{value}" if name == _GATES and name in found else value
    return found


def _kept(container: Container, text: str) -> Iterator[str]:
    words = text.translate(_QUOTES).split()
    if _runs_scheduler(container, words):
        yield NAME
        for name, value in _flags(words):
            yield f"--{name}={value}"
    elif any(word.rpartition("/")[2] == AUTOSCALER for word in words) or _AUTOSCALER_IMAGE.search(container.image):
        yield AUTOSCALER
        for name, value in _flags(words, AUTOSCALER_FLAGS):
            yield f"--{name}={value}"
    elif any(word.rpartition("/")[2] == API_SERVER for word in words):
        yield API_SERVER
        for name, value in _flags(words, frozenset({_ADMISSION})):
            yield f"--{name}={value}"


def _kept_of_karpenter(container: Container) -> Iterator[str]:
    yield KARPENTER
    for name, value in _flags((*container.command, *container.args), KARPENTER_FLAGS):
        yield f"--{name}={value}"


def admission_plugins(container: Container) -> frozenset[str] | None:
    """The plugins that a kube-apiserver turns on beyond those that are on by default; None for any other container."""
    if container.command[:1] != (API_SERVER,):
        return None
    named = (value for name, value in _flags(container.command[1:], frozenset({_ADMISSION})) if name == _ADMISSION)
    return frozenset(plugin for value in named for plugin in value.split(","))


def _runs_scheduler(container: Container, words: Sequence[str]) -> bool:
    if any(word.rpartition("/")[2] == NAME for word in words) or _IMAGE.search(container.image):
        return True
    return "scheduler" in words and any("hyperkube" in word for word in (*words, container.image))


def _flags(words: Iterable[str], known: frozenset[str] = FLAGS) -> Iterator[tuple[str, str]]:
    """`--name=value`, `--name value`, `-name=value`, and `--name` alone for what is true or false."""
    waiting = ""
    for word in words:
        if waiting:
            yield waiting, word
            waiting = ""
            continue
        if not word.startswith("-"):
            continue
        name, equals, value = word.lstrip("-").partition("=")
        name = name.replace("_", "-")
        if name not in known:
            continue
        if equals:
            yield name, value
        elif name in _BOOLEAN:
            yield name, "true"
        else:
            waiting = name
