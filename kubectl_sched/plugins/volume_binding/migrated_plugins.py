"""The in-tree plugins that CSINodes say are their drivers' now, by node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from kubectl_sched.snapshot import Column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.storage import CSINode
    from kubectl_sched.snapshot.node_table import NodeTable

_NONE: Final[frozenset[str]] = frozenset()


class MigratedPlugins:
    """Those of some CSINodes, by node name and as a column of each table of nodes."""

    def __init__(self, csi_nodes: Sequence[CSINode]) -> None:
        self.csi_nodes = csi_nodes
        annotations = ((node.name, node.metadata.annotations.migrated_plugins) for node in csi_nodes)
        self._by_node = {name: frozenset(names.split(",")) for name, names in annotations if names}
        self._columns: WeakKeyDictionary[NodeTable, Column[frozenset[str]]] = WeakKeyDictionary()

    def of(self, node_name: str) -> frozenset[str]:
        """The plugins on one node."""
        return self._by_node.get(node_name, _NONE)

    def on(self, table: NodeTable) -> Column[frozenset[str]]:
        """The plugins on each node."""
        column = self._columns.get(table)
        if column is None:
            column = self._columns[table] = Column.of(map(self.of, table.names))
        return column
