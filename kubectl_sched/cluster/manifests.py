"""Manifests: files of Pods and of workloads that make them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec import structs

from kubectl_sched.api.apps import (
    CronJob,
    DaemonSet,
    Deployment,
    Job,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
from kubectl_sched.api.pod import Pod
from kubectl_sched.cluster.applied import APPLIED
from kubectl_sched.cluster.documents import read_documents
from kubectl_sched.cluster.kinds import BY_TYPE, serves
from kubectl_sched.cluster.values import typed
from kubectl_sched.errors import SchedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.cluster.dry_run import DryRun

PLACEABLE = (Pod, Deployment, ReplicaSet, StatefulSet, Job, CronJob, DaemonSet, ReplicationController)
_BY_NAME: dict[str, type[KubernetesObject]] = {kind.__name__: kind for kind in (*PLACEABLE, *APPLIED)}
_SUFFIXES = frozenset({".json", ".yaml", ".yml"})


class Manifests(NamedTuple):
    """What pods are made from, what else is applied, and a sentence for what is passed over."""

    items: tuple[KubernetesObject, ...] = ()
    others: tuple[KubernetesObject, ...] = ()
    notes: tuple[str, ...] = ()


def read_manifests(paths: Sequence[str], namespace: str, dry_run: DryRun | None = None) -> Manifests:
    """Everything in the files; with `dry_run` as its server would store it.

    A path is a file, a directory (its .json, .yaml and .yml files) or `-`. What names no namespace is in `namespace`.
    Raises SchedError where a file cannot be read or a field has the wrong type.
    """
    found: list[KubernetesObject] = []
    others: list[KubernetesObject] = []
    passed_over: dict[str, int] = {}
    for path in paths:
        for file in _files(path):
            for document in read_documents(file):
                whole = document if dry_run is None else dry_run.stored(document, namespace)
                item = _object(whole, file, namespace)
                if isinstance(item, PLACEABLE):
                    found.append(item)
                elif item is not None:
                    others.append(item)
                else:
                    kind = str(document.get("kind") or "something without a kind")
                    passed_over[kind] = passed_over.get(kind, 0) + 1
    if paths and not found:
        held = sorted({*passed_over, *(type(item).__name__ for item in others)})
        kinds = f" but {', '.join(held)}" if held else ""
        raise SchedError(f"{', '.join(paths)}: there is nothing that makes pods in it{kinds}")
    said = tuple(dry_run.notes) if dry_run is not None else ()
    return Manifests(tuple(found), tuple(others), (*said, *_about(passed_over)))


def _about(passed_over: Mapping[str, int]) -> Iterator[str]:
    if passed_over:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(passed_over.items()))
        yield f"the manifests hold objects that do not matter here or are not applied: {kinds}"


def _files(path: str) -> list[str]:
    if not path:
        raise SchedError("a manifest's path is empty: name a file, a directory, - or a workload such as deployment/web")
    if path == "-" or not Path(path).is_dir():
        return [path]
    files = sorted(str(file) for file in Path(path).iterdir() if file.suffix in _SUFFIXES and file.is_file())
    if not files:
        raise SchedError(f"{path}: the directory has no .json, .yaml or .yml file")
    return files


def _object(document: Mapping[str, Any], source: str, namespace: str) -> KubernetesObject | None:
    kind = _BY_NAME.get(str(document.get("kind")))
    if kind is None or not serves(BY_TYPE[kind], str(document.get("apiVersion") or "")):
        return None
    try:
        item: KubernetesObject = typed(dict(document), kind)
    except msgspec.ValidationError as error:
        raise SchedError(f"{source}: {_where(document)}: {_in_words(error)}") from None
    metadata = item.metadata
    if not metadata.name and not metadata.generate_name:
        raise SchedError(f"{source}: a {kind.__name__} has no metadata.name")
    where = (metadata.namespace or namespace) if BY_TYPE[kind].namespaced else ""
    named = structs.replace(metadata, name=metadata.name or f"{metadata.generate_name}0", namespace=where)
    return structs.replace(item, metadata=named)


def _where(document: Mapping[str, Any]) -> str:
    metadata = document.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return f"{document.get('kind')} {name or 'without a name'}"


def _in_words(error: msgspec.ValidationError) -> str:
    """`spec.replicas: expected int | null, got str`."""
    said, _, path = str(error).partition(" - at ")
    field = path.strip("`").removeprefix("$.")
    sentence = said[:1].lower() + said[1:].replace("`", "")
    return f"{field}: {sentence}" if field else sentence
