"""Drives the explorer as a person would: keys in, the text of the screen out."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec

from textual import events
from textual.keys import key_to_character
from textual.worker import WorkerCancelled

from kubectl_sched.cli.options import PageOutput
from kubectl_sched.queries.explain import ExplainQuestion, explain
from kubectl_sched.queries.triage import Triaging
from kubectl_sched.sources.discovery.replay_setup import Replay
from kubectl_sched.sources.dump.reader import read
from kubectl_sched.sources.pod_selection import Selection
from kubectl_sched.tui.app import Explorer
from kubectl_sched.tui.decision import Decision
from kubectl_sched.tui.explorer_input import Exploration
from kubectl_sched.tui.screens.explorer_screen import ExplorerScreen
from kubectl_sched.tui.triage_explorer import TriageExplorer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from textual.pilot import Pilot

    from kubectl_sched.tui.explorer_state import View

P = ParamSpec("P")

DEMO = Path("fixtures/demo")
SSH = (80, 24)
WIDE = (160, 40)
_MOST_STEPS = 20
_MOST_PAUSES = 3000
FORMATS = tuple(each.value for each in PageOutput)


def decisions(*targets: str, source: Path = DEMO, namespace: str = "default") -> tuple[Decision, ...]:
    """The answers of explain about these pods of a dump; about all pending ones where none is named."""
    dump = read([str(source)])
    selection = Selection(
        targets=targets, namespace=namespace if targets else None, label_selector=None, pending=not targets
    )
    question = ExplainQuestion(selection=selection, replay=Replay(kube_version="1.36"), suggesting=False)
    answer, schedulers = explain(question, dump)
    return tuple(Decision(each, schedulers.scheduler(each.pod), schedulers.dump.at) for each in answer.explanations)


def explorer(*targets: str, source: Path = DEMO, node: str | None = None) -> Explorer:
    """The explorer as `explain ... -i` opens it."""
    found = decisions(*targets, source=source)
    return Explorer(Exploration(decisions=found, formats=FORMATS, node=node, is_list=len(targets) != 1))


def triage_explorer() -> TriageExplorer:
    """The groups of pending pods as `kubectl sched` opens them."""
    question = ExplainQuestion(selection=Selection(namespace=None, pending=True), suggesting=False)
    return TriageExplorer(Triaging(question, read(["fixtures/triage"])), FORMATS)


def on_screen(test: Callable[P, Awaitable[None]]) -> Callable[P, None]:
    """A test that drives an app."""

    @wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        async def awaited() -> None:
            await test(*args, **kwargs)

        asyncio.run(awaited())

    return run


class Screen:
    """The text on the screen, and the keys."""

    def __init__(self, app: Explorer, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def lines(self) -> list[str]:
        """The text, line by line."""
        return [strip.text.rstrip() for strip in self.app.screen._compositor.render_strips()]  # noqa: SLF001 - no other way to it

    @property
    def text(self) -> str:
        """The whole text."""
        return "\n".join(self.lines)

    @property
    def explorer(self) -> ExplorerScreen:
        """The screen of one decision, whatever is above it."""
        return next(each for each in reversed(self.app.screen_stack) if isinstance(each, ExplorerScreen))

    @property
    def view(self) -> View:
        """The view of the decision that is shown."""
        return self.explorer.view

    @property
    def listed(self) -> list[str]:
        """The names of the nodes in the list, in its order."""
        return [self.view.result.nodes.names[row] for row in self.explorer.rows]

    def line_with(self, text: str) -> str:
        """The one line that holds a text."""
        found = [line for line in self.lines if text in line]
        assert len(found) == 1, f"{len(found)} lines hold {text!r}:\n{self.text}"
        return found[0]

    async def press(self, *keys: str) -> None:
        """Press keys, each once the one before has done what it does, and wait until all that follows is drawn."""
        for key in keys:
            self.app.post_message(events.Key(key, key_to_character(key)))
            await self._until_drawn(idle=False)
        await self.settle()

    async def type(self, text: str) -> None:
        """Type a text into whatever has the focus, as fast as a paste."""
        for character in text:
            self.app.post_message(events.Key(character, character))
        await self.settle()

    async def enter(self, text: str) -> None:
        """Type a text, and enter."""
        await self.type(text)
        await self.press("enter")

    async def settle(self) -> None:
        """Wait until nothing is left to draw and the program is idle."""
        await self._until_drawn(idle=True)

    async def until(self, text: str) -> None:
        """Wait until a text is on the screen; a screen on which it never comes is shown."""
        for _ in range(_MOST_PAUSES):
            if text in self.text:
                return
            await self.pilot.pause(0.01)
        raise AssertionError(f"{text!r} is not on the screen:\n{self.text}")

    async def _until_drawn(self, *, idle: bool) -> None:
        """Until drawing changes nothing: what a screen ends with is drawn by the one below it, a step later."""
        before = None
        for _ in range(_MOST_STEPS):
            now = self.text
            if now == before and not now.isspace():  # blank until it is drawn for the first time
                break
            before = now
            await self.pilot.pause(0)
            for worker in list(self.app.workers):
                with suppress(WorkerCancelled):  # a later key has asked for something else
                    await worker.wait()
            await self.pilot.pause(None if idle else 0)


@asynccontextmanager
async def opened(app: Explorer, size: tuple[int, int] = SSH) -> AsyncIterator[Screen]:
    """The app on a terminal of that size."""
    async with app.run_test(size=size) as pilot:
        screen = Screen(app, pilot)
        await screen.settle()
        yield screen
