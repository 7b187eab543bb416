"""The flags that come with --new-nodes, and the files that they name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.bounded_files import content
from kubectl_sched.errors import SchedError

if TYPE_CHECKING:
    from kubectl_sched.queries.provisioning.new_nodes import NewNodesFlags

_MOST_TYPES: Final = 64 << 20
"""In bytes; a provider has a thousand types of instances, each of some kilobytes."""


def new_nodes_flags(
    instance_types: str | None,
    node_group_label: str | None = None,
    node_template: str | None = None,
    *,
    new_nodes: bool,
) -> NewNodesFlags | None:
    """Return the flags of --new-nodes with the contents of their files, None without it.

    Raises SchedError for a file that cannot be used, and for a flag that comes without --new-nodes.
    """
    if not new_nodes:
        given = {
            "instance-types": instance_types,
            "node-group-label": node_group_label,
            "node-template": node_template,
        }
        extra = next((name for name, value in given.items() if value is not None), None)
        if extra is not None:
            raise SchedError(f"--{extra} is for --new-nodes: give both")
        return None
    from kubectl_sched.queries.provisioning.cluster_autoscaler_replay import NodeGroupFlags
    from kubectl_sched.queries.provisioning.new_nodes import NewNodesFlags
    from kubectl_sched.simulation.node_edits import node_of_manifest
    from kubectl_sched.sources.dump.user_files import read_documents

    documents = read_documents(node_template) if node_template is not None else ()
    nodes = tuple(node_of_manifest(each, node_template or "") for each in documents)
    return NewNodesFlags(
        instance_types=file_of(instance_types),
        groups=NodeGroupFlags(label=node_group_label, templates=nodes),
    )


def file_of(path: str | None) -> tuple[bytes, str] | None:
    """Return the content of a file and its path; None without a path. Raises SchedError if it cannot be read."""
    if path is None:
        return None
    try:
        return content(path, _MOST_TYPES), path
    except OSError as error:
        raise SchedError(f"cannot read {path}: {error.strerror}") from error
