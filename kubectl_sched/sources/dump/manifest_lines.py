"""The line at which each object of a manifest begins, for those who point at it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from kubectl_sched.errors import SchedError
from kubectl_sched.sources.dump.user_files import bounded_content
from kubectl_sched.typed_paths import is_directory

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SUFFIXES = frozenset({".json", ".yaml", ".yml"})


def manifest_lines(paths: Sequence[str]) -> dict[str, tuple[str, int]]:
    """Return the file and the line of each object, by `Kind/name`; files that cannot be read so have none."""
    found: dict[str, tuple[str, int]] = {}
    for file in (file for path in paths if path != "-" for file in manifest_files(path)):
        import yaml

        with suppress(OSError, SchedError, ValueError, RecursionError, yaml.YAMLError):
            for node in yaml.compose_all(bounded_content(file), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
                fields = _fields(node)
                name = _fields(fields.get("metadata")).get("name")
                kind = fields.get("kind")
                if kind is not None and name is not None:
                    found.setdefault(f"{kind.value}/{name.value}", (file, node.start_mark.line + 1))
    return found


def manifest_files(path: str) -> Iterator[str]:
    """Yield the file itself, or the .json, .yaml and .yml files of a directory in their order."""
    from pathlib import Path

    if is_directory(path):
        yield from sorted(str(file) for file in Path(path).iterdir() if file.suffix in SUFFIXES and file.is_file())
    else:
        yield path


def _fields(node: Any) -> dict[str, Any]:
    """Return the fields of a mapping of YAML, none of anything else."""
    pairs = getattr(node, "value", None)
    if not isinstance(pairs, list):
        return {}
    return {each[0].value: each[1] for each in pairs if isinstance(each, tuple) and isinstance(each[0].value, str)}
