from __future__ import annotations

import sys

import pytest

from kubectl_sched import __main__
from kubectl_sched.plugins.node_name import NodeName


def broken(*_: object) -> object:
    raise KeyError("a bug\x1b")


def failing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """What is said where NodeName's Filter fails."""
    monkeypatch.setattr(NodeName, "filter", broken)
    monkeypatch.setattr(sys, "argv", ["kubectl-sched", "explain", "web-0", "--from", "fixtures/demo"])
    with pytest.raises(SystemExit) as ended:
        __main__.main()
    assert ended.value.code == 4
    out, err = capsys.readouterr()
    assert out == ""
    return err


def test_an_error_of_ours_is_one_sentence_with_exit_code_4(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = failing(monkeypatch, capsys)
    assert said.count("\n") == 1
    assert "this is a bug in kubectl-sched" in said
    assert "snapshot report.json.gz --anonymize" in said
    assert "\x1b" not in said


def test_the_traceback_is_shown_for_debugging(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KUBECTL_SCHED_DEBUG", "1")
    assert "Traceback" in failing(monkeypatch, capsys)
