"""The krew manifest: the words of manifests/krew.yaml, with a platform for each archive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Archive(NamedTuple):
    """What krew must know of one archive."""

    os: str
    arch: str
    name: str
    sha256: str

    @property
    def program(self) -> str:
        """The file that krew links: on Windows it takes nothing but an .exe."""
        return "kubectl-sched.exe" if self.os == "windows" else "kubectl-sched"


def manifest(words: Mapping[str, Any], project: Mapping[str, Any], archives: Iterable[Archive]) -> dict[str, Any]:
    """The manifest of a release of pyproject.toml's project, whose files are below the homepage as GitHub has them."""
    version, homepage = project["version"], project["urls"]["Homepage"]
    release = f"{homepage}/releases/download/v{version}"
    platforms = [
        {
            "selector": {"matchLabels": {"os": archive.os, "arch": archive.arch}},
            "uri": f"{release}/{archive.name}",
            "sha256": archive.sha256,
            "bin": archive.program,
        }
        for archive in archives
    ]
    spec = {"version": f"v{version}", "homepage": homepage, **words["spec"], "platforms": platforms}
    return {**words, "spec": spec}


def as_text(document: Mapping[str, Any]) -> str:
    """The manifest as YAML, in the order that krew's own documentation has."""
    text: str = yaml.dump(document, sort_keys=False, width=100, Dumper=_Dumper)
    return text


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as they are."""


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


_Dumper.add_representer(str, _text)
