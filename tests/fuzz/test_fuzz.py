"""A few hundred mutated inputs of each kind hold to the laws, and the suite sees what it is there to see."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.fuzz import findings, laws, shell
from tests.fuzz.program import Outcome, confined, import_everything, run
from tests.fuzz.targets import SHARES, TARGETS, Case, case
from tests.fuzz.workers import Batch, Worker

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CASES = 400
CORPUS = sorted((Path(__file__).parent / "corpus").glob("*.json"))


@pytest.fixture(scope="module", autouse=True)
def _imported() -> None:
    import_everything()


@pytest.mark.parametrize("target", TARGETS)
def test_no_input_breaks_a_law(target: str) -> None:
    report = Worker(Batch(target, range(CASES * SHARES[target] // 100)), set()).report()
    assert report.findings == []
    assert list(shell.wrongly_run(report.commands)) == []


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_what_once_broke_a_law_no_longer_does(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tried = findings.read(path)
    with confined():
        assert laws.broken(run(tried.arguments, tried.files, tried.stdin), tried.arguments) is None


@pytest.mark.parametrize("target", TARGETS)
def test_a_number_gives_the_same_case_again(target: str) -> None:
    assert case(target, 7) == case(target, 7) != case(target, 8)


ARGVS = (("kubectl", "uncordon", "w1"),)


@pytest.mark.parametrize(
    ("law", "outcome", "arguments"),
    [
        ("exit code 4", Outcome(4, b"", b"error: x\n", {}), ["read"]),
        ("crash", Outcome(4, b"", b"", {}, "KeyError: 'a'"), ["read"]),
        ("traceback", Outcome(3, b"", b"Traceback (most recent call last):\n", {}), ["read"]),
        ("no sentence", Outcome(2, b"", b"", {}), ["read"]),
        ("no sentence", Outcome(3, b"default/web fits on w1\n", b"", {}), ["explain"]),
        ("no sentence", Outcome(3, b'{"outcome": "Schedulable"}', b"", {}), ["explain", "-o", "json"]),
        ("no sentence", Outcome(3, b"items:\n- outcome: Gated\n", b"", {}), ["explain", "-o", "yaml"]),
        ("no sentence", Outcome(3, b"node/w1\n", b"", {}), ["explain", "-o", "name"]),
        ("control character on stdout", Outcome(0, b"a\x1b[31m", b"", {}), ["explain"]),
        ("control character on stderr", Outcome(0, b"", "\u202ea".encode(), {}), ["explain"]),
        ("encoding of stdout", Outcome(0, b"\xff", b"", {}), ["explain"]),
        ("json", Outcome(0, b'{"a": NaN}', b"", {}), ["explain", "-o", "json"]),
        ("json", Outcome(1, b"", b"", {}), ["snapshot", "-"]),
        ("yaml", Outcome(0, b"a: [", b"", {}), ["explain", "-o", "yaml"]),
        ("markup", Outcome(0, b"<p><script>alert(1)</script>", b"", {}), ["explain", "-o", "html"]),
        ("command", Outcome(0, b'{"commands": ["kubectl drain w1"]}', b"", {}), ["explain", "-o", "json"]),
        ("command", Outcome(0, b"  kubectl uncordon \\\n  w2\n", b"", {"kubectl uncordon w1": ARGVS}), ["explain"]),
        ("command", Outcome(0, b"", b"", {"kubectl uncordon $(w1; w2": ARGVS}), ["explain"]),
        ("command", Outcome(0, b"", b"", {"kubectl uncordon w1 > /etc/passwd": ARGVS}), ["explain"]),
    ],
)
def test_a_broken_law_is_seen(law: str, outcome: Outcome, arguments: Sequence[str]) -> None:
    assert laws.law_of(laws.broken(outcome, arguments) or "") == law


@pytest.mark.parametrize(
    ("said", "form"),
    [
        (b'{"items": [{"outcome": "Schedulable"}, {"outcome": "Unknown"}]}', "json"),
        (b"outcome: Unknown\n", "yaml"),
        (b"default/web: not known: PersistentVolumes could not be read\n", "table"),
    ],
)
def test_an_answer_that_says_what_is_unknown_needs_no_other_sentence(said: bytes, form: str) -> None:
    assert laws.broken(Outcome(3, said, b"", {}), ["explain", "-o", form]) is None


def test_output_that_keeps_the_laws_is_no_finding() -> None:
    kept = Outcome(1, b"a\n  kubectl uncordon \\\n    w1\n", b"warning: x\n", {"kubectl uncordon w1": ARGVS})
    assert laws.broken(kept, ["explain"]) is None


@pytest.mark.parametrize(
    ("text", "argvs"),
    [
        ("kubectl uncordon w1; kubectl delete w1", ARGVS),
        ("kubectl uncordon $(kubectl x)", (("kubectl", "uncordon", "$(kubectl x)"),)),
        ("kubectl uncordon w1 > ran", (("kubectl", "uncordon", "w1", ">", "ran"),)),
    ],
)
def test_a_command_that_does_more_is_seen(text: str, argvs: laws.Argvs) -> None:
    assert list(shell.wrongly_run({text: argvs}))


def test_a_command_that_does_what_was_built_is_no_finding() -> None:
    text = "kubectl port-forward pod/a 1 & sleep 2; kubectl get --raw=/x > scheduler.yaml; kill %1"
    argvs = laws.argument_lists(text)
    assert argvs is not None
    assert list(shell.wrongly_run({text: argvs, "kubectl uncordon w1": ARGVS})) == []


def test_a_case_without_end_is_stopped_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*_: object) -> Outcome:
        while True:
            pass

    monkeypatch.setattr("tests.fuzz.workers.run", endless)
    report = Worker(Batch("message", range(5)), set(), seconds=0.2).report()
    assert [(found.number, laws.law_of(found.law)) for found in report.findings] == [(0, "time")]
    assert report.cases == 1


def test_a_case_that_takes_all_memory_is_stopped_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(_arguments: object, _files: Mapping[str, bytes], _stdin: bytes) -> Outcome:
        try:
            bytearray(1 << 28)
        except MemoryError as error:
            return Outcome(4, b"", b"", {}, repr(error))
        return Outcome(0, b"", b"", {})

    monkeypatch.setattr("tests.fuzz.workers.run", greedy)
    report = Worker(Batch("message", range(2)), set(), memory=1 << 27).report()
    assert [found.law for found in report.findings] == ["crash: MemoryError()"] * 2


def test_a_finding_is_written_and_read_again(tmp_path: Path) -> None:
    tried = Case(("read", "dump.json"), {"dump.json": b"\xff{"}, b"\x00a")
    path = findings.write(findings.Finding("json", 3, "crash: x", tried), tmp_path)
    assert findings.read(path) == tried
