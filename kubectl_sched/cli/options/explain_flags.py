"""The options that `explain` alone has."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

import typer

from kubectl_sched.cli.options import InstanceTypes, not_empty
from kubectl_sched.cli.options.option_groups import OptionGroup

_ABOUT_PODS: Final = (
    "node",
    "evidence",
    "sampling",
    "start_index",
    "call_extenders",
    "at_decision",
    "drifted",
    "new_nodes",
    "node_group_label",
    "node_template",
)


class ExplainFlags(OptionGroup, frozen=True, kw_only=True):
    """The pods that are explained, what is said of them, and how they are replayed."""

    heading: ClassVar = "Options"
    filename: Annotated[
        list[str] | None,
        typer.Option("--filename", "-f", metavar="PATH", help="A manifest: a pod of each of its workloads."),
    ] = None
    node: Annotated[
        str | None,
        typer.Option(
            "--node",
            metavar="NAME",
            callback=not_empty,
            help="Why not this node, in full, and what it would take.",
        ),
    ] = None
    all_nodes: Annotated[bool, typer.Option("--all-nodes", help="Show every node (as -o wide).")] = False
    evidence: Annotated[bool, typer.Option("--evidence", help="Add evidence to every verdict in JSON and YAML.")] = (
        False
    )
    sampling: Annotated[
        bool, typer.Option("--sampling", help="Show each node's win rate over all search start indexes.")
    ] = False
    start_index: Annotated[
        int | None, typer.Option("--start-index", metavar="N", help="Let the search begin at the Nth node.")
    ] = None
    call_extenders: Annotated[
        bool, typer.Option("--call-extenders", help="Ask the extenders of --config, over HTTP(S).")
    ] = False
    at_decision: Annotated[
        bool,
        typer.Option("--at-decision", help="Leave out pods and nodes that are younger than a bound pod's placement."),
    ] = False
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Explain again whenever the answer changes, until interrupted.")
    ] = False
    interactive: Annotated[
        bool, typer.Option("--interactive", "-i", help="Explore the answer on a full screen, and change it there.")
    ] = False
    new_nodes: Annotated[
        bool, typer.Option("--new-nodes", help="Say whether the autoscaler would make a node for a pod, and which.")
    ] = False
    instance_types: InstanceTypes = None
    node_group_label: Annotated[
        str | None,
        typer.Option(
            "--node-group-label", metavar="KEY", help="The label that names cluster-autoscaler's node groups."
        ),
    ] = None
    node_template: Annotated[
        str | None,
        typer.Option("--node-template", metavar="FILE", help="Nodes as cluster-autoscaler's empty groups would have."),
    ] = None
    drifted: Annotated[
        bool, typer.Option("--drifted", help="Only bound pods that would land elsewhere now, or would be rejected.")
    ] = False

    @property
    def about_pods(self) -> dict[str, bool]:
        """The flags that are about pods alone, and whether each was given."""
        given = ((name, getattr(self, name)) for name in _ABOUT_PODS)
        return {f"--{name.replace('_', '-')}": value is not False and value not in {None, ""} for name, value in given}
