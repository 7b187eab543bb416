"""Nodes on a screen have their names without the domain that all share; what is pasted or quoted keeps them whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from kubectl_sched.render.document import (
    Commands,
    Document,
    Ladder,
    Listing,
    Notes,
    Quote,
    Rung,
    Sentence,
    Verdict,
)
from kubectl_sched.render.short_names import with_short_names
from kubectl_sched.render.table import Column, Table
from tests.program import run
from tests.render.worlds import screen

if TYPE_CHECKING:
    from pathlib import Path

NODES = ("w-1.eu.internal", "w-2.eu.internal")
TOLD = f"{NODES[0]} is full"


def told(nodes: tuple[str, ...]) -> str:
    row: Table[Any] = Table(
        columns=(
            Column(heading="Node", cell=str, kind="name", among=nodes),
            Column(heading="Why", cell=lambda name: f"{name} is full"),
        ),
        rows=NODES[1:],
        below=TOLD,
    )
    document = Document(
        verdict=Verdict(text="no"),
        parts=(
            Sentence(text=TOLD),
            Listing(tables=(row,)),
            Ladder(heading="What helps", rungs=(Rung(text=TOLD, commands=(f"kubectl uncordon {NODES[0]}",)),)),
            Commands(commands=(f"kubectl drain {NODES[0]}",)),
            Quote(heading="It said", text=f"{NODES[1]} rejected"),
        ),
        notes=Notes(changing=(TOLD,)),
        details=(Document(verdict=Verdict(text="no"), parts=(Sentence(text=TOLD),)),),
        nodes=nodes,
    )
    return screen(with_short_names(document), 100)


def test_all_but_names_commands_and_quotes_is_short() -> None:
    text = told(NODES)
    assert text.count("w-1 is full") == text.count("is full") - 1 == 5
    assert f"{NODES[1]}  w-2 is full" in text
    assert all(f"{each} {NODES[0]}" in text for each in ("kubectl uncordon", "kubectl drain"))
    assert f"It said: {NODES[1]} rejected" in text


@pytest.mark.parametrize("nodes", [(), NODES[:1], ("w-1.eu.internal", "w-2.us.example")])
def test_names_without_a_domain_of_all_stay_whole(nodes: tuple[str, ...]) -> None:
    assert told(nodes).count(TOLD) == 5


@pytest.mark.parametrize("command", [("drain", NODES[0]), ("whatif", "--make-room", "pod/web")])
def test_a_verdict_has_short_names_in_every_format(command: tuple[str, ...], tmp_path: Path) -> None:
    room = {"allocatable": {"cpu": "4", "pods": "10"}}
    nodes = [{"kind": "Node", "apiVersion": "v1", "metadata": {"name": name}, "status": room} for name in NODES]
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "app", "uid": "app", "controller": True}
    pods = [
        {
            "kind": "Pod",
            "apiVersion": "v1",
            "metadata": {"name": name, "namespace": "default", "uid": name, "ownerReferences": [owner] if node else []},
            "spec": {"nodeName": node, "containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]},
        }
        for name, node, cpu in (("one", NODES[0], "1"), ("two", NODES[1], "1"), ("web", "", "4"))
    ]
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*nodes, *pods]}))
    for output in ("table", "wide", "markdown", "json"):
        done = run(*command, "--from", str(file), "-o", output)
        said = done.stdout.splitlines()[0]
        if output == "json":
            data = json.loads(done.stdout)
            said = data["verdict" if data["kind"] == "Drain" else "summary"]
        assert "w-1" in said or "w-2" in said
        assert "internal" not in said
