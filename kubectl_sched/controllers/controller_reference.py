"""The reference by which a pod names the workload that makes it (apimachinery, pkg/apis/meta/v1/controller_ref.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

from kubectl_sched.api.meta import OwnerReference

if TYPE_CHECKING:
    from kubectl_sched.api.meta import KubernetesObject


def controller_reference(item: KubernetesObject, api_version: str) -> OwnerReference:
    """Return the reference to a controller.

    One that is not stored yet has a uid of ours, which is also a label value, as Jobs want it.
    """
    kind = type(item).__name__
    uid = item.metadata.uid or f"whatif-{crc32(f'{kind}/{item.key}'.encode()):08x}"
    return OwnerReference(api_version=api_version, kind=kind, name=item.name, uid=uid, controller=True)
