"""Finds the pods that are meant in a running cluster, or what is needed to say which there are instead."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import quote

from kubectl_sched.sources.dump.collection import Collection
from kubectl_sched.sources.dump.dump import Forbidden
from kubectl_sched.sources.kinds import BY_NAME
from kubectl_sched.sources.live.live_errors import ClusterError, ResponseError
from kubectl_sched.sources.live.needed_kinds import SELECTORS, of_name
from kubectl_sched.sources.live.server_refusals import server_name
from kubectl_sched.sources.resolved_names import matches

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future, ThreadPoolExecutor

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.sources.live.client import Server
    from kubectl_sched.sources.live.lister import Listed, Lister, Take
    from kubectl_sched.sources.pod_selection import Selection

_NOBODY = "system:anonymous"
"""The user for whom a server takes whoever shows nothing that it accepts."""


class PodFinder:
    """Finds pods in one state of a cluster. `everybody` is the list of all pods, once it was needed."""

    def __init__(self, server: Server, lister: Lister, state: str) -> None:
        self._server = server
        self._lister = lister
        self._state = state
        self._begun: Future[Listed] | None = None
        self.everybody: Listed | None = None
        self.of_everybody = Collection()

    def begin_everybody(self, pool: ThreadPoolExecutor) -> None:
        """Begin the list of all pods before anybody asks for it."""
        self._begun = pool.submit(self._listed_pods, "", take=self._take)

    def selected(self, selection: Selection) -> list[KubernetesObject]:
        """The pods that are meant, or what is needed to say which there are instead."""
        namespace = selection.namespace or ""
        if selection.label_selector is not None:
            from kubectl_sched.api.apimachinery.selector_text import parse_selector

            parse_selector(selection.label_selector)
        named = selection.named
        if not named:
            if self._begun is not None:
                self.everybody = self._begun.result()
                return list(self.of_everybody.objects)
            return self._pods(namespace, *_selectors(selection))
        found: dict[str, KubernetesObject] = {}
        for kind, name in named:
            if kind != "Pod":
                objects = [*self._pods(namespace), *self._owners(namespace, kind, name)]
                if selection.looks_elsewhere and not _has_workload(objects, kind, name):
                    objects += [*self._anywhere(), *self._owners("", kind, name)]
            else:
                objects = self._pods(namespace, fields=of_name(name)) or self._instead(
                    namespace, "" if selection.looks_elsewhere else of_name(name)
                )
            found.update((f"{type(item).__name__}/{item.key}", item) for item in objects)
        return list(found.values())

    def _take(self, pods: Sequence[KubernetesObject], is_first: bool) -> None:
        """Gather everybody while the next page comes."""
        if is_first:
            self.of_everybody = Collection()
        self.of_everybody.add(pods, "the cluster")

    def _instead(self, namespace: str, fields: str) -> list[KubernetesObject]:
        """Return the pods to choose from where there is none of the name: all of the namespace, these of the others."""
        return [*self._pods(namespace), *(self._anywhere(fields=fields) if namespace else ())]

    def of_another_kind(self, selection: Selection) -> list[KubernetesObject]:
        """The pods of the namespace where none is as they were asked for, and those elsewhere that are."""
        if not selection.namespace:
            return []
        return [*self._pods(selection.namespace), *self._anywhere(*_selectors(selection))]

    def _anywhere(self, fields: str = "", labels: str = "") -> list[KubernetesObject]:
        """Pods of all namespaces, as far as these may be looked into."""
        try:
            return _in_their_namespace(self._lister.list(BY_NAME["Pod"], fields=fields, labels=labels).objects)
        except ResponseError:
            return []

    def _pods(self, namespace: str, fields: str = "", labels: str = "") -> list[KubernetesObject]:
        return _in_their_namespace(self._listed_pods(namespace, fields, labels).objects)

    def _listed_pods(self, namespace: str, fields: str = "", labels: str = "", take: Take | None = None) -> Listed:
        try:
            return self._lister.list(BY_NAME["Pod"], namespace, self._state, fields=fields, labels=labels, take=take)
        except ResponseError as error:
            if error.status != HTTPStatus.FORBIDDEN:
                raise
            if _NOBODY in error.message:
                raise ClusterError(
                    f"{server_name(self._server.endpoint)} does not know who asks, as for {_NOBODY}; log in, or name a "
                    "user with credentials that it accepts (--user, --token)"
                ) from None
            where = f"in namespace {namespace}" if namespace else f"in all namespaces{self._but_in_one()}"
            rule = Forbidden("Pod", "", "pods").rule
            raise ClusterError(
                f"not allowed to list pods {where} ({error.message}); the missing rule: {rule}"
            ) from None

    def _but_in_one(self) -> str:
        """Say that the pods of the context's own namespace may be listed, if they may."""
        own = self._server.endpoint.namespace
        try:
            self._server.get(f"/api/v1/namespaces/{quote(own, safe='')}/pods", {"limit": "1"})
        except ResponseError:
            return ": -n names a namespace"
        return f", but in namespace {own}: add -n {own}"

    def _owners(self, namespace: str, kind: str, name: str) -> list[KubernetesObject]:
        """Find what makes a workload's pods, and how many; without the right to read it the pods' own names tell."""
        owner = "ReplicaSet" if kind == "Deployment" else kind
        if owner not in {*SELECTORS, "DaemonSet", "Job"}:
            return []
        fields = of_name(name) if kind == "Job" else ""
        try:
            return _in_their_namespace(self._lister.list(BY_NAME[owner], namespace, self._state, fields=fields).objects)
        except ResponseError as error:
            if error.status != HTTPStatus.FORBIDDEN:
                raise
            return []


def _in_their_namespace(objects: list[KubernetesObject]) -> list[KubernetesObject]:
    """Return the objects as the dump readers have them: each in its namespace, each once."""
    collection = Collection()
    collection.add(objects, "the cluster")
    return list(collection.objects)


def _has_workload(objects: list[KubernetesObject], kind: str, name: str) -> bool:
    """Report whether some pod belongs to the workload, or the workload itself is there."""
    return any((match.kind, match.name) == (kind, name) for match in matches(objects))


def _selectors(selection: Selection) -> tuple[str, str]:
    """Return the field and the label selector for pods that nobody named."""
    return "spec.nodeName=" if selection.pending else "", selection.label_selector or ""
