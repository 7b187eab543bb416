"""`profiles`: each profile of a configuration as kube-scheduler would run it."""

from __future__ import annotations

from kubectl_sched.cli import options


def profiles(
    config: options.Config = None,
    kube_version: options.KubeVersionOption = None,
    feature_gates: options.FeatureGates = None,
    output: options.OutputOption = options.Output.table,
    color: options.ColorOption = options.Color.auto,
) -> None:
    """Show each profile of a configuration resolved, and what differs from the default."""
    from kubectl_sched.cluster.dump import Dump
    from kubectl_sched.cluster.state import Replay, configuration_for
    from kubectl_sched.config import load_configuration, parse_feature_gates
    from kubectl_sched.config.types import DEFAULT_SCHEDULER_NAME
    from kubectl_sched.render.profiles import show_profiles

    configuration = configuration_for(Dump(), Replay(config, kube_version, feature_gates))
    overrides = parse_feature_gates(feature_gates) if feature_gates else None
    defaults = load_configuration(None, configuration.version, overrides)
    show_profiles(configuration, defaults.profiles[DEFAULT_SCHEDULER_NAME], output.value, color.value)
