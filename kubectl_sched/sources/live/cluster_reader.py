"""Reads of a running cluster what the replay of some pods needs, all kinds in the same state and at the same time."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from http import HTTPStatus
from typing import TYPE_CHECKING, TypeVar, cast

import msgspec
from msgspec.structs import replace

from kubectl_sched.api.core import Node
from kubectl_sched.api.decoders import UNDECODABLE, decoder
from kubectl_sched.api.kueue import PendingWorkloadsSummary
from kubectl_sched.api.pod import Pod
from kubectl_sched.errors import SchedError
from kubectl_sched.sources.dump.collection import Collection
from kubectl_sched.sources.dump.dump import Dump, Forbidden
from kubectl_sched.sources.garbage_collection import garbage_collection_paused
from kubectl_sched.sources.kinds import BY_NAME
from kubectl_sched.sources.live.client import Server
from kubectl_sched.sources.live.connections.proxies import is_on_this_host
from kubectl_sched.sources.live.credentials import Credentials
from kubectl_sched.sources.live.list_paths import DISCOVERY, group_of, pending_workloads_path, served_in
from kubectl_sched.sources.live.lister import Listed, Lister, list_meta
from kubectl_sched.sources.live.live_errors import ClusterError, ResponseError
from kubectl_sched.sources.live.needed_kinds import (
    GATES,
    NOT_SUCCEEDED,
    SELECTORS,
    Need,
    autoscaler_needs,
    event_needs,
    gate_needs,
    lacking_pods,
    local_queues,
    needs,
    of_name,
    scheduler_needs,
)
from kubectl_sched.sources.live.scheduler_log_reader import scheduler_logs
from kubectl_sched.sources.live.server_refusals import server_name
from kubectl_sched.sources.pod_selection import select, workloads_named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.sources.kinds import Kind
    from kubectl_sched.sources.live.endpoint import Endpoint
    from kubectl_sched.sources.live.list_paths import Served
    from kubectl_sched.sources.live.lister import Take
    from kubectl_sched.sources.pod_selection import Selection

Item = TypeVar("Item", bound="KubernetesObject")

_BY_KUBELETS = "source=kubelet,type=Warning"
_AT_ONCE_ON_THIS_HOST = 3
"""Lists at a time where the server shares our processors: more of them only wait for one another."""

_NOBODY = "system:anonymous"
"""The user for whom a server takes whoever shows nothing that it accepts."""


class _Version(msgspec.Struct, frozen=True):
    git_version: str = msgspec.field(name="gitVersion", default="")


def read_live(
    endpoint: Endpoint,
    selection: Selection,
    progress: Callable[[str, int, int | None], None] | None = None,
    credentials: Credentials | None = None,
) -> Dump:
    """Read what the replay of the selected pods needs of the cluster; `forbidden` names what may not be read of it.

    Where nodes, or the pods of other namespaces, may not be read, the selected pods and their events are all there is.
    `credentials` are those of an earlier reading. Raises SchedError for a pod that does not exist, ClusterError where
    the cluster does not answer.
    """
    credentials = credentials or Credentials(endpoint)
    credentials.shown()  # before several threads want them: a plugin that fails is run once, and asks once
    server = Server(endpoint, credentials=credentials)
    lister = Lister(server, progress)
    at_once = _AT_ONCE_ON_THIS_HOST if is_on_this_host(endpoint.server) else None
    pool = ThreadPoolExecutor(at_once, thread_name_prefix="list")
    try:
        with garbage_collection_paused():
            dump = _Reading(server, lister, pool).dump(selection)
    except Exception:
        _give_up(lister, pool)
        raise
    # Not after Ctrl-C, which is no Exception: it may have left a lock of the pool's taken for good.
    _give_up(lister, pool)
    return dump


def _give_up(lister: Lister, pool: ThreadPoolExecutor) -> None:
    """Wait for nothing that is still under way: nobody wants it any more, and a silent server may take minutes."""
    lister.close()
    pool.shutdown(wait=False, cancel_futures=True)


def read_version(server: Server) -> str | None:
    """Return the API server's version (`v1.36.2`), None if it does not say. Raises ClusterError without an answer."""
    try:
        return decoder(_Version).decode(server.get("/version")).git_version or None
    except (ResponseError, *UNDECODABLE):
        return None


class _Reading:
    def __init__(self, server: Server, lister: Lister, pool: ThreadPoolExecutor) -> None:
        self._server = server
        self._lister = lister
        self._pool = pool
        self._at = ""
        self._everybody: Listed | None = None
        self._pods_of_everybody: Future[Listed] | None = None
        self._of_everybody = Collection()
        self._begun: dict[Need, Future[Listed]] = {}
        self._forbidden: list[Forbidden] = []

    def dump(self, selection: Selection) -> Dump:
        version = self._pool.submit(read_version, self._server)
        self._at = self._state()
        if selection.means_everybody:  # the longest list first: what comes later waits for a connection
            self._pods_of_everybody = self._pool.submit(self._listed_pods, "", take=self._take)
        if selection.also and not self._forbidden:  # they are read whichever pods there are
            self._begun = dict(self._ask([Need("Node"), *map(Need, sorted({*selection.also} - {*GATES}))]))
        found = self._selected(selection)
        pods, context = _divided(found, selection)
        events = [*event_needs(pods), *_creations(selection), *_refusals(selection)]
        said = self._ask(_but_needless(events, selection) if selection.replays else [])
        instead = [] if pods or selection.named or self._everybody else self._of_another_kind(selection)
        held = [*pods, *context]
        gates = self._ask(self._served(gate_needs(held)) if selection.replays else [])
        lists: list[Listed] = []
        if not self._forbidden and (pods or context or selection.also or not selection.replays):
            lists = self._replayed(pods, selection)
        told = self._results(said)
        lacking = self._results(self._ask(lacking_pods(told, with_pods=not lists)))
        holders = self._results(gates, held)
        lists = [*lists, *holders, *self._places(held, holders)]
        read = self._together([*lists, *told, *lacking], [*pods, *context, *instead], version.result())
        return replace(read, objects=(*read.objects, *scheduler_logs(read, self._server)))

    def _served(self, wanted: Sequence[Need]) -> list[Need]:
        """Leave out the kinds of controllers whose API groups the server does not have, which it is asked once."""
        return [need for need in wanted if need.kind not in GATES or self._versions(BY_NAME[need.kind])]

    def _versions(self, kind: Kind) -> tuple[str, ...]:
        """Return the versions in which the server has a kind of a controller; none if it has not."""
        group, plural = group_of(kind), kind.plural.partition("/")[0]
        return self._discovered.get((group, plural)) or self._discovered.get((group, ""), ())

    @cached_property
    def _discovered(self) -> Served:
        try:
            return served_in(self._server.get("/apis", accept=DISCOVERY))
        except (ResponseError, *UNDECODABLE):
            return {}

    def _places(self, held: list[KubernetesObject], lists: Iterable[Listed]) -> list[Listed]:
        """Ask Kueue's visibility API, where it is served, about the LocalQueues of the workloads that wait."""
        kind = BY_NAME[PendingWorkloadsSummary.__name__]
        waiting = any(listed.kind.name == "LocalQueue" and listed.objects for listed in lists)
        served = self._versions(kind) if waiting else ()
        if not served:
            return []
        found: list[KubernetesObject] = []
        for namespace, name in sorted(local_queues(held, [item for listed in lists for item in listed.objects])):
            path = pending_workloads_path(namespace, name, served)
            try:
                summary = decoder(PendingWorkloadsSummary).decode(self._server.get(path))
            except UNDECODABLE:
                continue
            except ResponseError as error:
                if error.status == HTTPStatus.FORBIDDEN:
                    self._refused(Need(kind.name, namespace), error)
                continue
            found.append(replace(summary, metadata=replace(summary.metadata, name=name, namespace=namespace)))
        return [Listed(kind, found)]

    def _state(self) -> str:
        """The present resourceVersion, in which all else is read; asked of the kinds that nothing goes without."""
        state = ""
        asked = {
            kind: self._pool.submit(self._server.get, f"/api/v1/{BY_NAME[kind].plural}", {"limit": "1"})
            for kind in ("Pod", "Node")
        }
        for kind, page in asked.items():
            try:
                state = list_meta(page.result()).resource_version
            except ResponseError as error:
                if error.status != HTTPStatus.FORBIDDEN:
                    raise
                self._refused(Need(kind), error)
        return state

    def _selected(self, selection: Selection) -> list[KubernetesObject]:
        """The pods that are meant, or what is needed to say which there are instead."""
        namespace = selection.namespace or ""
        if selection.label_selector is not None:
            from kubectl_sched.api.apimachinery.selector_text import parse_selector

            parse_selector(selection.label_selector)
        named = selection.named
        if not named:
            if self._pods_of_everybody is not None:
                self._everybody = self._pods_of_everybody.result()
                return list(self._of_everybody.objects)
            return self._pods(namespace, *_selectors(selection))
        found: dict[str, KubernetesObject] = {}
        for kind, name in named:
            if kind != "Pod":
                objects = [*self._pods(namespace), *self._owners(namespace, kind, name)]
            else:
                objects = self._pods(namespace, fields=of_name(name)) or self._instead(namespace, name)
            found.update((f"{type(item).__name__}/{item.key}", item) for item in objects)
        return list(found.values())

    def _take(self, pods: Sequence[KubernetesObject], is_first: bool) -> None:
        """Gather everybody while the next page comes."""
        if is_first:
            self._of_everybody = Collection()
        self._of_everybody.add(pods, "the cluster")

    def _instead(self, namespace: str, name: str) -> list[KubernetesObject]:
        """The pods to choose from where there is none of the name: those of the namespace, and namesakes elsewhere."""
        return [*self._pods(namespace), *self._anywhere(fields=of_name(name))] if namespace else []

    def _of_another_kind(self, selection: Selection) -> list[KubernetesObject]:
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
            return self._lister.list(BY_NAME["Pod"], namespace, self._at, fields=fields, labels=labels, take=take)
        except ResponseError as error:
            if error.status != HTTPStatus.FORBIDDEN:
                raise
            if _NOBODY in error.message:
                raise ClusterError(
                    f"{server_name(self._server.endpoint)} does not know who asks, as for {_NOBODY}; log in, or name a "
                    "user with credentials that it accepts (--user, --token)"
                ) from None
            where = f"in namespace {namespace}" if namespace else "in all namespaces"
            rule = Forbidden("Pod", "", "pods").rule
            raise ClusterError(
                f"not allowed to list pods {where} ({error.message}); the missing rule: {rule}"
            ) from None

    def _owners(self, namespace: str, kind: str, name: str) -> list[KubernetesObject]:
        """Find what makes a workload's pods, and how many; without the right to read it the pods' own names tell."""
        owner = "ReplicaSet" if kind == "Deployment" else kind
        if owner not in {*SELECTORS, "DaemonSet", "Job"}:
            return []
        fields = of_name(name) if kind == "Job" else ""
        try:
            return _in_their_namespace(self._lister.list(BY_NAME[owner], namespace, self._at, fields=fields).objects)
        except ResponseError as error:
            if error.status != HTTPStatus.FORBIDDEN:
                raise
            return []

    def _replayed(self, pods: list[Pod], selection: Selection) -> list[Listed]:
        """Nodes, pods, what else these pods need and further kinds, side by side; then how schedulers are set up."""
        essential = self._ask([Need("Node")] if self._everybody else [Need("Node"), Need("Pod", fields=NOT_SUCCEEDED)])
        decided = [*self._served([Need(kind) for kind in selection.also]), *map(Need, selection.needless)]
        wanted = needs(pods, decided) if selection.replays else ()
        others = self._ask(_whole(_but_needless(wanted, selection)))
        lists = [*([self._everybody] if self._everybody else []), *self._results(essential)]
        if self._forbidden:
            return lists
        everybody = _of_kind(lists, Pod)
        autoscaling = autoscaler_needs(pods, _of_kind(lists, Node), everybody) if selection.is_one_pod else ()
        asked = {need for need, _ in others}
        evidence = self._ask([*scheduler_needs(everybody), *(need for need in autoscaling if need not in asked)])
        return [*lists, *self._results(others, pods), *self._results(evidence)]

    def _ask(self, wanted: Iterable[Need]) -> list[tuple[Need, Future[Listed]]]:
        """Begin the lists, unless they are under way."""
        return [(need, self._begun.pop(need) if need in self._begun else self._begin(need)) for need in wanted]

    def _begin(self, need: Need) -> Future[Listed]:
        """Begin a list; events may be kept in a store of their own, which knows nothing of the others' states."""
        kind = BY_NAME[need.kind]
        at = "" if need.kind == "Event" else self._at
        served = self._versions(kind) if need.kind in GATES else ()
        return self._pool.submit(self._lister.list, kind, need.namespace, at, served, fields=need.fields)

    def _results(
        self, asked: Iterable[tuple[Need, Future[Listed]]], of: Sequence[KubernetesObject] = ()
    ) -> list[Listed]:
        """Return what came back; a kind that is forbidden as a whole is tried in the namespaces of these objects."""
        results: list[Listed] = []
        for need, future in asked:
            try:
                results.append(future.result())
            except ResponseError as error:
                if error.status != HTTPStatus.FORBIDDEN:
                    raise
                self._refused(need, error)
                if BY_NAME[need.kind].namespaced and not need.namespace:
                    results += self._each(need, sorted({item.metadata.namespace for item in of}))
        return results

    def _each(self, need: Need, namespaces: Iterable[str]) -> list[Listed]:
        results: list[Listed] = []
        for namespace in namespaces:
            try:
                results.append(self._lister.list(BY_NAME[need.kind], namespace, self._at))
            except ResponseError as error:
                if error.status != HTTPStatus.FORBIDDEN:
                    raise
        return results

    def _refused(self, need: Need, error: ResponseError) -> None:
        kind = BY_NAME[need.kind]
        forbidden = Forbidden(kind.name, group_of(kind), kind.plural, need.namespace, error.message)
        if forbidden not in self._forbidden:
            self._forbidden.append(forbidden)

    def _together(self, lists: list[Listed], selected: list[KubernetesObject], version: str | None) -> Dump:
        has_everybody = any(listed is self._everybody for listed in lists)
        collection = self._of_everybody if has_everybody else Collection()
        for listed in lists:
            collection.listed(listed.kind.name)
            for key, problem in listed.broken:
                collection.skip(listed.kind.name, key, problem)
            if listed is not self._everybody:
                collection.add(listed.objects, "the cluster")
        if not has_everybody:
            collection.add([item for item in selected if item not in collection], "the cluster")
        dump = collection.dump
        warnings = dump.warnings
        if self._forbidden:
            from kubectl_sched.sources.live.missing_rights import in_words

            warnings = (*warnings, *map(in_words, self._forbidden))
        return replace(
            dump,
            warnings=warnings,
            resource_versions={each.kind.name: each.resource_version for each in lists if each.resource_version},
            server_version=version,
            forbidden=tuple(self._forbidden),
            is_live=True,
        )


def _of_kind(lists: Iterable[Listed], kind: type[Item]) -> list[Item]:
    return [item for listed in lists if listed.kind.type is kind for item in cast("list[Item]", listed.objects)]


def _but_needless(wanted: Iterable[Need], selection: Selection) -> list[Need]:
    return [need for need in wanted if need.kind not in selection.needless]


def _whole(wanted: Sequence[Need]) -> list[Need]:
    """The lists in a fixed order; one of all objects of a kind makes those of some of them needless."""
    everywhere = {need.kind for need in wanted if need == Need(need.kind)}
    return sorted(need for need in wanted if need == Need(need.kind) or need.kind not in everywhere)


def _in_their_namespace(objects: list[KubernetesObject]) -> list[KubernetesObject]:
    """As the dump readers have them: each in its namespace, each once."""
    collection = Collection()
    collection.add(objects, "the cluster")
    return list(collection.objects)


def _divided(found: list[KubernetesObject], selection: Selection) -> tuple[list[Pod], list[KubernetesObject]]:
    """The selected pods, and what besides pods was read to find them: all there is of a workload without any."""
    context = [item for item in found if not isinstance(item, Pod)]
    try:
        return select(found, selection, is_live=True), context
    except SchedError:
        if not context:
            raise
        return [], context


def _selectors(selection: Selection) -> tuple[str, str]:
    """Return the field and the label selector for pods that nobody named."""
    return "spec.nodeName=" if selection.pending else "", selection.label_selector or ""


def _creations(selection: Selection) -> list[Need]:
    """The events about pods that never came to be: those of a named workload, or all if all pending pods are meant."""
    if not (workloads_named(selection) or selection.means_all_pending):
        return []
    return [Need("Event", selection.namespace or "", "reason=FailedCreate")]


def _refusals(selection: Selection) -> list[Need]:
    """The events of kubelets that refuse pods, if one pod is meant or all that are pending."""
    is_wanted = selection.means_all_pending or selection.is_one_pod
    return [Need("Event", selection.namespace or "", _BY_KUBELETS)] if is_wanted else []
