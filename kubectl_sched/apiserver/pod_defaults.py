"""The defaults that the API server fills in where a pod says nothing.

Answers to pkg/apis/core/v1/defaults.go and to the defaults in the types of k8s.io/api/core/v1. Only fields that the
scheduler or a comparison of templates reads are filled in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from kubectl_sched.api.apimachinery.quantity import parse_quantity
from kubectl_sched.api.component_helpers.container_resources import PodResourcesOptions, aggregate_container_limits
from kubectl_sched.api.component_helpers.container_resources import aggregate_container_requests as container_requests
from kubectl_sched.api.component_helpers.resource_names import (
    is_huge_page_resource_name,
    is_supported_pod_level_resource,
)
from kubectl_sched.api.containers import ResourceRequirements
from kubectl_sched.api.meta import with_spec
from kubectl_sched.api.pod import PodSecurityContext
from kubectl_sched.config.types import DEFAULT_SCHEDULER_NAME

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.api.containers import Container
    from kubectl_sched.api.core import ResourceList
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.api.pod_volumes import Volume

_GRACE_SECONDS = 30


def defaulted(pod: Pod, enabled: Callable[[str], bool]) -> Pod:
    """SetDefaults_Pod, SetDefaults_PodSpec and those of their parts, under the feature gates that are `enabled`.

    Pod-level resources are dropped where their gate is off (dropDisabledFields). With PodLevelResourcesFixDefaulting
    they are filled in only after all of the admission.
    """
    spec = pod.spec
    grace = spec.termination_grace_period_seconds
    with_images = enabled("ImageVolume")
    spec = structs.replace(
        spec,
        containers=tuple(_container(each, on_host=spec.host_network) for each in spec.containers),
        init_containers=tuple(_container(each, on_host=spec.host_network) for each in spec.init_containers),
        volumes=tuple(_volume(each, with_images=with_images) for each in spec.volumes),
        restart_policy=spec.restart_policy or "Always",
        security_context=spec.security_context or PodSecurityContext(),
        scheduler_name=spec.scheduler_name or DEFAULT_SCHEDULER_NAME,
        termination_grace_period_seconds=_GRACE_SECONDS if grace is None else grace,
    )
    pod = structs.replace(pod, spec=spec, status=structs.replace(pod.status, phase="Pending"))
    if not enabled("PodLevelResources"):
        return with_spec(pod, resources=None)
    return pod if enabled("PodLevelResourcesFixDefaulting") else with_pod_level_defaults(pod, after_admission=False)


def _container(container: Container, *, on_host: bool) -> Container:
    """Requests from limits, and the protocol of ports; on the host's network a container port is a host port."""
    resources = container.resources
    ports = tuple(
        structs.replace(
            port,
            protocol=port.protocol or "TCP",
            host_port=port.host_port or (port.container_port if on_host else 0),
        )
        for port in container.ports
    )
    requests = {**resources.limits, **resources.requests}
    return structs.replace(
        container,
        image_pull_policy=container.image_pull_policy or _pull_policy(container.image),
        ports=ports,
        resources=structs.replace(resources, requests=requests),
    )


def _volume(volume: Volume, *, with_images: bool) -> Volume:
    """A disk's pool and kind, the mode of a claim that is made for the pod, and how an image is pulled."""
    image, rbd, azure, made = volume.image, volume.rbd, volume.azure_disk, volume.ephemeral
    if image is not None and with_images:
        image = structs.replace(image, pull_policy=image.pull_policy or _pull_policy(image.reference))
    if rbd is not None:
        rbd = structs.replace(rbd, pool=rbd.pool or "rbd")
    if azure is not None:
        azure = structs.replace(azure, kind=azure.kind or "Shared", read_only=bool(azure.read_only))
    if made is not None and made.volume_claim_template is not None:
        template = made.volume_claim_template
        spec = structs.replace(template.spec, volume_mode=template.spec.volume_mode or "Filesystem")
        made = structs.replace(made, volume_claim_template=structs.replace(template, spec=spec))
    return structs.replace(volume, image=image, rbd=rbd, azure_disk=azure, ephemeral=made)


def _pull_policy(image: str) -> str:
    """Always for the latest of an image, which is meant where no tag and no digest is named."""
    name, _, tag = image.rpartition("/")[2].partition(":")
    return "Always" if "@" not in image and name and tag in {"", "latest"} else "IfNotPresent"


def with_pod_level_defaults(pod: Pod, *, after_admission: bool) -> Pod:
    """Return the pod with those pod-level resources filled in that only its containers state.

    Before the admission these are DefaultHugePagePodLimits and defaultPodRequests, after it DefaultPodLevelResources of
    pkg/api/pod/util.go: a limit that all containers have is then the pod's, too.
    """
    resources = pod.spec.resources
    if resources is None or not (resources.limits or resources.requests):
        return pod
    limits: ResourceList = dict(resources.limits)
    for name, quantity in aggregate_container_limits(pod, PodResourcesOptions()).items():
        if is_huge_page_resource_name(name) and name not in resources.requests:
            limits.setdefault(name, str(quantity))
    requests: ResourceList = dict(resources.requests)
    if limits or after_admission:
        for name, quantity in container_requests(pod, PodResourcesOptions()).items():
            if is_supported_pod_level_resource(name) and not is_huge_page_resource_name(name):
                requests.setdefault(name, str(quantity))
        for name, limit in limits.items():
            if is_supported_pod_level_resource(name):
                requests.setdefault(name, limit)
    if after_admission:
        limits = {**_limits_of_all_containers(pod, requests), **limits}
    filled = ResourceRequirements(requests=requests, limits=limits, claims=resources.claims)
    return with_spec(pod, resources=filled)


def _limits_of_all_containers(pod: Pod, requests: ResourceList) -> ResourceList:
    """Return what all containers limit of the pod's requests, and never less than these (defaultPodLevelLimits)."""
    containers = (*pod.spec.containers, *pod.spec.init_containers)
    amounts = aggregate_container_limits(pod, PodResourcesOptions())
    return {
        name: str(max(parse_quantity(request), amounts[name]))
        for name, request in requests.items()
        if name in amounts
        and is_supported_pod_level_resource(name)
        and all(name in each.resources.limits for each in containers)
    }
