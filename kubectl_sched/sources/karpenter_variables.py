"""The settings that Karpenter takes from environment variables, which no other container's are read for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.apps import Deployment
from kubectl_sched.api.meta import Part, with_spec
from kubectl_sched.api.pod import Pod
from kubectl_sched.sources.discovery.scheduler_flags import KARPENTER_FLAGS, is_karpenter
from kubectl_sched.sources.dump.undecoded_values import typed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.containers import Container
    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.sources.dump.undecoded_values import Value

_FLAGS = {name.upper().replace("-", "_"): name for name in KARPENTER_FLAGS}


class _Variable(Part, frozen=True):
    name: str = ""
    value: str = ""


class _Container(Part, frozen=True):
    env: tuple[_Variable, ...] = ()


class _PodSpec(Part, frozen=True):
    containers: tuple[_Container, ...] = ()


class _Template(Part, frozen=True):
    spec: _PodSpec = _PodSpec()


class _Spec(_PodSpec, frozen=True):
    template: _Template = _Template()


class _Item(Part, frozen=True):
    spec: _Spec = _Spec()


def with_karpenter_variables(item: KubernetesObject, value: Value) -> KubernetesObject:
    """Return a pod or a Deployment whose containers of Karpenter have the variables as flags; stated flags win."""
    spec = typed(value, _Item).spec
    if isinstance(item, Pod):
        return with_spec(item, containers=_with_flags(item.spec.containers, spec.containers))
    if isinstance(item, Deployment):
        template = item.spec.template
        containers = _with_flags(template.spec.containers, spec.template.spec.containers)
        return with_spec(item, template=with_spec(template, containers=containers))
    return item


def _with_flags(containers: Sequence[Container], described: Sequence[_Container]) -> tuple[Container, ...]:
    return tuple(
        replace(container, command=(*_flags_of(its), *container.command)) if is_karpenter(container) else container
        for container, its in zip(containers, described, strict=True)
    )


def _flags_of(container: _Container) -> Iterator[str]:
    return (f"--{_FLAGS[each.name]}={each.value}" for each in container.env if each.name in _FLAGS and each.value)
