"""Takes the text of cluster-autoscaler's NotTriggerScaleUp event apart (processors/status)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.diagnostics.messages.reasons import meaning
from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEAD = pattern(r"pod didn't trigger scale-up(?: \([^()]{0,200}\))?: ")
_BETWEEN = pattern(r", (?=\d{1,9} \S)")
_COUNTED = pattern(r"(\d{1,9}) (.+)")

_OWN = {
    "all-or-nothing strategy": "The group cannot take all pods of the request at once.",
    "exceeded quota": "A limit on the cores, memory or GPUs of the cluster is reached.",
    "expansion options filtered out": "The expander took another group.",
    "in backoff after failed scale-up": "The cloud could not give the group a node; it is tried again later.",
    "max cluster cpu limit reached": "--cores-total is reached.",
    "max cluster memory limit reached": "--memory-total is reached.",
    "max node group size reached": "The group has as many nodes as it may have.",
    "max total nodes in cluster reached": "--max-nodes-total is reached.",
    "not ready for scale-up": "Too many nodes of the group are not ready, or it has no template.",
    "scale-up execution failed": "The cloud refused to make the group larger.",
}


class ScaleUpReason(Record, frozen=True, kw_only=True):
    """One reason: the number of node groups it keeps from growing, None for all of them together."""

    groups: int | None
    reason: str
    plugin: str = ""
    says: str = ""


def scale_up_reasons(text: str) -> tuple[ScaleUpReason, ...]:
    """Return the reasons in a text; none if it is no NotTriggerScaleUp event."""
    found = _HEAD.search(text)
    return tuple(_reasons(text[found.end() :])) if found is not None else ()


def is_autoscalers_own(reason: str) -> bool:
    """Report whether the reason is one of cluster-autoscaler's own, to the letter."""
    return reason in _OWN


def _reasons(text: str) -> Iterator[ScaleUpReason]:
    for part in _BETWEEN.split(text.strip()):
        counted = _COUNTED.fullmatch(part)
        reason = counted[2] if counted else part
        if not reason:
            continue
        known = meaning(reason)
        own = next((says for words, says in _OWN.items() if words in reason), "")
        yield ScaleUpReason(
            reason=reason,
            groups=int(counted[1]) if counted else None,
            plugin=known.plugin if known is not None else "",
            says=known.says if known is not None else own,
        )
