"""Takes the text of cluster-autoscaler's NotTriggerScaleUp event apart (processors/status)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.diagnostics.messages.other_components import component_meaning, component_reasons
from kubectl_sched.diagnostics.messages.reason_catalogue import Meaning, meaning
from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEAD = pattern(r"pod didn't trigger scale-up(?: \([^()]{0,200}\))?: ")
_BETWEEN = pattern(r", (?=\d{1,9} \S)")
_COUNTED = pattern(r"(\d{1,9}) (.+)")

CLUSTER_AUTOSCALER: Final = "cluster-autoscaler"


class ScaleUpReason(Record, frozen=True, kw_only=True):
    """One reason: the number of node groups it keeps from growing, None for all of them together."""

    groups: int | None
    reason: str
    meaning: Meaning | None = None

    @property
    def plugin(self) -> str:
        """The plugin of kube-scheduler that would reject a new node of the group; empty for other reasons."""
        return self.meaning.plugin if self.meaning is not None else ""

    @property
    def says(self) -> str:
        """The meaning; empty if it is not known."""
        return self.meaning.says if self.meaning is not None else ""


def scale_up_reasons(text: str) -> tuple[ScaleUpReason, ...]:
    """Return the reasons in a text; none if it is no NotTriggerScaleUp event."""
    found = _HEAD.search(text)
    return tuple(_reasons(text[found.end() :])) if found is not None else ()


def is_autoscalers_own(reason: str) -> bool:
    """Report whether the reason is one of cluster-autoscaler's own, to the letter."""
    own = (each.spellings for each in component_reasons() if each.component == CLUSTER_AUTOSCALER)
    return any(reason in spellings for spellings in own)


def _reasons(text: str) -> Iterator[ScaleUpReason]:
    for part in _BETWEEN.split(text.strip()):
        counted = _COUNTED.fullmatch(part)
        reason = counted[2] if counted else part
        if not reason:
            continue
        yield ScaleUpReason(
            reason=reason,
            groups=int(counted[1]) if counted else None,
            meaning=meaning(reason) or component_meaning(CLUSTER_AUTOSCALER, reason),
        )
