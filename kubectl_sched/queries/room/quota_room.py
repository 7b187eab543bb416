"""The pods that ResourceQuotas would still admit, where more of them fit on the nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.api.admission import ResourceQuota
from kubectl_sched.apiserver.refused_manifest import RefusedError
from kubectl_sched.apiserver.resource_quotas import Quotas
from kubectl_sched.snapshot import Objects

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.queries.room.shape_room import ShapeCapacity

_MOST_ADMITTED: Final = 200
"""So many pods of a shape are admitted one after the other; a quota that admits more is not named."""

_MOST_TOLD: Final = 3


def about_quotas(shapes: Sequence[ShapeCapacity], objects: Sequence[KubernetesObject]) -> Iterator[str]:
    """Yield a sentence for each shape of which a quota admits fewer pods than fit; the first few of them."""
    if not any(isinstance(item, ResourceQuota) for item in objects):
        return
    read = Objects(objects)
    told = [sentence for each in shapes if (sentence := _about(each, read)) is not None]
    yield from told[:_MOST_TOLD]
    if len(told) > _MOST_TOLD:
        yield f"of {len(told) - _MOST_TOLD:,} more workloads, too, quotas admit fewer pods than fit"


def _about(found: ShapeCapacity, objects: Objects) -> str | None:
    quotas, total = Quotas(objects), found.capacity.total
    if not quotas.limits(found.shape.pod.namespace):
        return None
    for admitted in range(min(total, _MOST_ADMITTED)):
        try:
            quotas.take(found.shape.pod)
        except RefusedError as error:
            return f"{found.shape.name}: of {total:,} more that fit, {admitted:,} would be created: {error.reason}"
    return None
