"""`profiles`: each profile of a configuration as kube-scheduler would run it."""

from __future__ import annotations

from kubectl_sched.cli import options  # noqa: TC001 - typer reads it
from kubectl_sched.cli.options.connection import ConnectionOptions  # noqa: TC001 - as above


def profiles(
    selection: options.OneNamespace,  # noqa: ARG001 - every command takes it, and no cluster is asked
    scheduler: options.ConfiguredScheduler,
    display: options.PageableOutput,
    connection: ConnectionOptions,  # noqa: ARG001 - as above
) -> None:
    """Show each profile of a configuration resolved, and what differs from the default."""
    from kubectl_sched.config import NEWEST, load_configuration, parse_feature_gates
    from kubectl_sched.config.types import DEFAULT_SCHEDULER_NAME
    from kubectl_sched.render.answers.profiles import shown_profiles
    from kubectl_sched.render.show import show
    from kubectl_sched.safe_output import write_error
    from kubectl_sched.sources.discovery.replay_setup import configuration_for
    from kubectl_sched.sources.dump.dump import Dump

    replay = scheduler.replay
    configuration = configuration_for(Dump(), replay)
    if replay.kube_version is None and configuration.version == NEWEST:
        # An old apiVersion selects a minor by itself, and never this one.
        told = f"the newest supported version, {NEWEST}, is assumed: --kube-version gives another"
        write_error(f"note: {told}\n")
    overrides = parse_feature_gates(replay.feature_gates) if replay.feature_gates else None
    defaults = load_configuration(None, configuration.version, overrides)
    show(shown_profiles(configuration, defaults.profiles[DEFAULT_SCHEDULER_NAME]), display.shown)
