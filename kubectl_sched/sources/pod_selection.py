"""The pods that a command is about: by name, by label, by workload, or all that are pending."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.pod import Pod
from kubectl_sched.errors import SchedError
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kubectl_sched.api.meta import KubernetesObject

POD_WORDS = frozenset({"pod", "pods", "po"})
NODE_WORDS = frozenset({"node", "nodes", "no"})

WORKLOAD_WORDS = {
    word: kind
    for kind, words in {
        "Deployment": ("deployment", "deployments", "deploy"),
        "ReplicaSet": ("replicaset", "replicasets", "rs"),
        "StatefulSet": ("statefulset", "statefulsets", "sts"),
        "DaemonSet": ("daemonset", "daemonsets", "ds"),
        "Job": ("job", "jobs"),
        "CronJob": ("cronjob", "cronjobs", "cj"),
        "ReplicationController": ("replicationcontroller", "replicationcontrollers", "rc"),
    }.items()
    for word in words
}


_OWNED = {"Deployment": "ReplicaSet", "CronJob": "Job"}
"""The kinds between a workload and its pods."""

_OF_MANIFESTS = (".yaml", ".yml", ".json")
_NAMESPACE_WORDS = frozenset({"ns", "namespace", "namespaces"})


class Selection(Record, frozen=True, kw_only=True):
    """The pods that were asked for, in one namespace or (None) in all.

    `also` are kinds to read whatever the pods need, and `needless` those not to read even if they do, as these pods are
    not what is asked about. Without `replays` no pod is to be replayed, so that nodes, pods and their schedulers are
    all that is needed. Where the pods of all namespaces may not be read, `own_namespace` is, as far as it may be.
    With `looks_elsewhere` names that mean nothing in the namespace are looked up in the others.
    """

    targets: tuple[str, ...] = ()
    namespace: str | None = "default"
    label_selector: str | None = None
    pending: bool = False
    also: tuple[str, ...] = ()
    needless: frozenset[str] = frozenset()
    replays: bool = True
    own_namespace: str | None = None
    looks_elsewhere: bool = False

    @property
    def named(self) -> list[tuple[str, str]]:
        """(kind, name) of everything that was asked for by name."""
        return _names(self.targets)

    @property
    def is_one_pod(self) -> bool:
        """Report whether exactly one pod was named."""
        names = self.named
        return len(names) == 1 and names[0][0] == "Pod" and not self.pending and self.label_selector is None

    @property
    def means_everybody(self) -> bool:
        """Report whether every pod of the cluster is meant."""
        return not (self.named or self.namespace or self.pending) and self.label_selector is None

    @property
    def means_all_pending(self) -> bool:
        """Report whether nothing more was asked for than what is pending."""
        return self.pending and not self.targets and self.label_selector is None


def select(
    objects: Sequence[KubernetesObject],
    selection: Selection,
    skipped: Mapping[tuple[str, str], str] | None = None,
    *,
    is_live: bool = False,
) -> list[Pod]:
    """The pods, in the order in which they were named, else in the order of the cluster.

    Raises SchedError for a pod that is not there; `skipped` are sentences about objects that could not be read. Of a
    cluster that runs, only what may be the pod was read.
    """
    pods = [item for item in objects if isinstance(item, Pod)]
    named = _names(selection.targets)
    if named:
        if selection.label_selector is not None:
            raise SchedError("names and --selector exclude each other, as in kubectl: give one of them")
        of = (
            _of(kind, name, pods, objects, selection.namespace, skipped or {}, is_live=is_live) for kind, name in named
        )
        found = list({pod.key: pod for each in of for pod in each}.values())
    else:
        namespace = selection.namespace
        found = pods if namespace is None else [pod for pod in pods if pod.metadata.namespace == namespace]
    if selection.label_selector is not None:
        from kubectl_sched.api.apimachinery.selector_text import parse_selector

        selector = parse_selector(selection.label_selector)
        found = [pod for pod in found if selector.matches(pod.metadata.labels)]
    if selection.pending:
        found = [pod for pod in found if pod.is_pending]
    return found


def about_none(objects: Sequence[KubernetesObject], selection: Selection, *, is_live: bool) -> Iterator[str]:
    """Yield what there is instead if nothing was found. Of a running cluster only what the question needs was read."""
    if not any(isinstance(item, Pod) for item in objects):
        if not is_live:
            yield "no pods at all were read (`kubectl get pods -A -o json` has them)"
        elif selection.namespace is not None:
            yield f"there are no pods in namespace {selection.namespace}"
        return
    elsewhere = select(objects, replace(selection, namespace=None))
    others = select(objects, replace(selection, pending=False)) if selection.pending else []
    if elsewhere:
        pods = "such pod is" if len(elsewhere) == 1 else "such pods are"
        yield f"{len(elsewhere):,} {pods} in other namespaces (-A), such as {elsewhere[0].key}"
    elif others:
        pods = "is 1 pod, but it is" if len(others) == 1 else f"are {len(others):,} pods, but none of them is"
        yield f"there {pods} {'not ' if len(others) == 1 else ''}pending; pods are explained by name, too"


def workloads_named(selection: Selection) -> list[tuple[str, str]]:
    """(kind, name) of the workloads among the targets."""
    return [(kind, name) for kind, name in _names(selection.targets) if kind != "Pod"]


def _names(targets: tuple[str, ...]) -> list[tuple[str, str]]:
    """(kind, name) of each target: `web-0`, `pod web-0`, `pods a b`, `a,b`, `pod/web-0`, `deployment/web`."""
    kind = "Pod"
    names = [name for target in targets for name in target.split(",")]
    if len(names) > 1 and names[0].lower() in NODE_WORDS:
        raise _is_a_node(names[1])
    if names and "/" not in names[0]:
        word = names[0].lower()
        if word in POD_WORDS:
            names = names[1:]
        elif word in WORKLOAD_WORDS and len(names) > 1:
            kind, names = WORKLOAD_WORDS[word], names[1:]
    return [_kind_and_name(name, kind) for name in names]


def _is_a_node(name: str) -> SchedError:
    return SchedError(
        f"a node has no pods to compare: `kubectl sched explain node {name}` explains it, `kubectl sched explain pod "
        f"NAME --node {name}` whether a pod fits there, and `kubectl sched drain {name}` where its pods could go"
    )


def _kind_and_name(target: str, kind: str) -> tuple[str, str]:
    word, slash, name = target.partition("/")
    if not (name if slash else word):
        raise SchedError(f"{target!r}: the name is missing; write `web-0`, `pod/web-0` or `deployment/web`")
    if target.endswith(_OF_MANIFESTS):
        raise SchedError(f"{target}: a manifest is given with -f: `kubectl sched explain -f {target}`")
    if not slash:
        return kind, target
    word = word.lower().split(".")[0]
    if word in POD_WORDS:
        return "Pod", name
    if word in NODE_WORDS:
        raise _is_a_node(name)
    if word in _NAMESPACE_WORDS:
        raise SchedError(f"{target}: `kubectl sched -n {name}` groups the pending pods of a namespace")
    if word not in WORKLOAD_WORDS:
        raise SchedError(
            f"{target}: {word!r} is no kind whose pods can be explained; name a pod or a workload; "
            f"if it is a namespace, write {name} -n {word}"
        )
    return WORKLOAD_WORDS[word], name


def _of(
    kind: str,
    name: str,
    pods: list[Pod],
    objects: Sequence[KubernetesObject],
    namespace: str | None,
    skipped: Mapping[tuple[str, str], str],
    *,
    is_live: bool,
) -> Iterable[Pod]:
    if kind != "Pod":
        return _of_workload(kind, name, pods, objects, namespace)
    found = [pod for pod in pods if pod.metadata.name == name and namespace in {None, pod.metadata.namespace}]
    if not found:
        keys = [key for key in skipped if key == ("Pod", f"{namespace or key[1].partition('/')[0]}/{name}")]
        unknown = _unknown_pod(name, namespace, pods, is_live=is_live)
        raise SchedError(skipped[keys[0]] if keys else f"{unknown}{_of_which_set(name, objects, namespace)}")
    return found


def _of_which_set(name: str, objects: Sequence[KubernetesObject], namespace: str | None) -> str:
    """Return the StatefulSet that would make a pod of that name, and the command that explains it."""
    for item in objects:
        makes = type(item).__name__ == "StatefulSet" and namespace in {None, item.namespace}
        if makes and name.removeprefix(f"{item.name}-").isdecimal() and name.startswith(f"{item.name}-"):
            return f"; StatefulSet {item.name} makes it: `kubectl sched explain sts/{item.name} -n {item.namespace}`"
    return ""


def _unknown_pod(name: str, namespace: str | None, pods: list[Pod], *, is_live: bool) -> str:
    place = f"in namespace {namespace}" if namespace else "in any namespace"
    elsewhere = sorted({pod.metadata.namespace for pod in pods if pod.metadata.name == name})
    if elsewhere:
        return f"there is no pod {name} {place}; there is one in {', '.join(elsewhere)} (-n {elsewhere[0]})"
    if not pods and not is_live:
        return f"there is no pod {name} {place}: no pods at all were read (`kubectl get pods -A -o json` has them)"
    from kubectl_sched.near_names import near_hint

    here = sorted(pod.metadata.name for pod in pods if namespace in {None, pod.metadata.namespace})
    hint = near_hint(name, here)
    if hint:
        return f"there is no pod {name} {place}{hint}"
    if name.lower() in WORKLOAD_WORDS:
        return f"there is no pod {name} {place}; for the pods of a workload name it, as in {name.lower()}/web"
    many = f"which has {len(here):,} {'pod' if len(here) == 1 else 'pods'}" if here else "which has none"
    return f"there is no pod {name} {place}, {many}; another namespace is chosen with -n, all with -A"


def _of_workload(
    kind: str, name: str, pods: list[Pod], objects: Sequence[KubernetesObject], namespace: str | None
) -> list[Pod]:
    owners = {(kind, name)}
    if kind in _OWNED:
        owners = {
            (_OWNED[kind], item.metadata.name)
            for item in objects
            if type(item).__name__ == _OWNED[kind]
            and namespace in {None, item.metadata.namespace}
            and item.metadata.controller
            and (item.metadata.controller.kind, item.metadata.controller.name) == (kind, name)
        }
    found = [
        pod
        for pod in pods
        if namespace in {None, pod.metadata.namespace}
        and (controller := pod.metadata.controller)
        and ((controller.kind, controller.name) in owners or _hash_names(pod, controller.name, kind, name))
    ]
    if not found:
        from kubectl_sched.near_names import near_hint

        place = f"in namespace {namespace}" if namespace else "in any namespace"
        names = _names_of(kind, pods, objects, namespace)
        if name not in names and (hint := near_hint(name, names)):
            raise SchedError(f"no pod {place} belongs to {kind} {name}{hint}")
        raise SchedError(f"no pod {place} belongs to {kind} {name}{_without_pods(kind, name, objects, namespace)}")
    return found


def _without_pods(kind: str, name: str, objects: Sequence[KubernetesObject], namespace: str | None) -> str:
    """Return that the workload wants no pods, if so, and the command that says where they would land."""
    for item in objects:
        if type(item).__name__ == kind and item.name == name and namespace in {None, item.namespace}:
            none = getattr(getattr(item, "spec", None), "replicas", None) == 0
            scaled = ", which is scaled to 0 (spec.replicas)" if none else ""
            command = f"kubectl sched whatif {kind.lower()}/{name} -n {item.namespace}"
            return f"{scaled}; `{command}` says where its pods would land"
    return "; `whatif` says where the pods of its manifest would land"


def _names_of(kind: str, pods: list[Pod], objects: Sequence[KubernetesObject], namespace: str | None) -> list[str]:
    """Return the names of that kind, as objects and the owners of pods show them."""
    there = [item for item in objects if namespace in {None, item.namespace}]
    names = {item.name for item in there if type(item).__name__ == kind}
    for item in (*pods, *there):
        owner = item.metadata.controller if namespace in {None, item.namespace} else None
        if owner is None:
            continue
        template_hash = item.metadata.labels.get("pod-template-hash")
        if owner.kind == kind:
            names.add(owner.name)
        elif kind == "Deployment" and template_hash is not None and owner.name.endswith(f"-{template_hash}"):
            names.add(owner.name.removesuffix(f"-{template_hash}"))
    return sorted(names)


def _hash_names(pod: Pod, replica_set: str, kind: str, name: str) -> bool:
    """A Deployment's ReplicaSet is NAME-HASH, also where the dump has no ReplicaSets to ask."""
    template_hash = pod.metadata.labels.get("pod-template-hash")
    return kind == "Deployment" and template_hash is not None and replica_set == f"{name}-{template_hash}"
