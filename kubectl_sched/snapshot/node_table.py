"""Columns of the Node objects, independent of the pods that run there."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from kubectl_sched.api.apimachinery.int64 import parse_int64
from kubectl_sched.api.apimachinery.quantity import milli_value, value
from kubectl_sched.snapshot.column import Column

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Mapping

    from kubectl_sched.api.core import ContainerImage, Node, Taint
    from kubectl_sched.api.meta import Labels
    from kubectl_sched.snapshot.array_types import Integers, Mask, Rows


class ImageState(NamedTuple):
    """The size of one image, and the rows of the nodes that have it."""

    size: int
    rows: list[int]


T = TypeVar("T")
_MOST_TOLERATIONS = 16
_MOST_COLUMNS_UNASKED = 16
"""With so many columns of labels, those of labels that no node has are no longer kept."""

_MOST_LOOKED_FOR = 4
"""To gather all images takes about as long as to look for four."""

_OF_METADATA = ("names", "in_name_order", "row_of", "labels", "label_keys")
_OF_STATUS = ("images", "image_states", "declared_features", "allocatable", "known_allocatable")
"""The columns that metadata and status decide."""


class NodeTable:
    """Columns over the nodes, each computed when first asked for; rows are in the order the nodes were listed."""

    def __init__(self, objects: tuple[Node, ...], *, saturates: bool = False) -> None:
        """`saturates`: amounts beyond int64 are held at its limit."""
        self.objects = objects
        self.saturates = saturates
        self._label_columns: dict[str, Column[str | None]] = {}
        self._codes_without: dict[str, int | None] = {}
        self._label_numbers: dict[str, tuple[Integers, Mask]] = {}
        self._by_tolerations: dict[Hashable, Any] = {}
        self._found_images: dict[str, ImageState | None] = {}

    def __len__(self) -> int:
        return len(self.objects)

    def take(self, rows: Rows) -> NodeTable:
        """The table of these rows; columns already computed are carried over."""
        objects = self.objects
        taken = NodeTable(tuple([objects[row] for row in rows.tolist()]), saturates=self.saturates)
        for name in ("labels", "taints", "images", "declared_features"):
            if name in self.__dict__:
                taken.__dict__[name] = getattr(self, name).take(rows)
        if "unschedulable" in self.__dict__:
            taken.__dict__["unschedulable"] = self.unschedulable[rows]
        if "allocatable" in self.__dict__:
            taken.__dict__["allocatable"] = {name: column[rows] for name, column in self.allocatable.items()}
        taken._label_columns = {key: column.take(rows) for key, column in self._label_columns.items()}
        taken._codes_without = dict(self._codes_without)
        return taken

    def with_node(self, row: int, node: Node) -> NodeTable:
        """The table with another node in the place of one; columns that it cannot change are carried over."""
        before = self.objects[row]
        objects = (*self.objects[:row], node, *self.objects[row + 1 :])
        changed = NodeTable(objects, saturates=self.saturates)
        if node.metadata is before.metadata:
            changed._label_columns, changed._codes_without = self._label_columns, self._codes_without
            changed.__dict__ |= {name: self.__dict__[name] for name in _OF_METADATA if name in self.__dict__}
        if node.status is before.status:
            changed._found_images = self._found_images
            changed.__dict__ |= {name: self.__dict__[name] for name in _OF_STATUS if name in self.__dict__}
        return changed

    def add_node(self, node: Node) -> NodeTable:
        """The table with one more node, as the last row."""
        return NodeTable((*self.objects, node), saturates=self.saturates)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Each node's name."""
        return tuple(node.metadata.name for node in self.objects)

    @cached_property
    def in_name_order(self) -> Rows | None:
        """The rows by name, None if they stand so already."""
        order = sorted(range(len(self)), key=self.names.__getitem__)
        return None if order == list(range(len(self))) else np.array(order, dtype=np.intp)

    @cached_property
    def row_of(self) -> dict[str, int]:
        """The row of each node name."""
        return {name: row for row, name in enumerate(self.names)}

    @cached_property
    def labels(self) -> Column[Labels]:
        """Label sets. With a hostname label nearly all are distinct; prefer `label` where one key matters."""
        return Column.of((node.metadata.labels for node in self.objects), key=lambda labels: tuple(labels.items()))

    @cached_property
    def label_keys(self) -> frozenset[str]:
        """Every label key that some node has."""
        return frozenset().union(*(node.metadata.labels for node in self.objects))

    @cached_property
    def taints(self) -> Column[tuple[Taint, ...]]:
        """Taint sets, in the order of the node's spec."""
        return Column.of(node.spec.taints for node in self.objects)

    def by_tolerations(self, key: Hashable, make: Callable[[], T]) -> T:
        """A fact about the nodes' taints for pods with some tolerations, made once a key, of which few are kept."""
        found: T | None = self._by_tolerations.get(key)
        if found is None:
            found = make()
            if len(self._by_tolerations) >= _MOST_TOLERATIONS:
                self._by_tolerations = {}
            self._by_tolerations[key] = found
        return found

    @cached_property
    def unschedulable(self) -> Mask:
        """Cordoned nodes."""
        return np.array([node.spec.unschedulable for node in self.objects], dtype=np.bool_)

    @cached_property
    def images(self) -> Column[tuple[ContainerImage, ...]]:
        """The images that each node's status lists."""
        return Column.of(node.status.images for node in self.objects)

    def image_state(self, name: str) -> ImageState | None:
        """The state of one image, None if no node lists it. After a few that are looked for alone all are gathered.

        Answers to addNodeImageStates (pkg/scheduler/backend/cache/cache.go).
        """
        found = self._found_images
        if name not in found:
            if len(found) >= _MOST_LOOKED_FOR:
                return self.image_states.get(name)
            having = [
                (image.size_bytes, row)
                for row, node in enumerate(self.objects)
                for image in node.status.images
                if name in image.names
            ]
            found[name] = ImageState(having[0][0], list(dict.fromkeys([row for _, row in having]))) if having else None
        return found[name]

    @cached_property
    def image_states(self) -> Mapping[str, ImageState]:
        """Each image name that some node lists: its size on the first node listed, and the rows of its nodes."""
        of_names: dict[tuple[str, ...], ImageState] = {}
        for row, node in enumerate(self.objects):
            for image in node.status.images:
                known = of_names.get(image.names)
                if known is None:
                    of_names[image.names] = ImageState(image.size_bytes, [row])
                else:
                    known.rows.append(row)
        states: dict[str, ImageState] = {}
        for names, (size, rows) in of_names.items():
            for name in names:
                states.setdefault(name, ImageState(size, [])).rows.extend(rows)
        for state in states.values():
            state.rows[:] = sorted({*state.rows})
        return states

    @cached_property
    def declared_features(self) -> Column[tuple[str, ...]]:
        """The features that each node declares."""
        return Column.of(node.status.declared_features for node in self.objects)

    def label(self, key: str) -> Column[str | None]:
        """The value of one label on each node, None if the node lacks it."""
        column = self._label_columns.get(key)
        if column is None:
            if len(self._label_columns) >= _MOST_COLUMNS_UNASKED and key not in self.label_keys:
                return Column.filled(len(self), None)
            column = Column.of(node.metadata.labels.get(key) for node in self.objects)
            self._label_columns[key] = column
        return column

    def label_numbers(self, key: str) -> tuple[Integers, Mask]:
        """For each distinct value of a label its number, and whether it is one: what Gt and Lt compare."""
        found = self._label_numbers.get(key)
        if found is None:
            parsed = [None if each is None else parse_int64(each) for each in self.label(key).values]
            numbers = np.array([each or 0 for each in parsed], dtype=np.int64)
            found = numbers, np.array([each is not None for each in parsed], dtype=np.bool_)
            if key in self._label_columns:
                self._label_numbers[key] = found
        return found

    def most_label_values(self, key: str) -> int:
        """Return how many values of the label there are at most, as far as that is known without looking at nodes."""
        column = self._label_columns.get(key)
        return len(self) if column is None else len(column.values)

    def unread_labels(self, keys: Collection[str]) -> int:
        """Count the nodes whose labels have to be looked at for the columns of these labels."""
        return len(self) * sum(key not in self._label_columns for key in keys)

    def code_without(self, key: str) -> int | None:
        """The code that nodes without the label have in its column, None if none lacks it."""
        if key in self._codes_without:
            return self._codes_without[key]
        values = self.label(key).values
        code = values.index(None) if None in values else None
        if key in self._label_columns:
            self._codes_without[key] = code
        return code

    def has_label(self, key: str) -> Mask:
        """bool[n]: the nodes that carry the label, whatever its value."""
        without = self.code_without(key)
        codes = self.label(key).codes
        return np.ones(len(codes), dtype=np.bool_) if without is None else codes != without

    @cached_property
    def allocatable(self) -> Mapping[str, Integers]:
        """int64[n] by resource: cpu in millicores, all others in their own unit, 0 where a node lacks it.

        Answers to framework.Resource.Add; `pods` is in it too, as AllowedPodNumber.
        """
        rows_by_resource: dict[str, Integers] = {}
        saturates = self.saturates
        for row, node in enumerate(self.objects):
            for name, raw in node.status.allocatable.items():
                column = rows_by_resource.get(name)
                if column is None:
                    column = rows_by_resource[name] = np.zeros(len(self.objects), dtype=np.int64)
                amount = milli_value(raw, saturates=saturates) if name == "cpu" else value(raw, saturates=saturates)
                column[row] = amount
        return rows_by_resource

    @cached_property
    def known_allocatable(self) -> Column[frozenset[str]]:
        """Resources that each node's allocatable names at all, even with 0."""
        return Column.of(frozenset(node.status.allocatable) for node in self.objects)
