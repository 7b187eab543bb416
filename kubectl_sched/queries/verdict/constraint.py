"""The constraint that binds: what keeps out the nodes that could otherwise take the pod."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.storage import PersistentVolumeClaim
from kubectl_sched.framework.clauses import agreeing
from kubectl_sched.near_names import near_names
from kubectl_sched.queries.nodes_by_pool import pool_name
from kubectl_sched.queries.verdict.narrowing import NAMED, RESOURCE, SELECTOR, SIZE, VOLUME, is_rare
from kubectl_sched.queries.verdict.phrases import joined, phrase_of
from kubectl_sched.queries.verdict.rejections import CORDONED, FIT, VOLUME_PLUGINS, counted_sets
from kubectl_sched.queries.verdict.resource_words import absent, free_of, too_small, wanted_of
from kubectl_sched.queries.verdict.selector_words import is_of_daemon_set, of_names, of_selector, selected
from kubectl_sched.queries.verdict.wording import LONGEST_NAME, grown, node_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_sched.queries.verdict.narrowing import Narrowing
    from kubectl_sched.queries.verdict.phrases import Phrase
    from kubectl_sched.queries.verdict.rejections import Rejection
    from kubectl_sched.scheduler.result import ScheduleResult


def constraint_of(result: ScheduleResult, found: Narrowing) -> list[str]:
    """Return the clauses about a pod that fits on no node, the fullest first; each says the constraint by itself."""
    if not found.rows:
        return ["no node was judged"]
    if found.folds_all != NAMED and len(found.rows) == 1 and _is_daemon_pod(result):
        return _of_one_node(result, found)
    if found.folds_all is not None:
        return _of_step(result, found)
    return _of_one_node(result, found) if len(found.rows) == 1 else _of_nodes(result, found)


def _is_daemon_pod(result: ScheduleResult) -> bool:
    return result.pre_filter_nodes is not None and is_of_daemon_set(result.pod)


def as_a_whole(result: ScheduleResult) -> list[str]:
    """Return the clauses about a pod that PreFilter rejects, whichever nodes there are."""
    namespace, claims = result.pod.namespace, result.nodes.objects.all(PersistentVolumeClaim)
    evidence = result.pre_filter_evidence
    names = (name for each in evidence if isinstance(name := each.facts.get("claim"), str))
    missing = next((n for n in names if result.nodes.objects.get(PersistentVolumeClaim, n, namespace) is None), None)
    if missing is None:
        return [*(each.text for each in evidence[:1]), result.pre_filter.message]
    near = near_names(missing, (other.name for other in claims if other.namespace == namespace))[:1]
    return [*(f"claim {missing} does not exist; there is {name}" for name in near), f"claim {missing} does not exist"]


def _of_step(result: ScheduleResult, found: Narrowing) -> list[str]:
    """The sentences for a step that folds all nodes that are left."""
    rows = found.rows
    match found.folds_all:
        case step if step == NAMED:
            return of_names(result)
        case step if step == SELECTOR:
            return of_selector(result)
        case step if step == RESOURCE:
            return [absent(result, rows)]
        case step if step == SIZE:
            return [too_small(result, rows, is_whole_cluster=_is_whole(result, found))]
        case step if step == VOLUME:
            return _out_of_reach(result, found)
        case _:
            return _all_tainted(result, found)


def _all_tainted(result: ScheduleResult, found: Narrowing) -> list[str]:
    counts: dict[str, int] = {}
    for row in found.rows:
        taint = next(each for each in found.rejections[row] if each.plugin == "TaintToleration").what
        short = taint.removesuffix(":NoSchedule")
        counts[short] = counts.get(short, 0) + 1
    ordered = sorted(counts, key=lambda taint: (-counts[taint], taint))
    if len(ordered) == 1:
        subject = _all_of(result, found)
        verb = "has" if len(found.rows) == 1 else "have"
        whole = f"{subject} {verb} taint {ordered[0]}"
        return [f"{whole}, which it does not tolerate", whole]
    told = [f"{counts[taint]:,} {taint}" for taint in ordered]
    start = f"{_no_node(result, found)} is without a taint that it does not tolerate: "
    return [
        start + ", ".join(told),
        start + ", ".join(told[:1]) + f" and {len(told) - 1} other taints",
        f"{start[:-2]}",
    ]


def _out_of_reach(result: ScheduleResult, found: Narrowing) -> list[str]:
    row = found.rows[0]
    rejection = next(each for each in found.rejections[row] if each.plugin in VOLUME_PLUGINS)
    phrase = phrase_of(result, rejection, found.rows)
    if len(found.rows) == 1:
        told = f"{_all_of(result, found)} {agreeing(1, phrase.several)}"
    elif phrase.none_has:
        told = f"{_no_node(result, found)} {phrase.none_has}"
    else:
        told = f"{_all_of(result, found)} {phrase.several}"
    return [f"{told}: {phrase.detail}" if phrase.detail else "", told, f"no node: {phrase.detail}"]


def _of_one_node(result: ScheduleResult, found: Narrowing) -> list[str]:
    """The sentences for a single node that could take the pod."""
    (row,) = found.rows
    phrases = _ranked_phrases(result, found.rejections[row], [row])
    told = [
        phrase.of_one + (f": {phrase.detail}" if phrase.detail and not phrase.one_has else "") for phrase in phrases
    ]
    name = node_name(result.nodes.names[row], result.nodes)
    is_only = len(result.nodes) == 1
    subject = "the only node" if is_only else "the only node it may use"
    if not result.nodes.unschedulable[row] and len(name) <= LONGEST_NAME:
        subject = name if is_only else f"{name}, the only node it may use,"
    if _is_daemon_pod(result):
        subject = f"DaemonSet pod for node {name}, which" if len(name) <= LONGEST_NAME else "DaemonSet pod; its node"
    short = [phrase.of_one for phrase in phrases]
    return [f"{subject} {' and '.join(told)}", f"{subject} {told[0]}", f"{subject} {short[0]}", f"one node {short[0]}"]


def _of_nodes(result: ScheduleResult, found: Narrowing) -> list[str]:
    """The sentences for several nodes that could take the pod: what all of them lack, else the largest set."""
    sets = counted_sets(found.rejections, found.rows)
    shared = shared_by_all(result, found)
    if shared:
        return _of_all(result, found, shared)
    (largest, rows), *others = sets.items()
    phrases = _ranked_phrases(result, largest, rows)
    subject = f"{len(rows):,} of {len(found.rows):,} nodes{_that_it_may_use(result, found)}"
    start = f"{subject} {joined(phrases, len(rows))}"
    detail = phrases[0].detail if len(phrases) == 1 else ""
    more = [f"{len(some):,} {joined(_ranked_phrases(result, each, some), len(some))}" for each, some in others]
    both = f"{start}: {detail}; {more[0]}" if detail and len(more) == 1 else ""
    return [both, f"{start}: {detail}" if detail else "", grown(start, more), start]


def shared_by_all(result: ScheduleResult, found: Narrowing) -> list[Rejection]:
    """Return what keeps the pod off every node that could otherwise take it, what binds most first."""
    sets = counted_sets(found.rejections, found.rows)
    return _ranked(result, set.intersection(*map(set, sets)) if sets else (), found.rows)


def _of_all(result: ScheduleResult, found: Narrowing, shared: Sequence[Rejection]) -> list[str]:
    """The sentences where something keeps the pod off all the nodes that could otherwise take it."""
    rows = found.rows
    first, *others = shared
    phrase = phrase_of(result, first, rows)
    also = [f"all also {phrase_of(result, each, rows).several}" for each in others]
    if phrase.none_has:
        subjects = (_no_node(result, found), "no node it may use", "no node")
        short = phrase.none_has.partition(";")[0]
        told = [f"{subject} {words}" for words in (phrase.none_has, short) for subject in subjects]
        return [grown(told[0], also), *told]
    start = f"{_all_of(result, found)} {phrase.several}"
    plain = f"all nodes it may use {phrase.several}"
    return [f"{start}: {phrase.detail}" if phrase.detail else grown(start, also), start, plain]


def _ranked(result: ScheduleResult, rejections: Iterable[Rejection], rows: Sequence[int]) -> list[Rejection]:
    """Put first what is lacking of resources that few nodes have, then of others, and last that nodes are cordoned."""

    def rank(each: Rejection) -> tuple[int, float, str]:
        if each.plugin != FIT:
            return (3 if each.plugin == CORDONED else 2, 0.0, each.plugin)
        free, wanted = int(free_of(result, each.what)[list(rows)].max()), wanted_of(result, each.what)
        return (0 if is_rare(each.what) else 1, -wanted / max(free, 1), each.what)

    return sorted(rejections, key=rank)


def _ranked_phrases(result: ScheduleResult, rejections: Iterable[Rejection], rows: Sequence[int]) -> list[Phrase]:
    return [phrase_of(result, each, rows) for each in _ranked(result, rejections, rows)]


def _is_whole(result: ScheduleResult, found: Narrowing) -> bool:
    return len(found.rows) == len(result.nodes)


def _that_it_may_use(result: ScheduleResult, found: Narrowing) -> str:
    return "" if _is_whole(result, found) else " it may use"


def _pool(result: ScheduleResult, found: Narrowing) -> str | None:
    """The pool that all the nodes are of, None if they are of several or of none."""
    names = {pool_name(result.nodes.node_objects[row]) for row in found.rows}
    return names.pop() if len(names) == 1 else None


def _no_node(result: ScheduleResult, found: Narrowing) -> str:
    """`no node`, `no gpu-a100 node`, `no node with zone=eu-west-1a`: the nodes that could take the pod."""
    if _is_whole(result, found):
        return "no node"
    labels = selected(result.pod)
    if SELECTOR in found.folded and labels and len(labels) <= LONGEST_NAME:
        return f"no node with {labels}"
    pool = _pool(result, found)
    return f"no {pool} node" if pool is not None and len(pool) <= LONGEST_NAME else "no node it may use"


def _all_of(result: ScheduleResult, found: Narrowing) -> str:
    """`all 3 nodes`, `all 3 gpu-a100 nodes`, `both nodes with pool=gpu`, or the name of the only one."""
    number = len(found.rows)
    start = _no_node(result, found).removeprefix("no ").partition("node")
    if number == 1:
        name = node_name(result.nodes.names[found.rows[0]], result.nodes)
        is_named = not result.nodes.unschedulable[found.rows[0]] and len(name) <= LONGEST_NAME
        whole = f"the only {start[0]}node{start[2]}"
        return f"{name}, {whole}," if is_named and not _is_whole(result, found) else name if is_named else whole
    return f"{'both' if number == 2 else f'all {number:,}'} {start[0]}nodes{start[2]}"
