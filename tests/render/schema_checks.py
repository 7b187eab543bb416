"""Holds an answer's data to the JSON Schema of its kind, which here allows no field that it does not name."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator

from kubectl_sched.render.schemas.json_schemas import json_schema
from kubectl_sched.render.writers.brief import brief
from kubectl_sched.render.writers.data import printed_size

if TYPE_CHECKING:
    from collections.abc import Mapping


def check(data: Mapping[str, Any]) -> str:
    """Fail with the first fields that differ from the schema; return the kind."""
    kind: str = data["kind"]
    problems = [
        f"{'.'.join(map(str, each.absolute_path))}: {each.message[:300]}" for each in _closed(kind).iter_errors(data)
    ]
    assert not problems, f"{kind}: {problems[:5]}"
    return kind


def check_both(data: Mapping[str, Any]) -> str:
    """Check an answer, and what `--brief` makes of it."""
    short = brief(data, printed_size("json"))
    check({**short, "items": list(short["items"])} if "items" in short else short)
    return check(data)


@cache
def _closed(kind: str) -> Draft202012Validator:
    schema = json_schema(kind)
    for each in schema["$defs"].values():
        if "properties" in each:
            each["additionalProperties"] = False
    return Draft202012Validator(schema)
