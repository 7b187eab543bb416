"""Start-up, guarded by counts that do not depend on the machine."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from tests.bench.measure import write_dump

DEMO = str(Path(__file__).parents[2] / "fixtures" / "demo")
LATER = ("rich", "numpy.ma", "pydantic", "kubernetes", "textual", "jinja2", "urllib3", "prometheus_client")


class Case(NamedTuple):
    """A question, and the most modules that its answer may import: all, and ours."""

    arguments: tuple[str, ...]
    most: int
    most_of_ours: int


FITS = Case(("pod", "node-agent-00000-0000000", "-n", "kube-system", "--from", "dump.json"), 507, 244)
FITS_BY_YAML = Case((*FITS.arguments[:-1], "dump.yaml"), 516, 253)
FITS_NOWHERE = Case(("pod", "web-0", "--from", DEMO), 628, 337)
"""From YAML with anchors, and with suggestions."""


@pytest.fixture(
    scope="module", params=[FITS, FITS_BY_YAML, FITS_NOWHERE], ids=["fits", "fits, by YAML", "fits nowhere"]
)
def case(request: pytest.FixtureRequest) -> Case:
    found: Case = request.param
    return found


@pytest.fixture(scope="module")
def imported(case: Case, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The modules that `explain` imports, as `python -X importtime` lists them."""
    folder = tmp_path_factory.mktemp("start-up")
    write_dump(folder / "dump.json", 10, 60)
    as_yaml = msgspec.yaml.encode(msgspec.json.decode((folder / "dump.json").read_bytes()))
    (folder / "dump.yaml").write_bytes(as_yaml)
    command = [sys.executable, "-X", "importtime", "-m", "kubectl_sched", "explain", *case.arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert case.arguments[1] in run.stdout
    timed = [line for line in run.stderr.splitlines() if line.startswith("import time:")]
    return [line.rpartition("|")[2].strip() for line in timed[1:]]


def ours(imported: list[str]) -> list[str]:
    return [name for name in imported if name.startswith("kubectl_sched")]


def test_explaining_a_pod_imports_few_modules(imported: list[str], case: Case) -> None:
    assert 400 < len(imported) <= case.most


def test_explaining_a_pod_imports_few_of_our_modules(imported: list[str], case: Case) -> None:
    assert 100 < len(ours(imported)) <= case.most_of_ours


def test_only_unusual_yaml_is_read_by_a_library(imported: list[str], case: Case) -> None:
    assert ("yaml" in imported) is (case is FITS_NOWHERE)


@pytest.mark.parametrize("package", LATER)
def test_what_only_other_commands_need_is_not_imported(imported: list[str], package: str) -> None:
    assert not [name for name in imported if name == package or name.startswith(f"{package}.")]


def test_no_module_compiles_anything_as_it_is_imported(imported: list[str]) -> None:
    """Regular expressions are compiled when first used (lazy_pattern.py); a frozen value is a Record (record.py)."""
    for name in ours(imported):
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        for node in ast.parse(Path(spec.origin).read_text()).body:
            decorators = node.decorator_list if isinstance(node, ast.ClassDef) else []
            assert not any("frozen=True" in ast.unparse(each) for each in decorators), f"{name}:{node.lineno}"
            if isinstance(node, ast.Assign | ast.AnnAssign):
                assert "re.compile(" not in ast.unparse(node), f"{name}:{node.lineno}"
