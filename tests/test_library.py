"""The library: its documentation runs, it agrees with the command line, and it costs nothing before it is asked."""

from __future__ import annotations

import contextlib
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

import kubectl_sched as ks
from kubectl_sched.sources.dump.dump import Dump, Forbidden
from kubectl_sched.sources.live import cluster_reader
from tests.plugins.clusters import pod
from tests.program import run

KUBECONFIG = """
current-context: here
contexts: [{name: here, context: {cluster: here}}]
clusters: [{name: here, cluster: {server: "http://127.0.0.1:1"}}]
"""
PAGE = Path("docs/library.md").read_text()
EXAMPLES = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)


def test_every_example_prints_what_the_page_says() -> None:
    names: dict[str, object] = {}
    assert len(EXAMPLES) == PAGE.count("```python")
    for code, expected in EXAMPLES:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, names)  # noqa: S102 - the page's own code
        assert printed.getvalue() == expected


def test_an_import_brings_no_module_of_weight() -> None:
    script = "import sys, kubectl_sched; print(len([name for name in sys.modules if name.startswith('kubectl_sched')]))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"


def test_its_data_is_that_of_the_command_line() -> None:
    done = run("explain", "pod", "web-0", "--from", "fixtures/demo", "-o", "json")
    assert ks.read("fixtures/demo").explain("default/web-0").to_dict() == json.loads(done.stdout)


def test_an_answer_shows_itself_as_a_table_and_as_a_page_apart_from_others() -> None:
    answer = ks.read("fixtures/demo").explain("web-0")
    console = Console(file=io.StringIO(), width=100)
    console.print(answer)
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().startswith("default/web-0: no node with pool=gpu has 4 GPUs free")
    assert str(answer).startswith("default/web-0: no node with pool=gpu has 4 GPUs free")
    shown = answer._repr_html_()
    assert shown.startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')
    assert "sandbox=" in shown


@pytest.mark.parametrize("wrong", [{"replicas": "many"}, {"edits": [("explode", "w1")]}])
def test_wrong_usage_is_a_sentence(wrong: dict[str, object]) -> None:
    with pytest.raises(ks.SchedError):
        ks.read("fixtures/demo").whatif("fixtures/what-if/plain.yaml", **wrong)  # type: ignore[arg-type]


def test_a_node_that_there_is_not_is_a_sentence() -> None:
    with pytest.raises(ks.SchedError, match="there is no node gpu-22; near it: gpu-2"):
        ks.read("fixtures/demo").explain("web-0", node="gpu-22")


def test_nothing_else_is_offered() -> None:
    with pytest.raises(AttributeError):
        ks.nothing  # noqa: B018


def test_where_nodes_may_not_be_read_it_says_so_and_replays_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unread = Dump(objects=(pod(),), forbidden=(Forbidden("Node", "", "nodes"),), is_live=True)
    monkeypatch.setattr(cluster_reader, "read_live", lambda *_: unread)
    (tmp_path / "kubeconfig").write_text(KUBECONFIG)
    cluster = ks.connect(kubeconfig=tmp_path / "kubeconfig")
    questions = (lambda: cluster.explain("web-0"), cluster.explain_pending, cluster.triage, cluster.diff)
    for question in questions:
        with pytest.raises(ks.SchedError, match="not allowed to list nodes"):
            question()
    assert cluster.schedulers()["kind"] == "Schedulers"
