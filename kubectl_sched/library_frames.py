"""Data frames of answers: a row for each entry of an answer's list, by pandas or polars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubectl_sched.errors import SchedError
from kubectl_sched.safe_output import safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Row = dict[str, Any]


def frame(rows: Sequence[Row], columns: Sequence[str]) -> Any:
    """Return the rows as a DataFrame of pandas, else of polars; without rows it has the columns.

    Texts are escaped as in a table, as a frame prints them to the letter.

    Raises SchedError if neither is installed.
    """
    shown = [
        {safe(name): safe(value) if isinstance(value, str) else value for name, value in row.items()} for row in rows
    ]
    try:
        from pandas import DataFrame
    except ModuleNotFoundError:
        try:
            from polars import DataFrame
        except ModuleNotFoundError:
            raise SchedError("a data frame needs pandas or polars: pip install pandas") from None
        return DataFrame(shown or None, schema=None if shown else list(columns), infer_schema_length=None)
    return DataFrame(shown, columns=None if shown else list(columns))


def rows_of(entries: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> list[Row]:
    """Return a row for each entry, with the fields that the columns name: `before.outcome` is a field of a field."""
    return [{column: cell(_field(entry, column)) for column in columns} for entry in entries]


def cell(value: Any) -> Any:
    """Return a value as a cell: a name as namespace/name, a list as one text, anything else as it is."""
    if isinstance(value, dict):
        return f"{value['namespace']}/{value['name']}"
    return ", ".join(map(str, value)) if isinstance(value, list) else value


def node_rows(nodes: Iterable[Mapping[str, Any]]) -> list[Row]:
    """Return a row for each node of an Explanation: the first rejection, the points, and those of each plugin."""
    return [
        {
            "node": node["name"],
            **{part: cell((node["filter"] or {}).get(part)) for part in ("plugin", "code", "reasons")},
            "total": node["total"],
            **{score["plugin"]: score["weighted"] for score in node["scores"]},
        }
        for node in nodes
    ]


def drain_rows(drain: Mapping[str, Any]) -> list[Row]:
    """Return a row for each pod of the drained nodes: what happens to it, where it lands, and why it does not."""
    return [
        {
            "pod": cell(each["pod"]),
            "then": "unknown" if each.get("outcome") == "Unknown" else then,
            "node": each.get("node"),
            "owner": each["owner"],
            "why": each.get("why") or each.get("event"),
        }
        for then in ("blocked", "lost", "pending", "moves", "stays")
        for each in drain[then]
    ]


def _field(entry: Mapping[str, Any], column: str) -> Any:
    value: Any = entry
    for name in column.split("."):
        value = None if value is None else value[name]
    return value
