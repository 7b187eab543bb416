"""`whatif`: where pods would land, whether they fit, and how many more do, one after the other."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from kubectl_sched.cli import options
from kubectl_sched.cli.connection import takes_connection
from kubectl_sched.errors import SchedError
from kubectl_sched.sources.live.connection_flags import Connection  # noqa: TC001 - typer reads it

if TYPE_CHECKING:
    from kubectl_sched.apiserver.server_dry_run import DryRun

_EDITS = "Edits of the cluster, in the order given"
_NODE = "NODE is a name, a pattern (gpu-*) or a selector ((zone=a,!gpu))."

Edits = list[str] | None


class DryRunOption(StrEnum):
    """The judge of manifests: ourselves, or the server."""

    client = "client"
    server = "server"


def _edit(flag: str, metavar: str, text: str) -> object:
    return typer.Option(flag, metavar=metavar, help=text, rich_help_panel=_EDITS)


@takes_connection
def whatif(
    manifests: Annotated[
        list[str] | None,
        typer.Argument(metavar="[MANIFEST...]", help="Files, directories, - for stdin, or deployment/web."),
    ] = None,
    filename: Annotated[
        list[str] | None, typer.Option("--filename", "-f", metavar="PATH", help="A manifest, as kubectl's -f.")
    ] = None,
    replicas: Annotated[
        str | None,
        typer.Option("--replicas", metavar="N|max", help="How many pods of each; max: until one is too many."),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Take the present pods away first, instead of a rollout.")
    ] = False,
    with_pending: Annotated[
        bool, typer.Option("--with-pending", help="Place the cluster's pending pods, too.")
    ] = False,
    requeue_victims: Annotated[
        bool, typer.Option("--requeue-victims", help="Let preemption happen; its victims are pending again.")
    ] = False,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", help="Choose among tied nodes at random, repeatably.")
    ] = None,
    dry_run: Annotated[
        DryRunOption,
        typer.Option("--dry-run", metavar="client|server", help="server: it says what it would store, or refuses."),
    ] = DryRunOption.client,
    find_nodes: Annotated[
        str | None, typer.Option("--find-nodes", metavar="NODE", help="How many more such nodes until all fits.")
    ] = None,
    add_nodes: Annotated[
        Edits, _edit("--add-nodes", "N=NODE", f"Add copies of a node, or of a manifest. {_NODE}")
    ] = None,
    drain: Annotated[Edits, _edit("--drain", "NODE", "Cordon nodes; pods of controllers come back as pending.")] = None,
    remove_node: Annotated[Edits, _edit("--remove-node", "NODE", "The same, and the nodes go.")] = None,
    cordon: Annotated[Edits, _edit("--cordon", "NODE", "Cordon nodes.")] = None,
    uncordon: Annotated[Edits, _edit("--uncordon", "NODE", "Uncordon nodes.")] = None,
    taint: Annotated[
        Edits, _edit("--taint", "NODE=KEY=VALUE:EFFECT", "Taint nodes, evicting by NoExecute; KEY- takes it off.")
    ] = None,
    label: Annotated[Edits, _edit("--label", "NODE=KEY=VALUE", "Label nodes; KEY- takes the label off.")] = None,
    from_: options.From = None,
    namespace: options.Namespace = None,
    config: options.Config = None,
    profile: options.Profile = None,
    kube_version: options.KubeVersionOption = None,
    feature_gates: options.FeatureGates = None,
    output: options.PageOutputOption = options.PageOutput.table,
    color: options.ColorOption = options.Color.auto,
    *,
    connection: Connection,
) -> None:
    """Say where pods would land, whether they fit, and how many more do."""
    from kubectl_sched.cli.edit_flags import in_order
    from kubectl_sched.cli.state_source import read_whole
    from kubectl_sched.queries.whatif import Question, what_if
    from kubectl_sched.render.display import Display
    from kubectl_sched.render.text.placement_progress import placing
    from kubectl_sched.render.what_if_output import show_what_if
    from kubectl_sched.simulation.placed_workloads import Sizing
    from kubectl_sched.simulation.queue_simulation import Choices
    from kubectl_sched.sources.discovery.replay_setup import Replay

    given = {"--add-nodes": add_nodes, "--drain": drain, "--remove-node": remove_node, "--cordon": cordon,
             "--uncordon": uncordon, "--taint": taint, "--label": label}  # fmt: skip
    targets = (*(manifests or ()), *(filename or ()))
    edits = in_order(sys.argv[1:], given)
    if not (targets or edits or with_pending):
        raise SchedError("nothing to simulate: name a manifest, a workload or an edit, or give --with-pending")
    if dry_run is DryRunOption.server and from_:
        raise SchedError("--dry-run=server asks a running cluster, but --from reads a dump: give one of them")
    dump, here = read_whole(from_, connection)
    question = Question(
        targets,
        namespace or here,
        Sizing(_count(replicas), replicas == "max", replace),
        edits,
        with_pending,
        find_nodes,
        Choices(profile, seed, requeue_victims),
        Replay(config, kube_version, options.joined(feature_gates)),
    )
    with placing() as report:
        asked = _server(connection) if dry_run is DryRunOption.server else None
        answer = what_if(question, dump, asked, report)
    sys.exit(show_what_if(answer, Display(output.value, color.value)))


def _server(connection: Connection) -> DryRun:
    from kubectl_sched.apiserver.server_dry_run import DryRun
    from kubectl_sched.sources.live.client import Server
    from kubectl_sched.sources.live.kubeconfig import resolve

    return DryRun(Server(resolve(connection)))


def _count(replicas: str | None) -> int | None:
    from kubectl_sched.apiserver.what_if_limits import decimal, pods_counted

    if replicas is None or replicas == "max":
        return None
    count = decimal(replicas)
    if count is None:
        raise SchedError(f"--replicas {replicas}: it is neither a number nor max")
    return pods_counted(count, f"--replicas {replicas}")
