"""Reads of a running cluster what the replay of some pods needs, all kinds in the same state and at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
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
from kubectl_sched.sources.dump.dump import about_limit
from kubectl_sched.sources.garbage_collection import garbage_collection_paused
from kubectl_sched.sources.kinds import BY_NAME
from kubectl_sched.sources.live.client import Server
from kubectl_sched.sources.live.cluster_lists import ClusterLists
from kubectl_sched.sources.live.connections.proxies import is_on_this_host
from kubectl_sched.sources.live.credentials import Credentials
from kubectl_sched.sources.live.list_paths import pending_workloads_path
from kubectl_sched.sources.live.lister import Listed, Lister
from kubectl_sched.sources.live.live_errors import ResponseError
from kubectl_sched.sources.live.needed_kinds import (
    GATES,
    NOT_SUCCEEDED,
    OF_ALL_NAMESPACES,
    Need,
    autoscaler_evidence,
    autoscaler_needs,
    event_needs,
    gate_needs,
    lacking_pods,
    local_queues,
    needs,
    scheduler_needs,
)
from kubectl_sched.sources.live.pod_finder import PodFinder
from kubectl_sched.sources.live.scheduler_log_reader import scheduler_logs
from kubectl_sched.sources.pod_selection import select, workloads_named
from kubectl_sched.sources.resolved_names import resolved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from concurrent.futures import Future

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.sources.dump.dump import Dump
    from kubectl_sched.sources.live.endpoint import Endpoint
    from kubectl_sched.sources.pod_selection import Selection

Item = TypeVar("Item", bound="KubernetesObject")

_BY_KUBELETS = "source=kubelet,type=Warning"
_AT_ONCE_ON_THIS_HOST = 3
"""Lists at a time where the server shares our processors: more of them only wait for one another."""

_OF_NODES = "NodeClaim"
"""The kind that questions about the nodes of autoscalers ask for."""


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
        self._lists = ClusterLists(server, lister, pool)

    def dump(self, selection: Selection) -> Dump:
        version = self._pool.submit(read_version, self._server)
        self._lists.read_state()
        if selection.own_namespace is not None and self._lists.refuses("Pod"):
            return self._of_namespace(selection, version)
        finder = PodFinder(self._server, self._lister, self._lists.state)
        if selection.means_everybody:  # the longest list first: what comes later waits for a connection
            finder.begin_everybody(self._pool)
        if selection.also and not self._lists.forbidden:  # they are read whichever pods there are
            self._lists.begin([Need("Node"), *map(Need, sorted({*selection.also} - {*GATES}))])
        found = finder.selected(selection)
        selection = resolved(selection, found)
        pods, context = _divided(found, selection)
        events = [*event_needs(pods), *_creations(selection), *_refusals(selection)]
        said = self._lists.ask(_but_needless(events, selection) if selection.replays else [])
        instead = [] if pods or selection.named or finder.everybody else finder.of_another_kind(selection)
        held = [*pods, *context]
        gates = self._lists.ask(self._lists.served(gate_needs(held)) if selection.replays else [])
        lists: list[Listed] = []
        if not self._lists.forbidden and (pods or context or selection.also or not selection.replays):
            lists = self._replayed(pods, selection, finder.everybody)
        told = self._lists.results(said)
        lacking = self._lists.results(self._lists.ask(lacking_pods(told, with_pods=not lists)))
        holders = self._lists.results(gates, held)
        lists = [*lists, *holders, *self._places(held, holders)]
        read = self._together(finder, [*lists, *told, *lacking], [*pods, *context, *instead], version.result())
        return replace(read, objects=(*read.objects, *scheduler_logs(read, self._server)))

    def _of_namespace(self, selection: Selection, version: Future[str | None]) -> Dump:
        """Read the one namespace, and what has none, whatever of it may not be read."""
        namespace = selection.own_namespace or ""
        finder = PodFinder(self._server, self._lister, self._lists.state)
        selection = replace(selection, namespace=namespace)
        pods, _ = _divided(finder.selected(selection), selection)
        wanted = {*map(Need, selection.also), *needs(pods)}
        narrowed = {_within(need, namespace) for need in (Need("Node"), *self._lists.served([*wanted]))}
        asked = sorted(each for each in narrowed if not each.fields or each._replace(fields="") not in narrowed)
        lists = self._lists.results(self._lists.ask([*asked, *event_needs(pods)]))
        everybody = self._lists.take_refusal("Pod")
        read = self._together(finder, lists, [*pods], version.result())
        limit = f"namespace {namespace}"
        warned = f"not allowed to list pods of all namespaces: {about_limit(limit)}; the missing rule: {everybody.rule}"
        return replace(read, pods_of=(limit,), warnings=(warned, *read.warnings))

    def _places(self, held: list[KubernetesObject], lists: Iterable[Listed]) -> list[Listed]:
        """Ask Kueue's visibility API, where it is served, about the LocalQueues of the workloads that wait."""
        kind = BY_NAME[PendingWorkloadsSummary.__name__]
        waiting = any(listed.kind.name == "LocalQueue" and listed.objects for listed in lists)
        served = self._lists.versions(kind) if waiting else ()
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
                    self._lists.refused(Need(kind.name, namespace), error)
                continue
            found.append(replace(summary, metadata=replace(summary.metadata, name=name, namespace=namespace)))
        return [Listed(kind, found)]

    def _replayed(self, pods: list[Pod], selection: Selection, all_pods: Listed | None) -> list[Listed]:
        """Nodes, pods, what else these pods need and further kinds, side by side; then how schedulers are set up."""
        essential = self._lists.ask([Need("Node"), *([] if all_pods else [Need("Pod", fields=NOT_SUCCEEDED)])])
        decided = [*self._lists.served([Need(kind) for kind in selection.also]), *map(Need, selection.needless)]
        wanted = needs(pods, decided) if selection.replays else ()
        others = self._lists.ask(_whole(_but_needless(wanted, selection)))
        lists = [*([all_pods] if all_pods else []), *self._lists.results(essential)]
        if self._lists.forbidden:
            return lists
        everybody = _of_kind(lists, Pod)
        autoscaling = _autoscaling(pods, selection, _of_kind(lists, Node), everybody)
        asked = {need for need, _ in others}
        evidence = self._lists.ask([*scheduler_needs(everybody), *(need for need in autoscaling if need not in asked)])
        return [*lists, *self._lists.results(others, pods, selection.namespace or ""), *self._lists.results(evidence)]

    def _together(
        self, finder: PodFinder, lists: list[Listed], selected: list[KubernetesObject], version: str | None
    ) -> Dump:
        has_everybody = any(listed is finder.everybody for listed in lists)
        collection = finder.of_everybody if has_everybody else Collection()
        for listed in lists:
            collection.listed(listed.kind.name)
            for key, problem in listed.broken:
                collection.skip(listed.kind.name, key, problem)
            if listed is not finder.everybody:
                collection.add(listed.objects, "the cluster")
        if not has_everybody:
            collection.add([item for item in selected if item not in collection], "the cluster")
        dump = collection.dump
        warnings = dump.warnings
        if self._lists.forbidden:
            from kubectl_sched.sources.live.missing_rights import in_words

            warnings = (*warnings, *map(in_words, self._lists.forbidden))
        return replace(
            dump,
            warnings=warnings,
            resource_versions={each.kind.name: each.resource_version for each in lists if each.resource_version},
            server_version=version,
            forbidden=tuple(self._lists.forbidden),
            is_live=True,
        )


def _autoscaling(
    pods: Sequence[Pod], selection: Selection, nodes: Sequence[Node], everybody: Sequence[Pod]
) -> tuple[Need, ...]:
    """Return what tells of autoscalers: for one pod that waits, and for questions about the nodes that they make."""
    if selection.is_one_pod:
        return autoscaler_needs(pods, nodes, everybody)
    if _OF_NODES not in selection.also:
        return ()
    return (*autoscaler_evidence(nodes, everybody), Need("Event", fields="involvedObject.kind=Node"))


def _of_kind(lists: Iterable[Listed], kind: type[Item]) -> list[Item]:
    return [item for listed in lists if listed.kind.type is kind for item in cast("list[Item]", listed.objects)]


def _within(need: Need, namespace: str) -> Need:
    """Return the list in the namespace, but for kinds that are kept elsewhere for all pods."""
    is_elsewhere = not BY_NAME[need.kind].namespaced or need.namespace or need.kind in OF_ALL_NAMESPACES
    return need if is_elsewhere else need._replace(namespace=namespace)


def _but_needless(wanted: Iterable[Need], selection: Selection) -> list[Need]:
    return [need for need in wanted if need.kind not in selection.needless]


def _whole(wanted: Sequence[Need]) -> list[Need]:
    """The lists in a fixed order; one of all objects of a kind makes those of some of them needless."""
    everywhere = {need.kind for need in wanted if need == Need(need.kind)}
    return sorted(need for need in wanted if need == Need(need.kind) or need.kind not in everywhere)


def _divided(found: list[KubernetesObject], selection: Selection) -> tuple[list[Pod], list[KubernetesObject]]:
    """The selected pods, and what besides pods was read to find them: all there is of a workload without any."""
    context = [item for item in found if not isinstance(item, Pod)]
    try:
        return select(found, selection, is_live=True), context
    except SchedError:
        if not context:
            raise
        return [], context


def _creations(selection: Selection) -> list[Need]:
    """The events about pods that never came to be: those of a named workload, or all if all pending pods are meant."""
    if not (workloads_named(selection) or selection.means_all_pending):
        return []
    return [Need("Event", selection.namespace or "", "reason=FailedCreate")]


def _refusals(selection: Selection) -> list[Need]:
    """The events of kubelets that refuse pods, if one pod is meant or all that are pending."""
    is_wanted = selection.means_all_pending or selection.is_one_pod
    return [Need("Event", selection.namespace or "", _BY_KUBELETS)] if is_wanted else []
