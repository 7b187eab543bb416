"""Reads what `--config` names: one YAML or JSON document, strict as kube-scheduler is about duplicate keys.

It may be what people can get of a scheduler that runs: a ConfigMap, the answer of /configz, or its log.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kubectl_sched.cluster.scheduler_logs import MARK, logged_configuration
from kubectl_sched.cluster.yaml_documents import documents
from kubectl_sched.config.config_map import configuration_in
from kubectl_sched.config.configz import configuration_in_configz
from kubectl_sched.errors import SchedError

if TYPE_CHECKING:
    from collections.abc import Mapping


def read_configuration(path: str, flag: str = "--config") -> Mapping[str, Any]:
    """The KubeSchedulerConfiguration that a file (`-`: standard input) holds in any of these forms; not yet looked at.

    An empty file gives an empty mapping. Raises SchedError, naming the flag, where there is no single document.
    """
    where = f"{flag} {path}"
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise SchedError(f"{where}: {error.strerror}") from None
    if MARK in data:
        return _of_log(data, where)
    document = _mapping(data, where)
    inside = configuration_in(document, lambda text: _mapping(text.encode(), f"{where}, inside the ConfigMap"))
    inside = configuration_in_configz(inside)
    return inside if isinstance(inside, dict) else document


def _of_log(data: bytes, where: str) -> dict[str, Any]:
    text = logged_configuration(data.decode(errors="replace"))
    if text is None:
        raise SchedError(f"{where}: the configuration in this log is cut off; take the log from its beginning")
    return _mapping(text.encode(), f"{where}, inside the log")


def _mapping(data: bytes, where: str) -> dict[str, Any]:
    found = list(documents(data, where, strict=True))
    for document in found:
        if document.error is not None:
            raise document.error
    if len(found) > 1:
        raise SchedError(f"{where}: it holds {len(found)} documents; it must be one KubeSchedulerConfiguration")
    value = found[0].value if found else {}
    if not isinstance(value, dict):
        raise SchedError(f"{where}: it is no mapping; it must be one KubeSchedulerConfiguration")
    return value
