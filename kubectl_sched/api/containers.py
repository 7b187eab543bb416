"""Containers (k8s.io/api/core/v1/types.go)."""

import msgspec

from kubectl_sched.api.core import ResourceList
from kubectl_sched.api.meta import Int32, Part


class ContainerPort(Part, frozen=True):
    """Only host ports matter to the scheduler."""

    name: str = ""
    host_port: Int32 = 0
    container_port: Int32 = 0
    protocol: str = ""
    host_ip: str = msgspec.field(name="hostIP", default="")


class ResourceClaimReference(Part, frozen=True):
    """A container's use of one of the pod's claims, or of one request in it."""

    name: str = ""
    request: str = ""


class ResourceRequirements(Part, frozen=True):
    """Requests, limits and claims of a container or of a pod as a whole."""

    requests: ResourceList = {}
    limits: ResourceList = {}
    claims: tuple[ResourceClaimReference, ...] = ()


class ContainerResizePolicy(Part, frozen=True):
    """The restart that a resize of one resource in place needs."""

    resource_name: str = ""
    restart_policy: str = ""


class WindowsOptions(Part, frozen=True):
    """Read for hostProcess only."""

    host_process: bool | None = None


class SeccompProfile(Part, frozen=True):
    """Read for its type only."""

    type: str = ""


class SecurityContext(Part, frozen=True):
    """Read for what a node must support."""

    seccomp_profile: SeccompProfile | None = None

    windows_options: WindowsOptions | None = None
    privileged: bool | None = None
    host_users: bool | None = None


class RestartRule(Part, frozen=True):
    """A rule of a container's own restart policy; what a node must support for it is all that matters here."""

    action: str = ""


class VolumeMount(Part, frozen=True):
    """Read for what a node must support."""

    bind_mount_options: tuple[str, ...] = ()


class Container(Part, frozen=True):
    """A container or an init container; restartPolicy Always makes an init container a sidecar."""

    name: str = ""
    image: str = ""
    command: tuple[str, ...] = ()
    """Of schedulers and autoscalers only, and of these only the flags that decide; readers drop all others."""

    args: tuple[str, ...] = ()
    """Dropped by readers, as they join those of kube-schedulers to `command`."""

    image_pull_policy: str = ""
    ports: tuple[ContainerPort, ...] = ()
    resources: ResourceRequirements = ResourceRequirements()
    resize_policy: tuple[ContainerResizePolicy, ...] = ()
    restart_policy: str | None = None
    restart_policy_rules: tuple[RestartRule, ...] = ()
    volume_mounts: tuple[VolumeMount, ...] = ()
    security_context: SecurityContext | None = None
