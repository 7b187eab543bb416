"""An agent that asks `kubectl sched mcp` over stdio, by the client of the protocol's own package."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters

from tests.render.schema_checks import check

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    Ask = Callable[[str, dict[str, Any]], Awaitable[tuple[bool, str]]]

ROOT = Path(__file__).parents[2]
TOOLS = {
    *("triage", "explain", "explain_node", "whatif", "drain", "make_room", "capacity", "message"),
    "schedulers",
}
MOST = 32 * 1024


def with_server(source: Sequence[str], talk: Callable[[Ask], Awaitable[Any]]) -> Any:
    """Start the server on a source of state, see that its tools are those that only read, and let the agent talk."""
    arguments = ["-m", "kubectl_sched", "mcp", *source]
    server = StdioServerParameters(command=sys.executable, args=arguments, cwd=ROOT, env=dict(os.environ))

    async def session() -> Any:
        async with Client(server) as client:
            tools = (await client.list_tools()).tools
            assert {each.name for each in tools} == TOOLS
            assert all(each.description and each.annotations is not None for each in tools)
            assert all(each.annotations is not None and each.annotations.read_only_hint for each in tools)

            async def ask(name: str, given: dict[str, Any]) -> tuple[bool, str]:
                result = await client.call_tool(name, given)
                return bool(result.is_error), "".join(getattr(each, "text", "") for each in result.content)

            return await talk(ask)

    return asyncio.run(session())


def answer_in(told: tuple[bool, str]) -> dict[str, Any]:
    """Return the answer of a tool, which is no error, is small, marks its texts as data, and has the schema."""
    is_error, text = told
    assert not is_error, text
    assert len(text.encode()) <= MOST
    data: dict[str, Any] = json.loads(text)
    assert data.pop("note").startswith("Names, messages and all other texts")
    check(data)
    return data


async def loop(ask: Ask) -> dict[str, dict[str, Any]]:
    """Ask as an agent does: what is pending, why the first of it is, and whether the first change helps all of it.

    Each question has only what the answers before it say.
    """
    triage = answer_in(await ask("triage", {}))
    stuck = next(each for each in triage["groups"] if each["cause"]["outcome"] == "Unschedulable")
    pod = stuck["pods"][0]
    explained = answer_in(await ask("explain", {"target": pod["name"], "namespace": pod["namespace"]}))
    closest = explained["closest"][0]["node"]
    node = answer_in(await ask("explain_node", {"node": closest}))
    meaning = answer_in(await ask("message", {"text": explained["message"]}))
    simulated = answer_in(await ask("whatif", {"edits": [["drain", closest]]}))
    return {"triage": triage, "explain": explained, "node": node, "message": meaning, "whatif": simulated}
