"""Finds the objects in whatever a document is: a List, a typed list, a map of objects, a simulator's export.

An object is recognised by its apiVersion and kind; where a layout leaves them out, by the list's kind, by the key that
it stands under, or by the plural in its path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.sources.dump.json_lists import SnapshotMetadata
from kubectl_sched.sources.dump.undecoded_values import elements, fields, head, is_mapping, plain, typed
from kubectl_sched.sources.kinds import KINDS, Kind, kind_of
from kubectl_sched.sources.rare_fields import with_rare_fields

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_sched.sources.dump.collection import Collection
    from kubectl_sched.sources.dump.undecoded_values import Head, Value

_DEPTH = 3
"""The depth to which maps and lists of lists may be nested: {"items": {"pods": [..]}} and no further."""

CONFIGURATION = "KubeSchedulerConfiguration"
OTHER_KINDS = (CONFIGURATION, "ResourcePatch")
"""Kinds that are no objects of a cluster, but are understood."""

_FAILURE = "Status"
_UNLISTED = frozenset({"", "List"})

_CHECKED_AFTER = 50_000
_NOISE = pattern(r"[-_]")

_MUST_GATHER = pattern(r"(?:^|/)cluster-scoped-resources/core/nodes")
_GATHERED = pattern(r"(?:^|/)(must-gather[^/]*)/(?:[^/]+/){0,2}(?:cluster-scoped-resources|namespaces)/")
_CLUSTER_INFO = pattern(r"(?:^|/)([^/]+)/replication-controllers\.(?:json|yaml)$")
_DEFAULT_NAMESPACES = 2

_WORDS: dict[str, list[Kind]] = {}
for _kind in KINDS:
    for _word in {_kind.plural, _kind.spelled.lower(), *_kind.also}:
        _WORDS.setdefault(_word, []).append(_kind)
_LONGEST_WORD = 64


def kind_of_word(word: str) -> Kind | None:
    """The kind that a key, a folder or a file is named after: `pods`, `storage-classes`, `pvcs`, `replicasets.apps`."""
    if len(word) > _LONGEST_WORD or "/" in word:
        return None
    plural, _, group = word.partition(".")
    kinds = _WORDS.get(_NOISE.sub("", plural.lower()), ())
    return next((kind for kind in kinds if not group or group in kind.groups), None)


def kind_of_path(path: str) -> Kind | None:
    """The kind whose plural is nearest to the end of the path; sonobuoy's `core_v1_pods.json` counts as well.

    A folder `namespaces` holds what is in them, not the namespaces themselves.
    """
    *folders, file = path.split("/")
    for part in (file, *(folder for folder in reversed(folders) if folder != "namespaces")):
        stem = part.removesuffix(".gz").removesuffix(".json").removesuffix(".yaml").removesuffix(".yml")
        group, _, plural = stem.rpartition("_")
        kind = kind_of_word(stem) or (kind_of_word(plural) if group else None)
        if kind is not None:
            return kind
    return None


def layout_notes(paths: Sequence[str]) -> Iterator[str]:
    """Return the kinds that a bundle of this layout leaves out by design, as the paths of its files show."""
    if any(_MUST_GATHER.search(path) for path in paths):
        yield "a must-gather leaves out the namespaces of applications: nodes may be fuller than they seem here"
    gathered = sorted({match[1] for path in paths if (match := _GATHERED.search(path))})
    if len(gathered) > 1:
        yield (
            f"there are {len(gathered)} must-gathers in it, whose objects are taken together, so that what was gone by "
            f"the last still counts; name one of them: {', '.join(gathered)}"
        )
    yield from cluster_info_note({match[1] for path in paths if (match := _CLUSTER_INFO.search(path))})


def cluster_info_note(dumped: set[str]) -> Iterator[str]:
    """Return the kinds that `kubectl cluster-info dump` leaves out if it wrote no more namespaces than by default."""
    if dumped and len(dumped) <= _DEFAULT_NAMESPACES:
        yield (
            f"`kubectl cluster-info dump` wrote only the namespaces {', '.join(sorted(dumped))}: nodes may be fuller "
            "than they seem here; with --all-namespaces it writes all"
        )


def take(value: Value, source: str, collection: Collection, hint: Kind | None, depth: int = 0) -> None:
    """Puts every object in the value into the collection. `hint` is the kind of those that do not name their own."""
    about = head(value) if is_mapping(value) else None
    if about is None:
        if _names_a_kind(value, hint):
            take_object(value, source, collection, hint)
        take_items(elements(value) or (), source, collection, hint)
        return
    kind = about.kind or ""
    if kind and not kind.endswith("List"):
        take_object(value, source, collection, hint, about)
        return
    content = fields(value) or {}
    if "items" in content:
        if about.api_version and not kind and not isinstance(value, msgspec.Raw):
            collection.warn(
                f"{source}: the end of its List is missing, which says its kind: it was cut off, and nodes may be "
                "fuller than they seem"
            )
        _take_list(about, content, source, collection, hint)
    elif "NodeList" in content:
        _take_snapshot(content, source, collection)
    elif "metadata" in content:
        take_object(value, source, collection, hint, about)
    elif depth < _DEPTH:
        _take_map(content, source, collection, depth)


def _names_a_kind(value: Value, hint: Kind | None) -> bool:
    """Report whether a document whose head cannot be read is an object or a list of a kind that is read."""
    content = fields(value) or {}
    if "metadata" not in content:
        return False
    kind = plain(content.get("kind", hint and hint.name))
    return isinstance(kind, str) and (kind in _UNLISTED or kind_of("", kind.removesuffix("List")) is not None)


def list_kind(about_kind: str, api_version: str, hint: Kind | None) -> tuple[Kind | None, bool]:
    """The kind of a list's items, and whether it is a list of nothing that is read."""
    if about_kind in _UNLISTED:
        return hint, False
    kind = kind_of(api_version, about_kind.removesuffix("List"))
    return kind, kind is None


def take_items(items: Sequence[Value], source: str, collection: Collection, hint: Kind | None, depth: int = 0) -> None:
    """Takes the items of a list, each for itself, so that one that is broken does not spoil the others."""
    for count, item in enumerate(items):
        if is_mapping(item):
            take_object(item, source, collection, hint, depth=depth)
        if count % _CHECKED_AFTER == 0:
            collection.budget.check(source)


def take_object(
    value: Value, source: str, collection: Collection, hint: Kind | None, about: Head | None = None, depth: int = 0
) -> None:
    """Takes one object; one whose kind is not read is passed over, one that cannot be read gives a warning.

    A list among the items of another is taken as a list. `about` is the head, if that has been looked at already.
    """
    about = about or head(value)
    if about is None:
        collection.warn(f"{source}: an object whose apiVersion, kind or name is not a text was skipped")
        return
    if about.kind == CONFIGURATION:
        collection.scheduler_configuration = plain(value)
        return
    if about.kind == _FAILURE:
        _take_failure(plain(value), source, collection)
        return
    kind = kind_of(about.api_version or "", about.kind) if about.kind else hint
    if kind is None and (about.kind or "").endswith("List") and depth < _DEPTH:
        content = fields(value) or {}
        if "items" in content:
            _take_list(about, content, source, collection, hint, depth + 1)
            return
    if kind is None:
        collection.passed_over.update(filter(None, [about.kind]))
        return
    if about.kind is None and about.metadata is None:
        return
    try:
        collection.add(with_rare_fields([typed(value, kind.type)], value), source)
    except (msgspec.ValidationError, RecursionError) as error:
        collection.skip(kind.name, _key(about, kind), in_words(error), source)


def _key(about: Head, kind: Kind) -> str:
    """The key that the object would have in the collection."""
    metadata = about.metadata
    if metadata is None or not metadata.name:
        return about.key
    return f"{metadata.namespace or 'default'}/{metadata.name}" if kind.namespaced else metadata.name


def _take_failure(status: Any, source: str, collection: Collection) -> None:
    """An answer of the API server that holds an error instead of objects."""
    message = status.get("message")
    if status.get("status") == "Failure" and isinstance(message, str) and message:
        collection.refusals.setdefault(message)
        collection.warn(f"{source}: the API server refused what was asked for: {message}")
    else:
        collection.passed_over.add(_FAILURE)


def in_words(error: Exception) -> str:
    """Return the error of an object with the path of the field first: `spec.priority: expected int, got str`."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    problem, _, path = str(error).replace("`", "").partition(" - at ")
    problem = problem[:1].lower() + problem[1:]
    path = path.removeprefix("$").removeprefix(".")
    return f"{path}: {problem}" if path else problem


def _take_list(
    about: Head, content: Mapping[str, Value], source: str, collection: Collection, hint: Kind | None, depth: int = 0
) -> None:
    kind, foreign = list_kind(about.kind or "", about.api_version or "", hint)
    if foreign:
        collection.passed_over.add((about.kind or "").removesuffix("List"))
        return
    if kind is not None:
        collection.listed(kind.name)
    metadata = fields(content.get("metadata"))
    if metadata and "snapshot" in metadata:
        try:
            collection.take_snapshot(typed(content["metadata"], SnapshotMetadata))
        except msgspec.ValidationError as error:
            collection.warn(f"{source}: what it says of itself as a snapshot was skipped: {in_words(error)}")
    take_items(elements(content["items"]) or (), source, collection, kind, depth)


def _take_snapshot(content: Mapping[str, Value], source: str, collection: Collection) -> None:
    """cluster-autoscaler's /snapshotz: nodes with their pods, and the pods that wait.

    Its template nodes do not exist yet.
    """
    node, pod = kind_of("", "Node"), kind_of("", "Pod")
    for entry in elements(content["NodeList"]) or ():
        parts = fields(entry) or {}
        take_items([parts[key] for key in ("Node",) if key in parts], source, collection, node)
        for item in elements(parts.get("Pods")) or ():
            inner = fields(item) or {}
            take_items([inner.get("Pod", item)], source, collection, pod)
    take_items(elements(content.get("UnscheduledPodsCanBeScheduled")) or (), source, collection, pod)
    collection.listed("Node")
    collection.listed("Pod")


def _take_map(content: Mapping[str, Value], source: str, collection: Collection, depth: int) -> None:
    """A map of objects, or of lists named by their plurals as kube-scheduler-simulator exports them."""
    for key, value in content.items():
        if key == "schedulerConfig":
            if is_mapping(value):
                collection.scheduler_configuration = plain(value)
            else:
                collection.warn(f"{source}: its schedulerConfig is no configuration and was skipped")
            continue
        kind = kind_of_word(key)
        if kind is not None and elements(value) == []:
            collection.listed(kind.name)
        take(value, source, collection, kind, depth + 1)
