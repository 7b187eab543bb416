"""Sources of names for completion: the dumps on the line, else the cluster, which is given little time.

Only names are read, and the fields that a candidate is described by; nothing is kept.
"""

from __future__ import annotations

import re
import threading
import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from kubectl_sched.api.apimachinery.validation import dns_label_errors, subdomain_errors
from kubectl_sched.api.decoders import UNDECODABLE, decoder
from kubectl_sched.config.types import DEFAULT_SCHEDULER_NAME
from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.sources.live.connection_flags import Connection

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

PATIENCE_SECONDS: Final = 2.5
"""The time for a whole cluster, its credential plugin included. What has come by then is offered."""

_PAGE: Final = "500"
_LOCAL_NAME: Final = pattern(r"[A-Za-z0-9][\w./:@+-]*", re.ASCII)
"""Names in a kubeconfig: nothing defines them, but providers write no others, and no shell finds syntax in them."""


class Candidate(NamedTuple):
    """A completion, and its description."""

    value: str
    about: str = ""


class _Metadata(msgspec.Struct, frozen=True):
    name: str = ""
    namespace: str = ""


class _Spec(msgspec.Struct, frozen=True, rename="camel"):
    node_name: str = ""
    scheduler_name: str = ""
    unschedulable: bool = False


class _Status(msgspec.Struct, frozen=True):
    phase: str = ""


class Found(msgspec.Struct, frozen=True):
    """The name and kind of an object, and nothing else of it."""

    metadata: _Metadata = _Metadata()
    spec: _Spec = _Spec()
    status: _Status = _Status()


class _Continue(msgspec.Struct, frozen=True):
    token: str = msgspec.field(name="continue", default="")


class _Page(msgspec.Struct, frozen=True):
    metadata: _Continue = _Continue()
    items: tuple[Found, ...] = ()


class Source(ABC):
    """A cluster or a dump; `namespace` is the one to look in, None for all."""

    namespace: str | None

    @abstractmethod
    def found(self, kind: str, namespace: str | None) -> Iterable[Found]:
        """The objects of a kind, in one namespace or in all."""

    def names(self, kind: str) -> list[Candidate]:
        """The names of a kind that Kubernetes would accept, each with what it is."""
        return [
            Candidate(each.metadata.name, _about(kind, each))
            for each in self.found(kind, self.namespace)
            if each.status.phase not in {"Succeeded", "Failed"} and not subdomain_errors(each.metadata.name)
        ]

    def namespaces(self) -> list[Candidate]:
        """The valid names of all namespaces."""
        named = {each.metadata.name for each in self.found("Namespace", None)}
        return [Candidate(name) for name in sorted(named | self.named_namespaces()) if not dns_label_errors(name)]

    def named_namespaces(self) -> set[str]:
        """Return namespaces that only their objects name."""
        return set()

    def scheduler_names(self) -> list[Candidate]:
        """Return the schedulers that pods ask for."""
        asked = {each.spec.scheduler_name for each in self.found("Pod", self.namespace)}
        return _schedulers({DEFAULT_SCHEDULER_NAME, *asked})


def _about(kind: str, found: Found) -> str:
    if kind == "Pod":
        node = found.spec.node_name
        return "pending" if not node else "bound" if subdomain_errors(node) else f"on {node}"
    return "cordoned" if found.spec.unschedulable else ""


def _schedulers(names: Iterable[str]) -> list[Candidate]:
    """Return the names of schedulers that look like names of objects, as all that are in use do."""
    return [Candidate(name) for name in sorted(names) if not subdomain_errors(name)]


class _Dumped(Source):
    def __init__(self, paths: Sequence[str], namespace: str | None) -> None:
        from kubectl_sched.sources.dump.reader import read

        self.namespace = namespace
        self._objects = () if "-" in paths else read(paths).objects

    def found(self, kind: str, namespace: str | None) -> Iterable[Found]:
        for item in self._objects:
            if type(item).__name__ == kind and namespace in {None, item.namespace or namespace}:
                spec = getattr(item, "spec", None)
                yield Found(
                    _Metadata(item.name, item.namespace),
                    _Spec(
                        getattr(spec, "node_name", ""),
                        getattr(spec, "scheduler_name", ""),
                        getattr(spec, "unschedulable", False) is True,
                    ),
                    _Status(getattr(getattr(item, "status", None), "phase", "")),
                )

    def named_namespaces(self) -> set[str]:
        """Return the namespaces that have objects: many dumps leave the namespaces themselves out."""
        return {item.namespace for item in self._objects}


class _Live(Source):
    def __init__(self, connection: Connection, namespace: str | None) -> None:
        self._connection = connection
        self.namespace = namespace

    def found(self, kind: str, namespace: str | None) -> Iterable[Found]:
        come: list[Found] = []
        reading = threading.Thread(target=self._read, args=(kind, namespace, come), daemon=True)
        reading.start()
        reading.join(PATIENCE_SECONDS)
        return list(come)

    def _read(self, kind: str, namespace: str | None, come: list[Found]) -> None:
        """Add page after page to `come`. Runs beside, and may be left behind; what fails just ends it."""
        from kubectl_sched.errors import SchedError
        from kubectl_sched.sources.kinds import BY_NAME
        from kubectl_sched.sources.live.client import Server
        from kubectl_sched.sources.live.kubeconfig import resolve
        from kubectl_sched.sources.live.list_paths import list_paths

        until = time.monotonic() + PATIENCE_SECONDS
        try:
            endpoint = resolve(self._connection)
            server = Server(endpoint, attempts=1)
            within = endpoint.namespace if namespace == "" else namespace or ""
            path = list_paths(BY_NAME[kind], within)[0]
            token = ""
            while (left := until - time.monotonic()) > 0:
                query = {"limit": _PAGE, **({"continue": token} if token else {})}
                page = decoder(_Page).decode(server.get(path, query, only_seconds=left))
                come += page.items
                token = page.metadata.token
                if not token:
                    return
        except (SchedError, *UNDECODABLE):
            return


def source_of(given: Mapping[str, Any]) -> Source:
    """The dumps of --from, else the cluster that the connection flags on the line mean."""
    everywhere = bool(given.get("all_namespaces"))
    paths = tuple(given.get("from_") or ())
    if paths:
        return _Dumped(paths, None if everywhere else given.get("namespace") or "default")
    return _Live(_connection(given), None if everywhere else given.get("namespace") or "")


def kubeconfig_names(given: Mapping[str, Any], section: str) -> list[Candidate]:
    """The names of the kubeconfig's contexts, clusters or users; never what is in them."""
    import os

    from kubectl_sched.sources.live.kubeconfig import kubeconfig_paths, load

    names = getattr(load(kubeconfig_paths(_connection(given), os.environ)), section)
    return [Candidate(name) for name in names if _LOCAL_NAME.fullmatch(name)]


def configured_profiles(path: str) -> list[Candidate]:
    """The schedulerNames of a KubeSchedulerConfiguration."""
    from kubectl_sched.sources.configuration_file import read_configuration

    profiles = read_configuration(path).document.get("profiles") or [{}]
    return _schedulers({each.get("schedulerName", DEFAULT_SCHEDULER_NAME) for each in profiles})


def _connection(given: Mapping[str, Any]) -> Connection:
    fields = {name: given.get(name) for name in Connection.__struct_fields__}
    fields["as_groups"] = tuple(given.get("as_groups") or ())
    return Connection(**{name: value for name, value in fields.items() if value is not None})
