"""Names out of a cluster are text: never markup, never control characters, whatever they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from tests.tui.driving import explorer, on_screen, opened

if TYPE_CHECKING:
    from pathlib import Path

MARKUP, ESCAPE, WIDE = "[red]node[/]", "node\x1b[31m\x07\u202e", "节点" * 40


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A dump whose every name tries something."""
    nodes = [_node(name) for name in (MARKUP, ESCAPE, WIDE, "[link=javascript:x]")]
    pod = {
        "kind": "Pod",
        "metadata": {"name": "[bold]p\x1b[2J", "namespace": "default", "labels": {"[x]": "\x1b]0;title\x07"}},
        "spec": {
            "schedulerName": "default-scheduler",
            "containers": [{"name": "[c]", "resources": {"requests": {"cpu": "1", "[r]": "1"}}}],
        },
    }
    path = tmp_path / "hostile.json"
    path.write_bytes(msgspec.json.encode({"kind": "List", "items": [*nodes, pod]}))
    return path


def _node(name: str) -> dict[str, Any]:
    return {
        "kind": "Node",
        "metadata": {"name": name, "labels": {"[red]": "\x1b[31m"}},
        "spec": {"taints": [{"key": "[t]\x07", "value": "[/]", "effect": "NoSchedule"}]},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}},
    }


@on_screen
async def test_every_screen_shows_hostile_names_as_text(hostile: Path) -> None:
    async with opened(explorer(source=hostile)) as screen:
        seen = [screen.text]
        for keys in (("enter",), ("enter",), ("escape", "c"), ("escape", "p"), ("x", "w"), ("escape", "e")):
            await screen.press(*keys)
            seen.append(screen.text)
        svg = screen.app.export_screenshot()
    text = "\n".join(seen)
    assert MARKUP in text
    assert "node\\x1b[31m\\x07\\u202e" in text
    assert "p\\x1b[2J" in text
    for control in ("\x1b", "\x07", "\u202e"):
        assert control not in text
        assert control not in svg


@on_screen
async def test_hostile_entries_are_told_as_text(hostile: Path) -> None:
    async with opened(explorer(source=hostile)) as screen:
        await screen.press("enter", "w")
        for entry in ("[red]x[/] y", "tolerate [red]:NoSchedule", "cordon [/]", "label [link=x]=y"):
            await screen.enter(entry)
            assert "✗ " in screen.text
            await screen.press("ctrl+u")
        assert screen.view.edits == ()


@on_screen
async def test_wide_characters_leave_the_columns_in_their_places(hostile: Path) -> None:
    async with opened(explorer(source=hostile)) as screen:
        await screen.press("enter")
        assert len({line.index(" -  ") for line in screen.lines if "✗ node" in line or "✗ [" in line}) == 1
