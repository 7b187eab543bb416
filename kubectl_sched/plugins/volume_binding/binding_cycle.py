"""The part of Reserve and PreBind that writes claims and volumes (binder.go, AssumePodVolumes and BindPodVolumes)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.component_helpers.volume_claims import class_of_claim

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.plugins.volume_binding.binder import Binder, PodVolumes


def actions(binder: Binder, volumes: PodVolumes, node_name: str, timeout_seconds: int) -> Iterator[tuple[str, str]]:
    """Each action with its extension point, in order; none where all claims are bound."""
    for claim, volume in volumes.static_bindings:
        yield "reserve", f"assume volume {volume.name} bound to claim {claim.key}"
    for claim, _ in volumes.dynamic_provisions:
        yield "reserve", f"assume node {node_name} selected for claim {claim.key}"
    for claim, volume in volumes.static_bindings:
        yield "preBind", f"bind volume {volume.name} to claim {claim.key}"
    for claim, capacity in volumes.dynamic_provisions:
        storage_class = binder.provisioner(claim).storage_class
        by_whom = storage_class.provisioner if storage_class is not None else ""
        made = f"a volume of class {class_of_claim(claim)}"
        if capacity is not None:
            made += f" out of CSIStorageCapacity {capacity.key}"
        yield "preBind", f"select {node_name} for claim {claim.key}, for which {by_whom} provisions {made}"
    waited_for = [claim.key for claim, _ in (*volumes.static_bindings, *volumes.dynamic_provisions)]
    if waited_for:
        are = "is" if len(waited_for) == 1 else "are"
        yield "preBind", f"wait up to {timeout_seconds} s until {', '.join(waited_for)} {are} bound"
