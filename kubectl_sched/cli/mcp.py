"""`mcp`: answers programs over the Model Context Protocol, on standard input and output."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from kubectl_sched.cli import options  # noqa: TC001 - typer reads it
from kubectl_sched.cli.options.connection import ConnectionOptions  # noqa: TC001 - as above
from kubectl_sched.errors import SchedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.sources.dump.dump import Dump
    from kubectl_sched.sources.pod_selection import Selection


def mcp(
    source: options.StateSource,
    selection: options.OneNamespace,
    scheduler: options.ProfiledScheduler,
    connection: ConnectionOptions,
) -> None:
    """Answer programs over the Model Context Protocol, on standard input and output."""
    try:
        from kubectl_sched.mcp.tool_server import tool_server
    except ModuleNotFoundError as error:
        raise SchedError(f"the package {error.name} is missing: pip install 'kubectl-sched[mcp]'") from None
    from kubectl_sched.cli.options.state_source import default_namespace
    from kubectl_sched.mcp.tool_answers import ToolAnswers

    if "-" in (source.from_ or ()):
        raise SchedError("--from - reads standard input, which questions come by: name a file")
    namespace = selection.namespace or default_namespace(source, connection)
    answers = ToolAnswers(_state(source, connection), scheduler.replay, scheduler.profile, namespace)
    tool_server(answers).run("stdio")


def _state(source: options.StateSource, connection: ConnectionOptions) -> Callable[[Selection], tuple[Dump, Selection]]:
    """Return the reader of state: a dump is read once, a running cluster for each question."""
    from kubectl_sched.cli.options.state_source import read_source, within
    from kubectl_sched.sources.pod_selection import Selection

    if not source.from_:
        return lambda selection: read_source(source, connection, selection)

    @cache
    def dump() -> Dump:
        return read_source(source, connection, Selection(namespace=None))[0]

    dump()
    return lambda selection: (dump(), within(selection, "default"))
