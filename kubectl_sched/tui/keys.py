"""The keys, as the bottom line and the help screen show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

from kubectl_sched.tui.lines.line import BLANK, Span, Tone, line, padded, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.tui.lines.line import Line

_WANTED = 9
"""The number of keys that any terminal shows, rather than blanks between them."""


class Key(NamedTuple):
    """A key, the word the bottom line has for it, and the sentence of the help screen."""

    key: str
    word: str
    help: str = ""


EXPLORER = (
    Key("?", "help", "this page"),
    Key("/", "filter", "list only nodes whose name or reason holds what you type; key=value asks for a label"),
    Key("s", "sort", "by the next column; S turns the order round, a click on a heading sorts by it"),
    Key("c", "compare", "the node under the cursor with the winner, or the two that space has marked"),
    Key("w", "what if", "change tolerations, requests, labels, taints, cordons and weights, and see what follows"),
    Key("p", "weights", "how far each plugin's weight would have to go for another node to win"),
    Key("u", "undo", "the last change; U redoes it"),
    Key("e", "export", "what is shown, in any output format, to a file"),
    Key("q", "quit", "leave; the exit code is that of explain"),
    Key("⏎", "open", "the node under the cursor: every plugin with its evidence"),
    Key("i", "info", "all that is said: what it would take with the commands, preemption, events, notes"),
    Key("←→", "steps", "narrow the list to the nodes of the next or previous step of the pipeline"),
    Key("n", "node?", "what it would take for the pod to land on the node under the cursor"),
    Key("a", "apply", "the suggestion that is shown; A shows the next one"),
    Key("y", "copy", "the commands of the suggestion that is shown, or in i under the cursor, to the clipboard"),
    Key("x", "cordon", "cordon the node under the cursor, or uncordon it"),
    Key("␣", "mark", "mark the node for a comparison"),
    Key("esc", "back", "one step back: the filter, the narrowing, the list of pods"),
    Key("t", "theme", "dark, light, or the terminal's own colours"),
    Key("tab", "pane", "to the next pane, whose lines then scroll with the same keys"),
)
_MOVING = (
    Key("j k", "", "down and up, as the arrows do"),
    Key("g G", "", "to the first and to the last line"),
    Key("PgUp PgDn", "", "a screen up and down"),
)
_MARKS = (
    Key("★", "", "the best node, or one of those tied"),
    Key("✓", "", "a node that the pod fits"),
    Key("✗", "", "a node that a plugin keeps out"),
    Key("•", "", "marked for a comparison"),
)
_HELP_AND_QUIT = (Key("?", "help"), Key("q", "quit"))
NODE = (
    Key("esc", "back", "to the list"),
    Key("←→", "previous and next node", "in the order of the list"),
    *_HELP_AND_QUIT,
)
COMPARE = (Key("esc", "back"), Key("x", "swap sides"), *_HELP_AND_QUIT)
WEIGHTS = (Key("esc", "back"), Key("⏎", "try this weight"), *_HELP_AND_QUIT)
REPORT = (Key("esc", "back"), Key("j k", "move"), Key("y", "copy the command"), *_HELP_AND_QUIT)
PODS = (Key("⏎", "open"), Key("/", "filter"), Key("t", "theme"), *_HELP_AND_QUIT)
TRIAGE = (
    Key("⏎", "open", "the group, its pods, and the explorer of a pod"),
    Key("tab", "try what helps on all", "what helps all pods of the group: where they land, and the commands"),
    Key("a-z", "filter", "list only what matches all words that you type: a cause, a workload, or a pod"),
    Key("esc", "back", "drop the filter; without one, to the list before, and from the first list out"),
    Key("?", "help", "this page"),
    Key("^c", "quit", "leave; letters go into the filter"),
)
GROUP = TRIAGE
TRIAL = (
    Key("esc", "back"),
    Key("j k", "move"),
    Key("y", "copy the commands"),
    *_HELP_AND_QUIT,
)
WHAT_IF = (
    Key("⏎", "apply"),
    Key("tab", "complete"),
    Key("^z", "undo"),
    Key("^y", "redo"),
    Key("esc", "back to the list"),
)
FILTER = (Key("⏎", "keep the filter"), Key("esc", "drop it"))


def keys_line(keys: Sequence[Key], width: int) -> Line:
    """Draw the keys that there is room for, the first ones first; they move closer together before one goes."""
    most = len(_that_fit(keys, width, gap=1))
    gap = 2 if len(_that_fit(keys, width, gap=2)) >= min(most, _WANTED) else 1
    spans: list[Span] = []
    for key in _that_fit(keys, width, gap):
        spans += [Span(" " * gap)] if spans else []
        spans += (Span(key.key, Tone.STRONG), Span(f" {key.word}", Tone.DIM))
    return tuple(spans)


def _that_fit(keys: Sequence[Key], width: int, gap: int) -> list[Key]:
    fitting: list[Key] = []
    used = -gap
    for key in keys:
        used += gap + cell_len(key.key) + 1 + cell_len(key.word)
        if used > width:
            break
        fitting.append(key)
    return fitting


def help_lines(forms: Sequence[str], width: int, here: Sequence[Key]) -> list[Line]:
    """All keys, what the marks mean, and what can be typed into the what-if pane; first the keys of this list."""
    lines: list[Line] = []
    if any(key.help for key in here):
        lines += (line("Keys of this list", Tone.STRONG), *_told(here, width), BLANK)
    lines += (line("Keys of the explorer" if lines else "Keys", Tone.STRONG), *_told((*EXPLORER, *_MOVING), width))
    lines += (BLANK, line("Marks", Tone.STRONG), *_told(_MARKS, width))
    entries = "What-if entries (NODE is a name, a pattern or a selector in parentheses)"
    lines += (BLANK, *wrapped(entries, width, Tone.STRONG))
    return [*lines, *(part for form in forms for part in wrapped(form, width, indent="  "))]


def _told(keys: Sequence[Key], width: int) -> Iterator[Line]:
    """Yield each key with its sentence."""
    for key in keys:
        first, *more = wrapped(key.help, max(width - 14, 6))
        yield (Span(f"  {padded(key.key, 11)} ", Tone.STRONG), *first)
        yield from ((Span(" " * 14), *rest) for rest in more)
