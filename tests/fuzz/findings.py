"""Findings: a case that broke a law, made small, and written to a file that shows it again."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.fuzz.laws import broken, law_of
from tests.fuzz.program import run
from tests.fuzz.targets import Case

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_MOST_TRIES = 400


class Finding(NamedTuple):
    """A broken law, and the case that broke it."""

    target: str
    number: int
    law: str
    case: Case


def minimized(found: Finding) -> Finding:
    """The finding with as much of its files and of standard input left out as breaks the same law."""
    tries = [_MOST_TRIES]
    case, law = found.case, found.law

    def shows_it(other: Case) -> bool:
        nonlocal law
        tries[0] -= 1
        said = broken(run(other.arguments, other.files, other.stdin), other.arguments)
        if said is not None and law_of(said) == law_of(found.law):
            law = said
            return True
        return False

    if not shows_it(case):
        return found
    for name in (*case.files, None):
        data = case.stdin if name is None else case.files[name]
        size = len(data) // 2
        while size and tries[0] > 0:
            for shorter in _without_pieces(data, size):
                other = _with(case, name, shorter)
                if tries[0] > 0 and shows_it(other):
                    case, data = other, shorter
                    break
            else:
                size //= 2
    return found._replace(case=case, law=law)


def _without_pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[:start] + data[start + size :] for start in range(0, len(data), size))


def _with(case: Case, name: str | None, data: bytes) -> Case:
    return case._replace(stdin=data) if name is None else case._replace(files={**case.files, name: data})


def write(found: Finding, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{found.target}-{found.number}.json"
    document = {
        "target": found.target,
        "number": found.number,
        "law": found.law[:2000],
        "arguments": list(found.case.arguments),
        "files": {name: _shown(data) for name, data in found.case.files.items()},
        "stdin": _shown(found.case.stdin),
    }
    path.write_text(json.dumps(document, indent=1) + "\n", "utf-8")
    return path


def read(path: Path) -> Case:
    """The case of a finding's file."""
    document = json.loads(path.read_text("utf-8"))
    files = {name: _data(shown) for name, shown in document["files"].items()}
    return Case(tuple(document["arguments"]), files, _data(document["stdin"]))


def _shown(data: bytes) -> Any:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def _data(shown: Any) -> bytes:
    return base64.b64decode(shown["base64"]) if isinstance(shown, dict) else str(shown).encode()
