"""Names of objects as kubectl prints them with `-o name`, and as data hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.sources.kinds import BY_NAME

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.render.schemas.common import Name


def pod_name(pod: Pod) -> Name:
    """Return the name of a pod as data."""
    return {"namespace": pod.namespace, "name": pod.name}


def kubectl_name(workload: str) -> str:
    """Return `deployment.apps/web` for `Deployment/web`, and `pod/web` for `Pod/web`."""
    kind, _, name = workload.rpartition("/")
    known = BY_NAME.get(kind)
    group = min(known.groups - {"extensions"}, default="") if known is not None else ""
    return f"{kind.lower()}{f'.{group}' if group else ''}/{name}"
