"""Writes data as JSON and YAML, names as lines, and warnings to stderr."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from kubectl_sched.safe_output import safe, safe_json, write_error, write_json, write_page, write_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


def warn(sentences: Sequence[str]) -> None:
    """Write each of the sentences once on stderr."""
    write_error("".join(f"warning: {safe(sentence)}\n" for sentence in dict.fromkeys(sentences)))


def write_names(names: Iterable[str]) -> None:
    """Print `-o name`: a line each."""
    write_text("".join(f"{safe(name)}\n" for name in names))


def write_data(data: Mapping[str, Any], output: str) -> None:
    """Print the data on stdout as `json` or `yaml`. Where `items` is an iterator, JSON takes one after the other."""
    if output == "yaml":
        write_page(as_yaml({**data, "items": list(data["items"])} if "items" in data else data))
    elif isinstance(data.get("items", ()), Sequence):
        write_json(as_json(data))
    else:
        _write_items(data)


def as_json(data: Mapping[str, Any]) -> bytes:
    """The data as indented JSON with a line's end."""
    return safe_json(_formatted(data)) + b"\n"


def printed_size(output: str) -> Callable[[Any], int]:
    """Return the function that says how many bytes a value has as `json` or `yaml`, also as one of several items."""
    if output == "yaml":
        return lambda value: len(as_yaml({"items": [value]}).encode())
    return lambda value: len(safe_json(_indented(value, 4))) + 1  # the end of the line


def as_yaml(data: Mapping[str, Any]) -> str:
    """The data as YAML, each text on a line of its own however long."""
    import yaml

    encoded = msgspec.json.encode(data).decode()
    text: str = yaml.dump(
        msgspec.to_builtins(data),
        Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper),  # the one in C is several times as fast
        sort_keys=False,
        allow_unicode=safe(encoded) == encoded,
        width=2**16,
    )
    return text


def _write_items(data: Mapping[str, Any]) -> None:
    """Print JSON with only one of the `items` in memory at a time.

    An answer about thousands of nodes is megabytes, and a list may have thousands of those.
    """
    for position, (key, value) in enumerate(data.items()):
        write_json(b'%s\n  "%s": ' % (b"," if position else b"{", key.encode()))
        if key != "items":
            write_json(_indented(value, 2))
            continue
        opened = False
        for item in value:
            write_json((b"," if opened else b"[") + b"\n    " + _indented(item, 4))
            opened = True
        write_json(b"\n  ]" if opened else b"[]")
    write_json(b"\n}\n")


def _indented(value: Any, columns: int) -> bytes:
    return _formatted(value).replace(b"\n", b"\n" + b" " * columns)


def _formatted(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=2)
