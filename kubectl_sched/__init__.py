"""kubectl-sched: replays kube-scheduler's pipeline for a pod and explains what it decided.

The library's face: `read` a dump or `connect` to a cluster, then ask it. Nothing is imported before it is asked for.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing would be half of what a start imports before Ctrl-C is expected
if TYPE_CHECKING:
    from typing import Any

    from kubectl_sched.errors import SchedError
    from kubectl_sched.library import Cluster, connect, message, profiles, read
    from kubectl_sched.library_answers import (
        Capacity,
        Diff,
        Drain,
        Explanation,
        Explanations,
        MakeRoom,
        Message,
        Nodes,
        PodGroups,
        Profiles,
        Schedulers,
        Triage,
        WhatIf,
    )

__all__ = [
    "Capacity",
    "Cluster",
    "Diff",
    "Drain",
    "Explanation",
    "Explanations",
    "MakeRoom",
    "Message",
    "Nodes",
    "PodGroups",
    "Profiles",
    "SchedError",
    "Schedulers",
    "Triage",
    "WhatIf",
    "connect",
    "message",
    "profiles",
    "read",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    modules = (import_module(f"{__name__}.{module}") for module in ("errors", "library_answers", "library"))
    return next(getattr(module, name) for module in modules if hasattr(module, name))


def __dir__() -> list[str]:
    return sorted(__all__)
