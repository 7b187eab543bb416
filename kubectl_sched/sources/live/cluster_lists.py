"""Lists of a running cluster, side by side and all in one state."""

from __future__ import annotations

from functools import cached_property
from http import HTTPStatus
from typing import TYPE_CHECKING

from kubectl_sched.api.decoders import UNDECODABLE
from kubectl_sched.sources.dump.dump import Forbidden
from kubectl_sched.sources.kinds import BY_NAME
from kubectl_sched.sources.live.list_paths import DISCOVERY, group_of, served_in
from kubectl_sched.sources.live.lister import list_meta
from kubectl_sched.sources.live.live_errors import ResponseError
from kubectl_sched.sources.live.needed_kinds import GATES, Need

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from concurrent.futures import Future, ThreadPoolExecutor

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.sources.kinds import Kind
    from kubectl_sched.sources.live.client import Server
    from kubectl_sched.sources.live.list_paths import Served
    from kubectl_sched.sources.live.lister import Listed, Lister


class ClusterLists:
    """The lists of one reading. `state` is their resourceVersion, `forbidden` has the kinds that may not be read."""

    def __init__(self, server: Server, lister: Lister, pool: ThreadPoolExecutor) -> None:
        self._server = server
        self._lister = lister
        self._pool = pool
        self._begun: dict[Need, Future[Listed]] = {}
        self.state = ""
        self.forbidden: list[Forbidden] = []

    def read_state(self) -> None:
        """Note the present resourceVersion, in which all else is read; asked of the kinds that nothing goes without."""
        asked = {
            kind: self._pool.submit(self._server.get, f"/api/v1/{BY_NAME[kind].plural}", {"limit": "1"})
            for kind in ("Pod", "Node")
        }
        for kind, page in asked.items():
            try:
                self.state = list_meta(page.result()).resource_version
            except ResponseError as error:
                if error.status != HTTPStatus.FORBIDDEN:
                    raise
                self.refused(Need(kind), error)

    def begin(self, wanted: Iterable[Need]) -> None:
        """Begin lists before anybody asks for them."""
        self._begun = dict(self.ask(wanted))

    def ask(self, wanted: Iterable[Need]) -> list[tuple[Need, Future[Listed]]]:
        """Begin the lists, unless they are under way."""
        return [(need, self._begun.pop(need) if need in self._begun else self._begin(need)) for need in wanted]

    def _begin(self, need: Need) -> Future[Listed]:
        """Begin a list; events may be kept in a store of their own, which knows nothing of the others' states."""
        kind = BY_NAME[need.kind]
        at = "" if need.kind == "Event" else self.state
        served = self.versions(kind) if need.kind in GATES else ()
        return self._pool.submit(self._lister.list, kind, need.namespace, at, served, fields=need.fields)

    def results(
        self, asked: Iterable[tuple[Need, Future[Listed]]], of: Sequence[KubernetesObject] = (), namespace: str = ""
    ) -> list[Listed]:
        """Return what came back; a kind that is forbidden as a whole is tried in the namespace and in those of `of`."""
        results: list[Listed] = []
        for need, future in asked:
            try:
                results.append(future.result())
            except ResponseError as error:
                if error.status != HTTPStatus.FORBIDDEN:
                    raise
                self.refused(need, error)
                if BY_NAME[need.kind].namespaced and not need.namespace:
                    tried = {*filter(None, [namespace]), *(item.metadata.namespace for item in of)}
                    results += self._each(need, sorted(tried))
        return results

    def _each(self, need: Need, namespaces: Iterable[str]) -> list[Listed]:
        results: list[Listed] = []
        for namespace in namespaces:
            try:
                results.append(self._lister.list(BY_NAME[need.kind], namespace, self.state))
            except ResponseError as error:
                if error.status != HTTPStatus.FORBIDDEN:
                    raise
        return results

    def refuses(self, kind: str) -> bool:
        """Report whether all objects of the kind together may not be read."""
        return any((each.kind, each.namespace) == (kind, "") for each in self.forbidden)

    def take_refusal(self, kind: str) -> Forbidden:
        """Return what is noted of a kind that is refused, and note it no longer, as its absence is told otherwise."""
        found = next(each for each in self.forbidden if (each.kind, each.namespace) == (kind, ""))
        self.forbidden = [each for each in self.forbidden if each.kind != kind]
        return found

    def refused(self, need: Need, error: ResponseError) -> None:
        """Note what may not be read."""
        kind = BY_NAME[need.kind]
        forbidden = Forbidden(kind.name, group_of(kind), kind.plural, need.namespace, error.message)
        if forbidden not in self.forbidden:
            self.forbidden.append(forbidden)

    def served(self, wanted: Sequence[Need]) -> list[Need]:
        """Leave out the kinds of controllers whose API groups the server does not have, which it is asked once."""
        return [need for need in wanted if need.kind not in GATES or self.versions(BY_NAME[need.kind])]

    def versions(self, kind: Kind) -> tuple[str, ...]:
        """Return the versions in which the server has a kind of a controller; none if it has not."""
        group, plural = group_of(kind), kind.plural.partition("/")[0]
        return self._discovered.get((group, plural)) or self._discovered.get((group, ""), ())

    @cached_property
    def _discovered(self) -> Served:
        try:
            return served_in(self._server.get("/apis", accept=DISCOVERY))
        except (ResponseError, *UNDECODABLE):
            return {}
