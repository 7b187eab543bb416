"""`schema`: the JSON Schema of an answer."""

from __future__ import annotations

from typing import Annotated

import typer


def schema(
    kind: Annotated[str | None, typer.Argument(metavar="KIND", help="The kind; without one all are listed.")] = None,
) -> None:
    """Print the JSON Schema (2020-12) of a kind of answer, or list the kinds."""
    from kubectl_sched.render.schemas.json_schemas import KINDS, json_schema, summary_of
    from kubectl_sched.render.writers.data import as_json
    from kubectl_sched.safe_output import write_json, write_text

    if kind is not None:
        write_json(as_json(json_schema(kind)))
        return
    width = max(map(len, KINDS))
    write_text("".join(f"{each:<{width}}  {summary_of(each)}\n" for each in KINDS))
