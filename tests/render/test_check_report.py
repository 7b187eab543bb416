"""Reports for CI, read by parsers of their formats."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kubectl_sched.render.writers.check_report import Case, annotation, junit
from tests.program import run

ROOT = Path(__file__).parent.parent.parent
DEMO = str(ROOT / "fixtures" / "demo")
ACTION = ROOT / "integrations" / "github-action" / "action.yml"

COMMAND = re.compile(r"::(?P<command>[a-z]+) (?P<properties>[^:]*)::(?P<data>.*)")
FITS = "kind: Pod\napiVersion: v1\nmetadata: {name: fits}\nspec: {containers: [{name: c, image: i}]}\n"
LARGE = FITS.replace("fits", "large").replace("image: i", "image: i, resources: {requests: {cpu: 900}}")

texts = st.text(max_size=60) | st.sampled_from(["a\n::error::b", "100%25", "]]><x>&\"'", "\x00\x1b[2J\ufffe", "a,b:c"])


def parsed(line: str) -> tuple[str, dict[str, str], str]:
    """Read a workflow command as the runner does."""
    found = COMMAND.fullmatch(line)
    assert found is not None, line

    def plain(text: str) -> str:
        for escape, character in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
            text = text.replace(escape, character)
        return text

    pairs = (each.split("=", 1) for each in found["properties"].split(","))
    return found["command"], {key: plain(value) for key, value in pairs}, plain(found["data"])


def suites_of(report: str) -> ET.Element:
    return ET.fromstring(report.encode())  # noqa: S314 - we wrote it


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    path = tmp_path / "app.yaml"
    path.write_text(f"{FITS}---\n{LARGE}")
    return path


@given(st.lists(st.builds(Case, name=texts, failure=texts, is_known=st.booleans(), file=texts | st.none()), max_size=5))
def test_hostile_texts_are_one_case_and_one_line(cases: list[Case]) -> None:
    suite = suites_of(junit(cases, "whatif"))[0]
    assert len(suite) == len(cases)
    assert suite.get("failures") == str(len(suite.findall("testcase/failure")))
    assert suite.get("skipped") == str(len(suite.findall("testcase/skipped")))
    for case in cases:
        line = annotation(case)
        assert line.count("\n") == 1
        command, properties, data = parsed(line.removesuffix("\n"))
        assert command == ("notice" if case.is_known else "error")
        assert properties.keys() <= {"file", "line", "title"}
        assert "\x1b" not in data


def test_a_workload_that_fits_nowhere_is_a_failure_at_its_line(manifest: Path, tmp_path: Path) -> None:
    done = run("whatif", "-f", str(manifest), "--from", DEMO, "-o", "junit")
    assert done.returncode == 1
    cases = {each.get("name"): each for each in suites_of(done.stdout).iter("testcase")}
    assert cases.keys() == {"Pod/fits", "Pod/large"}
    assert cases["Pod/fits"].find("failure") is None
    assert cases["Pod/large"].get("line") == "6"
    failure = cases["Pod/large"].find("failure")
    assert failure is not None
    assert "Insufficient cpu" in failure.get("message", "")
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    environment = {"GITHUB_STEP_SUMMARY": str(summary)}
    done = run("whatif", "-f", str(manifest), "--from", DEMO, "-o", "github", environment=environment)
    ((command, properties, data),) = (parsed(line) for line in done.stdout.splitlines())
    assert command == "error"
    assert properties == {"file": str(manifest), "line": "6", "title": "Pod/large"}
    assert "Insufficient cpu" in data
    assert summary.read_text().startswith("before\n")
    assert "large" in summary.read_text()


def test_a_pod_that_is_pending_at_present_is_no_new_failure() -> None:
    done = run("whatif", "--with-pending", "--from", DEMO, "-o", "junit")
    suite = suites_of(done.stdout)[0]
    assert (suite.get("failures"), suite.get("skipped")) == ("0", "1")
    done = run("whatif", "--with-pending", "--from", DEMO, "-o", "github")
    assert [parsed(line)[0] for line in done.stdout.splitlines()] == ["notice"]


def test_a_diff_has_both(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "profiles: [{plugins: {filter: {disabled: [{name: NodeResourcesFit}]}}}]\n"
    )
    done = run("diff", "--config", str(config), "--to-kube-version", "1.36", "--from", DEMO, "-o", "junit")
    assert done.returncode in {0, 1}
    assert suites_of(done.stdout).tag == "testsuites"
    turned = run("diff", "--kube-version", "1.36", "--to-config", str(config), "--from", DEMO, "-o", "junit")
    cases = list(suites_of(turned.stdout).iter("testcase"))
    assert "Pod/default/web-0" in {each.get("name") for each in cases}


@pytest.mark.parametrize("output", ["junit", "github"])
def test_other_answers_have_none(output: str) -> None:
    for arguments in (("explain", "web-0"), ("whatif", "--make-room", "statefulset/web")):
        done = run(*arguments, "--from", DEMO, "-o", output)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_the_action_asks_what_the_program_answers(manifest: Path) -> None:
    (step,) = yaml.safe_load(ACTION.read_text())["runs"]["steps"]
    program, *words = step["run"].split()
    assert program == "kubectl-sched"
    assert "${{" not in step["run"], "inputs come as variables, which no shell reads again"
    values = {'"$MANIFESTS"': str(manifest), '"$SNAPSHOT"': DEMO, '"$MAX_AGE"': "999999h"}
    for variable, value in values.items():
        words = [word.replace(variable, value) for word in words]
    assert run(*words).returncode == 1
