"""Taints that a controller sets and takes off: who it is, and what makes the taint go. No advice tolerates them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kubectl_sched.data_lines import data_lines
from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Mapping

_STARTING = pattern(r"(.*[-./])?(agent-)?(not-?ready|uninitialized|initiali[sz]ing|start-?up)")
"""Keys by which network and storage drivers keep pods away until their own agent runs on the node."""

_TABLE: Final = Path(__file__).with_name("taint_owners.txt")
_SYSTEM_POOL: Final = "CriticalAddonsOnly"
_CONTROL_PLANE: Final = frozenset(
    f"node-role.kubernetes.io/{role}" for role in ("control-plane", "master", "controlplane", "etcd")
)


class TaintOwner(Record, frozen=True, kw_only=True):
    """The controller that sets a taint, in words that follow `set by`, and the end of the taint, after `it goes`."""

    sets: str
    goes: str
    is_passing: bool = False
    """The taint is one of the first minutes of a node."""


_OF_A_DRIVER = TaintOwner(
    sets="whoever starts the node, until its network or storage driver is ready",
    goes="once that driver's own pod runs on the node",
    is_passing=True,
)


def taint_owner(key: str) -> TaintOwner | None:
    """Return who sets and removes taints of this key; None if people do."""
    owners = _owners()
    exact = owners.get(key)
    if exact is not None:
        return exact
    found = next((owner for prefix, owner in owners.items() if prefix.endswith("/") and key.startswith(prefix)), None)
    return found or (_OF_A_DRIVER if _STARTING.fullmatch(key) else None)


def is_for_the_system(key: str) -> bool:
    """Report whether the taint keeps a node for the cluster's own pods: a control plane or a pool of add-ons."""
    return key == _SYSTEM_POOL or key in _CONTROL_PLANE


def is_of_control_plane(key: str) -> bool:
    """Report whether the taint is that of a node that runs the control plane."""
    return key in _CONTROL_PLANE


@cache
def _owners() -> Mapping[str, TaintOwner]:
    lines = (line.split("\t") for line in data_lines(_TABLE))
    return {
        key: TaintOwner(sets=sets, goes=goes, is_passing=passing == "passing") for key, passing, sets, goes in lines
    }
