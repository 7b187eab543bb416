"""`diff`: pods whose outcome or best nodes differ under another configuration, version or state."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from kubectl_sched.api.apimachinery.quantity import InvalidQuantity
from kubectl_sched.api.core import Node
from kubectl_sched.api.pod import Pod
from kubectl_sched.config.types import DEFAULT_SCHEDULER_NAME
from kubectl_sched.errors import SchedError
from kubectl_sched.queries.deciding_plugin import difference_of
from kubectl_sched.queries.rejudge_bound_pods import Rejudging
from kubectl_sched.record import Record
from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
from kubectl_sched.sources.discovery.replay_setup import Replay
from kubectl_sched.sources.pod_selection import Selection, about_none, select

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kubectl_sched.config import Configuration
    from kubectl_sched.queries.deciding_plugin import Difference
    from kubectl_sched.sources.dump.dump import Dump

    Report = Callable[[str, int, int], None]


class DiffQuestion(Record, frozen=True, kw_only=True):
    """The pods to compare, and the flags of the two sides. What `to_replay` leaves out is as on the first side."""

    selection: Selection
    replay: Replay = Replay()
    to_replay: Replay = Replay()


class DiffAnswer(Record, frozen=True, kw_only=True):
    """The two sides, how many pods were compared, and those that differ."""

    before: Configuration
    after: Configuration
    compared: int
    differences: tuple[Difference, ...]
    notes: tuple[str, ...] = ()
    """Sentences about what the answer rests on."""

    warnings: tuple[str, ...] = ()
    """Sentences about what went wrong while reading."""

    nodes: tuple[str, ...] = ()
    """The names of all nodes of both sides."""


def diff(question: DiffQuestion, dump: Dump, to_dump: Dump | None, report: Report | None = None) -> DiffAnswer:
    """Replay the pods under both sides; `to_dump` is the state of the second, if it is another.

    Raises SchedError if a named pod is on one side only, no pod is on both, or a side cannot be replayed.
    """
    selection, other = question.selection, to_dump or dump
    before, after = _schedulers(question, dump, other)
    pods = {pod.key: pod for pod in select(dump.objects, selection)}
    there = pods if to_dump is None else {item.key: item for item in other.objects if isinstance(item, Pod)}
    both = [key for key in pods if key in there]
    if not pods:
        _check_empty(dump, selection)
    are_named = bool(selection.named) and all(kind == "Pod" for kind, _ in selection.named)
    if are_named and len(both) < len(pods):
        raise SchedError(f"--to-dump: there is no pod {next(key for key in pods if key not in there)}")
    if pods and not both:
        raise SchedError(
            "--to-dump: no pod of the first dump is in the second, so there is nothing to compare; pods are compared "
            "by name, and a rollout makes new ones"
        )
    if both:
        _check_nodes(dump, other)
    pairs = {key: (pods[key], there[key]) for key in both}
    found, unreadable = _compared(before, after, pairs, named=bool(selection.named), report=report)
    name = next((pods[key].spec.scheduler_name for key in both), "") or DEFAULT_SCHEDULER_NAME
    notes = [*before.notes, *after.notes]
    if not pods:
        notes += about_none(dump.objects, selection, is_live=dump.is_live)
    alone = _not_compared(len(pods) - len(both), "first")
    if to_dump is not None and not selection.named:
        alone += _not_compared(len({pod.key for pod in select(other.objects, selection)} - pods.keys()), "second")
    warnings = (*alone, *before.warnings, *after.warnings, *dump.warnings, *other.warnings, *unreadable)
    return DiffAnswer(
        before=before.assumed(name).configuration,
        after=after.assumed(name).configuration,
        compared=len(both) - len(unreadable),
        differences=tuple(found),
        notes=tuple(dict.fromkeys(notes)),
        nodes=tuple({item.name: None for item in (*dump.objects, *other.objects) if isinstance(item, Node)}),
        warnings=tuple(dict.fromkeys(warnings)),
    )


def _check_empty(dump: Dump, selection: Selection) -> None:
    """Raise SchedError where the dump has pods, and none of them is meant: comparing none is no answer."""
    if any(isinstance(item, Pod) for item in dump.objects) or (dump.is_live and selection.namespace is not None):
        where = f"in namespace {selection.namespace}" if selection.namespace is not None else "in any namespace"
        told = "".join(f"; {each}" for each in about_none(dump.objects, selection, is_live=dump.is_live))
        raise SchedError(f"no pods to compare {where}{told}")


def _check_nodes(*dumps: Dump) -> None:
    """Raise SchedError where no node was read, so that no pod fits on either side, whatever is compared."""
    if not all(any(isinstance(item, Node) for item in dump.objects) for dump in dumps):
        raise SchedError("no nodes were read, so there is nothing to compare (`kubectl get nodes -o json` has them)")


def _schedulers(question: DiffQuestion, dump: Dump, other: Dump) -> tuple[ClusterSchedulers, ClusterSchedulers]:
    """Return the schedulers of both sides, each with a configuration that can be replayed."""
    first, second = question.replay, question.to_replay
    before = ClusterSchedulers(dump, first)
    after = ClusterSchedulers(
        other,
        Replay(
            config=second.config or first.config,
            kube_version=second.kube_version or first.kube_version,
            feature_gates=second.feature_gates or first.feature_gates,
            config_flag="--to-config" if second.config else "--config",
        ),
    )
    before.assumed(DEFAULT_SCHEDULER_NAME)
    given = {
        "--to-config": second.config,
        "--to-kube-version": second.kube_version,
        "--to-feature-gates": second.feature_gates,
    }
    with _naming([f"{flag} {value}" for flag, value in given.items() if value]):
        after.assumed(DEFAULT_SCHEDULER_NAME)
    return before, after


@contextmanager
def _naming(flags: Sequence[str]) -> Iterator[None]:
    """Name these flags in a refusal that names none."""
    try:
        yield
    except SchedError as error:
        if not flags or str(error).startswith("--"):
            raise
        raise SchedError(f"{', '.join(flags)}: {error}") from None


def _compared(
    before: ClusterSchedulers,
    after: ClusterSchedulers,
    pods: Mapping[str, tuple[Pod, Pod]],
    *,
    named: bool,
    report: Report | None,
) -> tuple[list[Difference], list[str]]:
    """Return what differs, and a sentence for each pod with an invalid quantity; for a `named` one that is an error."""
    found: list[Difference] = []
    unreadable: list[str] = []
    first = Rejudging(before, (here for here, _ in pods.values()))
    second = Rejudging(after, (there for _, there in pods.values()))
    for done, (key, (here, there)) in enumerate(pods.items()):
        if report is not None:
            report("pods compared", done, len(pods))
        try:
            differing = difference_of(here, first.of(here), second.of(there))
        except InvalidQuantity as error:
            if named:
                raise
            unreadable.append(f"pod {key} is left out: {error}")
        else:
            found += [differing] if differing is not None else []
    return found, unreadable


def _not_compared(pods: int, dump: str) -> list[str]:
    """Return a note on the pods that only one of the dumps has."""
    are = "pod is" if pods == 1 else "pods are"
    return [f"{pods:,} {are} in the {dump} dump only, and not compared"] if pods else []
