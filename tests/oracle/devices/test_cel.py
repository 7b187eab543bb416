# ruff: noqa: RUF001, S311 - pieces of patterns in one line; random cases
"""Device selectors and regular expressions against k8s.io/dynamic-resource-allocation/cel and Go's regexp."""

from __future__ import annotations

import json
import os
import subprocess
from random import Random
from typing import Any

import pytest

from kubectl_sched.config.versions import RELEASES, KubeVersion
from kubectl_sched.dynamic_resource_allocation.cel import CelError, CompileError, Dialect, compile_expression
from tests.oracle.build import PROGRAM, build, cache_home, fingerprint, tags
from tests.oracle.generate.expressions import expression
from tests.plugins.devices.test_cel import DEVICE, searched

pytestmark = pytest.mark.oracle

MINORS = ["1.36", "1.37", *(["1.38"] if os.environ.get("ORACLE_VERSIONS", "") in {"1.38", "all"} else [])]

PIECES = [
    "a",
    "b",
    "é",
    "K",
    "\\d",
    "\\w",
    "\\pL",
    "\\p{Greek}",
    "\\p{lc}",
    ".",
    "^",
    "$",
    "\\b",
    "\\B",
    "\\A",
    "\\z",
    "\\C",
    "(",
    "(?:",
    "(?i)",
    "(?s)",
    "(?P<n>",
    "(?<n>",
    ")",
    ")",
    "*",
    "+",
    "?",
    "*?",
    "??",
    "{2}",
    "{1,3}",
    "{,3}",
    "{2,1}",
    "{1000}",
    "{1001}",
    "|",
    "[",
    "]",
    "[^",
    "-",
    "[a-z]",
    "[[:alpha:]]",
    "[:",
    "\\Q",
    "\\E",
    "\\",
    "\\x41",
    "\\x{41}",
    "\\07",
    "\\1",
    "\\n",
    "\\_",
    "0",
    "9",
    "{",
    "}",
    ",",
    "=",
    "!",
    "<",
]
EXCEEDED = "operation cancelled: actual cost limit exceeded"
TEXTS = ["", "a", "abK", "aé\nb", "a100 é Kſk 日", "aaab!", "λΛ٣"]


def ask(minor: str, requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    module, sources = PROGRAM / f"v{minor}.mod", [*(PROGRAM / "cel").glob("*.go")]
    target = cache_home() / "oracle" / f"cel-{minor}-{fingerprint([*sources, module])}" / "cel"
    if not target.exists():
        build(module, target, flags=["-tags", tags(minor)], package="./cel")
    lines = "\n".join(map(json.dumps, requests))
    done = subprocess.run([target], input=lines, capture_output=True, text=True, check=True, encoding="utf-8")
    return [json.loads(line) for line in done.stdout.split("\n") if line]


def answered(text: str, dialect: Dialect) -> dict[str, Any]:
    try:
        program = compile_expression(text, dialect)
    except CompileError as wrong:
        return {"compileError": str(wrong)}
    cost = program.cost(DEVICE)
    try:
        return {"matches": program.matches(DEVICE), "cost": cost}
    except CelError as wrong:
        return {"error": str(wrong), "cost": cost}


@pytest.mark.parametrize("minor", MINORS)
def test_selectors_cost_what_they_cost_upstream(minor: str) -> None:
    random = Random(int(os.environ.get("ORACLE_SEED", "1")))
    texts = [
        expression(random, depth=random.randint(1, 4)) for _ in range(int(os.environ.get("ORACLE_EXAMPLES", "500")))
    ]
    differing = []
    for text, real in zip(texts, ask(minor, [{"expression": text} for text in texts]), strict=True):
        own = answered(text, Dialect(includes=True, cel_go=RELEASES[KubeVersion.parse(minor)].devices.cel_go))
        # Go goes through a map of several entries in any order, and an evaluation that is ended has no cost there.
        alike = own.get("matches") == real.get("matches") and own.get("error", "")[:9] == real.get("error", "")[:9]
        compares = alike and "'b': 2" not in text and "cost" in real and real.get("error") != EXCEEDED
        if compares and own["cost"] != real["cost"]:
            differing.append((text, real["cost"], own["cost"]))
    assert not differing


def test_patterns_are_taken_as_go_takes_them() -> None:
    random = Random(int(os.environ.get("ORACLE_SEED", "1")))
    count = int(os.environ.get("ORACLE_EXAMPLES", "500")) * 10
    patterns = ["".join(random.choices(PIECES, k=random.randint(1, 8))) for _ in range(count)]
    asked: list[dict[str, Any]] = [
        {"isPattern": True, "pattern": pattern, "text": random.choice(TEXTS)} for pattern in patterns
    ]
    differing = []
    for request, real in zip(asked, ask("1.36", asked), strict=True):
        own = searched(request["pattern"], request["text"])
        # RE2 looks for \\B between bytes, and so finds it inside a character of several.
        if "\\B" in request["pattern"] and not request["text"].isascii():
            continue
        if own.keys() != real.keys() or ("error" not in own and own != real):
            differing.append((request, real, own))
    assert not differing
