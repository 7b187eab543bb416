"""Asks the oracle and the library the same, and says where they differ."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.decisions import differences, explain, is_refused, names_unknown_plugin, refuses
from tests.oracle.build import Answer, Oracle, Request
from tests.oracle.regressions import Keeper


def disagreements(request: Request, answers: list[Answer], minor: str) -> dict[str, object]:
    """pod -> aspect -> (kube-scheduler's, ours), for the pods in which they differ."""
    with TemporaryDirectory() as folder:
        if any(names_unknown_plugin(answer) for answer in answers):
            return {}
        if any(is_refused(answer) for answer in answers):
            refused = refuses(request, Path(folder), minor)
            return {} if refused else {"configuration": (answers[0]["error"], "accepted")}
        explained = explain(request, Path(folder), minor)
    found = {answer["pod"]: differences(answer, explained[answer["pod"]]) for answer in answers}
    return {pod: wrong for pod, wrong in found.items() if wrong}


def check(oracle: Oracle, request: Request, keeper: Keeper) -> None:
    """Compare one request; a difference is kept and raised as AssertionError."""
    answers = oracle.ask(request)
    for answer in answers:
        assert not answer.get("error", "").startswith("oracle:"), answer["error"]
    try:
        wrong = disagreements(request, answers, oracle.patch)
    except Exception:
        keeper.keep(request, answers)
        raise
    if wrong:
        keeper.keep(request, answers)
        raise AssertionError(json.dumps(wrong, indent=1, default=str))
