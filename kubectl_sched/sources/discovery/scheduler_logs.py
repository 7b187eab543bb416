"""kube-scheduler's own log: at -v 2 and above it says, as it starts, which configuration it runs.

That is a KubeSchedulerConfiguration with every default in it, as YAML (LogOrWriteConfig in
cmd/kube-scheduler/app/options/configfile.go). How klog writes text of many lines has changed over the years.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from kubectl_sched.api.decoders import UNDECODABLE
from kubectl_sched.api.meta import ObjectMeta
from kubectl_sched.api.schedulers import SchedulerConfigurationSpec, SchedulerLog
from kubectl_sched.lazy_pattern import pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

MARK = b"Using component config"

LOG_BYTES = 256 << 10
"""The bytes of a log's beginning that are read. The configuration of ten profiles ends at about 60 KiB."""

_CONTAINER = "kube-scheduler"
_PATHS = (
    # must-gather and crust-gather
    pattern(
        r"(?:^|/)namespaces/(?P<namespace>[^/]+)/pods?/(?P<pod>[^/]+)/(?:[^/]+/){0,2}"
        rf"{_CONTAINER}/(?:logs/)?current\.log$"
    ),
    # support bundles
    pattern(rf"(?:^|/)logs/(?P<namespace>[^/]+)/(?P<pod>[^/]+)/{_CONTAINER}\.log$"),
    # sonobuoy
    pattern(rf"(?:^|/)podlogs/(?P<namespace>[^/]+)/(?P<pod>[^/]+)/logs/{_CONTAINER}\.txt$"),
    # kubectl cluster-info dump
    pattern(r"(?:^|/)(?P<namespace>[^/]+)/(?P<pod>[^/]*scheduler[^/]*)/logs\.txt$"),
)
_AMONG_OBJECTS = pattern(
    rb"^==== START logs for container \S+ of pod (?P<namespace>[^/\s]+)/(?P<pod>\S+) ====\s", re.MULTILINE
)
_END_AMONG_OBJECTS = b"\n==== END logs for "

_LOGGED = pattern(rb"^==== START logs for container \S+ of pod ([^/\s]+)/", re.MULTILINE)

_WRITTEN_AT = pattern(r"^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)(?: (?:std(?:out|err) [FP] )?|$)", re.MULTILINE)
"""The prefix that container runtimes and `--timestamps` put before every line."""

_BLOCK = pattern(r'Using component config" config=<\n(?P<text>(?:\t.*\n)+) >')
_QUOTED = pattern(r'Using component config" config=(?P<text>"(?:[^"\\\n]|\\.)*")')
_PLAIN = pattern(r"Using component config:\n(?P<text>(?:(?![IWEF]\d{4} ).*\n)+)")
_JSON = pattern(r'^\{.*"msg":"Using component config".*\}$', re.MULTILINE)


class _Place(NamedTuple):
    namespace: str
    pod: str


def logs_of(path: str) -> tuple[str, str] | None:
    """(namespace, name) of the pod whose kube-scheduler's log a file of a bundle is, None for any other file."""
    found = next((match for each in _PATHS if (match := each.search(path))), None)
    return _Place(found["namespace"], found["pod"]) if found is not None else None


def logged_configuration(log: str) -> str | None:
    """The YAML of the configuration that the log's last start has, None if the log has none."""
    lines = _WRITTEN_AT.sub("", log).replace("\r\n", "\n")
    start = lines.rfind(MARK.decode())
    if start < 0:
        return None
    start = lines.rfind("\n", 0, start) + 1
    for framing, text in ((_BLOCK, _indented), (_QUOTED, _quoted), (_PLAIN, _framed), (_JSON, _of_json)):
        found = framing.search(lines, start)
        if found is not None:
            return text(found)
    return None


def _indented(found: re.Match[str]) -> str:
    return "".join(line.removeprefix("\t") for line in found["text"].splitlines(keepends=True))


def _quoted(found: re.Match[str]) -> str | None:
    import ast  # hardly ever needed

    try:
        return str(ast.literal_eval(found["text"]))  # Go's escapes are among Python's
    except (SyntaxError, ValueError):
        return None


def _framed(found: re.Match[str]) -> str:
    """Old versions put it between two rules."""
    return "".join(line for line in found["text"].splitlines(keepends=True) if not line.startswith("-----"))


class _Entry(msgspec.Struct):
    config: str | None = None


def _of_json(found: re.Match[str]) -> str | None:
    """--logging-format=json."""
    try:
        return msgspec.json.decode(found[0], type=_Entry).config
    except UNDECODABLE:
        return None


def scheduler_log(namespace: str, pod: str, log: bytes) -> SchedulerLog | None:
    """Return the configuration that the log of the pod's kube-scheduler shows; None if it shows none."""
    text = logged_configuration(log.decode(errors="replace")) if MARK in log else None
    if text is None:
        return None
    metadata = ObjectMeta(name=pod, namespace=namespace)
    return SchedulerLog("kubectl-sched/v1", metadata, SchedulerConfigurationSpec(text))


def logs_among_objects(data: bytes) -> Iterator[SchedulerLog]:
    """Logs that `kubectl cluster-info dump` writes among the objects on standard output."""
    if MARK not in data:
        return
    at = 0
    while (found := _AMONG_OBJECTS.search(data, at)) and (at := data.find(_END_AMONG_OBJECTS, found.end() - 1)) >= 0:
        log = data[found.end() : min(at + 1, found.end() + LOG_BYTES)]
        seen = scheduler_log(found["namespace"].decode(), found["pod"].decode(), log)
        if seen is not None:
            yield seen


def logged_namespaces(data: bytes) -> set[str]:
    """The namespaces whose pods' logs `kubectl cluster-info dump` wrote among the objects."""
    return {found[1].decode() for found in _LOGGED.finditer(data)} if b"==== START logs for " in data else set()
