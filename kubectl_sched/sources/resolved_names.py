"""Finds the pod, workload, group or node that a name means: in the current namespace first, then in the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from kubectl_sched.api.core import Node
from kubectl_sched.api.pod import Pod
from kubectl_sched.api.scheduling import PodGroup
from kubectl_sched.errors import SchedError
from kubectl_sched.sources.pod_selection import POD_WORDS, WORKLOAD_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.sources.pod_selection import Selection

_LISTED = 10
_WORKLOADS = frozenset(WORKLOAD_WORDS.values())


class Match(NamedTuple):
    """An object that a name may mean; nodes have no namespace."""

    kind: str
    namespace: str
    name: str

    @property
    def target(self) -> str:
        """The object as a target of `explain`."""
        return f"{self.kind.lower()}/{self.name}"

    def __str__(self) -> str:
        return f"{self.target} -n {self.namespace}" if self.namespace else self.target


def resolved(selection: Selection, objects: Sequence[KubernetesObject]) -> Selection:
    """Return the selection with each name as what it means, in the namespace where that is.

    A name without a type may be a pod's, a workload's, a group's or a node's, or the beginning of one. Names that mean
    nothing stay as they are. Raises SchedError where a name may mean several objects.
    """
    if selection.label_selector is not None or not selection.targets:
        return selection
    named = selection.named
    bare = _bare(selection.targets)
    known = list(dict.fromkeys(matches(objects)))
    found = [_meant(kind, name, known, selection, is_bare=name in bare) for kind, name in named]
    places = {match.namespace for match in found if match is not None and match.namespace}
    if selection.namespace is None or None in found or len(places) > 1:
        if len(named) == 1 and found[0] is not None:
            return replace(selection, targets=(found[0].target,), namespace=found[0].namespace or None)
        return selection
    targets = tuple(match.target for match in found if match is not None)
    return replace(selection, targets=targets, namespace=next(iter(places), selection.namespace))


def _bare(targets: Iterable[str]) -> set[str]:
    """Return the names without a type."""
    names = [name for target in targets for name in target.split(",")]
    is_typed = len(names) > 1 and names[0].lower() in {*POD_WORDS, *WORKLOAD_WORDS}
    return set() if is_typed else {name for name in names if "/" not in name}


def matches(objects: Iterable[KubernetesObject]) -> Iterator[Match]:
    """Yield all that can be named: pods with the workloads that own them, workloads without pods, groups, nodes."""
    for item in objects:
        kind = type(item).__name__
        if isinstance(item, Pod):
            yield Match("Pod", item.namespace, item.name)
            yield from _owners(item)
        elif isinstance(item, (Node, PodGroup)) or kind in _WORKLOADS:
            yield Match(kind, "" if isinstance(item, Node) else item.namespace, item.name)


def _owners(pod: Pod) -> Iterator[Match]:
    owner = pod.metadata.controller
    if owner is None or owner.kind not in _WORKLOADS:
        return
    template_hash = pod.metadata.labels.get("pod-template-hash")
    if owner.kind == "ReplicaSet" and template_hash and owner.name.endswith(f"-{template_hash}"):
        yield Match("Deployment", pod.namespace, owner.name.removesuffix(f"-{template_hash}"))
    yield Match(owner.kind, pod.namespace, owner.name)


def _meant(kind: str, name: str, known: Sequence[Match], selection: Selection, *, is_bare: bool) -> Match | None:
    """Return what the name means, in the nearest scope that has anything of it; None if there is nothing."""
    here = selection.namespace
    scopes = [[each for each in known if here in {None, each.namespace} or not each.namespace]]
    if selection.looks_elsewhere and here is not None:
        scopes.append([each for each in known if each.namespace not in {here, ""}])
    for scope in scopes:
        of_name = [each for each in scope if each.name == name]
        of_kind = [each for each in of_name if each.kind == kind]
        if of_kind and (here is None or not is_bare):
            if here is None or of_kind[0].namespace == here:
                return None if here is None else of_kind[0]
            return _only(name, of_kind)
        if not is_bare:
            continue
        found = of_kind or of_name or _beginning_with(name, scope)
        if found:
            return _only(name, found)
    return None


def _only(name: str, found: Sequence[Match]) -> Match:
    if len(found) == 1:
        return found[0]
    listed = ", ".join(map(str, found[:_LISTED]))
    more = f" and {len(found) - _LISTED:,} more" if len(found) > _LISTED else ""
    raise SchedError(f"{name} may be one of {len(found):,}: {listed}{more}; name one of them")


def _beginning_with(name: str, scope: Sequence[Match]) -> list[Match]:
    """Return what begins with the name: workloads as a whole, and pods and ReplicaSets where none of these is it.

    A number at the end of the name is whole: web-1 is not the beginning of web-10.
    """
    found = [
        each
        for each in scope
        if each.kind != "Node"
        and each.name.startswith(name)
        and not each.name[len(name) - 1 : len(name) + 1].isdecimal()
    ]
    wholes = [each for each in found if each.kind not in {"Pod", "ReplicaSet"}]
    names = tuple(f"{each.name}-" for each in wholes)
    return [*wholes, *(each for each in found if each not in wholes and not each.name.startswith(names))]
