"""Writes docs/versions.md out of the tables: `python -m kubectl_sched.config.versions_page > docs/versions.md`."""

from __future__ import annotations

import ast
import sys
from itertools import groupby, pairwise
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from kubectl_sched.config import versions
from kubectl_sched.config.features import gates_of_scheduler, known_gate
from kubectl_sched.config.plugin_table import extension_points, in_tree_plugins
from kubectl_sched.config.versions import PATCHES, RELEASES, SUPPORTED, KubeVersion, Release

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_Value = TypeVar("_Value")

_OWN_SECTION: Final = frozenset({"version", "config_apis", "multi_point"})

_HEAD: Final = """\
# Kubernetes versions

<!-- Written by `python -m kubectl_sched.config.versions_page`; do not edit. -->

What kubectl-sched knows to differ between minors, out of the tables that it runs on. A minor marked exact makes the
decisions of the real scheduler; one marked approximate has its own plugins, weights, configuration API and reason
texts, and the formulas of the oldest exact one."""


def page() -> str:
    """Return the page as Markdown."""
    sections = (
        [_HEAD],
        ["## Minors", *_minors()],
        ["## Default plugins", *_default_plugins()],
        ["## Extension points of the plugins", *_plugins()],
        ["## Behaviour", *_behaviour()],
        ["## Feature gates that the scheduler reads", *_gates()],
    )
    return "\n\n".join("\n".join(section) for section in sections) + "\n"


def _minors() -> Iterator[str]:
    yield "\n| Minor | Read from | Decisions | KubeSchedulerConfiguration |\n| --- | --- | --- | --- |"
    for version in reversed(SUPPORTED):
        release = RELEASES[version]
        apis = ", ".join(api.rpartition("/")[2] for api in release.config_apis)
        yield f"| {version} | v{version}.{PATCHES[version]} | {'exact' if release.exact else 'approximate'} | {apis} |"


def _default_plugins() -> Iterator[str]:
    yield "\nIn order, with their weights; a gate in brackets means: only with that feature.\n"
    for span, plugins in _spans((version, RELEASES[version].multi_point) for version in SUPPORTED):
        listed = (
            f"{plugin.name}{f' {plugin.weight}' if plugin.weight else ''}{f' [{plugin.gate}]' if plugin.gate else ''}"
            for plugin in plugins
        )
        yield f"- {span}: {', '.join(listed)}"


def _plugins() -> Iterator[str]:
    yield "\n| Plugin | Minors | Extension points |\n| --- | --- | --- |"
    names = sorted({name for version in SUPPORTED for name in in_tree_plugins(version)})
    for name in names:
        for span, points in _spans((version, _points(name, version)) for version in SUPPORTED):
            if points:
                yield f"| {name} | {span} | {', '.join(points)} |"


def _points(name: str, version: KubeVersion) -> tuple[str, ...]:
    own = in_tree_plugins(version).get(name, frozenset())
    return tuple(point for point in extension_points(version) if point in own)


def _behaviour() -> Iterator[str]:
    for field, text in _documented_fields():
        if field in _OWN_SECTION:
            continue
        yield f"\n- `{field}`: {text}"
        for span, value in _spans((version, getattr(RELEASES[version], field)) for version in SUPPORTED):
            yield f"  - {span}: {_shown(value)}"


def _documented_fields() -> Iterator[tuple[str, str]]:
    """Yield the fields of Release with the text below each, which Python itself does not keep."""
    tree = ast.parse(Path(versions.__file__).read_text(encoding="utf-8"))
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == Release.__name__)
    for field, text in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            said = ast.literal_eval(text.value) if isinstance(text, ast.Expr) else ""
            yield field.target.id, " ".join(said.split())


def _shown(value: object) -> str:
    """Return a value as a person reads it, always in the same order."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, msgspec.Struct):
        return "; ".join(f"{name}: {_shown(getattr(value, name))}" for name in value.__struct_fields__)
    if isinstance(value, frozenset):
        value = tuple(sorted(value))
    if isinstance(value, tuple):
        nested = any(isinstance(item, msgspec.Struct) for item in value)
        return (" / " if nested else ", ").join(map(_shown if nested else str, value)) or "none"
    return f"`{value}`" if isinstance(value, str) else str(value)


def _gates() -> Iterator[str]:
    yield "\nOn or off by default, `!` where that cannot be changed; nothing where the gate is not known.\n"
    shown = [version for version in SUPPORTED if RELEASES[version].exact]
    yield f"| Gate | {' | '.join(map(str, shown))} |\n| --- |{' --- |' * len(shown)}"
    for name in gates_of_scheduler():
        cells = [_gate(name, version) for version in shown]
        if any(cells):
            yield f"| {name} | {' | '.join(cells)} |"


def _gate(name: str, version: KubeVersion) -> str:
    gate = known_gate(name, version)
    return "" if gate is None else f"{gate.stage} {'on' if gate.default else 'off'}{'!' if gate.locked else ''}"


def _spans(facts: Iterable[tuple[KubeVersion, _Value]]) -> Iterator[tuple[str, _Value]]:
    """Join neighbouring minors that have the same value: `1.22 to 1.24`."""
    for value, group in groupby(facts, key=itemgetter(1)):
        minors = [version for version, _ in group]
        yield str(minors[0]) if len(minors) == 1 else f"{minors[0]} to {minors[-1]}", value


if __name__ == "__main__":
    sys.stdout.write(page())
