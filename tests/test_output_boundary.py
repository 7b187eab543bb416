"""Nothing that a dump holds reaches a terminal as anything but text, in any format and on either stream."""

from __future__ import annotations

import ast
import json
import re
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from kubectl_sched.safe_output import safe, safe_json
from tests.fuzz.laws import CONTROL
from tests.program import run

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(__file__).parents[1] / "kubectl_sched"
OUTPUT = PACKAGE / "safe_output.py"

HOSTILE = [
    "\x1b]52;c;cm0gLXJm\x07",
    "\x1b[2J\x1b[31m",
    "\x9b31m\x90",
    "\u202egpj.exe\u2066",
    "a\rb\nc\x7f\x08",
    "\u200b\u2028\U000e0041",
    "\u034f\u115f\u1160\u17b4\u180b\u3164\ufe0f\uffa0\ufff0\U000e0100",
    "\u2800\u2d7f\ufffc\U0001107f\U00013441\U00016fe4\U0001d159",
]


def writes(source: str) -> Iterator[str]:
    """The statements of a module that write to a standard stream."""
    if not re.search(r"\b(stdout|stderr|print|s?echo)\b", source):
        return
    for part in ast.walk(ast.parse(source)):
        if isinstance(part, ast.Call):
            called = ast.unparse(part.func)
            streams = re.search(r"\b(stdout|stderr)\.(buffer\.)?(write|writelines)$", called)
            if streams or called in {"print", "rich.print", "typer.echo", "click.echo", "typer.secho", "click.secho"}:
                yield ast.unparse(part)


def test_one_module_alone_writes_to_the_standard_streams() -> None:
    assert list(writes(OUTPUT.read_text()))
    pages = {PACKAGE / "config" / "versions_page.py"}
    pages.add(PACKAGE / "diagnostics" / "messages" / "reasons_page.py")
    others = {path: list(writes(path.read_text())) for path in PACKAGE.rglob("*.py") if path != OUTPUT}
    assert {path for path, found in others.items() if found} == pages  # they write docs/, out of our own tables


def hostile_cluster(text: str) -> dict[str, Any]:
    """The text stands in names, labels, taints, messages, events and configurations."""
    condition = {"type": "Ready", "status": "False", "reason": text, "message": text}
    nodes = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"{name}{text}", "labels": {text: text}},
            "spec": {"taints": taints},
            "status": {"allocatable": {"cpu": "2", "pods": "9"}, "conditions": [condition]},
        }
        for name, taints in (("a", []), ("b", [{"key": text, "value": text, "effect": "NoSchedule"}]))
    ]
    specs: list[dict[str, Any]] = [
        {},
        {"nodeSelector": {text: f"{text}x"}},
        {"schedulerName": text},
        {"schedulingGates": [{"name": text}]},
        {"nodeName": f"a{text}"},
    ]
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"p{index}{text}", "namespace": text},
            "spec": {"containers": [{"name": text, "image": text}], **spec},
            "status": {"conditions": [{"type": "PodScheduled", "status": "False", "message": text, "reason": text}]},
        }
        for index, spec in enumerate(specs)
    ]
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "e", "namespace": text},
        "involvedObject": {"kind": "Pod", "name": f"p1{text}", "namespace": text},
        "reason": "FailedScheduling",
        "message": text,
    }
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": text, "namespace": text},
        "data": {text: text},
    }
    return {"apiVersion": "v1", "kind": "List", "items": [*nodes, *pods, event, config]}


def manifest(text: str) -> dict[str, Any]:
    spec = {"containers": [{"name": "c", "image": text}], "schedulerName": "default-scheduler"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "new", "annotations": {text: text}}, "spec": spec}


def asked(dump: str, new: str, text: str) -> Iterator[list[str]]:
    for output in ("table", "wide", "name", "json", "yaml", "html", "markdown"):
        yield ["explain", "--pending", "-A", "-o", output, "--from", dump]
        yield ["explain", f"p0{text}", "-n", text, "-o", output, "--from", dump]
        if output != "wide":
            yield ["whatif", new, "-o", output, "--from", dump]
    for output in ("table", "name", "json", "yaml"):
        yield ["schedulers", "-o", output, "--from", dump]
        yield ["diff", "--to-kube-version", "1.33", "-o", output, "--from", dump]
    yield ["snapshot", "-", "--from", dump]
    yield ["snapshot", "-", "--anonymize", "--from", dump]
    yield ["explain", f"none{text}", "-n", text, "--from", dump]
    yield ["explain", f"p0{text}", "-n", text, "--node", f"n{text}", "--from", dump]
    yield ["explain", "--from", f"missing{text}"]
    yield [f"explain{text}"]
    yield ["message", text]


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_no_character_of_a_dump_talks_to_the_terminal(text: str, tmp_path: Path) -> None:
    dump, new = tmp_path / "dump.json", tmp_path / "new.json"
    dump.write_text(json.dumps(hostile_cluster(text)))
    new.write_text(json.dumps(manifest(text)))
    for arguments in asked(str(dump), str(new), text):
        done = run(*arguments)
        assert done.returncode in {0, 1, 2, 3}, done.stderr
        assert "Traceback" not in done.stderr
        found = CONTROL.search(done.stdout) or CONTROL.search(done.stderr)
        assert found is None, (arguments, found)
        if "json" in arguments or arguments[:2] == ["snapshot", "-"]:
            assert json.loads(done.stdout)
        if "yaml" in arguments:
            assert yaml.safe_load(done.stdout)


def test_names_go_out_as_data_unchanged(tmp_path: Path) -> None:
    text = HOSTILE[0]
    dump = tmp_path / "dump.json"
    dump.write_text(json.dumps(hostile_cluster(text)))
    for output, read in (("json", json.loads), ("yaml", yaml.safe_load)):
        answer = read(run("explain", f"p0{text}", "-n", text, "-o", output, "--from", str(dump)).stdout)
        assert f"a{text}" in [node["name"] for node in answer["nodes"]]


IGNORABLE = (
    *(0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFEFF, 0xFFA0),
    *(*range(0x180B, 0x1810), *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070)),
    *(*range(0xFE00, 0xFE10), *range(0xFFF0, 0xFFF9), *range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B)),
    *range(0xE0000, 0xE1000),
)
"""Default_Ignorable_Code_Point of DerivedCoreProperties.txt, Unicode 17."""


def test_no_character_that_is_drawn_as_nothing_is_printed() -> None:
    blank = {
        code for code in range(0x110000) if unicodedata.category(chr(code)) in {"Cc", "Cf", "Cs", "Zl", "Zp", "Zs"}
    }
    for character in map(chr, {*IGNORABLE, *blank} - {ord(" ")}):
        assert safe(f"a{character}b").isascii()
        if unicodedata.category(character) != "Cs":  # never in UTF-8
            assert safe_json(json.dumps(character, ensure_ascii=False).encode()).isascii()
