"""Names that somebody may have meant, the nearest first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kubectl_sched.typed_paths import exists

if TYPE_CHECKING:
    from collections.abc import Iterable

_SHOWN = 3
_COMPARED = 12


def near_names(name: str, names: Iterable[str]) -> list[str]:
    """Return the names that are most like the name; equally near ones by name."""
    from difflib import SequenceMatcher, get_close_matches  # rarely needed

    found = get_close_matches(name, dict.fromkeys(names), n=_COMPARED, cutoff=0.5)
    return sorted(found, key=lambda each: (-SequenceMatcher(None, each, name).ratio(), each))[:_SHOWN]


def with_domain(name: str, names: Iterable[str]) -> str:
    """Return the one name that is this one with a domain behind it, as answers leave it out; else the name itself."""
    found = [each for each in names if each == name or each.startswith(f"{name}.")]
    return found[0] if len(found) == 1 else name


def near_hint(name: str, names: Iterable[str]) -> str:
    """Return `; near it: web-0, web-1`, or nothing."""
    near = near_names(name, names)
    return f"; near it: {', '.join(near)}" if near else ""


def near_files(path: str) -> str:
    """Return the same for files beside one that there is not."""
    missing = Path(path)
    try:
        beside = [each.name for each in missing.parent.iterdir() if exists(str(each))] if not exists(path) else []
    except OSError:
        return ""
    near = near_names(missing.name, beside)
    return f"; near it: {', '.join(str(missing.parent / each) for each in near)}" if near else ""
