"""Names of objects as kubectl prints them with `-o name`."""

from __future__ import annotations

from kubectl_sched.sources.kinds import BY_NAME


def kubectl_name(workload: str) -> str:
    """Return `deployment.apps/web` for `Deployment/web`, and `pod/web` for `Pod/web`."""
    kind, _, name = workload.rpartition("/")
    known = BY_NAME.get(kind)
    group = min(known.groups - {"extensions"}, default="") if known is not None else ""
    return f"{kind.lower()}{f'.{group}' if group else ''}/{name}"
