"""The text about the node that Karpenter would make for a pod, in full."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from kubectl_sched.queries.new_nodes import CREATED, UNKNOWN, sentence
from kubectl_sched.render.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.queries.new_nodes import NewNodes

_TITLES = ("NodePool", "would it create a node?")
_ANSWERS = {CREATED: "yes", UNKNOWN: "unknown"}


def new_nodes_text(found: NewNodes) -> Iterator[Text]:
    """Yield the sentence, a line for each NodePool, and what was assumed."""
    yield Text()
    yield Text(f"{safe(sentence(found))}.")
    rows = [(each.name, f"{_ANSWERS.get(each.verdict, 'no')}: {each.reason}") for each in found.node_pools]
    width = max(len(name) for name, _ in (_TITLES, *rows))
    for name, answer in (_TITLES, *rows):
        yield Text(f"{safe(name):<{width}}   {safe(answer)}", style="bold" if (name, answer) == _TITLES else "")
    yield Text(f"Replayed as Karpenter {found.version} does. Assumed:", style="dim")
    for assumption in found.assumed:
        yield Text(f"- {safe(assumption)}", style="dim")
