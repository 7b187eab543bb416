"""The library: its documentation and its notebook run, and it agrees with the command line."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import subprocess
import sys
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

import kubectl_sched as ks
from kubectl_sched.library_frames import frame
from kubectl_sched.sources.dump.dump import Dump, Forbidden
from kubectl_sched.sources.live import cluster_reader
from tests.plugins.clusters import pod
from tests.program import run
from tests.render.schema_checks import check

if TYPE_CHECKING:
    from collections.abc import Callable

KUBECONFIG = """
current-context: here
contexts: [{name: here, context: {cluster: here}}]
clusters: [{name: here, cluster: {server: "http://127.0.0.1:1"}}]
"""
NOTEBOOK = Path(__file__).parents[1] / "docs" / "library.ipynb"
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


QUESTIONS: dict[str, Callable[[ks.Cluster], Any]] = {
    "explain": lambda cluster: cluster.explain("web-0"),
    "explain_workload": lambda cluster: cluster.explain_workload("deployment/api"),
    "explain_manifests": lambda cluster: cluster.explain_manifests("fixtures/what-if/plain.yaml"),
    "explain_pending": lambda cluster: cluster.explain_pending(),
    "explain_podgroups": lambda cluster: cluster.explain_podgroups(),
    "explain_nodes": lambda cluster: cluster.explain_nodes(),
    "triage": lambda cluster: cluster.triage(),
    "whatif": lambda cluster: cluster.whatif("fixtures/what-if/plain.yaml", replicas="max"),
    "make_room": lambda cluster: cluster.make_room("statefulset/web"),
    "drain": lambda cluster: cluster.drain("general-*"),
    "capacity": lambda cluster: cluster.capacity(),
    "diff": lambda cluster: cluster.diff(to_config="fixtures/profiles/bin-packing.yaml"),
    "schedulers": lambda cluster: cluster.schedulers(),
    "profiles": lambda _: ks.profiles(kube_version="1.36"),
    "message": lambda _: ks.message("0/3 nodes are available: 3 Too many pods."),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_an_answer_shows_itself_in_every_form(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = QUESTIONS[name](ks.read("fixtures/demo"))
    assert repr(answer) == f"<{type(answer).__name__}: {answer.verdict.rstrip('.')}>"
    assert answer.verdict in answer.to_markdown()
    assert escape(answer.verdict) in answer.to_html()
    assert len(answer._repr_html_().encode()) < 100_000
    assert str(answer).strip()
    check(answer.to_dict())
    pandas, polars = map(pytest.importorskip, ("pandas", "polars"))
    frame = answer.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert len(frame.columns)
    monkeypatch.setitem(sys.modules, "pandas", None)  # as if it were not installed
    other = answer.to_frame()
    assert isinstance(other, polars.DataFrame)
    assert other.columns == list(frame.columns)
    assert other.to_dicts() == frame.astype(object).where(frame.notna(), None).to_dict("records")


def test_the_marks_of_a_manifest_are_those_of_the_command_line() -> None:
    cluster, manifest = "fixtures/what-if/small-cluster.yaml", "fixtures/what-if/web-2.yaml"
    (answer,) = ks.read(cluster).explain_manifests(manifest)
    (mark,) = answer.marks
    written = Path(manifest).read_text("utf-8").splitlines()[mark["line"] - 1]
    assert written[mark["column"] - 1 :].startswith(mark["field"].rpartition(".")[2])
    done = run("explain", "--from", cluster, "-f", manifest, "-o", "json")
    assert json.loads(done.stdout)["marks"] == [mark]


def test_every_question_has_a_method_and_completion_shows_it() -> None:
    methods = {each for each in dir(ks.Cluster) if not each.startswith("_")}
    assert methods | {"profiles", "message"} == {*QUESTIONS, "snapshot"}
    assert set(dir(ks)) == set(ks.__all__)


def test_a_long_answer_in_a_notebook_is_the_first_of_its_lines() -> None:
    answer = ks.read("fixtures/demo").whatif("fixtures/what-if/plain.yaml", replicas=300)
    shown = answer._repr_html_()
    assert len(shown.encode()) < 100_000
    assert len(answer.to_frame()) == 300


def test_a_frame_holds_no_character_that_moves_a_cursor() -> None:
    pytest.importorskip("pandas")
    shown = frame([{"pod": "web\x1b]0;title\x07", "points": 3}], ("pod", "points"))
    assert shown.to_dict("records") == [{"pod": r"web\x1b]0;title\x07", "points": 3}]


def test_without_pandas_and_polars_a_frame_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pandas", "polars"):
        monkeypatch.setitem(sys.modules, name, None)  # as if it were not installed
    with pytest.raises(ks.SchedError, match="needs pandas or polars: pip install pandas"):
        ks.read("fixtures/demo").triage().to_frame()


def test_a_snapshot_answers_as_what_it_was_taken_of(tmp_path: Path) -> None:
    cluster = ks.read("fixtures/demo")
    for anonymize in (False, True):
        file = tmp_path / f"{anonymize}.json.gz"
        cluster.snapshot(file, anonymize=anonymize)
        assert len(ks.read(file).explain_pending()) == len(cluster.explain_pending())
    assert ks.read(tmp_path / "False.json.gz").explain("web-0").verdict == cluster.explain("web-0").verdict
    with pytest.raises(ks.SchedError, match=r"ends in \.json or \.json\.gz"):
        cluster.snapshot(tmp_path / "cluster.yaml")


def outputs(source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """Run a cell, and return what it prints and the value of its last line, as a notebook stores both."""
    printed = io.StringIO()
    *before, last = ast.parse(source).body
    value = None
    with contextlib.redirect_stdout(printed):
        if isinstance(last, ast.Expr):
            exec(compile(ast.Module(before, []), str(NOTEBOOK), "exec"), names)  # noqa: S102 - the notebook's own code
            value = eval(compile(ast.Expression(last.value), str(NOTEBOOK), "eval"), names)  # noqa: S307 - as above
        else:
            exec(compile(source, str(NOTEBOOK), "exec"), names)  # noqa: S102 - as above
    found: list[dict[str, Any]] = []
    if printed.getvalue():
        found.append({"name": "stdout", "output_type": "stream", "text": printed.getvalue().splitlines(keepends=True)})
    if value is not None:
        plain = {"text/plain": repr(value).splitlines(keepends=True)}
        found.append({"data": plain, "execution_count": None, "metadata": {}, "output_type": "execute_result"})
    return found


def test_the_notebook_shows_what_is_stored(update_golden: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    pandas = pytest.importorskip("pandas")
    monkeypatch.chdir(NOTEBOOK.parent)
    notebook = json.loads(NOTEBOOK.read_text("utf-8"))
    names: dict[str, Any] = {}
    with pandas.option_context("display.width", 100, "display.max_colwidth", 40):
        shown = [outputs("".join(each["source"]), names) for each in _code(notebook)]
    if update_golden:
        for cell, found in zip(_code(notebook), shown, strict=True):
            cell["outputs"] = found
        NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")
    assert [each["outputs"] for each in _code(notebook)] == shown
    assert all(shown[1:]), "every cell shows something"


def test_every_cell_has_a_name_of_its_own() -> None:
    notebook = json.loads(NOTEBOOK.read_text("utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert len({each["id"] for each in notebook["cells"]}) == len(notebook["cells"])


def _code(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [each for each in notebook["cells"] if each["cell_type"] == "code"]
