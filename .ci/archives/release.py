"""Whether a tag may be released: the version it names, the addresses, and the changelog."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_PLACEHOLDER = "OWNER"


def check(tag: str, project: Mapping[str, Any], changelog: str) -> None:
    """End with all that stands in the way of releasing the tag; `project` is pyproject.toml's table."""
    obstacles = list(_obstacles(tag, project, changelog))
    if obstacles:
        sys.exit("\n".join(obstacles))


def _obstacles(tag: str, project: Mapping[str, Any], changelog: str) -> Iterator[str]:
    version = project["version"]
    if tag != f"v{version}":
        yield f"the tag is {tag}, and pyproject.toml has version {version}: tag v{version}, or change the version"
    for name, url in project["urls"].items():
        if _PLACEHOLDER in url.split("/"):
            yield f"pyproject.toml: the address {name} still has {_PLACEHOLDER}: write who owns the repository"
    if f"\n## {version}" not in changelog:
        yield f"CHANGELOG.md has no section {version}: rename Unreleased"
