"""Clauses about the labels that a pod selects nodes by, and those of them that no node has."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kubectl_sched.framework.clauses import first_few
from kubectl_sched.framework.confusable_texts import nearest
from kubectl_sched.queries.verdict.phrases import short_key
from kubectl_sched.queries.verdict.wording import node_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot import Snapshot


class _Asked(NamedTuple):
    """A label that the pod asks for, with the values that would do; none for any value."""

    key: str
    values: tuple[str, ...]

    @property
    def text(self) -> str:
        return f"{self.key}={' or '.join(self.values)}" if self.values else f"label {self.key}"


def _asked(pod: Pod) -> Iterator[_Asked]:
    """Yield what the nodeSelector and the only term of required affinity ask for by label."""
    yield from (_Asked(key, (value,)) for key, value in (pod.spec.node_selector or {}).items())
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    required = affinity.required if affinity is not None else None
    if required is not None and len(required.node_selector_terms) == 1:
        for each in required.node_selector_terms[0].match_expressions:
            if each.operator in {"In", "Exists"}:
                yield _Asked(each.key, each.values)


def selected(pod: Pod) -> str:
    """Return the labels that the pod asks for, as `pool=gpu, zone=a`; empty if it asks for none by name."""
    return ", ".join(
        f"{short_key(each.key)}={' or '.join(each.values)}" if each.values else f"label {each.key}"
        for each in _asked(pod)
    )


def key_without_node(result: ScheduleResult) -> str | None:
    """Return the key of the first label that the pod asks for and no node has; None if some node has each of them."""
    nodes = result.nodes.whole
    return next((each.key for each in _asked(result.pod) if not _has_any(each, nodes)), None)


def of_selector(result: ScheduleResult) -> list[str]:
    """Return sentences about what no node has of what the pod selects, the fuller first."""
    nodes = result.nodes.whole
    asked = list(_asked(result.pod))
    nowhere = [each for each in asked if not _has_any(each, nodes)]
    if nowhere:
        return [_nowhere(nowhere[0], nodes), f"no node has {nowhere[0].text}"]
    if len(asked) > 1:
        together = " and ".join(each.text for each in asked)
        return [f"no node has {together} at once", "no node has all labels that it selects at once"]
    plain = "no node matches its required node affinity"
    first = result.filter_evidence("NodeAffinity", 0) or result.filter_evidence("NodeName", 0)
    return [f"{plain}: {first[0].text}", plain] if first else [plain]


def _has_any(asked: _Asked, nodes: Snapshot) -> bool:
    if not asked.values:
        return bool(nodes.table.has_label(asked.key).any())
    return bool(nodes.label(asked.key).where(lambda value: value in asked.values).any())


def _nowhere(asked: _Asked, nodes: Snapshot) -> str:
    """`no node has pool=generall; 60 have pool=general`."""
    counts = {value: count for value, count in nodes.label(asked.key).counts() if value is not None}
    if not counts:
        near = nearest(asked.key, nodes.table.label_keys)
        if near is None:
            return f"no node has {asked.text}" + (f"; none has label {asked.key}" if asked.values else "")
        value = next((each for each in asked.values if nodes.label(near).where(each.__eq__).any()), None)
        return f"no node has {asked.text}; there is {near if value is None else f'{near}={value}'}"
    near = next(filter(None, (nearest(value, frozenset(counts)) for value in asked.values)), None)
    if near is not None:
        have = "1 has" if counts[near] == 1 else f"{counts[near]:,} have"
        return f"no node has {asked.text}; {have} {asked.key}={near}"
    there = first_few(sorted(counts, key=lambda value: (-counts[value], value)))
    return f"no node has {asked.text}; {short_key(asked.key)} is {there}"


def of_names(result: ScheduleResult) -> list[str]:
    """Return sentences about the nodes that the pod is for and that are not there."""
    names = sorted(result.pre_filter_nodes or ())
    if not names:
        return ["no node has all the names that its required node affinity asks for"]
    what = "DaemonSet pod for" if is_of_daemon_set(result.pod) else "it is for"
    near = nearest(names[0], result.nodes.whole.names)
    known = f"; there is {node_name(near, result.nodes)}" if near is not None else ""
    return [f"{what} node {names[0]}, which is not there{known}", f"{what} a node that is not there"]


def is_of_daemon_set(pod: Pod) -> bool:
    """Report whether a DaemonSet made the pod."""
    owner = pod.metadata.controller
    return owner is not None and owner.kind == "DaemonSet"
