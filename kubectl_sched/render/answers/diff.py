"""The answer of `diff`: the pods that land elsewhere, and what makes the difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.record import plain
from kubectl_sched.render.document import Document, Listing, Said, Sentence, Verdict, notes_of
from kubectl_sched.render.safe_text import count, listed, safe
from kubectl_sched.render.show import Shown
from kubectl_sched.render.table import Column, Table
from kubectl_sched.safe_output import API_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.config import Configuration
    from kubectl_sched.queries.deciding_plugin import Difference, ReplaySummary
    from kubectl_sched.queries.diff import DiffAnswer
    from kubectl_sched.render.display import Display
    from kubectl_sched.render.schemas import diff as schema
    from kubectl_sched.render.table import Tone
    from kubectl_sched.render.writers.check_report import Case

_BEST_NAMED = 2
_CHANGES = {
    "BecomesSchedulable": "becomes schedulable",
    "StopsBeingSchedulable": "stops being schedulable",
    "Moves": "would land elsewhere",
    "OtherOutcome": "fails otherwise",
}


def shown_diff(answer: DiffAnswer) -> Shown:
    """Return the answer in each form."""
    return Shown(
        document=lambda display: diff_document(answer, display),
        data=lambda: diff_data(answer),
        names=lambda: (f"pod/{difference.name}" for difference in answer.differences),
        cases=lambda: _cases(answer.differences),
        remarks=lambda: answer.notes,
        warnings=answer.warnings,
    )


def _cases(differences: Sequence[Difference]) -> list[Case]:
    """Return a case for each pod that differs; one that stops being schedulable is a failure."""
    from kubectl_sched.render.writers.check_report import Case

    return [
        Case(
            name=f"Pod/{each.key}",
            failure=f"stops being schedulable: {'; '.join(_cause(of.plugin, of.text) for of in each.causes)}"
            if each.change == "StopsBeingSchedulable"
            else "",
        )
        for each in differences
    ]


def diff_document(answer: DiffAnswer, display: Display) -> Document:
    """Return the numbers, and the pods that differ with what makes the difference."""
    return Document(
        verdict=Verdict(text=_sum(answer)),
        parts=tuple(_parts(answer, in_full=display.in_full)),
        notes=notes_of((), answer.notes),
        facts=(
            ("Before", f"kube-scheduler {answer.before.release.name}"),
            ("After", f"kube-scheduler {answer.after.release.name}"),
        ),
        nodes=answer.nodes,
        heading="Differences",
        command="diff",
    )


def _parts(answer: DiffAnswer, *, in_full: bool) -> Iterator[Said]:
    """Yield what the differences mean, a row for each plugin and workload, and in full the pods themselves."""
    if not answer.differences:
        return
    bound = sum(each.is_bound for each in answer.differences)
    if bound:
        pods = "1 of the pods that differ runs" if bound == 1 else f"{bound:,} of the pods that differ run"
        told = "running pods do not move by themselves: they would land so once created anew"
        yield Sentence(text=f"{pods} already, and {told}.")
    groups = difference_groups(answer.differences)
    yield Listing(tables=(_group_table(groups),), caption="By plugin and workload", gap=True)
    if in_full:
        tables = (_table(answer.differences, in_full=True),)
        yield Listing(tables=tables, caption="The pods that differ", gap=True)


def difference_groups(differences: Sequence[Difference]) -> list[list[Difference]]:
    """Return the differences by change, plugins and workload, the largest group first."""
    found: dict[tuple[object, ...], list[Difference]] = {}
    for each in differences:
        found.setdefault((each.change, each.plugins, each.namespace, each.workload), []).append(each)
    return sorted(found.values(), key=lambda group: -len(group))


def _group_table(groups: Sequence[list[Difference]]) -> Table[list[Difference]]:
    return Table(
        columns=(
            Column(heading="Pods", cell=lambda group: f"{len(group):,}", kind="number"),
            Column(heading="Plugin", cell=lambda group: ", ".join(group[0].plugins) or "-"),
            Column(heading="Workload", cell=lambda group: f"{group[0].namespace}/{group[0].workload}", kind="name"),
            Column(heading="Before", cell=lambda group: _places(group, "before")),
            Column(heading="After", cell=lambda group: _places(group, "after")),
            Column(
                heading="because", cell=lambda group: "; ".join(each.text for each in group[0].causes), kind="words"
            ),
        ),
        rows=groups,
    )


def _places(group: Sequence[Difference], side: str) -> str:
    """Return the first of the nodes, and the number of further ones."""
    summaries: list[ReplaySummary] = [getattr(each, side) for each in group]
    places = list(dict.fromkeys(node for each in summaries for node in (each.best if each.fits else [each.outcome])))
    return f"{places[0]}{f' +{len(places) - 1:,}' if len(places) > 1 else ''}"


def diff_data(answer: DiffAnswer) -> schema.Diff:
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
                "workload": each.workload,
                "isBound": each.is_bound,
                "change": each.change,
                "before": plain(each.before),
                "after": plain(each.after),
                "causes": plain(each.causes),
            }
            for each in answer.differences
        ],
        "groups": [
            {
                "change": group[0].change,
                "plugins": list(group[0].plugins),
                "namespace": group[0].namespace,
                "workload": group[0].workload,
                "pods": [each.name for each in group],
            }
            for group in difference_groups(answer.differences)
        ],
        "warnings": [*answer.warnings, *answer.notes],
    }


def _side(configuration: Configuration) -> schema.Side:
    return {
        "kubernetesVersion": str(configuration.version),
        "kubernetesPatch": configuration.release.patch_name,
        "profiles": list(configuration.profiles),
    }


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
                cell=_causes,
                kind="words",
            ),
        ),
        rows=differences,
    )


def _causes(difference: Difference) -> str:
    return "; ".join(_cause(of.plugin, of.text) for of in difference.causes)


def _cause(plugin: str | None, text: str) -> str:
    return safe(f"{plugin}: {text}" if plugin else text)


def _place(summary: ReplaySummary, *, in_full: bool) -> str:
    if not summary.fits:
        return summary.outcome.value
    return listed(summary.best, len(summary.best) if in_full else _BEST_NAMED)


def _sum(answer: DiffAnswer) -> str:
    """Count the changes: `40 pods compared, kube-scheduler 1.33 with 1.36: 3 would land elsewhere.`."""
    before, after = answer.before.release.name, answer.after.release.name
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
