"""Every answer has the JSON Schema of its kind, whole and brief, and docs/schema has these schemas."""

from __future__ import annotations

import json
import shlex
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from kubectl_sched.render.answers.explanation_data import explanation_data
from kubectl_sched.render.schemas.json_schemas import KINDS, json_schema
from kubectl_sched.render.writers.data import as_json
from tests.program import run
from tests.render.schema_checks import check, check_both
from tests.render.test_golden import CASES
from tests.render.test_screens import SCREENS
from tests.situations import asked, situations
from tests.test_documented_commands import examples
from tests.test_scenarios import SCENARIOS, explained

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "schema"
FOLDERS = ("findings", "public")
EVIDENCE = 20
"""The nodes of an answer that have evidence."""

FURTHER = {
    "whatif --make-room statefulset/web --from fixtures/demo",
    "explain podgroups --pending --from fixtures/demo",
    "explain nodes gpu-1 gpu-2 --from fixtures/demo",
    "explain pods --pending --evidence --from fixtures/demo",
    "message --reason TooManyPods",
    "message --reason OutOfcpu",
    "message '0/3 nodes are available: 3 Too many pods.'",
    "profiles --kube-version 1.36",
    "triage --from fixtures/triage",
    "version",
}
"""Commands beside those of the documentation, for kinds of which it shows no answer."""

ELSEWHERE = {"Binding", "PodGroupBinding", "Decoded", "DecodedList", "PodGroupExplanation"}
"""Kinds that tests/e2e and tests/cli/test_podgroup.py check; all but the last need a running cluster."""


def commands() -> Iterator[tuple[str, str]]:
    """Yield the folder and the line of each command that can print data."""
    yield from (("", each) for each in sorted(FURTHER))
    for example in examples():
        words = shlex.split(example.command)
        if not {"-o", "-i", "--interactive", "snapshot"} & set(words) and (words[:1] == [] or "--from" in words):
            yield example.folder or "", example.command


LINES = sorted(set(commands()))


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_has_the_schema(kind: str, update_golden: bool) -> None:
    schema = json_schema(kind)
    Draft202012Validator.check_schema(schema)
    page = PAGES / f"{kind}.json"
    if update_golden:
        page.write_bytes(as_json(schema))
    assert page.read_bytes() == as_json(schema)
    assert run("schema", kind).stdout == page.read_text()


def test_no_page_has_another_schema() -> None:
    assert {page.stem for page in PAGES.iterdir()} == set(KINDS)
    listed = run("schema")
    assert [line.split()[0] for line in listed.stdout.splitlines()] == list(KINDS)
    assert all(line.endswith(".") for line in listed.stdout.splitlines())


def test_an_unknown_kind_is_bad_input() -> None:
    done = run("schema", "Explanations")
    assert (done.returncode, done.stdout) == (2, "")
    assert "near it: Explanation" in done.stderr


@cache
def answer(folder: str, line: str) -> dict[str, Any]:
    printed: dict[str, Any] = json.loads(run(*shlex.split(line), "-o", "json", folder=ROOT / folder).stdout)
    return printed


@pytest.mark.parametrize(("folder", "line"), LINES, ids=str)
def test_a_documented_command_answers_by_the_schema(folder: str, line: str) -> None:
    check_both(answer(folder, line))


def test_every_kind_is_among_the_answers() -> None:
    assert {answer(*each)["kind"] for each in LINES} | ELSEWHERE == set(KINDS)


@pytest.mark.parametrize("name", CASES)
def test_a_golden_answer_has_the_schema(name: str) -> None:
    check_both(explanation_data(CASES[name](), "", evidence=lambda row: row < EVIDENCE))


@pytest.mark.parametrize("name", SCREENS)
def test_a_golden_screen_has_the_schema(name: str) -> None:
    check_both(explanation_data(SCREENS[name](), "", evidence=lambda row: row < EVIDENCE))


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_answers_about_situations_have_the_schema(folder: str, tmp_path: Path) -> None:
    for situation in (each for each in situations(folder) if "pod" in each):
        for explanation in asked(situation, tmp_path).explanations:
            check_both(explanation_data(explanation, "", evidence=lambda _: True))


def test_the_answers_about_scenarios_have_the_schema() -> None:
    for expected in sorted(SCENARIOS.glob("*/expected.json")):
        data = explained(expected.parent, json.loads(expected.read_text())["pod"])
        check_both({key: value for key, value in data.items() if key != "exit"})


def test_a_field_that_is_in_no_schema_fails() -> None:
    data: dict[str, Any] = json.loads(run("message", "--reason", "TooManyPods", "-o", "json").stdout)
    check(data)
    with pytest.raises(AssertionError, match="more"):
        check({**data, "more": 1})
    with pytest.raises(AssertionError, match="more"):
        check({**data, "texts": [{**data["texts"][0], "more": 1}]})
    Draft202012Validator(json_schema("Reason")).validate({**data, "more": 1})  # of a later release
    with pytest.raises(ValidationError):
        Draft202012Validator(json_schema("Reason")).validate({**data, "texts": 1})
