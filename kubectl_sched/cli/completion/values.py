"""The values that complete an option or argument: names of the dump on the line, else of the cluster, and our own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kubectl_sched.cli.completion.name_sources import (
    Candidate,
    Source,
    configured_profiles,
    kubeconfig_names,
    source_of,
)
from kubectl_sched.sources.pod_selection import POD_WORDS, WORKLOAD_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Values = Callable[[Mapping[str, Any], str], Iterable[Candidate]]

_FILES: Final = frozenset(
    {
        *("from_", "to_dump", "config", "to_config", "filename", "file"),
        *("kubeconfig", "certificate_authority", "client_certificate", "client_key"),
    }
)
_EXPLAINED: Final = ("pod", "pods", "message", "deployment/", "statefulset/", "daemonset/", "job/", "replicaset/")


def is_file(command: str, parameter: str, incomplete: str) -> bool:
    """Report whether the shell itself completes it: a path."""
    return parameter in _FILES or (command == "whatif" and parameter == "manifests" and not _workload(incomplete))


def candidates(command: str, parameter: str, given: Mapping[str, Any], incomplete: str) -> list[Candidate]:
    """The values that begin with what is written, each once; `given` are the other parameters' values.

    Whatever goes wrong on the way, there are just none.
    """
    values = _TARGETS.get(command) if parameter in {"targets", "manifests"} else _VALUES.get(parameter)
    if values is None:
        return []
    try:
        found = {each.value: each for each in values(given, incomplete) if each.value.startswith(incomplete)}
    except Exception:  # noqa: BLE001 - completion never complains
        return []
    return list(found.values())


def _workload(incomplete: str) -> str | None:
    """The kind of `deployment/web`."""
    word, slash, _ = incomplete.partition("/")
    return WORKLOAD_WORDS.get(word.lower()) if slash else None


def _explained(given: Mapping[str, Any], incomplete: str) -> Iterable[Candidate]:
    """Pods and workloads as `explain` and `diff` take them."""
    before = tuple(given.get("targets") or ())
    source = source_of(given)
    word, slash, _ = incomplete.partition("/")
    kind = "Pod" if word.lower() in POD_WORDS else WORKLOAD_WORDS.get(word.lower(), "")
    if slash and kind:
        return _prefixed(f"{word}/", source.names(kind))
    first = before[0].lower() if before else ""
    if first == "message":
        return ()
    if not before:
        return (*(Candidate(each, "") for each in _EXPLAINED), *source.names("Pod"))
    of = "Pod" if first in POD_WORDS else WORKLOAD_WORDS.get(first, "Pod")
    return (each for each in source.names(of) if each.value not in before)


def _to_bind(given: Mapping[str, Any], incomplete: str) -> Iterable[Candidate]:
    """Pods that no node has yet."""
    before = tuple(given.get("targets") or ())
    if len(before) > 1 or (before and before[0].lower() not in POD_WORDS):
        return ()
    word, slash, _ = incomplete.partition("/")
    pending = _pending(given)
    if slash:
        return _prefixed(f"{word}/", pending)
    return pending if before else (Candidate("pod", ""), *pending)


def _placed(given: Mapping[str, Any], incomplete: str) -> Iterable[Candidate]:
    """Workloads for `whatif`."""
    kind = _workload(incomplete)
    return _prefixed(f"{incomplete.partition('/')[0]}/", source_of(given).names(kind)) if kind else ()


def _wanting_room(given: Mapping[str, Any], incomplete: str) -> Iterable[Candidate]:
    """Pending pods and workloads for `--make-room`."""
    if _workload(incomplete):
        return _placed(given, incomplete)
    return _prefixed("pod/", _pending(given))


def _pending(given: Mapping[str, Any]) -> list[Candidate]:
    return [each for each in source_of(given).names("Pod") if each.about == "pending"]


def _nodes(given: Mapping[str, Any], _: str) -> Iterable[Candidate]:
    return source_of(given).names("Node")


def _nodes_to_edit(given: Mapping[str, Any], incomplete: str) -> Iterable[Candidate]:
    """`NODE=` of `--taint` and `--label`; what follows is for the person to say."""
    return () if "=" in incomplete else [Candidate(f"{each.value}=", each.about) for each in _nodes(given, "")]


def _nodes_to_add(given: Mapping[str, Any], incomplete: str) -> Iterable[Candidate]:
    """`N=NODE`."""
    count, equals, _ = incomplete.partition("=")
    return _prefixed(f"{count}=", _nodes(given, "")) if equals else [Candidate("1=", "how many, and of which node")]


def _shapes(_: Mapping[str, Any], incomplete: str) -> Iterable[Candidate]:
    """The names of common resources, after the shape's name or after the last comma."""
    head = incomplete[: incomplete.rfind(",") + 1] or incomplete[: incomplete.rfind("=") + 1]
    return [Candidate(f"{head}{each}=") for each in ("cpu", "memory", "ephemeral-storage", "nvidia.com/gpu")]


def _namespaces(given: Mapping[str, Any], _: str) -> Iterable[Candidate]:
    return source_of(given).namespaces()


def _profiles(given: Mapping[str, Any], _: str) -> Iterable[Candidate]:
    """Of the configuration on the line where there is one, else what pods ask for."""
    config = given.get("config")
    return configured_profiles(config) if config else source_of(given).scheduler_names()


def _versions(_: Mapping[str, Any], incomplete: str) -> Iterable[Candidate]:
    """The minors, and the patch releases of a minor once its second dot is typed, newest first."""
    from kubectl_sched.config import SUPPORTED, KubeVersion
    from kubectl_sched.config.versions import PRERELEASES, newest_patch

    minors = [version for version in reversed(SUPPORTED) if version not in PRERELEASES]
    begun = [minor for minor in minors if incomplete.startswith(f"{minor}.")]
    if begun:
        newest = newest_patch(begun[0])
        patches = (KubeVersion(newest.major, newest.minor, number) for number in range(newest.patch, -1, -1))
        return [Candidate(str(each), "") for each in patches]
    early = [Candidate(str(minor), f"as of {tag}, before its release") for minor, tag in PRERELEASES.items()]
    return [*early, *(Candidate(str(minor), "") for minor in minors)]


def _feature_gates(given: Mapping[str, Any], incomplete: str) -> Iterable[Candidate]:
    """After the last comma each gate, with the value that is not its default."""
    from kubectl_sched.config import NEWEST, KubeVersion
    from kubectl_sched.config.features import known_gates

    version = KubeVersion.parse(given["kube_version"]) if given.get("kube_version") else NEWEST
    head = incomplete[: incomplete.rfind(",") + 1]
    gates = [gate for gate in known_gates(version) if not gate.locked]
    return [Candidate(f"{head}{gate.name}={str(not gate.default).lower()}", gate.stage) for gate in gates]


def _replicas(*_: object) -> Iterable[Candidate]:
    return [Candidate("max", "until one no longer fits")]


def _dry_run(*_: object) -> Iterable[Candidate]:
    return [Candidate("none", ""), Candidate("client", "only plan"), Candidate("server", "let it be checked")]


def _prefixed(prefix: str, names: Iterable[Candidate]) -> list[Candidate]:
    return [Candidate(f"{prefix}{each.value}", each.about) for each in names]


def _of_kubeconfig(section: str) -> Values:
    return lambda given, _: kubeconfig_names(given, section)


_TARGETS: Final[dict[str, Values]] = {
    "explain": _explained,
    "diff": _explained,
    "bind": _to_bind,
    "whatif": _placed,
}

_VALUES: Final[dict[str, Values]] = {
    **dict.fromkeys(("node", "nodes", "drain", "remove_node", "cordon", "uncordon", "find_nodes"), _nodes),
    **dict.fromkeys(("taint", "label"), _nodes_to_edit),
    **dict.fromkeys(("profile", "scheduler_name"), _profiles),
    **dict.fromkeys(("kube_version", "to_kube_version"), _versions),
    **dict.fromkeys(("feature_gates", "to_feature_gates"), _feature_gates),
    "add_nodes": _nodes_to_add,
    "namespace": _namespaces,
    "make_room": _wanting_room,
    "shape": _shapes,
    "replicas": _replicas,
    "dry_run": _dry_run,
    "context": _of_kubeconfig("contexts"),
    "cluster": _of_kubeconfig("clusters"),
    "user": _of_kubeconfig("users"),
}

__all__ = ["Candidate", "Source", "candidates", "is_file"]
