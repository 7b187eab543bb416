"""Reads what `--config` names: one YAML or JSON document, strict as kube-scheduler is about duplicate keys.

It may be what people can get of a scheduler that runs: a ConfigMap, the answer of /configz, or its log.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from kubectl_sched.config.config_map import configuration_in
from kubectl_sched.config.configz import configuration_in_configz
from kubectl_sched.config.decoding import KIND
from kubectl_sched.errors import SchedError
from kubectl_sched.near_names import near_files
from kubectl_sched.sources.discovery.scheduler_logs import MARK, logged_configuration
from kubectl_sched.sources.dump.user_files import bounded_content, check_size, json_value
from kubectl_sched.sources.yaml.yaml_documents import documents

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class ConfigurationFile(NamedTuple):
    """The document of `--config`, not yet decoded, and the warnings about its file."""

    document: Mapping[str, Any]
    warnings: tuple[str, ...] = ()


def read_configuration(path: str, flag: str = "--config") -> ConfigurationFile:
    """The KubeSchedulerConfiguration that a file (`-`: standard input) holds in any of these forms.

    An empty file gives an empty mapping. Raises SchedError, naming the flag, where there is no such document.
    """
    where = f"{flag} {path}"
    try:
        data = bounded_content(path)
    except OSError as error:
        raise SchedError(f"{where}: {error.strerror}{near_files(path)}") from None
    if MARK in data:
        return _of_log(data, where)
    check_size(data, where)
    file = first_document(data, where)
    inside = configuration_in(
        file.document, lambda text: first_document(text.encode(), f"{where}, inside the ConfigMap")
    )
    if isinstance(inside, ConfigurationFile):
        return inside
    inside = configuration_in_configz(inside)
    return file._replace(document=inside) if isinstance(inside, dict) else file


def _of_log(data: bytes, where: str) -> ConfigurationFile:
    text = logged_configuration(data.decode(errors="replace"))
    if text is None:
        raise SchedError(f"{where}: the configuration in this log is cut off; take the log from its beginning")
    return first_document(text.encode(), f"{where}, inside the log")


def first_document(data: bytes, where: str) -> ConfigurationFile:
    """The first document, which is all that kube-scheduler reads; others are refused unless it is a configuration.

    An empty text gives an empty mapping. Raises SchedError, naming `where` it comes from.
    """
    values = [_json(data, where)] if data.lstrip().startswith(b"{") else _yaml(data, where)
    value = values[0] if values else {}
    warnings: tuple[str, ...] = ()
    if len(values) > 1:
        if not _is_configuration(value):
            raise SchedError(f"{where}: it holds {len(values)} documents; it must be one {KIND}")
        warnings = (f"{where} holds {len(values)} documents, of which kube-scheduler reads only the first",)
    if not isinstance(value, dict):
        raise SchedError(f"{where}: it is no mapping; it must be one {KIND}")
    return ConfigurationFile(value, warnings)


def _json(data: bytes, where: str) -> Any:
    """Read a text that begins with a brace, which is JSON to kube-scheduler and never YAML."""
    try:
        return json_value(data, where)
    except json.JSONDecodeError as error:
        raise SchedError(
            f"{where}: it is not JSON at line {error.lineno}: {error.msg.lower()}; kube-scheduler reads what begins "
            "with a brace as JSON"
        ) from None


def _yaml(data: bytes, where: str) -> list[Any]:
    found = list(documents(data, where, strict=True))
    if found and found[0].error is not None:
        raise found[0].error
    values = [document.value for document in found]
    if found and _is_configuration(values[0]) and _holds_document(data.split(b"\n")[: found[0].line - 1]):
        raise SchedError(f"{where}: its first document is empty, and kube-scheduler reads no other")
    return values


def _is_configuration(value: Any) -> bool:
    return isinstance(value, dict) and value.get("kind") == KIND


def _holds_document(lines: Iterable[bytes]) -> bool:
    """Report whether the lines hold more than comments: a value, or the mark that begins a document."""
    return any(line.strip() and not line.lstrip().startswith(b"#") for line in lines)
