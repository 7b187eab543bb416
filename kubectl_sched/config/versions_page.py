"""Writes docs/versions.md out of the tables: `python -m kubectl_sched.config.versions_page > docs/versions.md`."""

from __future__ import annotations

import ast
import sys
from itertools import groupby, pairwise
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from kubectl_sched.config import allocator_versions, versions
from kubectl_sched.config.allocator_versions import DeviceRules
from kubectl_sched.config.features import gates_of_scheduler, known_gate
from kubectl_sched.config.plugin_table import extension_points, in_tree_plugins
from kubectl_sched.config.versions import RELEASES, SUPPORTED, KubeVersion, Release, changing_patches, newest_patch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import ModuleType

_Value = TypeVar("_Value")

_OWN_SECTION: Final = frozenset({"version", "patch", "prerelease", "config_apis", "multi_point", "devices"})

_MODULES: Final = {
    33: (0, 1, 4, 5, 6, 13),
    34: (0, 1, 2, 3, 4, 11, 12),
    35: (0, 1, 4, 5, 6, 8),
    36: (0, 1, 2, 3, 4, 5),
    37: (0, 1, 2),
}
"""By minor the patches whose Go module was read; of the others the changelog, and the same fix in a newer minor."""

_HEAD: Final = """\
# Kubernetes versions

<!-- Written by `python -m kubectl_sched.config.versions_page`; do not edit. -->

What kubectl-sched knows to differ between minors and their patch releases, out of the tables that it runs on. A minor
marked exact makes the decisions of the real scheduler; one marked approximate has its own plugins, weights,
configuration API and reason texts, and the formulas of the oldest exact one."""


_NOT_REPLAYED: Final = """
Known from the sources, and decided here as by the other releases:

- SchedulerAsyncAPICalls (on in 1.34.0, 1.34.1 and 1.35.0) decides when the API server hears of a decision, and no
  decision."""


def page() -> str:
    """Return the page as Markdown."""
    sections = (
        [_HEAD],
        ["## Minors", *_minors()],
        ["## Patch releases", *_patches()],
        ["## Not replayed", _NOT_REPLAYED],
        ["## Default plugins", *_default_plugins()],
        ["## Extension points of the plugins", *_plugins()],
        ["## Behaviour", *_fields(versions, Release, lambda release: release)],
        ["## Allocation of devices", *_fields(allocator_versions, DeviceRules, attrgetter("devices"))],
        ["## Feature gates that the scheduler reads", *_gates()],
    )
    return "\n\n".join("\n".join(section) for section in sections) + "\n"


def _minors() -> Iterator[str]:
    yield "\n| Minor | Read up to | Decisions | KubeSchedulerConfiguration |\n| --- | --- | --- | --- |"
    for version in reversed(SUPPORTED):
        release = RELEASES[version]
        apis = ", ".join(api.rpartition("/")[2] for api in release.config_apis)
        read = release.prerelease or f"v{newest_patch(version)}"
        yield f"| {version} | {read} | {'exact' if release.exact else 'approximate'} | {apis} |"


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


def _patches() -> Iterator[str]:
    yield "\nWithout a patch release the newest one is replayed. What is not listed stayed as it was.\n"
    yield "| Patch releases | Read from | Change |\n| --- | --- | --- |"
    for minor in reversed(SUPPORTED):
        if not changing_patches(minor):
            continue
        for first, last in reversed(_ranges(minor)):
            told = _change(first) if first.patch else "first release"
            yield f"| {_span(first, last)} | {_witness(first, last)} | {told} |"


def _ranges(minor: KubeVersion) -> list[tuple[KubeVersion, KubeVersion]]:
    """Return the first and the last patch release of each stretch without a change, oldest first."""
    starts = [KubeVersion(minor.major, minor.minor, 0), *changing_patches(minor)]
    ends = [KubeVersion(each.major, each.minor, each.patch - 1) for each in starts[1:]]
    return list(zip(starts, [*ends, newest_patch(minor)], strict=True))


def _span(first: KubeVersion, last: KubeVersion) -> str:
    return str(first) if first == last else f"{first} to {last}"


def _witness(first: KubeVersion, last: KubeVersion) -> str:
    read = [f"v{each}" for each in read_modules(first.of_minor) if first <= each <= last]
    return ", ".join(read) or "the changelog, and the same fix in a newer minor"


def read_modules(minor: KubeVersion) -> tuple[KubeVersion, ...]:
    """Return the patch releases of a minor whose Go module was read."""
    return tuple(KubeVersion(minor.major, minor.minor, patch) for patch in _MODULES.get(minor.minor, ()))


def _change(patch: KubeVersion) -> str:
    """Return the fields that a patch release changed, with their new values."""
    before, after = RELEASES[KubeVersion(patch.major, patch.minor, patch.patch - 1)], RELEASES[patch]
    rows: tuple[tuple[Any, Any, frozenset[str]], ...] = (
        (before, after, _OWN_SECTION),
        (before.devices, after.devices, frozenset()),
    )
    return ", ".join(
        f"`{field}`: {_shown(getattr(new, field))}"
        for old, new, left_out in rows
        for field in new.__struct_fields__
        if field not in left_out and getattr(old, field) != getattr(new, field)
    )


def _fields(module: ModuleType, of: type[msgspec.Struct], part: Callable[[Release], msgspec.Struct]) -> Iterator[str]:
    every = [first for minor in SUPPORTED for first, _ in _ranges(minor)]
    for field, text in _documented_fields(module, of):
        if field not in _OWN_SECTION:
            yield f"\n- `{field}`: {text}"
            for span, value in _patch_spans((first, getattr(part(RELEASES[first]), field)) for first in every):
                yield f"  - {span}: {_shown(value)}"


def _documented_fields(module: ModuleType, of: type[msgspec.Struct]) -> Iterator[tuple[str, str]]:
    """Yield the fields of a struct with the text below each, which Python itself does not keep."""
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == of.__name__)
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
    return (f"`{value}`" if value else "none") if isinstance(value, str) else str(value)


def _gates() -> Iterator[str]:
    yield "\nOn or off by default, `!` where that cannot be changed; nothing where the gate is not known."
    yield "Earlier patch releases follow where they differ from the newest one.\n"
    shown = [version for version in SUPPORTED if RELEASES[version].exact]
    yield f"| Gate | {' | '.join(map(str, shown))} |\n| --- |{' --- |' * len(shown)}"
    for name in gates_of_scheduler():
        cells = [_gates_cell(name, version) for version in shown]
        if any(cells):
            yield f"| {name} | {' | '.join(cells)} |"


def _gates_cell(name: str, minor: KubeVersion) -> str:
    """Return the newest patch's state of a gate, and the states of earlier patches where they differ."""
    patches = [KubeVersion(minor.major, minor.minor, patch) for patch in range(newest_patch(minor).patch + 1)]
    stretches = [(state, list(group)) for state, group in groupby(patches, key=lambda each: _gate(name, each))]
    newest, _ = stretches.pop()
    return "; ".join([newest, *(f"{_span(group[0], group[-1])}: {state}" for state, group in stretches)])


def _gate(name: str, version: KubeVersion) -> str:
    gate = known_gate(name, version)
    return "" if gate is None else f"{gate.stage} {'on' if gate.default else 'off'}{'!' if gate.locked else ''}"


def _patch_spans(facts: Iterable[tuple[KubeVersion, _Value]]) -> Iterator[tuple[str, _Value]]:
    """Join neighbouring stretches of patch releases that have the same value: `1.35.6 to 1.36.1`, `1.22 to 1.34`."""
    last_of = {first: last for minor in SUPPORTED for first, last in _ranges(minor)}
    for value, group in groupby(facts, key=itemgetter(1)):
        starts = [first for first, _ in group]
        first, last = starts[0], last_of[starts[-1]]
        whole = first.patch == 0, last == newest_patch(last.of_minor)
        if first.of_minor == last.of_minor:
            yield str(first.of_minor) if all(whole) else _span(first, last), value
        else:
            yield (
                " to ".join(str(one.of_minor if ends else one) for one, ends in zip((first, last), whole, strict=True)),
                value,
            )


def _spans(facts: Iterable[tuple[KubeVersion, _Value]]) -> Iterator[tuple[str, _Value]]:
    """Join neighbouring minors that have the same value: `1.22 to 1.24`."""
    for value, group in groupby(facts, key=itemgetter(1)):
        minors = [version for version, _ in group]
        yield str(minors[0]) if len(minors) == 1 else f"{minors[0]} to {minors[-1]}", value


if __name__ == "__main__":
    sys.stdout.write(page())
