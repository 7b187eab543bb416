"""The answer of `diff`: as text, as names, and as the JSON that scripts read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubectl_sched.output import API_VERSION
from kubectl_sched.record import plain
from kubectl_sched.render.safe_text import count, listed, safe
from kubectl_sched.render.table import Column, Table
from kubectl_sched.render.writers.data import warn, write_data, write_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.config import Configuration
    from kubectl_sched.queries.deciding_plugin import Difference, ReplaySummary
    from kubectl_sched.queries.diff import Answer
    from kubectl_sched.render.display import Display
    from kubectl_sched.render.table import Tone
    from kubectl_sched.render.writers.styled_text import Text

_BEST_NAMED = 2
_CHANGES = {
    "BecomesSchedulable": "becomes schedulable",
    "StopsBeingSchedulable": "stops being schedulable",
    "Moves": "would land elsewhere",
    "OtherOutcome": "fails otherwise",
}


def show_diff(answer: Answer, display: Display) -> int:
    """Print the answer on stdout and return the exit code: 0 if nothing differs, else 1."""
    output = display.output
    if output not in {"json", "yaml"}:
        warn(answer.warnings)
    if output == "name":
        write_names(f"pod/{difference.name}" for difference in answer.differences)
    elif output in {"json", "yaml"}:
        write_data(diff_data(answer), output)
    else:
        from kubectl_sched.render.writers.terminal import print_parts

        print_parts(lambda width: _page(answer, width, display), display.color)
    return 1 if answer.differences else 0


def diff_data(answer: Answer) -> dict[str, Any]:
    """Return the answer as scripts read it; `items` are the pods that differ."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Diff",
        "before": _side(answer.before),
        "after": _side(answer.after),
        "compared": answer.compared,
        "differing": len(answer.differences),
        "items": [
            {
                "pod": {"namespace": each.namespace, "name": each.name},
                "change": each.change,
                "before": plain(each.before),
                "after": plain(each.after),
                "causes": plain(each.causes),
            }
            for each in answer.differences
        ],
        "warnings": [*answer.warnings, *answer.notes],
    }


def _side(configuration: Configuration) -> dict[str, Any]:
    return {"kubernetesVersion": str(configuration.version), "profiles": list(configuration.profiles)}


def _page(answer: Answer, width: int, display: Display) -> Iterator[Text]:
    from kubectl_sched.render.writers.note_lines import note_lines
    from kubectl_sched.render.writers.styled_text import Text
    from kubectl_sched.render.writers.table_lines import table_lines

    if answer.differences:
        yield from table_lines(_table(answer.differences, in_full=display.is_wide), width)
        yield Text()
    yield Text(_sum(answer), style="bold")
    yield from note_lines(answer.notes, width, display)


def _table(differences: Sequence[Difference], *, in_full: bool) -> Table[Difference]:
    """The pods that differ, with what makes the difference."""

    def tone(summary: ReplaySummary) -> Tone:
        return "good" if summary.fits else "bad"

    return Table(
        columns=(
            Column(heading="Pod", cell=lambda each: each.key, kind="name"),
            Column(
                heading="Before",
                cell=lambda each: _place(each.before, in_full=in_full),
                tone=lambda each: tone(each.before),
            ),
            Column(
                heading="After",
                cell=lambda each: _place(each.after, in_full=in_full),
                tone=lambda each: tone(each.after),
            ),
            Column(
                heading="because",
                cell=lambda each: "; ".join(_cause(of.plugin, of.text) for of in each.causes),
                kind="words",
            ),
        ),
        rows=differences,
    )


def _cause(plugin: str | None, text: str) -> str:
    return safe(f"{plugin}: {text}" if plugin else text)


def _place(summary: ReplaySummary, *, in_full: bool) -> str:
    if not summary.fits:
        return summary.outcome.value
    return listed(summary.best, len(summary.best) if in_full else _BEST_NAMED)


def _sum(answer: Answer) -> str:
    """Count the changes: `40 pods compared, kube-scheduler 1.33 with 1.36: 3 would land elsewhere.`."""
    before, after = str(answer.before.version), str(answer.after.version)
    versions = f"kube-scheduler {before}" if before == after else f"kube-scheduler {before} with {after}"
    told = []
    for change, words in _CHANGES.items():
        number = sum(each.change == change for each in answer.differences)
        if number:
            told.append(f"{number:,} {words}" if number == 1 else f"{number:,} {_plural(words)}")
    return f"{count(answer.compared, 'pod')} compared, {versions}: {', '.join(told) or 'no differences'}."


def _plural(words: str) -> str:
    """The verb of several pods."""
    verb, _, rest = words.partition(" ")
    return f"{verb.removesuffix('s')} {rest}" if verb != "would" else words
