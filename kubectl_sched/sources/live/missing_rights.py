"""The meaning of a missing right for the answer, and the RBAC rule that would give it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kubectl_sched.api.decoders import decoder
from kubectl_sched.sources.dump.dump import ESSENTIAL
from kubectl_sched.sources.live.live_errors import ClusterError

if TYPE_CHECKING:
    from kubectl_sched.sources.dump.dump import Dump, Forbidden

_TABLE: Final = Path(__file__).with_name("missing_rights.json")


@cache
def _meanings() -> dict[str, str]:
    return decoder(dict[str, str]).decode(_TABLE.read_bytes())


def meaning(kind: str) -> str:
    """Say how the answer errs without the kind."""
    return _meanings().get(kind, "the answer does without them")


def in_words(forbidden: Forbidden) -> str:
    """One sentence: what, what it means, and what would allow it."""
    group = f".{forbidden.group}" if forbidden.group else ""
    where = f" in namespace {forbidden.namespace}" if forbidden.namespace else ""
    return (
        f"not allowed to list {forbidden.plural}{group}{where}, so {meaning(forbidden.kind)}; the missing rule: "
        f"{forbidden.rule}"
    )


def check_replayable(dump: Dump) -> Dump:
    """Return the dump. Raises ClusterError where nodes or pods may not be read, without which nothing is replayed."""
    if not dump.can_replay:
        raise ClusterError("; ".join(in_words(each) for each in dump.forbidden if each.kind in ESSENTIAL))
    return dump
