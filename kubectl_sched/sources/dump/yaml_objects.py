"""Collects the Kubernetes objects of a YAML file of one or more documents."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.sources.dump.document_shapes import OTHER_KINDS, take
from kubectl_sched.sources.dump.json_documents import without_logs
from kubectl_sched.sources.dump.unusable_input import foreign_text
from kubectl_sched.sources.dump.watch_recordings import final_state, holds_changes
from kubectl_sched.sources.dump_errors import DumpError
from kubectl_sched.sources.kinds import BY_SPELLING
from kubectl_sched.sources.yaml.yaml_documents import documents

if TYPE_CHECKING:
    from kubectl_sched.sources.dump.collection import Collection
    from kubectl_sched.sources.dump.input_files import Source
    from kubectl_sched.sources.kinds import Kind

_KIND = rb"""(?:["']?kind["']?\s*:\s*["']?)"""
_NAMES = b"|".join([b"List", *(f"{kind}(?:List)?".encode() for kind in (*BY_SPELLING, *OTHER_KINDS))])
_MANAGED_FIELDS = pattern(rb"^( *)managedFields:\r?\n(?:\1(?:- |  ).*\n)+", re.MULTILINE)
"""Often half of a file, and of use for gates alone; as empty lines they take no time and no line number changes."""

_ANY_KIND = pattern(_KIND)
_READ_KIND = pattern(rb"%b(?:%b)\b" % (_KIND, _NAMES))
_SURELY_READ_KIND = pattern(rb"^(?:- |  )?%b(?:%b)\b" % (_KIND, _NAMES), re.MULTILINE)


def _lines_alone(found: re.Match[bytes]) -> bytes:
    return found[0] if b"f:schedulingGates" in found[0] else b"\n" * found[0].count(b"\n")


def read_yaml(data: bytes, source: Source, collection: Collection, hint: Kind | None) -> None:
    """Takes in every document that can be read.

    Raises DumpError where none can; what is wrong with one among others is a warning.
    """
    text = without_logs(data)
    if b"managedFields:" in text:
        text = _MANAGED_FIELDS.sub(_lines_alone, text)
    if not source.named and not (_READ_KIND.search(text) or (hint is not None and not _ANY_KIND.search(text))):
        return
    foreign = foreign_text(data)
    if foreign is not None:
        raise DumpError(f"{source.name}: {foreign}")
    found = list(documents(text, source.name, budget=collection.budget))
    errors = [document.error for document in found if document.error is not None]
    if errors and not source.named and not _SURELY_READ_KIND.search(text):
        errors = []
    values: list[Any] = [document.value for document in found if isinstance(document.value, dict | list)]
    if errors and not values:
        raise errors[0]
    if source.named and not values:
        raise DumpError(f"{source.name}: it holds text, but no Kubernetes objects")
    for error in errors:
        collection.warn(f"{error}; this document was skipped")
    if any(holds_changes(value) for value in values):
        values = final_state(values)
    for value in values:
        take(value, source.name, collection, hint)
