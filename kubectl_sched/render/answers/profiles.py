"""The answer of `profiles`: profiles as they would run, with what differs from the default marked."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from kubectl_sched.config.differences_from_default import args_document, compare, differing_args
from kubectl_sched.record import plain
from kubectl_sched.render.document import Document, Listing, Said, Sentence, Verdict, notes_of
from kubectl_sched.render.safe_text import count
from kubectl_sched.render.show import Shown
from kubectl_sched.render.table import Column, Table
from kubectl_sched.safe_output import API_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.config import Configuration, ResolvedProfile
    from kubectl_sched.config.differences_from_default import PluginDifference
    from kubectl_sched.render.display import Display
    from kubectl_sched.render.schemas import configuration as schema
    from kubectl_sched.render.table import Tone

_MARKS = {"added": "+", "removed": "-", "moved": "~", "weight": "~", "": ""}


def shown_profiles(configuration: Configuration, default: ResolvedProfile) -> Shown:
    """Return every profile of a configuration beside the default one of the same version and gates, in each form."""
    return Shown(
        document=lambda display: profiles_document(configuration, default, display),
        data=lambda: profiles(configuration, default),
        names=lambda: (f"profile/{name}" for name in configuration.profiles),
        remarks=lambda: configuration.warnings,
    )


def profiles_document(configuration: Configuration, default: ResolvedProfile, display: Display) -> Document:
    """Return each profile with its plugins and what differs from the default, and the extenders."""
    each = [_profile(profile, default, in_full=display.in_full) for profile in configuration.profiles.values()]
    extenders = [f"extender {extender.address}, weight {extender.weight}" for extender in configuration.extenders]
    return Document(
        verdict=Verdict(text=f"{count(len(each), 'profile')}, as kube-scheduler {configuration.version} runs them."),
        parts=(*chain.from_iterable(each), *(Sentence(text=told, gap=not at) for at, told in enumerate(extenders))),
        notes=notes_of(configuration.warnings, ()),
        facts=(("Replayed as", f"kube-scheduler {configuration.release.name}"),),
        heading="Profiles",
        command="profiles",
    )


def profiles(configuration: Configuration, default: ResolvedProfile) -> schema.Profiles:
    """The profiles as scripts read them."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Profiles",
        "kubernetesVersion": str(configuration.version),
        "kubernetesPatch": configuration.release.patch_name,
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


def _item(profile: ResolvedProfile, default: ResolvedProfile) -> schema.Profile:
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


def _profile(profile: ResolvedProfile, default: ResolvedProfile, *, in_full: bool) -> Iterator[Said]:
    legend = "as the default profile is"
    if _differs(profile, default):
        legend = "beside the default profile: + has besides, - has not, ~ in another place or with another weight"
    yield Sentence(text=f"{profile.scheduler_name}, {legend}", tone="strong", gap=True)
    yield Listing(tables=(_plugin_table(profile, default, in_full=in_full),), caption=profile.scheduler_name)
    if profile.percentage_of_nodes_to_score != default.percentage_of_nodes_to_score:
        yield Sentence(text=f"percentageOfNodesToScore: {profile.percentage_of_nodes_to_score}")
    changed = differing_args(profile, default)
    shown = {name: args_document(args) for name, args in profile.args.items()} if in_full else changed
    for name, fields in shown.items():
        marks = {field: "~" if field in changed.get(name, ()) else "" for field in fields}
        told = (f"{marks[field]}{field}: {_flow(value)}" for field, value in fields.items())
        yield Sentence(text=f"args of {name}: {'; '.join(told) or 'none'}")


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
