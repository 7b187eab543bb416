"""Output formats of kubectl that this program has not, and what to pipe JSON to instead."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from kubectl_sched.errors import SchedError
from kubectl_sched.lazy_pattern import pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_TEMPLATES = ("jsonpath", "jsonpath-as-json", "jsonpath-file", "go-template", "go-template-file")
_OTHERS = ("custom-columns", "custom-columns-file", "template", "templatefile")
_PLAIN_PATH = pattern(r"\{?\$?((?:\.[A-Za-z_]\w*(?:\[(?:\*|\d+)\])*)+)\}?")
"""A JSONPath that jq understands with other brackets."""


def refuse_templates(words: Sequence[str]) -> None:
    """Raise SchedError where -o names a template language of kubectl."""
    for value in _formats(words):
        name, _, template = value.partition("=")
        if name in (*_TEMPLATES, *_OTHERS):
            path = _PLAIN_PATH.fullmatch(template)
            query = path[1].replace("[*]", "[]") if path is not None else "..."
            columns = "-r '[.pod.name, .outcome] | @tsv'" if name.startswith("custom-columns") else f"'{query}'"
            raise SchedError(f"there is no -o {name}; jq does it: -o json | jq {columns}")


def _formats(words: Sequence[str]) -> Iterator[str]:
    """Yield each value of -o."""
    before_end = words[: words.index("--")] if "--" in words else words
    for word, following in pairwise((*before_end, "")):
        if word in {"-o", "--output"}:
            yield following
        elif word.startswith("--output="):
            yield word.removeprefix("--output=")
        elif word.startswith("-o"):
            yield word.removeprefix("-o").removeprefix("=")
