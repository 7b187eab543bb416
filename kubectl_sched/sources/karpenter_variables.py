"""The settings that Karpenter takes from environment variables, which no other container's are read for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import force_setattr

from kubectl_sched.api.meta import Part
from kubectl_sched.api.pod import Pod
from kubectl_sched.sources.discovery.scheduler_flags import KARPENTER_FLAGS, containers_of, is_karpenter
from kubectl_sched.sources.dump.undecoded_values import typed

if TYPE_CHECKING:
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


def note_karpenter_variables(item: KubernetesObject, value: Value) -> None:
    """Put the variables before the flags of Karpenter's containers in a pod or a Deployment; the flags win."""
    spec = typed(value, _Item).spec
    described = spec if isinstance(item, Pod) else spec.template.spec
    for container, its in zip(containers_of(item), described.containers, strict=True):
        if is_karpenter(container):
            stated = (f"--{_FLAGS[each.name]}={each.value}" for each in its.env if each.name in _FLAGS and each.value)
            force_setattr(container, "command", (*stated, *container.command))
