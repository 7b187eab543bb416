"""Configurations and feature gates given to the real kube-scheduler of each minor: what it refused, and what it ran.

fixtures/config/1.NN.jsonl.gz holds one configuration a line: `error` is the text that kube-scheduler ended with (at the
`stage` gates, decode, config or new); else `profiles` are its plugins and weights by extension point and `args` the
arguments of its plugins, both without what is empty.
"""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from kubectl_sched.config import Configuration, KubeVersion, ResolvedProfile, load_configuration, parse_feature_gates
from kubectl_sched.config.duration import format_duration
from kubectl_sched.config.refusal import RefusalError
from kubectl_sched.config.types import Duration, OutOfTreeArgs

RECORDED = Path(__file__).parents[2] / "fixtures" / "config"


def load(version: str, case: dict[str, Any]) -> Configuration | str:
    """Return the configuration, or the text of its refusal."""
    try:
        gates = parse_feature_gates(case["gates"])
        return load_configuration(yaml.safe_load(case["config"]), KubeVersion.parse(version), gates)
    except RefusalError as refused:
        return refused.reason


def beyond_chance(text: str, stage: str) -> str:
    """Leave out what differs between two runs of kube-scheduler: addresses, and which gate it checks first."""
    if stage != "gates":
        return re.sub(r"\(0x[0-9a-f]+\)", "(0x...)", text)
    errors = re.split(r", (?=cannot set|\w+ is enabled)", text[1:-1] if text.startswith("[") else text)
    text = ", ".join(sorted(errors))
    return re.sub(r"(?<=unrecognized feature gate: )\w+", "...", text)


def shown(value: object) -> Any:
    """Write arguments as recorded: camelCase, durations as text, nothing that is empty."""
    if isinstance(value, Duration):
        return format_duration(value.nanoseconds)
    if isinstance(value, OutOfTreeArgs):
        return value.document
    if isinstance(value, msgspec.Struct):
        fields = (
            (field.encode_name, shown(getattr(value, field.name))) for field in msgspec.structs.fields(type(value))
        )
        return {name: item for name, item in fields if item not in (None, "", 0, False, [], {})}
    return [shown(item) for item in value] if isinstance(value, tuple) else value


@pytest.mark.parametrize(
    "version", sorted(path.name.removesuffix(".jsonl.gz") for path in RECORDED.glob("1.*.jsonl.gz"))
)
def test_configurations_are_refused_or_resolved_as_recorded(version: str) -> None:
    with gzip.open(RECORDED / f"{version}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for at, line in enumerate(lines):
            try:
                check(version, json.loads(line))
            except BaseException as error:
                error.add_note(f"case {version}-{at}")
                raise


def check(version: str, case: dict[str, Any]) -> None:
    stage, error = case.get("stage", ""), case.get("error", "")
    loaded = load(version, case)
    if isinstance(loaded, str):
        # A plugin that kube-scheduler does not know is left out; what else is wrong is then still refused.
        if stage == "decode":  # the words are ours there
            unknown_fields = re.findall(r'unknown field "[^"]*?([^".]+)"', error)
            assert all(f'{field}"' in loaded for field in unknown_fields)
            return
        assert beyond_chance(loaded, stage) == beyond_chance(error, stage) or error.endswith("does not exist")
        return
    unknown = [plugin.upstream for profile in loaded.profiles.values() for plugin in profile.unknown_plugins]
    assert unknown[:1] == [error] * bool(error)
    if error:
        assert all(plugin in "\n".join(loaded.warnings) for plugin in unknown)
        return
    assert {name: rows(profile) for name, profile in loaded.profiles.items()} == case["profiles"]
    assert {name: shown_args(profile) for name, profile in loaded.profiles.items()} == case["args"]


def rows(profile: ResolvedProfile) -> dict[str, list[list[object]]]:
    return {
        point: [[plugin.name, plugin.weight] for plugin in plugins]
        for point, plugins in profile.plugins.items()
        if plugins
    }


def shown_args(profile: ResolvedProfile) -> dict[str, Any]:
    return {plugin: shown(args) for plugin, args in profile.args.items()}
