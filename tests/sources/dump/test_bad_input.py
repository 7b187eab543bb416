"""The problem of a dump is one sentence that names the file."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubectl_sched.errors import SchedError
from kubectl_sched.sources import Dump, DumpError
from kubectl_sched.sources.configuration_file import read_configuration
from kubectl_sched.sources.dump.reader import read
from kubectl_sched.sources.dump.user_files import read_documents
from tests.apiserver.manifests import NODE, POD, keys, listing
from tests.examples import examples

if TYPE_CHECKING:
    from collections.abc import Callable

LIST = json.dumps(listing(NODE, POD), indent=4)
COMPACT = json.dumps(listing(NODE, POD))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "it is empty"),
        (b"\n\n  ", "it is empty"),
        (LIST[:-30], "was cut off"),
        (LIST[: len(LIST) // 2], "was cut off"),
        (COMPACT[:-5], "was cut off"),
        (COMPACT.replace('"name": "n1"', '"name" "n1"'), "it is not JSON: expected ':' at line 1, column"),
        (LIST.replace('"kind": "Pod",', '"kind": "Pod"'), "it is not JSON: expected ',' or '}' at line"),
        ("[" * 100_000, "nested too deeply"),
        (b"\x7fELF\x02\x01\x01\x00\x00", "binary data"),
        (bytes(range(256)) * 4, "binary data"),
        ("Name:         n1\nRoles:        worker\nLabels:       a=b\n", "`kubectl describe`"),
        ("NAME   READY   STATUS\nweb-0  1/1     Running\n", "table of `kubectl get`"),
        ("NAMESPACE   NAME   READY\nx   web-0  1/1\n", "table of `kubectl get`"),
        ("LAST SEEN   TYPE   REASON\n3m   Warning   FailedScheduling\n", "table of `kubectl get`"),
        ("NAME   AGE\nx   0/3 nodes are available: 3 Too many pods.\n", "explained by `kubectl sched explain message"),
        ("I0601 03:00:12.123456       1 main.go:1] started\n", "it is a log"),
        (
            "Error from server (Forbidden): nodes is forbidden\n",
            "kubectl wrote an error instead of objects: Error from",
        ),
        (b"%PDF-1.4\n%\xe2\xe3\n", "binary data"),
        (b"\x89PNG\r\n\x1a\n" + bytes(20), "binary data"),
        ("<!DOCTYPE html><html></html>", "web page"),
        ("hello", "no Kubernetes objects"),
        ("[1, 2, 3]", "no Kubernetes objects"),
        ("{}", "no Kubernetes objects"),
        ('{"kind": 7, "metadata": {"name": []}}', "no Kubernetes objects"),
        (json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 403}), "only Status"),
        (
            json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "nodes is forbidden"}),
            "an error of the API server instead of objects (nodes is forbidden)",
        ),
        ("kind: Node\nmetadata: {name: a}\nkind: Node\nmetadata: {name: b}\n", "without a line --- between them"),
        ("kind: Pod\n\tmetadata: x\n", "at line 2: a tab indents the line"),
        ("kind: Pod\nmetadata:\n  name: a\n   labels: b\n", "at line 4: the indentation or a bracket is wrong"),
        ("kind: Pod\nmetadata: {name: a\n", "the indentation or a bracket is wrong"),
        ("kind: Pod\nmetadata: *m\n", "at line 2: the alias *m has no anchor"),
        ("kind: Pod\nmetadata: &m {a: *m}\n", "at line 2: the value of anchor &m contains itself"),
        ("kind: Pod\n? {a: b}\n: c\n", "a key is null, a mapping or a list"),
        ("- " * 2000 + "a\n", "nested more than 500 levels deep"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(read_text: Callable[..., Dump], content: str | bytes, said: str) -> None:
    with pytest.raises(DumpError) as raised:
        read_text(content, "dump.txt")
    assert said in str(raised.value)
    assert "dump.txt: " in str(raised.value)
    assert "\n" not in str(raised.value)
    assert raised.value.exit_code == 2


@pytest.mark.parametrize("name", ["nothing-there.json", "nothing/there"])
def test_a_path_that_is_not_there_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(DumpError, match="no such file or directory"):
        read([str(tmp_path / name)])


@pytest.mark.parametrize("name", ["/dev/zero", "/dev/urandom"])
def test_a_file_without_an_end_is_refused(name: str) -> None:
    with pytest.raises(DumpError, match=f"{name}: it is a device, no dump"):
        read([name])
    with pytest.raises(DumpError, match=f"{name}: it is no regular file"):
        read_documents(name)
    with pytest.raises(SchedError, match=f"--config {name}: it is no regular file"):
        read_configuration(name)


def test_standard_input_without_an_end_is_refused() -> None:
    with (
        Path("/dev/zero").open(encoding="utf-8") as stream,
        patch.object(sys, "stdin", stream),
        pytest.raises(DumpError, match="standard input: it is a device, no dump"),
    ):
        read(["-"])


def test_yaml_aliases_that_explode_are_refused(read_text: Callable[..., Dump]) -> None:
    levels = "".join(f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]\n" for level in range(1, 10))
    with pytest.raises(DumpError, match="its aliases expand to far more than the document itself"):
        read_text("kind: Pod\na0: &a0 [x, x, x, x, x, x, x, x, x]\n" + levels)


def test_one_bad_document_among_others_is_a_warning(read_text: Callable[..., Dump]) -> None:
    dump = read_text("kind: Node\napiVersion: v1\nmetadata: {name: n1}\n---\nkind: Pod\n metadata: x\n---\n")
    assert keys(dump) == ["Node n1"]
    assert "it is not YAML at line 6" in dump.warnings[0]


@pytest.mark.parametrize(
    "head",
    [
        "kind: Node\nmetadata: {name: 12}",
        "kind: Pod\nmetadata: [web-0]",
        "kind: Pod\napiVersion: 1\nmetadata: {name: web-0}",
        "kind: PodList\nmetadata: x\nitems: []",
        "kind: List\nmetadata: x\nitems: []",
    ],
)
def test_a_document_whose_head_has_other_types_is_a_warning(read_text: Callable[..., Dump], head: str) -> None:
    dump = read_text(f"kind: Node\napiVersion: v1\nmetadata: {{name: n1}}\n---\n{head}\n")
    assert keys(dump) == ["Node n1"]
    (warning,) = dump.warnings
    assert warning.endswith(": an object whose apiVersion, kind or name is not a text was skipped")


def test_a_foreign_file_in_a_directory_is_no_matter(tmp_path: Path) -> None:
    (tmp_path / "nodes.json").write_text(LIST)
    (tmp_path / "values.yaml").write_text("image: {{ .Values.image }}\n")
    (tmp_path / "empty.json").write_text("")
    (tmp_path / "package.json").write_text('{"name": "x", "version": "1"}')
    (tmp_path / "foreign.json").write_text('{"kind": "Recipe", "metadata": [{"name": 12}]}')
    dump = read([str(tmp_path)])
    assert len(dump.objects) == 2
    assert dump.warnings == ()


def test_what_is_no_file_in_a_directory_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "nodes.json").write_text(LIST)
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "folder.json").mkdir()
    assert len(read([str(tmp_path)]).objects) == 2


def test_a_dump_without_nodes_is_read(read_text: Callable[..., Dump]) -> None:
    dump = read_text(listing(POD))
    assert keys(dump) == ["Pod shop/web-0"]
    assert "Node" not in dump.present


def test_standard_input_is_read() -> None:
    with patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(LIST.encode()))):
        assert keys(read(["-"])) == ["Node n1", "Pod shop/web-0"]


@settings(max_examples=examples(300), deadline=None)
@given(st.data())
def test_no_damage_ends_in_another_error(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([LIST, COMPACT, "kind: Node\nmetadata:\n  name: n1\n---\n" + LIST])).encode()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 40)))
    path = tmp_path_factory.getbasetemp() / "damaged"
    path.write_bytes(text[:start] + data.draw(st.binary(max_size=12)) + text[end:])
    try:
        objects = len(read([str(path)]).objects)
    except DumpError:
        objects = 0
    assert objects <= 3
