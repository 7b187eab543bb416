"""The options of `whatif` that edit the cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from typer import Option

from kubectl_sched.cli.options.option_groups import OptionGroup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.simulation.node_edits import Edit

_NODE = "NODE is a name, a pattern (gpu-*) or a selector ((zone=a,!gpu))."

Values = list[str] | None


class ClusterEdits(OptionGroup, frozen=True, kw_only=True):
    """Edits that come before anything is placed, each as often as it is given."""

    heading: ClassVar = "Edits of the cluster, in the order given"
    add_nodes: Annotated[
        Values, Option("--add-nodes", metavar="N=NODE", help=f"Add copies of a node, or of a manifest. {_NODE}")
    ] = None
    drain: Annotated[
        Values, Option("--drain", metavar="NODE", help="Cordon nodes; pods of controllers come back as pending.")
    ] = None
    remove_node: Annotated[Values, Option("--remove-node", metavar="NODE", help="The same, and the nodes go.")] = None
    cordon: Annotated[Values, Option("--cordon", metavar="NODE", help="Cordon nodes.")] = None
    uncordon: Annotated[Values, Option("--uncordon", metavar="NODE", help="Uncordon nodes.")] = None
    taint: Annotated[
        Values,
        Option(
            "--taint", metavar="NODE=KEY=VALUE:EFFECT", help="Taint nodes, evicting by NoExecute; KEY- takes it off."
        ),
    ] = None
    label: Annotated[
        Values, Option("--label", metavar="NODE=KEY=VALUE", help="Label nodes; KEY- takes the label off.")
    ] = None

    def in_order(self, arguments: Sequence[str]) -> tuple[Edit, ...]:
        """Return the edits in the order of their flags among the arguments, which a parser of options does not keep."""
        from kubectl_sched.simulation.node_edits import Edit

        fields = {f"--{name.replace('_', '-')}": name for name in self.__struct_fields__}
        left = {flag: list(values) for flag, name in fields.items() if (values := getattr(self, name))}
        ordered: list[Edit] = []
        for argument in arguments:
            flag = argument.partition("=")[0]
            if left.get(flag):
                ordered.append(Edit(flag, left[flag].pop(0)))
        return (*ordered, *(Edit(flag, value) for flag, values in left.items() for value in values))
