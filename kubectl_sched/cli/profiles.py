"""`profiles`: each profile of a configuration as kube-scheduler would run it."""

from __future__ import annotations

from kubectl_sched.cli import options
from kubectl_sched.cli.connection import takes_connection
from kubectl_sched.sources.live.connection_flags import Connection  # noqa: TC001 - typer reads it


@takes_connection
def profiles(
    namespace: options.Namespace = None,  # noqa: ARG001 - every command takes it, and no cluster is asked
    config: options.Config = None,
    kube_version: options.KubeVersionOption = None,
    feature_gates: options.FeatureGates = None,
    output: options.OutputOption = options.Output.table,
    color: options.ColorOption = options.Color.auto,
    *,
    connection: Connection,  # noqa: ARG001 - as above
) -> None:
    """Show each profile of a configuration resolved, and what differs from the default."""
    from kubectl_sched.config import NEWEST, load_configuration, parse_feature_gates
    from kubectl_sched.config.types import DEFAULT_SCHEDULER_NAME
    from kubectl_sched.output import write_error
    from kubectl_sched.render.text.profiles_text import show_profiles
    from kubectl_sched.sources.discovery.replay_setup import Replay, configuration_for
    from kubectl_sched.sources.dump.dump import Dump

    gates = options.joined(feature_gates)
    configuration = configuration_for(Dump(), Replay(config, kube_version, gates))
    if kube_version is None and configuration.version == NEWEST:
        # An old apiVersion selects a minor by itself, and never this one.
        told = f"the newest supported version, {NEWEST}, is assumed: --kube-version gives another"
        write_error(f"note: {told}\n")
    overrides = parse_feature_gates(gates) if gates else None
    defaults = load_configuration(None, configuration.version, overrides)
    show_profiles(configuration, defaults.profiles[DEFAULT_SCHEDULER_NAME], output.value, color.value)
