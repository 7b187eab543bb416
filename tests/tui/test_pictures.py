"""The explorer's screens as pictures, compared with those in tests/golden/tui; `--update-golden` draws them anew."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import pytest
from textual.widgets import Input

from kubectl_sched.sources.dump import completeness
from tests.tui.driving import SSH, WIDE, explorer, on_screen, opened, triage_explorer

GOLDEN = Path("tests/golden/tui")
WEB, API = "web-0", "api-5d9c7b8f6d-m7c5t"


class Picture(NamedTuple):
    """A picture: its pods, on a terminal of which size, after which keys."""

    name: str
    pods: tuple[str, ...]
    size: tuple[int, int] = SSH
    keys: tuple[str, ...] = ()
    entry: str = ""
    theme: str = "textual-dark"
    no_color: bool = False
    is_triage: bool = False


PICTURES = (
    Picture("unschedulable", (WEB,)),
    Picture("schedulable-wide", (API,), WIDE, ("j",)),
    Picture("several-pods", ()),
    Picture("narrowed", (WEB,), keys=("right", "right", "right", "right", "right")),
    Picture("node", (WEB,), keys=("enter",)),
    Picture("comparison", (API,), keys=("j", "c")),
    Picture("weights", (API,), keys=("p",)),
    Picture("what-if", (WEB,), keys=("w",), entry="request nvidia.com/gpu=2"),
    Picture("what-if-wide", (API,), WIDE, keys=("w",), entry="weight fit=3"),
    Picture("wrong-entry", (WEB,), keys=("w",), entry="taint gpu-1 dedicated=db"),
    Picture("filter", (API,), keys=("slash", "g", "p", "u")),
    Picture("export", (API,), keys=("e", "down", "down")),
    Picture("help", (API,), (100, 60), keys=("question_mark",)),
    Picture("light", (API,), keys=("j",), theme="textual-light"),
    Picture("terminal-colours", (API,), keys=("j",), theme="ansi-dark"),
    Picture("no-colour", (API,), keys=("j",), no_color=True),
    Picture("triage", (), is_triage=True),
    Picture("triage-120", (), (120, 30), is_triage=True),
    Picture("triage-160", (), WIDE, is_triage=True),
    Picture("triage-filter", (), keys=("k", "u", "e"), is_triage=True),
    Picture("triage-group", (), keys=("down", "enter", "down"), is_triage=True),
    Picture("triage-trial", (), keys=("down", "tab"), is_triage=True),
    Picture("triage-help", (), (100, 60), keys=("question_mark",), is_triage=True),
)


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
@on_screen
async def test_a_screen_looks_as_its_picture(
    picture: Picture, update_golden: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if picture.no_color:
        monkeypatch.setenv("NO_COLOR", "1")
    else:
        monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(completeness, "time_since", lambda *_: timedelta(hours=9))
    app = triage_explorer() if picture.is_triage else explorer(*picture.pods)
    if not picture.no_color:
        app.theme = picture.theme
    async with opened(app, picture.size) as screen:
        await screen.press(*picture.keys)
        if picture.entry:
            await screen.enter(picture.entry)
        for entry in app.screen.query(Input):
            entry.cursor_blink = False
        await screen.settle()
        drawn = without_fonts(app.export_screenshot())
    assert drawn == golden(picture.name, drawn if update_golden else None)


def golden(name: str, drawn: str | None) -> str:
    """The picture of that name; written first where one is drawn anew."""
    path = GOLDEN / f"{name}.svg"
    if drawn is not None:
        GOLDEN.mkdir(exist_ok=True, parents=True)
        path.write_text(drawn, encoding="utf-8")
    return path.read_text(encoding="utf-8")


def without_fonts(svg: str) -> str:
    """The picture without what it would load from elsewhere, and with ids that are not made from its content."""
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"terminal-\d+", "terminal", svg)
    return re.sub(r"font-family: Fira Code, monospace", "font-family: monospace", svg)


def test_there_is_no_picture_that_no_test_draws() -> None:
    assert {path.stem for path in GOLDEN.glob("*.svg")} == {picture.name for picture in PICTURES}
