"""Opens the explorer on a terminal."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING

from kubectl_sched.errors import SchedError
from kubectl_sched.render.answers.explain_output import check_node, exit_code
from kubectl_sched.safe_output import can_draw
from kubectl_sched.tui.decision import Decision
from kubectl_sched.tui.explorer_input import Exploration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.queries.explain import ExplainAnswer
    from kubectl_sched.render.display import Display
    from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers


def check_terminal() -> None:
    """Raises SchedError unless there is a terminal to read keys from and to draw on."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise SchedError("--interactive needs a terminal: without -i the answer is printed")
    if not can_draw(sys.stdout):
        raise SchedError(
            f"--interactive needs a terminal to draw on, but TERM is {os.environ['TERM']}: "
            "without -i the answer is printed"
        )


def explore(answer: ExplainAnswer, schedulers: ClusterSchedulers, display: Display, formats: Sequence[str]) -> int:
    """Show the decisions until the user leaves; gives explain's own exit code. Raises SchedError for a wrong --node."""
    check_node(answer.explanations, display)
    decisions = tuple(
        Decision(each, schedulers.scheduler(each.pod), schedulers.dump.at) for each in answer.explanations
    )
    about = Exploration(
        decisions=decisions,
        formats=tuple(formats),
        notes=answer.notes,
        changing=(*answer.changing, *answer.warnings),
        node=display.node,
        is_list=not answer.is_about_one_pod,
    )
    prepared(display.color)
    from kubectl_sched.tui.app import Explorer

    explorer = Explorer(about)
    explorer.run()
    return explorer.return_code or exit_code(answer.explanations, display)


def prepared(color: str) -> None:
    """Set up the process for a screen: colours as they are wanted, and garbage collection."""
    # Textual looks for it, too.
    if color == "never":
        os.environ["NO_COLOR"] = "1"
    elif color == "always":
        os.environ.pop("NO_COLOR", None)
    # What the state is made of holds no cycles and stays; what comes after it is garbage like that of any program.
    gc.freeze()
    gc.enable()
