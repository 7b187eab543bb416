"""The nodes that are listed, and their order: columns over all nodes, so that a keystroke costs a millisecond."""

from __future__ import annotations

from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np
from rich.cells import cell_len

from kubectl_sched.framework.amounts import common_unit
from kubectl_sched.render.node_order import feasible_first
from kubectl_sched.render.node_tables import chosen_scores
from kubectl_sched.render.safe_text import safe
from kubectl_sched.render.table import without_common_domain, without_common_ends
from kubectl_sched.suggestions.nearest_nodes import last_rows, rejections
from kubectl_sched.tui.explorer_state import RANK
from kubectl_sched.tui.lines.line import name_in

if TYPE_CHECKING:
    from kubectl_sched.framework.amounts import Unit
    from kubectl_sched.framework.status import Status
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot.array_types import Integers, Mask, Rows
    from kubectl_sched.tui.explorer_state import Sort, View
    from kubectl_sched.tui.pipeline import Stage

NO_POINTS = -1
"""The total of a node that is not feasible; no feasible one is below 0."""


class Listing:
    """All that the list sorts and filters one result's nodes by; each is computed when first asked for."""

    def __init__(self, result: ScheduleResult, base: ScheduleResult) -> None:
        self.result = result
        self.base = base
        self._free: dict[str, Integers] = {}
        self._points: dict[str, Integers] = {}
        self._units: dict[str, Unit] = {}
        self._names: dict[int, tuple[list[str], int]] = {}

    @cached_property
    def name_rank(self) -> Integers:
        """int64[n]: where each node stands in name order."""
        order = np.array(sorted(range(len(self.result.nodes)), key=self.result.nodes.names.__getitem__), dtype=np.intp)
        rank: Integers = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        return rank

    @cached_property
    def totals(self) -> Integers:
        """int64[n]: the points, NO_POINTS where a node is not feasible."""
        return totals(self.result)

    @cached_property
    def moved(self) -> Integers:
        """int64[n]: by how much the edits move the points of a node that is feasible with and without them."""
        before = totals(self.base)
        both = (before != NO_POINTS) & (self.totals != NO_POINTS)
        return np.where(both, self.totals - before, 0)

    @cached_property
    def closeness(self) -> list[Integers]:
        """Two int64[n]: how many plugins keep each node out on their own, and how near it is to passing."""
        counts, away = rejections(self.result)
        return [counts, np.unique(away, return_inverse=True)[1].astype(np.int64)]

    @cached_property
    def deciding(self) -> tuple[str, ...]:
        """The score plugins whose points differ: first the one that decides between the two best, then by spread."""
        return tuple(each.plugin for each in chosen_scores(self.result, feasible_first(self.result)).differing)

    @cached_property
    def lacking(self) -> str | None:
        """The resource that most of the closest nodes lack; None if a node is feasible or none lacks any."""
        if len(self.result.feasible) or self.result.verdict is None or not self.result.pre_filter.is_success:
            return None
        rows = last_rows(self.result)
        wanted = self.result.nodes.resource_of(self.result.pod).requested
        short_of = {
            resource: int((self.free(resource)[rows] < amount).sum()) for resource, amount in wanted.items() if amount
        }
        most = max(short_of, key=lambda resource: short_of[resource], default=None)
        return most if most is not None and short_of[most] else None

    def names_within(self, width: int) -> tuple[list[str], int]:
        """The names to show in about so many cells, and how many they take: what tells two apart is never cut."""
        if width not in self._names:
            whole = self.result.nodes.names
            names = [safe(name) for name in whole]
            for shorten in (without_common_domain, without_common_ends):
                if max(map(cell_len, names), default=0) > width:
                    names = [safe(name) for name in shorten(whole, whole)]
            longest = max(map(cell_len, names), default=0)
            cut = {name_in(name, width) for name in names} if longest > width else names
            self._names[width] = (names, longest if len(cut) < len(set(names)) else min(longest, width))
        return self._names[width]

    @cached_property
    def why_rank(self) -> Integers:
        """int64[n]: verdicts in alphabetical order, feasible nodes before all."""
        if self.result.verdict is None:
            return np.zeros(len(self.result.nodes), dtype=np.int64)
        texts = [said_of(status) for status in self.result.verdict.values]
        order = {text: rank for rank, text in enumerate(sorted(set(texts)))}
        return np.array([order[text] for text in texts], dtype=np.int64)[self.result.verdict.codes]

    @cached_property
    def haystacks(self) -> list[str]:
        """The text of each node that the filter searches: its name and all its reasons, in small letters."""
        result, names = self.result, [name.lower() for name in self.result.nodes.names]
        if result.verdict is None:
            return names
        said = cache(lambda *statuses: " ".join(map(said_of, statuses)).lower())
        verdicts = enumerate(result.verdict)
        return [f"{names[row]} {said(verdict, *result.rejections(row))}" for row, verdict in verdicts]

    def free(self, resource: str) -> Integers:
        """int64[n]: what is left of a resource, in the scheduler's units."""
        if resource not in self._free:
            self._free[resource] = self.result.nodes.allocatable(resource) - self.result.nodes.requested(resource)
        return self._free[resource]

    def unit(self, resource: str) -> Unit:
        """The one unit for what is left of a resource and what the pod requests of it."""
        if resource not in self._units:
            wanted = self.result.nodes.resource_of(self.result.pod).requested.get(resource, 0)
            self._units[resource] = common_unit(resource, (*self.free(resource).tolist(), wanted))
        return self._units[resource]

    def points_of(self, plugin: str) -> Integers:
        """int64[n]: one plugin's points, NO_POINTS where it gives none."""
        if plugin not in self._points:
            points: Integers = np.full(len(self.result.nodes), NO_POINTS, dtype=np.int64)
            for each in self.result.scores:
                if each.plugin == plugin:
                    points[self.result.feasible] = each.weighted
            self._points[plugin] = points
        return self._points[plugin]


def totals(result: ScheduleResult) -> Integers:
    """int64[n]: the points of one result, NO_POINTS where a node has none."""
    found: Integers = np.full(len(result.nodes), NO_POINTS, dtype=np.int64)
    if len(result.totals):
        found[result.feasible] = result.totals
    return found


def said_of(status: Status) -> str:
    """One verdict in kube-scheduler's words, the plugin first."""
    if status.is_success:
        return ""
    return safe(f"{status.plugin or 'PreFilter'}: {status.message}")


def rows_shown(view: View, listing: Listing, stage: Stage | None) -> Rows:
    """The rows that the view lists, in its order."""
    mask = _matching(listing, view.filter_text)
    if stage is not None and stage.nodes is not None:
        mask &= stage.nodes
    rows = np.flatnonzero(mask)
    order: Rows = np.lexsort((listing.name_rank[rows], *(key[rows] for key in reversed(_keys(listing, view.sort)))))
    return rows[order]


def _keys(listing: Listing, sort: Sort) -> list[Integers]:
    """Return the sort keys of the nodes, the first key first. Equal nodes stay in name order."""
    sign = -1 if sort.reverse else 1
    match sort.key:
        case "node":
            return [sign * listing.name_rank]
        case "why":
            return [sign * listing.why_rank]
        case "moved":
            return [-sign * np.abs(listing.moved), -sign * listing.totals]
        case "cpu" | "memory":
            return [-sign * listing.free(sort.key)]
        case key if key == RANK:
            return [-sign * listing.totals, *(sign * each for each in listing.closeness)]
        case plugin:
            return [-sign * listing.points_of(plugin)]


def _matching(listing: Listing, text: str) -> Mask:
    """The nodes that every word of the text matches: `key=value` a label, any other the name or what is said."""
    mask: Mask = np.ones(len(listing.result.nodes), dtype=np.bool_)
    for word in text.lower().split():
        key, equals, value = word.partition("=")
        if equals:
            objects = listing.result.nodes.node_objects
            found = ((_label(each.metadata.labels, key)).startswith(value) for each in objects)
        else:
            found = (word in haystack for haystack in listing.haystacks)
        mask &= np.fromiter(found, dtype=np.bool_, count=len(mask))
    return mask


def _label(labels: dict[str, str], key: str) -> str:
    """The value of a label in small letters; a key without its domain will do."""
    for name, value in labels.items():
        if name.lower() == key or name.lower().endswith(f"/{key}"):
            return value.lower()
    return "\0"
