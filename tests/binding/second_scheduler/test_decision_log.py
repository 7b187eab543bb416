"""The log of decisions, as text and as JSON."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from io import StringIO

import pytest

from kubectl_sched.binding.second_scheduler.decision_log import DecisionLog
from kubectl_sched.config import load_configuration
from kubectl_sched.scheduler.result import Outcome, ScheduleResult
from kubectl_sched.scheduler.scheduler import Scheduler
from tests.plugins.clusters import node, pod, requests, snapshot

PO37 = pod("po37", schedulerName="mine")


@pytest.fixture(scope="module")
def rejected() -> ScheduleResult:
    return Scheduler(load_configuration(), snapshot(node())).schedule_one(pod("big", **requests(cpu="64")))


def test_a_decision_is_a_sentence_on_stderr(capsys: pytest.CaptureFixture[str], rejected: ScheduleResult) -> None:
    log = DecisionLog()
    log.assigned(PO37, "k8s-node-2")
    log.rejected(rejected)
    shown = capsys.readouterr()
    assert shown.out == ""
    first, second = shown.err.splitlines()
    assert first == "Successfully assigned default/po37 to k8s-node-2"
    assert second.startswith("default/big: 0/1 nodes are available: 1 Insufficient cpu.")


def test_as_json_it_is_a_line_on_stdout(capsys: pytest.CaptureFixture[str], rejected: ScheduleResult) -> None:
    log = DecisionLog(as_json=True)
    log.assigned(PO37, "k8s-node-2")
    log.rejected(rejected)
    log.problem("the watch broke")
    shown = capsys.readouterr()
    bound, refused = map(json.loads, shown.out.splitlines())
    assert (bound["kind"], bound["outcome"], bound["node"]) == ("Decision", "Scheduled", "k8s-node-2")
    assert bound["pod"] == {"namespace": "default", "name": "po37", "uid": "uid-po37"}
    assert (refused["outcome"], refused["node"]) == (Outcome.UNSCHEDULABLE.value, None)
    assert shown.err == "warning: the watch broke\n"


def test_quiet_leaves_only_what_goes_wrong_and_says_it_once(capsys: pytest.CaptureFixture[str]) -> None:
    log = DecisionLog(quiet=True)
    log.assigned(PO37, "k8s-node-2")
    log.problem("the watch broke")
    log.problem("the watch broke")
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "warning: the watch broke\n")


def test_no_text_of_a_cluster_moves_the_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    DecisionLog().problem("pod \x1b[2J")
    assert "\x1b" not in capsys.readouterr().err


class Slow(StringIO):
    """Lets other threads in after each write."""

    def write(self, text: str, /) -> int:
        written = super().write(text)
        time.sleep(0.001)
        return written


def test_lines_of_several_threads_stay_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Slow()
    monkeypatch.setattr("sys.stderr", shown)
    sentences = [f"thread {number} says so" for number in range(20)]
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(DecisionLog().note, sentences))
    assert sorted(shown.getvalue().splitlines()) == sorted(sentences)
