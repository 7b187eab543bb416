"""Manifests: files of Pods and of workloads that make them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec import structs

from kubectl_sched.api.apimachinery.selector_text import parse_selector
from kubectl_sched.api.pod import Pod
from kubectl_sched.apiserver.applied_objects import APPLIED
from kubectl_sched.apiserver.field_validation import UnknownFields
from kubectl_sched.apiserver.refused_manifest import RefusedError, UnknownFieldError
from kubectl_sched.apiserver.validation.unknown_fields import about_unknown_fields
from kubectl_sched.apiserver.validation.unknown_fields import unknown_fields as unknown_fields_of
from kubectl_sched.apiserver.validation.workload_validation import check_workload
from kubectl_sched.errors import SchedError
from kubectl_sched.sources.dump.undecoded_values import typed
from kubectl_sched.sources.dump.user_files import read_documents
from kubectl_sched.sources.kinds import BY_TYPE, POD_MAKERS, SERVED, serves
from kubectl_sched.typed_paths import is_directory

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.apiserver.server_dry_run import DryRun

_BY_NAME: dict[str, type[KubernetesObject]] = {kind.__name__: kind for kind in (*POD_MAKERS, *APPLIED)}
_BUILT_IN = frozenset({"", "apps", "batch", "extensions"})
_SUFFIXES = frozenset({".json", ".yaml", ".yml"})


class Manifests(NamedTuple):
    """The objects that pods are made from, the others that are applied, and a sentence for each that is ignored."""

    items: tuple[KubernetesObject, ...] = ()
    others: tuple[KubernetesObject, ...] = ()
    notes: tuple[str, ...] = ()
    misspelt: tuple[str, ...] = ()
    """Notes about unknown fields, which may be behind what is refused."""


def read_manifests(
    paths: Sequence[str],
    namespace: str,
    dry_run: DryRun | None,
    unknown_fields: UnknownFields = UnknownFields.warn,
    label_selector: str | None = None,
) -> Manifests:
    """Everything in the files; with `dry_run` as its server would store it.

    A path is a file, a directory (its .json, .yaml and .yml files) or `-`. What names no namespace is in `namespace`.
    With `label_selector` objects whose labels do not match are left out before anything of them is judged.
    Raises SchedError where a file cannot be read, no object matches, a field has the wrong type or is unknown (unless
    `unknown_fields` lets it pass), RefusedError for what the API server would not store.
    """
    documents = ((file, document) for path in paths for file in _files(path) for document in read_documents(file))
    name = ", ".join(paths)
    if label_selector is None:
        return manifests_of(documents, name, namespace, dry_run, unknown_fields)
    selector = parse_selector(label_selector)
    chosen = [(file, document) for file, document in documents if selector.matches(_labels(document))]
    if not chosen:
        raise SchedError(f"{name}: no object in it has labels that match {label_selector}")
    return manifests_of(chosen, f"{name} (-l {label_selector})", namespace, dry_run, unknown_fields)


def _labels(document: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the labels of an object that is not decoded yet; none where they have the wrong type."""
    metadata = document.get("metadata")
    labels = metadata.get("labels") if isinstance(metadata, dict) else None
    return {key: value for key, value in labels.items() if isinstance(value, str)} if isinstance(labels, dict) else {}


def manifests_of(
    documents: Iterable[tuple[str, Mapping[str, Any]]],
    name: str,
    namespace: str,
    dry_run: DryRun | None,
    unknown_fields: UnknownFields = UnknownFields.warn,
) -> Manifests:
    """Everything in the documents, each with the file that it is of; `name` is what all are of, if they are of any.

    Raises what `read_manifests` raises.
    """
    found: list[KubernetesObject] = []
    others: list[KubernetesObject] = []
    passed_over: dict[str, int] = {}
    misspelt: list[str] = []
    for file, document in documents:
        whole = document if dry_run is None else dry_run.stored(document, namespace)
        item = _object(whole, file, namespace, len(found))
        if isinstance(item, POD_MAKERS):
            misspelt += about_unknown_fields(document) if dry_run is None else ()
            if misspelt and unknown_fields is UnknownFields.strict:
                sentence = f"{file}: {misspelt[-1]} (whatif --validate=warn goes on without it)"
                raise UnknownFieldError(sentence, document, *next(unknown_fields_of(document)))
            _check(item, misspelt)
            found.append(item)
        elif item is not None:
            others.append(item)
        else:
            kind = _passed_over(document)
            passed_over[kind] = passed_over.get(kind, 0) + 1
    if name and not found:
        held = sorted({*passed_over, *(type(item).__name__ for item in others)})
        kinds = f", only {', '.join(held)}" if held else ""
        raise SchedError(f"{name}: no Pod or workload is in it{kinds}")
    said = tuple(dry_run.notes) if dry_run is not None else ()
    last = {(type(item), item.key): item for item in found}
    misspelt = [] if unknown_fields is UnknownFields.ignore else misspelt
    notes = (*said, *misspelt, *_about_repeated(found), *_about(passed_over))
    return Manifests(tuple(last.values()), tuple(others), notes, tuple(misspelt))


def _check(item: KubernetesObject, misspelt: Sequence[str]) -> None:
    try:
        check_workload(item)
    except RefusedError as error:
        raise error.beside(misspelt) from None


def _passed_over(document: Mapping[str, Any]) -> str:
    """Its kind, and its group where another kind of that name does matter."""
    kind = str(document.get("kind") or "something without a kind")
    return f"{kind} of {document.get('apiVersion')}" if kind in _BY_NAME else kind


def _about_repeated(found: Sequence[KubernetesObject]) -> Iterator[str]:
    """Objects that stand in the manifests again. Raises RefusedError for a Pod, whose spec cannot be changed."""
    counts = Counter((type(item), item.key) for item in found)
    for (kind, key), count in counts.items():
        if count > 1 and kind is Pod:
            again = next(item for item in found if isinstance(item, Pod) and item.key == key)
            raise RefusedError(again, "", f'pods "{again.name}" already exists: the manifests hold it {count} times')
        if count > 1:
            yield f"the manifests hold {kind.__name__} {key} {count} times: the last one counts, as with kubectl apply"


def _about(passed_over: Mapping[str, int]) -> Iterator[str]:
    if passed_over:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(passed_over.items()))
        yield f"the manifests hold objects that do not matter here or are not applied: {kinds}"


def _files(path: str) -> list[str]:
    if not path:
        raise SchedError("a manifest's path is empty: name a file, a directory, - or a workload such as deployment/web")
    if path == "-" or not is_directory(path):
        return [path]
    files = sorted(str(file) for file in Path(path).iterdir() if file.suffix in _SUFFIXES and file.is_file())
    if not files:
        raise SchedError(f"{path}: the directory has no .json, .yaml or .yml file")
    return files


def _object(document: Mapping[str, Any], source: str, namespace: str, number: int) -> KubernetesObject | None:
    """`number` ends the name of what has a generateName only."""
    kind = _BY_NAME.get(str(document.get("kind")))
    _check_version(document, source)
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
    named = structs.replace(metadata, name=metadata.name or f"{metadata.generate_name}{number}", namespace=where)
    return structs.replace(item, metadata=named)


def _check_version(document: Mapping[str, Any], source: str) -> None:
    """Refuses what no supported Kubernetes serves; a namesake of another group is something else."""
    served, version = SERVED.get(str(document.get("kind"))), str(document.get("apiVersion") or "")
    if served is None or version == served:
        return
    if not version:
        raise SchedError(f"{source}: {_where(document)}: apiVersion is not set: write {served}")
    if version.rpartition("/")[0] in _BUILT_IN:
        raise SchedError(
            f"{source}: {_where(document)}: no supported Kubernetes has this kind in {version}: write {served}"
        )


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
