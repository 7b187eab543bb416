"""Reads dumps: files, directories, archives and standard input."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from kubectl_sched.api.decoders import UNDECODABLE
from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.sources.budget import Budget
from kubectl_sched.sources.dump.collection import Collection
from kubectl_sched.sources.dump.document_shapes import cluster_info_note, kind_of_path, layout_notes
from kubectl_sched.sources.dump.input_files import Walk
from kubectl_sched.sources.dump.json_documents import MalformedError, read_json, read_list
from kubectl_sched.sources.dump.json_lists import NotAList
from kubectl_sched.sources.dump.text_encoding import utf8
from kubectl_sched.sources.dump_errors import BombError, DumpError
from kubectl_sched.sources.garbage_collection import garbage_collection_paused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.sources.dump.dump import Dump
    from kubectl_sched.sources.dump.input_files import Progress, Source


def read(paths: Sequence[str], progress: Progress | None = None) -> Dump:
    """All objects that the files, directories, archives and standard input (`-`) hold.

    `progress` is told the name of what is being read, how many bytes of it are done and how many there are.
    Raises DumpError where a path cannot be read or where there are no Kubernetes objects in any of them.
    """
    budget = Budget()
    walk = Walk(progress, budget)
    collection = Collection(budget)
    with garbage_collection_paused():
        for path in paths:
            for source in walk.sources(path):
                if not source.named:  # a directory or an archive
                    collection.tell_absence()
                _read_source(source, collection)
    for problem in (*walk.problems, *layout_notes(walk.met)):
        collection.warn(problem)
    if not collection:
        from kubectl_sched.sources.dump.unusable_input import refusal

        raise refusal(paths, walk.met, collection)
    return collection.dump


def _read_source(source: Source, collection: Collection) -> None:
    """Takes in one file. What is wrong with a file that was not asked for by itself is a warning."""
    try:
        if not source.named and _is_log(source, collection):
            return
        try:
            read_list(source.content, source.name, collection, kind_of_path(source.path), source.tell)
        except NotAList:
            content = source.content if source.from_start is None else source.from_start()
            _read_other(source._replace(content=content), collection)
    except (DumpError, OSError) as error:
        refused = error if isinstance(error, DumpError) else DumpError(f"{source.name}: it cannot be read: {error}")
        if source.named or isinstance(error, BombError):
            raise refused from None
        left = (
            "what follows in the file was not read"
            if isinstance(error, MalformedError)
            else "nothing of the file was read"
        )
        collection.warn(f"{refused}; {left}")


def _is_log(source: Source, collection: Collection) -> bool:
    """Report whether the file of a bundle is a kube-scheduler's log, which is taken in at once."""
    from kubectl_sched.sources.discovery.scheduler_logs import LOG_BYTES, logs_of, scheduler_log

    pod = logs_of(source.path)
    if pod is None:
        return False
    log = scheduler_log(*pod, source.content.read(LOG_BYTES))
    collection.add([log] if log is not None else [], source.name)
    return True


def _read_other(source: Source, collection: Collection) -> None:
    source.content.seek(0)
    data = _PROMPT.sub(b"", utf8(source.content.read()), count=1)
    if _ERRORS.search(source.path):
        _take_errors(data, source, collection)
        return
    hint = kind_of_path(source.path)

    from kubectl_sched.sources.discovery.scheduler_logs import logged_namespaces, logs_among_objects

    collection.add(logs_among_objects(data), source.name)
    for note in cluster_info_note(logged_namespaces(data)):
        collection.warn(note)
    if not data.strip():
        if source.named:
            raise DumpError(f"{source.name}: it is empty")
        return
    if _JSON.match(data):
        try:
            read_json(data, source.name, collection, hint)
        except DumpError:
            if b"\n---" not in data:
                raise
        else:
            return
    from kubectl_sched.sources.dump.yaml_objects import read_yaml

    read_yaml(data, source, collection, hint)


def _take_errors(data: bytes, source: Source, collection: Collection) -> None:
    """The errors of a support bundle's collectors: a list of texts, or null."""
    try:
        errors = msgspec.json.decode(data, type=list[str] | None)
    except UNDECODABLE:
        return
    if errors:
        collection.warn(f"{source.name}: the bundle lacks what could not be collected: {errors[0]}")


_ERRORS = pattern(r"(?:^|/)cluster-resources/[^/]+-errors\.json$")
_PROMPT = pattern(rb"\A(?:[^\n{]*[$#%>] )?(?:kubectl|oc) get [^\n]*\n")
"""The command line that was copied with what it printed."""

_JSON = pattern(rb"(?:(?:Warning|error|[EIW]\d{4}) ?[^\n]*\n)*\s*[{\[]")
"""kubectl's warnings stand before it, if its stderr went into the file as well."""
