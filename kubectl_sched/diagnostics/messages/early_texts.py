"""Texts of kube-scheduler before Kubernetes 1.9: predicates with the number of nodes in brackets, or a line a node."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_sched.lazy_pattern import pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_HEAD = pattern(
    r"No nodes are available that match all of the (?:following )?predicates\b|failed to fit (?:in|on) any node\b|"
    r"Failed for reason (?P<reason>\w{1,100}) and possibly others"
)
_COUNTED = pattern(r"(?P<reason>[^\s,():][^,()]{0,200}) \((?P<nodes>\d{1,9})\)")
_OF_NODE = pattern(r"fit failure on node \((?P<node>[^()]{1,253})\): ?")
_LACKING = pattern(r"(?P<said>Node didn't have enough resource: (?P<resource>\w{1,63}))(?:, \w+: -?\d{1,20}){0,3}")
_LINE_OF_NODE = pattern(r"fit failure on node \([^\n]*")
_SEPARATOR = ", "
_SUMMARY: Final = "fit failure summary on nodes"

_TODAY: Final[Mapping[str, str]] = {
    "PodExceedsFreeCPU": "Insufficient cpu",
    "PodExceedsFreeMemory": "Insufficient memory",
    "PodExceedsMaxPodNumber": "Too many pods",
    "PodCount": "Too many pods",
    "CPU": "Insufficient cpu",
    "Memory": "Insufficient memory",
    "NvidiaGpu": "Insufficient alpha.kubernetes.io/nvidia-gpu",
}
"""Names of resources and of what a pod exceeds, and today's texts for them."""


class EarlyReason(NamedTuple):
    """One reason as it was written, how many nodes gave it (None if this is not said), and today's text for it."""

    text: str
    nodes: int | None
    today: str


class EarlyText(NamedTuple):
    """The reasons of a text, and the number of nodes where each of them is named."""

    reasons: tuple[EarlyReason, ...]
    nodes: int | None


def is_early(flat: str) -> bool:
    """Report whether a text on one line is one of those."""
    return _HEAD.search(flat) is not None


def without_nodes(text: str) -> str:
    """Return a text without the lines about one node each, whose words are today the kubelet's."""
    return _LINE_OF_NODE.sub("", text)


def early_text(flat: str) -> EarlyText | None:
    """Take a text on one line apart; None if it is none of those."""
    head = _HEAD.search(flat)
    if head is None:
        return None
    if head["reason"]:
        return EarlyText((_reason(head["reason"], None),), None)
    body = flat[head.end() :]
    nodes = list(_OF_NODE.finditer(body))
    if not nodes:
        return EarlyText(tuple(_reason(each["reason"], int(each["nodes"])) for each in _COUNTED.finditer(body)), None)
    ends = [*(each.start() for each in nodes[1:]), len(body)]
    said = Counter(
        text
        for node, end in zip(nodes, ends, strict=True)
        for text in dict.fromkeys(_of_node(body[node.end() : end].strip(" .")))
    )
    return EarlyText(tuple(_reason(text, count) for text, count in said.items()), len({each["node"] for each in nodes}))


def _of_node(text: str) -> Iterator[str]:
    """Yield the reasons of one node; the numbers that follow a resource are left out."""
    yield from (each["said"] for each in _LACKING.finditer(text))
    yield from filter(None, _LACKING.sub("", text).split(_SEPARATOR))


def _reason(text: str, nodes: int | None) -> EarlyReason:
    text = text.removeprefix(_SUMMARY).strip(" :")
    return EarlyReason(text, nodes, _TODAY.get(text.rpartition(": ")[2], text))
