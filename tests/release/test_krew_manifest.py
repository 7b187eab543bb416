"""The krew manifest keeps the rules that krew publishes and that its validate-krew-manifest checks.

Read from krew's developer guide (writing manifests, naming guide, best practices, submitting) and the code of its
validation: internal/index/validation and cmd/validate-krew-manifest.
"""

from __future__ import annotations

import re
import tomllib
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
SHA256 = "d7079b79bf4e10e55ded435a2e862efe310e019b6c306a8ff04191238ef4b2b4"
PLATFORMS = [
    ("linux", "amd64"),
    ("linux", "arm64"),
    ("darwin", "amd64"),
    ("darwin", "arm64"),
    ("windows", "amd64"),
]

Json = dict[str, Any]

SYSTEMS = ("linux", "darwin", "windows")
MACHINES = ("386", "amd64", "arm", "arm64", "ppc64le")
FIELDS = {"version", "homepage", "shortDescription", "description", "caveats", "platforms"}
RESERVED = re.compile(r"^(con|prn|aux|nul|com[1-9]|lpt[1-9])$", re.IGNORECASE)
ABBREVIATIONS = frozenset(
    {"cm", "cj", "deploy", "ds", "ep", "hpa", "ing", "ns", "no", "pdb", "po", "pv", "pvc", "rs", "sts", "svc"}
)


def broken_rules(document: Json, filename: str, text: str = "") -> list[str]:
    """Each rule that the manifest breaks, in words."""
    name, spec = document["metadata"]["name"], document["spec"]
    rules = {
        "apiVersion": document["apiVersion"] == "krew.googlecontainertools.github.com/v1alpha2",
        "kind": document["kind"] == "Plugin",
        "only known fields": set(document) == {"apiVersion", "kind", "metadata", "spec"} and set(spec) <= FIELDS,
        "the file is named after the plugin": filename == f"{name}.yaml",
        "a safe name": re.fullmatch(r"[\w-]+", name) is not None and RESERVED.match(name) is None,
        "lower case and hyphens": re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) is not None,
        "no kube in the name": not name.startswith(("kube", "kubernetes")),
        "no abbreviated resource in the name": not set(name.split("-")) & ABBREVIATIONS,
        "a semantic version with v": re.fullmatch(r"v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?", spec["version"]) is not None,
        "a homepage": spec["homepage"].startswith("https://"),
        "a short description of one line, up to 70 columns": 0 < len(spec["shortDescription"]) <= 70
        and "\n" not in spec["shortDescription"],
        "no redundant words in it": not re.search(
            r"kubectl|plugin|kubernetes", spec["shortDescription"], re.IGNORECASE
        ),
        "no full stop after it": not spec["shortDescription"].endswith("."),
        "a description of at most 80 columns": spec["description"] != "" and _narrow(spec["description"]),
        "no usage in the description": not re.search(r"--\w|kubectl sched", spec["description"]),
        "caveats of at most 80 columns": _narrow(spec.get("caveats", "")),
        "platforms": len(spec["platforms"]) > 0,
        "no empty places": not re.search(r"TODO|FIXME|PLACEHOLDER|[<{]\w+[>}]|example\.com", text),
    }
    broken = [rule for rule, is_kept in rules.items() if not is_kept]
    return [*broken, *(rule for platform in spec["platforms"] for rule in _of_platform(platform)), *_of_all(spec)]


def _narrow(text: str) -> bool:
    return all(len(line) <= 80 for line in text.splitlines())


def _of_platform(platform: Json) -> list[str]:
    selector = platform.get("selector", {}).get("matchLabels", {})
    system = selector.get("os")
    suffix = Path(platform.get("bin", "")).suffix
    rules = {
        "a selector of os and arch": set(selector) == {"os", "arch"},
        "a platform that there is": system in SYSTEMS and selector.get("arch") in MACHINES,
        "an archive behind https": re.fullmatch(r"https://\S+\.(tar\.gz|zip)", platform.get("uri", "")) is not None,
        "a checksum in lower case": re.fullmatch(r"[a-f0-9]{64}", platform.get("sha256", "")) is not None,
        "a program": platform.get("bin", "") != "",
        "on Windows an .exe": (system == "windows") == (suffix == ".exe"),
        "files left out or not empty": platform.get("files", [None]) != [],
    }
    return [rule for rule, is_kept in rules.items() if not is_kept]


def _of_all(spec: Json) -> list[str]:
    matching = [
        [each for each in spec["platforms"] if each["selector"]["matchLabels"] == {"os": system, "arch": machine}]
        for system, machine in product(SYSTEMS, MACHINES)
    ]
    overlap = ["one platform for each os and arch"] if any(len(found) > 1 for found in matching) else []
    repeated = len({each["uri"] for each in spec["platforms"]}) < len(spec["platforms"])
    return [*overlap, *(["an archive for each platform"] if repeated else [])]


@pytest.fixture
def generated(monkeypatch: pytest.MonkeyPatch) -> Json:
    """The manifest as `.ci/archives` generates it for archives of all platforms."""
    monkeypatch.syspath_prepend(str(ROOT / ".ci" / "archives"))
    krew = import_module("krew")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    archives = [
        krew.Archive(system, machine, f"kubectl-sched-v{project['version']}-{system}-{machine}.tar.gz", SHA256)
        for system, machine in PLATFORMS
    ]
    words = yaml.safe_load((ROOT / "manifests" / "krew.yaml").read_text())
    manifest: Json = yaml.safe_load(krew.as_text(krew.manifest(words, project, archives)))
    return manifest


def test_the_manifest_breaks_no_rule(generated: Json) -> None:
    assert broken_rules(generated, "sched.yaml", str(generated)) == []
    found = [tuple(each["selector"]["matchLabels"].values()) for each in generated["spec"]["platforms"]]
    assert found == PLATFORMS


def test_what_it_says_of_python_is_so(generated: Json) -> None:
    oldest = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"].removeprefix(">=")
    assert f"Python {oldest} to " in generated["spec"]["caveats"]


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"shortDescription": "A kubectl plugin that explains scheduling"}, "no redundant words in it"),
        ({"shortDescription": "x" * 71}, "a short description of one line, up to 70 columns"),
        ({"version": "0.1.0"}, "a semantic version with v"),
        ({"homepage": "http://sched"}, "a homepage"),
        ({"platforms": []}, "platforms"),
        ({"tags": ["x"]}, "only known fields"),
        ({"description": "Run it with --node"}, "no usage in the description"),
    ],
)
def test_a_broken_rule_is_noticed(generated: Json, change: Json, rule: str) -> None:
    assert rule in broken_rules({**generated, "spec": {**generated["spec"], **change}}, "sched.yaml")


def test_platforms_that_overlap_or_lack_something_are_noticed(generated: Json) -> None:
    spec = generated["spec"]
    first = spec["platforms"][0]
    twice = {**generated, "spec": {**spec, "platforms": [first, first]}}
    assert broken_rules(twice, "sched.yaml") == ["one platform for each os and arch", "an archive for each platform"]
    windows = {**first, "selector": {"matchLabels": {"os": "windows", "arch": "amd64"}}, "sha256": SHA256.upper()}
    broken = broken_rules({**generated, "spec": {**spec, "platforms": [windows]}}, "other.yaml")
    assert broken == [
        "the file is named after the plugin",
        "a checksum in lower case",
        "on Windows an .exe",
    ]
