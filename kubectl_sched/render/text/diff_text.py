"""Pods that fare otherwise under another configuration, version or state."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kubectl_sched.render.data.explanation_data import API_VERSION
from kubectl_sched.render.safe_text import clipped, count, listed, safe
from kubectl_sched.render.show import warn, write_data

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from kubectl_sched.config import Configuration
    from kubectl_sched.queries.replay_difference import Difference, Fare

_NAME_LENGTH = 45
_BEST_NAMED = 2
_CHANGES = {
    "BecomesSchedulable": "becomes schedulable",
    "StopsBeingSchedulable": "stops being schedulable",
    "Moves": "would land elsewhere",
    "OtherOutcome": "fails otherwise",
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two schedulers, how many pods were asked of both, and those that differ."""

    before: Configuration
    after: Configuration
    compared: int
    differences: tuple[Difference, ...]
    warnings: tuple[str, ...] = ()
    """What the answer rests on."""

    problems: tuple[str, ...] = ()
    """What went wrong on the way to it."""


def show_diff(comparison: Comparison, output: str, color: str) -> int:
    """Print the comparison on stdout; returns the exit code: 0 where nothing differs, 1 where something does."""
    if output not in {"json", "yaml"}:
        warn(comparison.problems)
    if output == "name":
        names = (difference.name for difference in comparison.differences)
        sys.stdout.write("".join(f"pod/{safe(name)}\n" for name in names))
    elif output in {"json", "yaml"}:
        write_data(diff(comparison), output)
    else:
        from kubectl_sched.render.text.terminal import print_parts

        print_parts(_page(comparison, in_full=output == "wide"), color)
    return 1 if comparison.differences else 0


def diff(comparison: Comparison) -> dict[str, Any]:
    """The comparison as scripts read it; `items` are the pods that differ."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Diff",
        "before": _side(comparison.before),
        "after": _side(comparison.after),
        "compared": comparison.compared,
        "differing": len(comparison.differences),
        "items": [
            {
                "pod": {"namespace": each.namespace, "name": each.name},
                "change": each.change,
                "before": _fare(each.before),
                "after": _fare(each.after),
                "causes": [{"plugin": cause.plugin, "text": cause.text} for cause in each.causes],
            }
            for each in comparison.differences
        ],
        "warnings": [*comparison.problems, *comparison.warnings],
    }


def _side(configuration: Configuration) -> dict[str, Any]:
    return {"kubernetesVersion": str(configuration.version), "profiles": list(configuration.profiles)}


def _fare(fare: Fare) -> dict[str, Any]:
    return {
        "outcome": fare.outcome.value,
        "best": list(fare.best),
        "total": fare.total,
        "message": fare.message,
        "error": fare.error,
    }


def _page(comparison: Comparison, *, in_full: bool) -> Iterator[RenderableType]:
    from rich.text import Text

    if comparison.differences:
        yield from _table(comparison.differences, in_full=in_full)
        yield Text()
    yield Text(_sum(comparison), style="bold")
    yield from (Text(f"note: {safe(warning)}", style="dim") for warning in comparison.warnings)


def _table(differences: Sequence[Difference], *, in_full: bool) -> Iterator[RenderableType]:
    """A line for each pod, and what makes the difference below it."""
    from rich.text import Text

    rows = [
        (
            clipped(safe(each.key), _NAME_LENGTH),
            _place(each.before, in_full=in_full),
            _place(each.after, in_full=in_full),
        )
        for each in differences
    ]
    widths = [max(map(len, column)) + 2 for column in zip(("Pod", "Before", "After"), *rows, strict=True)]
    yield Text(f"{'Pod':{widths[0]}}{'Before':{widths[1]}}After", style="bold")
    for each, (name, before, after) in zip(differences, rows, strict=True):
        line = Text(f"{name:{widths[0]}}")
        line.append(f"{before:{widths[1]}}", "green" if each.before.fits else "red")
        line.append(after, "green" if each.after.fits else "red")
        yield line
        yield from (Text(f"  {_cause(cause.plugin, cause.text)}") for cause in each.causes)


def _cause(plugin: str | None, text: str) -> str:
    return safe(f"{plugin}: {text}" if plugin else text)


def _place(fare: Fare, *, in_full: bool) -> str:
    if not fare.fits:
        return fare.outcome.value
    return listed(fare.best, len(fare.best) if in_full else _BEST_NAMED)


def _sum(comparison: Comparison) -> str:
    """How many fare how otherwise: `40 pods compared, kube-scheduler 1.33 with 1.36: 3 would land elsewhere.`."""
    before, after = str(comparison.before.version), str(comparison.after.version)
    versions = f"kube-scheduler {before}" if before == after else f"kube-scheduler {before} with {after}"
    told = []
    for change, words in _CHANGES.items():
        number = sum(each.change == change for each in comparison.differences)
        if number:
            told.append(f"{number:,} {words}" if number == 1 else f"{number:,} {_plural(words)}")
    return f"{count(comparison.compared, 'pod')} compared, {versions}: {', '.join(told) or 'all fare the same'}."


def _plural(words: str) -> str:
    """The verb of several pods."""
    verb, _, rest = words.partition(" ")
    return f"{verb.removesuffix('s')} {rest}" if verb != "would" else words
