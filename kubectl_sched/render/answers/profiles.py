"""Profiles as they would run, with what differs from the default marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubectl_sched.config.differences_from_default import args_document, compare, differing_args
from kubectl_sched.output import API_VERSION
from kubectl_sched.record import plain
from kubectl_sched.render.safe_text import safe
from kubectl_sched.render.table import Column, Table
from kubectl_sched.render.writers.data import warn, write_data, write_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.config import Configuration, ResolvedProfile
    from kubectl_sched.config.differences_from_default import PluginDifference
    from kubectl_sched.render.table import Tone
    from kubectl_sched.render.writers.styled_text import Text

_MARKS = {"added": "+", "removed": "-", "moved": "~", "weight": "~", "": ""}


def show_profiles(configuration: Configuration, default: ResolvedProfile, output: str, color: str) -> None:
    """Print every profile of a configuration beside the default one of the same version and gates."""
    if output == "name":
        warn(configuration.warnings)
        write_names(f"profile/{name}" for name in configuration.profiles)
    elif output in {"json", "yaml"}:
        write_data(profiles(configuration, default), output)
    else:
        from kubectl_sched.render.writers.terminal import print_parts

        print_parts(lambda width: _page(configuration, default, width, in_full=output == "wide"), color)


def profiles(configuration: Configuration, default: ResolvedProfile) -> dict[str, Any]:
    """The profiles as scripts read them."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Profiles",
        "kubernetesVersion": str(configuration.version),
        "parallelism": configuration.parallelism,
        "percentageOfNodesToScore": configuration.percentage_of_nodes_to_score,
        "extenders": [
            {
                "urlPrefix": extender.address,
                "weight": extender.weight,
                "ignorable": extender.ignorable,
                "verbs": [
                    verb
                    for verb, text in (
                        ("filter", extender.filter_verb),
                        ("prioritize", extender.prioritize_verb),
                        ("preempt", extender.preempt_verb),
                        ("bind", extender.bind_verb),
                    )
                    if text
                ],
            }
            for extender in configuration.extenders
        ],
        "items": [_item(profile, default) for profile in configuration.profiles.values()],
        "warnings": list(configuration.warnings),
    }


def _item(profile: ResolvedProfile, default: ResolvedProfile) -> dict[str, Any]:
    changed = differing_args(profile, default)
    compared = compare(profile, default)
    return {
        "schedulerName": profile.scheduler_name,
        "percentageOfNodesToScore": profile.percentage_of_nodes_to_score,
        "differsFromDefault": _differs(profile, default),
        "plugins": {
            point: [
                {"name": plugin.name, "weight": plugin.weight or None, "difference": plugin.difference or None}
                for plugin in plugins
                if plugin.difference != "removed"
            ]
            for point, plugins in compared.items()
        },
        "removed": {
            point: removed
            for point, plugins in compared.items()
            if (removed := [plugin.name for plugin in plugins if plugin.difference == "removed"])
        },
        "args": {name: args_document(args) for name, args in profile.args.items()},
        "argsThatDiffer": {name: sorted(fields) for name, fields in changed.items()},
        "unknownPlugins": plain(profile.unknown_plugins),
    }


def _differs(profile: ResolvedProfile, default: ResolvedProfile) -> bool:
    return bool(
        profile.plugins != default.plugins
        or profile.percentage_of_nodes_to_score != default.percentage_of_nodes_to_score
        or profile.unknown_plugins
        or differing_args(profile, default)
    )


def _page(configuration: Configuration, default: ResolvedProfile, width: int, *, in_full: bool) -> Iterator[Text]:
    from kubectl_sched.render.writers.styled_text import Text

    for index, profile in enumerate(configuration.profiles.values()):
        if index:
            yield Text()
        yield from _profile(profile, default, str(configuration.version), width, in_full=in_full)
    if configuration.extenders or configuration.warnings:
        yield Text()
    for extender in configuration.extenders:
        yield Text(f"extender {safe(extender.address)}, weight {extender.weight}")
    yield from (Text(f"note: {safe(warning)}", style="dim") for warning in configuration.warnings)


def _profile(
    profile: ResolvedProfile, default: ResolvedProfile, version: str, width: int, *, in_full: bool
) -> Iterator[Text]:
    from kubectl_sched.render.writers.styled_text import Text
    from kubectl_sched.render.writers.table_lines import table_lines

    legend = "as the default profile is"
    if _differs(profile, default):
        legend = "beside the default profile: + has besides, - has not, ~ in another place or with another weight"
    yield Text(f"{safe(profile.scheduler_name)}, as kube-scheduler {version} runs it; {legend}", style="bold")
    yield from table_lines(_plugin_table(profile, default, in_full=in_full), width)
    if profile.percentage_of_nodes_to_score != default.percentage_of_nodes_to_score:
        yield Text(f"percentageOfNodesToScore: {profile.percentage_of_nodes_to_score}")
    changed = differing_args(profile, default)
    shown = {name: args_document(args) for name, args in profile.args.items()} if in_full else changed
    for name, fields in shown.items():
        marks = {field: "~" if field in changed.get(name, ()) else "" for field in fields}
        told = (f"{marks[field]}{field}: {_flow(value)}" for field, value in fields.items())
        yield Text(f"args of {name}: {safe('; '.join(told)) or 'none'}")


def _plugin_table(profile: ResolvedProfile, default: ResolvedProfile, *, in_full: bool) -> Table[tuple[str, str, Tone]]:
    """The plugins of each extension point, and those that are not replayed."""
    rows: list[tuple[str, str, Tone]] = [
        (
            point,
            ", ".join(map(_marked, plugins)) or "none",
            "changed" if any(plugin.difference for plugin in plugins) else "",
        )
        for point, plugins in compare(profile, default).items()
        if plugins or in_full
    ]
    for plugin in profile.unknown_plugins:
        where = ", ".join(plugin.extension_points)
        rows.append(("not replayed", f"{plugin.name}, which is not in-tree (at {where})", "changed"))
    return Table(
        columns=(
            Column(heading="Extension point", cell=lambda row: row[0]),
            Column(
                heading="Plugins in order, score plugins with their weight",
                cell=lambda row: row[1],
                kind="words",
                tone=lambda row: row[2],
            ),
        ),
        rows=rows,
    )


def _flow(value: object) -> str:
    """A value in YAML's flow style."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _marked(plugin: PluginDifference) -> str:
    weight = f" {plugin.weight}" if plugin.weight else ""
    usual = f" (default {plugin.default_weight})" if plugin.difference == "weight" else ""
    return f"{_MARKS[plugin.difference]}{plugin.name}{weight}{usual}"
