"""A fact about a pod's chances that is in the objects, and that no plugin reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.record import Record

if TYPE_CHECKING:
    from kubectl_sched.shell_commands import ShellCommand


class Finding(Record, frozen=True, kw_only=True):
    """One fact, said once: every format shows the same sentence."""

    kind: str
    """The name of the rule, in CamelCase, as `DevicePlugin`."""

    sentence: str
    """A whole sentence without its full stop: the objects, the numbers, and what would help."""

    commands: tuple[ShellCommand, ...] = ()
    """Commands that show more, or that do what the sentence says would help."""

    clauses: tuple[str, ...] = ()
    """The fact in short clauses for the verdict, the fullest first; none where the cycle's own verdict says as much."""

    spoils_start: bool = False
    """The scheduler does not look at it: the pod is bound, and then cannot start."""
