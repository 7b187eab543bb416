"""Writes docs/reasons.md out of the table.

Run `python -m kubectl_sched.diagnostics.messages.reasons_page > docs/reasons.md`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from kubectl_sched.config.versions import NEWEST, OLDEST
from kubectl_sched.diagnostics.messages.reasons import families

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.diagnostics.messages.reasons import Reason

_HEAD: Final = f"""\
# Reasons

<!-- Written by `python -m kubectl_sched.diagnostics.messages.reasons_page`; do not edit. -->

Every reason that kube-scheduler gives, from {OLDEST} to {NEWEST}: what it means, how people get there, what usually
helps, and where it comes from (paths are below `pkg/scheduler` or `pkg/scheduler/framework` of k8s.io/kubernetes).
`kubectl sched explain message TEXT` takes a whole message apart and names these entries;
`kubectl sched explain pod NAME` says which nodes, and by how much they miss.

A reason that is not here is of an extender, or of a plugin that was added to kube-scheduler.

## How to read a message

```text
0/7 nodes are available: 1 node(s) had untolerated taint(s), 6 Insufficient cpu. preemption: 0/7 nodes are available:
1 Preemption is not helpful for scheduling, 6 No preemption victims found for incoming pod.
```

- `0/7`: none of seven nodes can take the pod. The counts are of nodes; one node may give several reasons, but only
  those of the first plugin that rejects it, so a reason can be hidden behind another.
- After the full stop: whether ending other pods would make room. Up to 1.23 this is not said. From 1.26 to 1.28 another
  full stop follows it.
- A reason without a count is about the pod as a whole, whatever the node; up to 1.25 it is counted once for each node.
- Nodes that a plugin had left out beforehand are counted from 1.32 on only; before, the counts may not add up.
- An event holds 1024 bytes and ends in ` ...` where it was cut; the pod's condition PodScheduled has the whole text."""

_COMMAND: Final = "kubectl "

_NOTHING: Final = "Nothing by itself: look at the other reasons of the message."


def page() -> str:
    """The page as Markdown."""
    return "\n\n".join([_HEAD, _contents(), *(_family(name, reasons) for name, reasons in families().items())]) + "\n"


def _contents() -> str:
    return "## All of them\n\n" + "\n".join(
        f"- {name}: {', '.join(f'[{reason.title}](#{reason.anchor})' for reason in reasons)}"
        for name, reasons in families().items()
    )


def _family(name: str, reasons: tuple[Reason, ...]) -> str:
    return "\n\n".join([f"## {name}", *("\n".join(_entry(reason)) for reason in reasons)])


def _entry(reason: Reason) -> Iterator[str]:
    plugin = "" if not reason.plugin or reason.plugin.startswith("{") else f" ({reason.plugin})"
    yield f"### {reason.title}\n"
    for spelling, minors in reason.spellings.items():
        yield f"- `{spelling}`{f' ({minors})' if minors else ''}"
    yield f"\n{_sentence(_plain(reason.says))}\n"
    yield f"- How one gets there{plugin}: {reason.how}"
    yield f"- What usually helps: {_sentence(_plain(reason.helps)) if reason.helps else _NOTHING}"
    yield f"- Upstream: `{reason.upstream}`"


def _plain(text: str) -> str:
    """The words with each place named as the spellings above them name it."""
    return text.replace("{", "<").replace("}", ">").replace("<", "`<").replace(">", ">`")


def _sentence(text: str) -> str:
    return f"{text if text.startswith(_COMMAND) else text[:1].upper() + text[1:]}."


if __name__ == "__main__":
    sys.stdout.write(page())
