"""Amounts, names and lengths for a line of at most 100 characters."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from kubectl_sched.framework.amounts import amount_texts, as_typed, is_bytes
from kubectl_sched.safe_output import safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.snapshot import Snapshot

LONGEST: Final = 100
"""The most characters of a verdict."""

LONGEST_NAME: Final = 40
"""A longer name of a pod is shortened in its middle; a longer name of a node is not in a verdict."""

_CUT = "…"
_LARGEST_UNIT: Final = (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))


def first_short(*texts: str) -> str:
    """Return the first text that is short enough; if none is, the last one up to a whole word."""
    for text in map(safe, filter(None, texts)):
        if len(text) <= LONGEST:
            return text
    last = safe(next(filter(None, reversed(texts)), ""))
    kept, blank, _ = last[: LONGEST - len(_CUT) + 1].rpartition(" ")
    return f"{(kept if blank else last[: LONGEST - len(_CUT)]).rstrip(' ,;:')}{_CUT}"


def grown(text: str, more: Iterable[str]) -> str:
    """Return the text with as many of the further clauses as there is room for."""
    for clause in more:
        longer = f"{text}; {clause}"
        if len(safe(longer)) <= LONGEST:
            text = longer
    return text


@lru_cache(maxsize=8)
def shared_domain(names: tuple[str, ...]) -> str:
    """Return the end that all names share, from a dot on: the domain of the machines, not a part of addresses."""
    if len(names) < 2:
        return ""
    length = _common([name[::-1] for name in names])
    shared = names[0][len(names[0]) - length :]
    start = shared.find(".")
    is_domain = start >= 0 and any(character.isalpha() for character in shared[start:])
    return shared[start:] if is_domain and all(len(name) > len(shared[start:]) for name in names) else ""


@lru_cache(maxsize=8)
def _shared_beginning(names: tuple[str, ...]) -> int:
    """Count the characters of the whole words that all names begin with."""
    return names[0][: _common(names)].rfind("-") + 1


def _common(texts: Sequence[str]) -> int:
    """Count the characters that all begin with."""
    first, last = min(texts), max(texts)
    pairs = enumerate(zip(first, last, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(first), len(last)))


def node_name(name: str, nodes: Snapshot) -> str:
    """Return the node's name without the ends that the names of all nodes share; what tells two apart stays."""
    names = tuple(nodes.whole.names)
    if len(names) < 2:
        return name
    short = name.removesuffix(shared_domain(names))
    begun = _shared_beginning(names)
    return f"{_CUT}{short[begun:]}" if len(short) > LONGEST_NAME and begun > 1 else short


def without_domain(text: str, names: Sequence[str]) -> str:
    """Return a text in which nodes have their names without the domain that the names of all nodes share."""
    domain = shared_domain(tuple(names))
    return re.sub(rf"(?<=\w){re.escape(domain)}(?![\w/-]|\.\w)", "", text) if domain in text and domain else text


def noun(resource: str, amount: int = 2) -> str:
    """Return the resource's name in a sentence: `GPUs` for nvidia.com/gpu, else the name itself."""
    if resource.rpartition("/")[2] == "gpu":
        return "GPU" if amount == 1 else "GPUs"
    return resource


def amounts(resource: str, *values: int) -> list[str]:
    """Return the amounts in one unit, named behind the last: `0.4`, `16 GiB`."""
    if not is_bytes(resource):
        return list(amount_texts(resource, *values))
    unit, size = next((each for each in _LARGEST_UNIT if max(values) >= each[1]), ("bytes", 1))
    texts = [f"{value / size:,.1f}".removesuffix(".0") for value in values]
    return [*texts[:-1], f"{texts[-1]} {unit}"]


def typed(pod: Pod, resource: str, amount: int) -> str:
    """Return what the pod asks for as its manifest has it, or else in the units of the verdict."""
    return as_typed(pod, resource, amount) or amounts(resource, amount)[0]
